"""P pins and unpins a block: kept beside the trace, seen by the policies, and a message where it cannot be kept."""

from __future__ import annotations

import json
import shutil

from running import WIDE, running

from ctxview.focus import Focus
from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path
from ctxview.tui.stacks import HONEST


def copied(folder, name="collapse"):
    path = folder / f"{name}.jsonl"
    shutil.copy(sample_path(name), path)
    return path, lambda progress: open_trace([str(path)], progress, cache=False)


def kept(folder):
    (path,) = folder.glob("*.ctxview.json")
    return json.loads(path.read_text(encoding="utf-8"))["pins"]


async def test_a_block_is_pinned_kept_and_let_go(tmp_path, size):
    _, opened = copied(tmp_path)
    async with running(open_trace=opened, size=size) as s:
        view = s.main.scene.view
        span = next(s for s in view.spans_at(s.place.turn) if s.block not in view.pins)
        s.main.jump(s.place.turn, view.blocks[span.block].id)
        await s.press("P")
        assert "pinned by hand" in s.text()
        assert s.main.scene.view.pins[span.block].rule == "pinned by hand"
        assert s.place.block == view.blocks[span.block].id, "the cursor stays on the block"
        assert kept(tmp_path) == {view.row.session: {s.place.block: {"pin": True, "kind": "user"}}}
        await s.press("P")
        assert span.block not in s.main.scene.view.pins
        assert kept(tmp_path) == {}


async def test_the_goal_is_unpinned_and_the_rules_take_it_back(tmp_path):
    _, opened = copied(tmp_path)
    async with running(open_trace=opened, size=WIDE, focus=Focus(turn=1, stack="pin-goal")) as s:
        goal = next(p.block for p in s.main.scene.view.pins.values() if p.kind == "goal")
        s.main.jump(1, s.main.scene.view.blocks[goal].id)
        await s.press("P")
        assert goal not in s.main.stacks.recorded.view.pins
        assert s.place.stack == "pin-goal"
        assert HONEST in s.text()
        assert goal not in s.main.scene.view.pins, "the stack is replayed with the new pins"


async def test_under_a_stack_the_pin_is_confirmed_and_the_stacks_before_can_be_taken_back(tmp_path):
    _, opened = copied(tmp_path)
    async with running(open_trace=opened, size=WIDE) as s:
        await s.press("2")
        assert s.place.stack == "pin-goal"
        await s.press("end", "P")
        await s.settle()
        assert s.place.stack == "pin-goal"
        assert "pinned by hand · kept beside the trace" in s.text()
        await s.press("u")
        assert s.place.stack == "recorded"


async def test_a_sidecar_that_cannot_be_written_is_a_message(tmp_path):
    path, opened = copied(tmp_path)
    beside = path.with_name(path.name + ".ctxview.json")
    beside.write_text("{ damaged", encoding="utf-8")
    async with running(open_trace=opened, size=WIDE) as s:
        await s.press("P")
        assert "not JSON" in s.text()
        assert s.app.screen is s.main
    assert beside.read_text(encoding="utf-8") == "{ damaged"


async def test_a_trace_without_a_place_of_its_own_says_so():
    async with running(size=WIDE) as s:
        await s.press("P")
        assert "this trace is made up" in s.text()
