"""Keys do what the help says, on a small and on a large terminal."""

from __future__ import annotations

import threading

import pytest
from fake import FakeTrace, make_trace, make_view, opener, session_row
from running import NARROW, WIDE, running

from ctxview.focus import NOW, Focus
from ctxview.ingest import open_trace
from ctxview.model import CutRow
from ctxview.policies import parse_stack
from ctxview.replay import replay
from ctxview.report.replay import replay_report
from ctxview.sample_traces import sample_path
from ctxview.tui.app import CtxviewApp
from ctxview.tui.block_list import BlockList, Gone, GoneMany, Unlogged
from ctxview.tui.detail import DetailPane
from ctxview.tui.facts import make_scene
from ctxview.tui.keys import KEYS
from ctxview.tui.overlays import DetailScreen, ReportScreen
from ctxview.tui.stacks import finished, make_alternate
from ctxview.window.view import SessionView


async def test_opening_names_the_first_trouble_and_shows_the_last_turn(size):
    async with running(size=size) as s:
        assert s.place.turn == 12
        text = s.text()
        assert "turn 12/12" in text
        assert "turn 5: the goal left the window (compact)" in text
        assert "recorded" in text
        assert "reconstructed" in text


async def test_turn_keys(size):
    async with running(size=size) as s:
        for key, turn in (("h", 11), ("left", 10), ("l", 11), ("right", 12), ("(", 2), (")", 12), ("g", 1), ("G", 12)):
            await s.press(key)
            assert s.place.turn == turn, key
        await s.press("l")
        assert s.place.turn == 13
        assert "now, after turn 12" in s.text()
        await s.press("l")
        assert s.place.turn == 13, "nothing is after now"


async def test_block_keys_move_one_row_and_the_focus_names_the_block(size):
    async with running(size=size) as s:
        blocks = s.main.query_one(BlockList)
        await s.press("home")
        assert blocks.cursor == 0
        assert isinstance(blocks.current, Unlogged)
        assert s.place.block is None
        await s.press("j", "down")
        assert blocks.cursor == 2
        assert s.place.block == s.main.scene.view.blocks[blocks.rows[2].block].id
        await s.press("k")
        assert blocks.cursor == 1
        await s.press("end")
        assert blocks.cursor == len(blocks.rows) - 1
        await s.press("pageup")
        assert blocks.cursor == max(0, len(blocks.rows) - blocks.size.height)


async def test_the_cursor_stays_on_its_block_from_turn_to_turn():
    async with running(size=WIDE, focus=Focus(turn=7)) as s:
        await s.press("home", "j")
        block = s.place.block
        await s.press("l", "l")
        assert s.place.turn == 9
        assert s.place.block == block
        await s.press("l")  # the cut of turn 10 drops it: shown as just gone
        row = s.main.query_one(BlockList).current
        assert isinstance(row, Gone | GoneMany)


async def test_a_pin_that_left_keeps_a_row_of_its_own():
    trace = FakeTrace("t", (make_view(turns=6, per_turn=9, cut_every=5),))
    async with running(trace, size=WIDE, focus=Focus(turn=5)) as s:
        rows = s.main.query_one(BlockList).rows
        gone = [r for r in rows if isinstance(r, Gone)]
        assert [s.main.scene.view.pins[r.span.block].kind for r in gone] == ["goal"]
        assert any(isinstance(r, GoneMany) and r.blocks == 27 for r in rows)


async def test_cut_keys_and_their_ends(size):
    async with running(size=size) as s:
        await s.press("[")
        assert s.place.turn == 10
        await s.press("[")
        assert s.place.turn == 5
        await s.press("[")
        assert s.place.turn == 5
        assert "no earlier cut" in s.text()
        await s.press("]")
        assert s.place.turn == 10


async def test_change_keys_follow_the_block():
    async with running(size=WIDE, focus=Focus(turn=7, block="b000013")) as s:
        view = s.main.scene.view
        span = view.life(view.block("b000013").n)[0]
        await s.press("}")
        assert s.place.turn == span.end
        await s.press("{")
        assert (s.place.turn, s.place.block) == (span.start, "b000013")


async def test_trouble_key_goes_there_and_history_comes_back(size):
    async with running(size=size) as s:
        await s.press("!")
        assert s.place.turn == 5
        assert s.place.block == "b000000"
        await s.press("ctrl+o")
        assert s.place.turn == 12
        await s.press("tab")
        assert s.place.turn == 5
        await s.press("tab")
        assert "no later place" in s.text()


async def test_trouble_key_goes_on_to_the_next_trouble_and_wraps(size):
    trace = FakeTrace("t", (make_view(orphan_at=3),))
    async with running(trace, size=size) as s:
        assert [(t.turn, t.what) for t in s.main.scene.troubles] == [
            (4, "orphan call without result: Bash"),
            (5, "the goal left the window (compact)"),
        ]
        for turn, which in ((4, "1 of 2"), (5, "2 of 2"), (4, "1 of 2")):
            await s.press("!")
            assert s.place.turn == turn
            assert f"! {which}, turn {turn}: " in s.text()
        await s.press("G", "!")
        assert s.place.turn == 4, "away from where it led, it begins with the first again"


@pytest.mark.parametrize("name", ["collapse", "refund"])
@pytest.mark.parametrize("stack", ["recorded", "history", "pin-goal:n=6", "keep-last-n", "pinned-rolling:budget=300"])
def test_the_first_trouble_is_the_first_failure_that_replay_counts(name, stack):
    with open_trace([str(sample_path(name))]) as trace:
        made = finished(make_alternate(make_scene(trace.view(None)), parse_stack(stack)))
        first = made.replayed.metrics.totals.first_failure
        assert (made.scene.trouble and made.scene.trouble.turn) == first


async def test_trouble_key_tells_versions_that_contradict_each_other(size):
    with open_trace([str(sample_path("stale"))]) as trace:
        report = replay_report(replay(trace.view(None), parse_stack("recorded")))
        turn = report["totals"]["first"]["contradiction"]
        async with running(trace, size=size) as s:
            await s.press("!")
            assert s.place.turn == turn == 20
            assert "turn 20: 2 versions of gateway.yaml stand" in s.text()
            await s.press("!")
            assert s.place.turn == 20, "it stands on, which is no second trouble"


def test_versions_of_which_none_stands_unflagged_are_no_trouble():
    with open_trace([str(sample_path("stale"))]) as trace:
        made = finished(make_alternate(make_scene(trace.view(None)), parse_stack("recorded,supersede")))
    assert not any("versions of" in t.what for t in made.scene.troubles)


async def test_that_nothing_went_wrong_is_said_whole(size):
    async with running(FakeTrace("t", (make_view(cut_every=0, unlogged=145_000),)), size=size) as s:
        await s.press("!")
        assert "nothing wrong: pins, pairs, versions, limit" in s.text()


def test_a_pin_that_left_is_dated_by_the_first_window_without_it():
    with open_trace([str(sample_path("refund"))]) as trace:
        scene = make_scene(trace.view(None))
    found = [(t.turn, t.what) for t in scene.troubles]
    assert found[:3] == [
        (5, "the goal left the window (truncate)"),
        (5, "the constraint left the window (truncate)"),
        (7, "the denial left the window (truncate)"),
    ]


def test_noted_values_that_did_not_reach_the_text_are_trouble():
    with open_trace([str(sample_path("ledger"))]) as trace:
        told = [(t.turn, t.what) for t in make_scene(trace.view()).troubles]
    assert told == [
        (404, "L1's value was not written (L)"),
        (406, "L2's value was not written (L)"),
        (410, "L4's value was not written (L)"),
    ]


def test_a_fall_that_the_log_does_not_explain_names_its_sizes():
    view = make_view(turns=3, cut_every=0)
    fall = CutRow(0, 3, "unexplained", None, 90_000, 12_000, 0, 4, None, "trace.jsonl", 3)
    fallen = SessionView(
        view.row, view.turns, view.blocks, view.spans, view.edits, [fall], view.audit, view.texts, facts=view.facts
    )
    assert [(t.turn, t.what) for t in make_scene(fallen).troubles] == [
        (3, "recorded size fell from 90,000 to 12,000 with nothing logged")
    ]


async def test_enter_shows_the_block_in_full_and_escape_goes_back(size):
    async with running(size=size) as s:
        await s.press("end", "enter")
        assert isinstance(s.app.screen, DetailScreen)
        assert "origin" in s.text()
        await s.press("j", "k", "escape")
        assert s.app.screen is s.main


async def test_the_detail_is_a_pane_on_wide_screens_only(size):
    async with running(size=size) as s:
        assert s.main.query_one(DetailPane).display == (size == WIDE)


async def test_overlays_open_close_and_lead_somewhere():
    titles = {"x": "Cut before turn 10", "v": "Life of", "b": "Budget at turn 12", "e": "Load report", "?": "Keys"}
    async with running(size=WIDE) as s:
        for key, title in titles.items():
            await s.press(key)
            assert isinstance(s.app.screen, ReportScreen), key
            assert title in s.text(), key
            await s.press(key)
            assert s.app.screen is s.main, key
        await s.press("x", "enter")
        assert s.place.turn == 9, "a dropped block is shown where it last stood"


async def test_budget_shows_all_sizes_and_the_audit():
    async with running(size=WIDE) as s:
        await s.press("b")
        text = s.text()
        for word in ("recorded", "counted", "calibrated", "unlogged", "limit", "audit", "×1.000", "±1.0%"):
            assert word in text, word


async def test_sessions_open_and_history_returns_to_the_parent():
    async with running(size=WIDE) as s:
        await s.press("S")
        assert "explorer" in s.text()
        await s.press("j", "enter")
        assert s.place.session == "s-child"
        assert s.main.scene.view.row.session == "s-child"
        await s.press("ctrl+o")
        assert s.main.scene.view.row.session == "s-main"
        assert s.place.turn == 12


async def test_palette_goes_to_a_turn_by_number(size):
    async with running(size=size) as s:
        await s.press("colon", "7")
        await s.pilot.pause(0.5)
        await s.press("enter")
        await s.pilot.pause(0.3)
        assert s.place.turn == 7


async def test_copies_the_block_escaped_and_the_permalink():
    async with running(size=WIDE) as s:
        await s.press("end", "y")
        text = s.main.scene.view.text(s.main.query_one(BlockList).current.content)
        assert s.app.clipboard
        assert "\x1b" not in s.app.clipboard
        assert len(s.app.clipboard) >= len(text)
        await s.press("Y")
        assert s.app.clipboard.startswith("ctxview trace.jsonl --session s-main --turn 12 --block b")


async def test_zoom_gives_the_list_all_and_takes_it_back():
    async with running(size=WIDE) as s:
        pane = s.main.query_one(DetailPane)
        width = pane.size.width
        await s.press("plus", "plus")
        assert not pane.display
        await s.press("_", "_", "_")
        assert pane.size.width > width


async def test_clicks_pick_rows_and_turns(size):
    async with running(size=size) as s:
        await s.pilot.click("#blocks", offset=(30, 1))
        assert s.main.query_one(BlockList).cursor == 1
        await s.pilot.click("#timeline", offset=(7, 2))
        await s.settle()
        assert s.place.turn == 1


async def test_help_lists_every_key():
    async with running(size=(120, 60)) as s:
        await s.press("?")
        text = "\n".join("".join(t for t, _ in line.words) for line in s.app.screen.report.lines)
        for key in KEYS:
            assert key.shown in text
            assert key.says in text


async def test_a_focus_that_is_not_there_is_said_and_not_a_crash():
    async with running(size=WIDE, focus=Focus(turn=99)) as s:
        assert s.place.turn == 12
        assert "no turn 99" in s.text()


async def test_q_quits_with_zero():
    async with running() as s:
        await s.press("q")
        assert s.app.return_code == 0


async def test_what_a_turn_key_leaves_undrawn_is_what_did_not_change(size):
    """A turn draws only rows that changed. After every step the screen shows what drawing all of it shows."""
    async with running(size=size) as s:
        for key in ("g", *"lllllllllll", *"hhhh", "j", "l", "k", "h", "bracketleft", "bracketright", "G", "end", "h"):
            await s.press(key)
            kept = s.lines()
            for widget in s.app.screen.query("*"):
                widget.refresh()
            await s.settle()
            assert kept == s.lines(), key


async def test_a_trace_opens_at_what_stands_now():
    async with running(focus=Focus(turn=NOW)) as s:
        assert s.place.turn == s.main.scene.view.now
        assert "now, after turn 12" in s.text()


async def test_a_click_beside_the_last_shown_key_presses_none():
    async with running() as s:
        keys = s.lines()[-1]
        end = len(keys.rstrip())
        assert end < 78, "the next key had no room"
        for x in range(end + 1, 80):
            await s.pilot.click(offset=(x, 23))
        assert s.app.screen is s.main
        assert s.place.query is None
        await s.pilot.click(offset=(end - 2, 23))
        await s.settle()
        assert "Budget" in s.text(), "the last one that is shown"


async def test_the_permalink_names_every_file_of_the_trace():
    app = CtxviewApp(opener(make_trace()), "a.jsonl +1", Focus(base="history"), traces=("a.jsonl", "b c.jsonl"))
    async with app.run_test(size=NARROW) as pilot:
        while app.main is None:
            await pilot.pause(0.02)
        await pilot.press("Y")
        assert app.clipboard.startswith("ctxview a.jsonl 'b c.jsonl' --session s-main --turn 12 ")
        assert app.clipboard.endswith("--stack recorded --base history")


async def test_of_two_sessions_asked_for_the_last_is_shown_whichever_is_read_first():
    first, child = make_trace().views
    other = make_view(turns=2, cut_every=0, row=session_row("s-other", title="Other"))
    go, begun, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow(FakeTrace):
        def view(self, session_id):
            if session_id == "s-child":
                begun.set()
                go.wait(5)
                ended.set()
            return super().view(session_id)

    async with running(Slow("t", (first, child, other))) as s:
        for wanted in ("s-other", "s-main"):
            for event in (go, begun, ended):
                event.clear()
            s.main.open_session("s-child")
            while not begun.is_set():
                await s.pilot.pause(0.02)
            s.main.open_session(wanted)
            await s.pilot.pause(0.2)
            go.set()
            while not ended.is_set():
                await s.pilot.pause(0.02)
            await s.pilot.pause(0.2)
            assert s.place.session == wanted
