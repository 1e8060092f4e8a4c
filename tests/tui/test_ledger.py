"""The ledger panel: both tests side by side, their worth said, and a way to each note."""

from __future__ import annotations

import json

from running import WIDE, running

from ctxview.ingest import open_trace
from ctxview.ledger import Ledger, sidecar_rows
from ctxview.sample_traces import sample_path


def opened(progress):
    return open_trace([str(sample_path("ledger"))], progress, cache=False)


async def test_rows_gates_and_the_worth_of_the_check(size):
    async with running(open_trace=opened, size=size) as s:
        await s.press("L")
        await s.settle()
        assert "encoded: a token arrived, not that its condition survived" in s.text()
        text = "\n".join("".join(t for t, _ in line.words) for line in s.app.screen.report.lines)
        view = s.main.scene.view
        ledger = Ledger(view, sidecar_rows(sample_path("ledger").with_name("ledger.ledger.csv")))
        for state in ledger.at(view.last):
            line = next(line for line in text.splitlines() if line.startswith(f"{state.row.id} "))
            for word in (state.coarse, state.strict, state.row.value, state.tier or "unseen"):
                assert word in line
        assert f"gates so far: {len(ledger.gates(view.last))}" in text
        await s.press("enter")
        assert s.place.block == view.blocks[ledger.rows[0].block].id


async def test_an_early_turn_knows_only_what_was_noted_by_then():
    async with running(open_trace=opened, size=WIDE) as s:
        await s.press("g", "L")
        await s.settle()
        assert "nothing noted yet" in s.text()


async def test_a_session_without_notes_says_where_rows_come_from(size):
    async with running(size=size) as s:
        await s.press("L")
        await s.settle()
        assert "noted nothing down" in s.text()
        await s.press("L")
        assert s.app.screen is s.main


async def test_a_broken_ledger_file_is_said_and_not_a_crash(tmp_path):
    trace = tmp_path / "t.jsonl"
    trace.write_bytes(sample_path("refund").read_bytes())
    (tmp_path / "t.ledger.jsonl").write_text("{\n")
    async with running(open_trace=lambda p: open_trace([str(trace)], p, cache=False), size=WIDE) as s:
        await s.press("L")
        await s.settle()
        assert "line 1: not JSON" in s.text()


async def test_items_of_work_show_their_status(tmp_path):
    call = {"id": "c1", "type": "function"}
    call["function"] = {"name": "TodoWrite", "arguments": '{"todos": [{"content": "Ship it", "status": "pending"}]}'}
    messages = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": "Soon."},
    ]
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps(messages))
    async with running(open_trace=lambda p: open_trace([str(trace)], p, cache=False), size=WIDE) as s:
        await s.press("L")
        await s.settle()
        assert "☐ pending" in s.text()
        assert "Ship it" in s.text()
        assert "by the end" not in s.text()
        assert "encoded" not in s.text()  # nothing of it is looked for in a text
