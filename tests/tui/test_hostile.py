"""Text from a trace is shown as it stands: it runs nothing, formats nothing and moves nothing."""

from __future__ import annotations

import pytest
from fake import HOSTILE, FakeTrace, make_trace, make_view, session_row
from rich.cells import cell_len
from running import WIDE, running

from ctxview.focus import Focus
from ctxview.tui.block_list import BlockList
from ctxview.tui.cells import fit, row, shown, shown_lines, wrap
from ctxview.tui.palette import Brush

CONTROL = {chr(c) for c in (*range(32), *range(127, 160))} - {"\n"}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_row_is_exactly_as_wide_as_asked(width):
    style = Brush(True)("text")
    for text in HOSTILE:
        strip = row([("▌+ ", style), (shown(text), style)], width, style)
        assert strip.cell_length == width
        assert sum(cell_len(s.text) for s in strip) == width
        assert cell_len(fit(shown(text), width)) == width
        for line in (piece for raw in shown_lines(text) for piece in wrap(raw, width)):
            assert cell_len(line) <= width


def test_shown_text_holds_no_control_and_nothing_of_unsteady_width():
    for text in HOSTILE:
        line = shown(text)
        assert not CONTROL & set(line)
        assert not set(line) & {"\u202e", "\u200f", "\ufeff", "\xad", "\u200d", "\ufe0f"}


def test_wrapping_loses_no_text():
    for text in HOSTILE:
        for raw in shown_lines(text):
            assert "".join(wrap(raw, 17)).replace(" ", "") == raw.replace(" ", "")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_markup_is_shown_literally_on_every_screen(size):
    async with running(size=size, focus=Focus(turn=9)) as s:
        for key in ("", "enter", "x", "v", "b", "S", "e"):
            if key:
                await s.press(key)
            lines = s.lines()
            assert {cell_len(line) for line in lines} == {size[0]}, key
            assert not CONTROL & set("".join(lines)), key
            if key:
                await s.press("escape")
        text = s.text()
        assert "[/bold]" in text
        assert ":bug:" in text or size[0] == 80, "a narrow row ends before it"
        assert "[@click=app.quit]here[/]" in text


async def test_a_click_on_action_markup_runs_nothing():
    trace = FakeTrace("t", (make_view(turns=3, cut_every=0, texts=[HOSTILE[1]]),))
    async with running(trace, size=WIDE) as s:
        blocks = s.main.query_one(BlockList)
        for y in range(len(blocks.rows)):
            for x in (45, 60, 70):
                await s.pilot.click("#blocks", offset=(x, y))
        await s.pilot.click("#detail", offset=(10, 14))
        assert s.app.is_running
        assert s.app.return_code is None


async def test_hostile_names_of_sessions_tools_and_files_are_literal():
    view = make_view(row=session_row(title="[/x] \x1b[2J \u202e", agent="[@click=app.quit]a[/]"))
    trace = FakeTrace("t", (view, make_trace().views[1]))
    async with running(trace, size=WIDE) as s:
        assert "[/x] \\x1b[2J \\u202e" in s.text()
        await s.press("S")
        assert "[@click=app" in s.text()
        await s.press("escape", "colon")
        await s.pilot.pause(0.5)
        await s.press("s", "e", "s", "s")
        await s.pilot.pause(0.5)
        assert "[/x]" in s.text()
