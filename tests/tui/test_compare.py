"""Marks and the comparison of two turns: its numbers, its two layouts and its way back."""

from __future__ import annotations

import pytest
from fake import FakeTrace, make_view
from rich.cells import cell_len
from running import NARROW, WIDE, running

from ctxview.focus import Focus
from ctxview.tui.compare import CompareScreen, compare, compare_report
from ctxview.tui.facts import make_scene
from ctxview.tui.strip import Timeline
from ctxview.window import diff_windows


async def test_a_mark_is_set_shown_and_jumped_to(size):
    async with running(size=size) as s:
        await s.press("'")
        assert "m marks one" in s.text()
        await s.press("h", "h", "m")
        assert "turn 10 is marked" in s.text()
        await s.press("g")
        assert "m" in s.lines()[5]
        await s.press("'")
        assert s.place.turn == 10
        await s.press("m")
        assert "taken away" in s.text()
        assert s.main.query_one(Timeline).mark is None


async def test_d_compares_with_the_mark_else_with_the_turn_before(size):
    async with running(size=size) as s:
        await s.press("d")
        assert isinstance(s.app.screen, CompareScreen)
        assert "Turn 11 → turn 12" in s.text()
        await s.press("d")
        assert s.app.screen is s.main
        await s.press("h", "h", "h", "m", "G", "d")
        diff = diff_windows(s.main.scene.view, 9, s.main.scene.view, 12)
        text = s.text()
        assert f"Turn 9 → turn 12: {diff.tokens_a:,} → {diff.tokens_b:,} tokens" in text
        assert f"Δ {diff.tokens_b - diff.tokens_a:+,}" in text
        assert f"+ {len(diff.added)}" in text
        assert f"- {len(diff.removed)}" in text
        assert f"{diff.prefix.shared_tokens:,} tokens counted" in text
        await s.press("escape", "g", "'")
        assert s.place.turn == 9


async def test_the_first_turn_has_nothing_before_it():
    async with running(size=WIDE, focus=Focus(turn=1)) as s:
        await s.press("d")
        assert "no turn before this one" in s.text()


async def test_a_line_leads_to_its_block_in_the_window_that_holds_it():
    async with running(size=WIDE, focus=Focus(turn=5)) as s:
        await s.press("d")
        report = s.app.screen.report
        removed = next(i for i, line in enumerate(report.lines) if line.words and line.words[0][0] == "- ")
        s.app.screen.body.cursor = removed
        await s.press("enter")
        assert s.place.turn == 4
        assert s.place.block == report.lines[removed].goto.block


@pytest.mark.parametrize("width", [60, 80, 119, 120, 160, 200])
def test_lines_fit_the_screen_and_name_every_difference(width):
    view = make_view(turns=12)
    scene = make_scene(view)
    made = compare(view, 9, 11)
    report = compare_report(scene, made, Focus(), width)
    marks = [line.mark for line in made.lines]
    assert (marks.count("+"), marks.count("-"), marks.count("~")) == (
        len(made.diff.added), len(made.diff.removed), len(made.diff.changed)
    )  # fmt: skip
    for line in report.lines[4:]:
        assert sum(cell_len(text) for text, _ in line.words) <= width - 4
    assert any("│" in text for line in report.lines for text, _ in line.words) == (width >= 120)
    same = sum(line.blocks for line in made.lines if line.mark == " ")
    assert same + len(made.diff.added) + len(made.diff.changed) == len(view.spans_at(11))


async def test_growing_the_terminal_puts_the_windows_side_by_side():
    async with running(FakeTrace("t", (make_view(),)), size=NARROW) as s:
        await s.press("d")
        assert "turn 12 · " not in s.text()
        await s.pilot.resize_terminal(*WIDE)
        await s.settle()
        assert "turn 12 · " in s.text()
