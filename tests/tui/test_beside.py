"""The recorded window beside the one under a stack: aligned, with one cursor, sizes, and the reason of a difference."""

from __future__ import annotations

from rich.cells import cell_len
from running import NARROW, WIDE, running
from test_policies import goal_of, sample

from ctxview.focus import Focus
from ctxview.tui.beside import BesideScreen, align
from ctxview.tui.stacks import HONEST
from ctxview.tui.strip import Timeline
from ctxview.window import diff_windows


async def test_c_shows_both_windows_their_sizes_and_the_reason(size):
    async with running(open_trace=sample("collapse"), size=size, focus=Focus(stack="pin-goal")) as s:
        await s.press("c")
        assert isinstance(s.app.screen, BesideScreen)
        recorded, other, turn = s.main.stacks.recorded.view, s.main.scene.view, s.place.turn
        diff = diff_windows(recorded, turn, other, turn)
        text = s.text()
        assert f"recorded · {diff.tokens_a:,} tokens" in text
        assert f"pin-goal · {diff.tokens_b:,} tokens · Δ {diff.tokens_b - diff.tokens_a:+,}" in text
        assert HONEST in text
        assert ("│" in s.lines()[10]) == (size == WIDE)
        rows = s.app.screen.body.rows
        wanted = goal_of(s.main)
        goal = next(i for i, line in enumerate(rows) if line.second is not None and line.second.block == wanted)
        assert rows[goal].mark == "+"
        s.app.screen.body.cursor = goal
        await s.settle()
        assert "gone under recorded" in s.text(), "why the recorded window lacks it"
        await s.press("c")
        assert s.app.screen is s.main


async def test_the_cursor_stays_on_its_block_and_leads_back_to_it():
    async with running(open_trace=sample("collapse"), size=WIDE, focus=Focus(stack="pin-goal")) as s:
        await s.press("c", "home", "j")
        block = s.app.screen._block()
        await s.press("h")
        assert s.app.screen.turn == 9
        assert s.app.screen._block() == block
        await s.press("enter")
        assert (s.place.turn, s.place.block) == (9, block)


async def test_a_digest_says_which_policy_put_it_in():
    stack = "compact-groups:max=2000:trigger=0.8:keep=2"
    async with running(open_trace=sample("refund"), size=NARROW, focus=Focus(stack=stack)) as s:
        await s.press("c")
        screen = s.app.screen
        at = next(i for i, line in enumerate(screen.body.rows) if line.mark == "+")
        screen.body.cursor = at
        await s.settle()
        assert "put in by compact-groups" in s.text()
        for line in s.lines():
            assert cell_len(line) == NARROW[0]


async def test_without_a_stack_there_is_nothing_to_compare():
    async with running(size=WIDE) as s:
        await s.press("c")
        assert "nothing to compare" in s.text()


async def test_another_base_can_be_given():
    async with running(open_trace=sample("collapse"), size=WIDE, focus=Focus(stack="pin-goal", base="history")) as s:
        await s.press("c")
        assert "history beside pin-goal" in s.text()


async def test_the_strip_draws_the_recorded_sizes_as_a_line():
    async with running(open_trace=sample("refund"), size=WIDE, focus=Focus(stack="keep-last-n")) as s:
        timeline = s.main.query_one(Timeline)
        drawn = [cell[0] for column in timeline.columns() for cell in column.cells]
        assert set(drawn) & set("─▔▁")
        await s.press("1")
        assert s.place.stack == "recorded"
        assert timeline._beside is None


async def test_aligned_lines_hold_both_windows_in_order():
    async with running(open_trace=sample("refund"), size=WIDE, focus=Focus(stack="compact-groups:max=2000")) as s:
        recorded, other = s.main.stacks.recorded.view, s.main.scene.view
        for turn in range(1, recorded.now + 1):
            _, rows = align(recorded, other, turn)
            assert [r.second for r in rows if r.second is not None] == other.spans_at(turn)
            assert {r.first.block for r in rows if r.first is not None} == {x.block for x in recorded.spans_at(turn)}
