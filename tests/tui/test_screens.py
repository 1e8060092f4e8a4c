"""What is shown when there is little or nothing to show, and in which colours."""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import replace

import pytest
from fake import FakeTrace, make_trace, make_view, opener, turn_row
from rich.color import Color
from running import WIDE, Session, running
from textual.command import CommandPalette

from ctxview.errors import UnreadableError
from ctxview.focus import Focus
from ctxview.tui.app import CtxviewApp
from ctxview.tui.facts import make_scene, status
from ctxview.tui.notice import TooSmall
from ctxview.tui.palette import BACKGROUNDS, GLYPHS, INKS, LIGHT
from ctxview.tui.strip import Timeline, short
from ctxview.window import SessionView


async def test_first_the_bar_then_the_window():
    go = threading.Event()

    def open_trace(progress):
        progress("trace.jsonl", 2_000_000, 4_000_000)
        go.wait(5)
        return make_trace()

    app = CtxviewApp(open_trace, "trace.jsonl", Focus())
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause(0.2)
        text = "\n".join("".join(s.text for s in strip) for strip in app.screen._compositor.render_strips())
        assert "reading trace.jsonl" in text
        assert "2.0 of 4.0 MB" in text
        go.set()
        for _ in range(100):
            await asyncio.sleep(0.02)
            if app.main is not None:
                break
        assert app.main is not None


async def test_the_bar_adds_up_the_bytes_of_all_files_and_says_when_all_are_read():
    go, seen = threading.Event(), threading.Event()
    deep = "/home/dev/" + "deep/" * 12 + "second.jsonl"

    def open_trace(progress):
        progress("first.jsonl", 0, 3_000_000)
        progress("first.jsonl", 3_000_000, 3_000_000)
        progress(deep, 500_000, 1_000_000)
        go.wait(5)
        progress(deep, 1_000_000, 1_000_000)
        seen.wait(5)
        return make_trace()

    app = CtxviewApp(open_trace, deep, Focus())
    async with app.run_test(size=(80, 24)) as pilot:

        def text() -> str:
            return "\n".join("".join(s.text for s in strip) for strip in app.screen._compositor.render_strips())

        await pilot.pause(0.2)
        assert "3.0 of 3.0 MB" in text()
        go.set()
        await pilot.pause(0.2)
        assert "4.0 of 4.0 MB" in text()
        assert "windows are being put together" in text()
        assert "second.jsonl › reading" in text(), "of a long path the part that tells one from another"
        seen.set()
        while app.main is None:
            await pilot.pause(0.02)


async def test_a_long_error_is_shown_whole_with_the_keys_that_do_something():
    cause = "nothing could be read: " + " ".join(f"reason-{n}" for n in range(20))

    def open_trace(progress):
        raise UnreadableError(cause, "name another file")

    async with running(open_trace=open_trace) as s:
        assert all(word in s.text() for word in cause.split())
        assert s.lines()[-1].split() == ["q", "quit", "t", "theme"]


async def test_an_error_says_cause_and_fix_and_sets_the_exit_code():
    def open_trace(progress):
        raise UnreadableError("line 3 of [/x] is no JSON \x1b[2J", "name another file")

    async with running(open_trace=open_trace) as s:
        text = s.text()
        assert "line 3 of [/x] is no JSON \\x1b[2J" in text
        assert "name another file" in text
        await s.press("q")
    assert s.app.return_code == 3


async def test_a_bug_is_shown_and_not_a_traceback():
    def open_trace(progress):
        raise ValueError("broken [/x]")

    async with running(open_trace=open_trace) as s:
        assert "ValueError: broken [/x]" in s.text()
        await s.press("q")
    assert s.app.return_code == 1


@pytest.mark.parametrize("views", [(), (make_view(turns=0, per_turn=0),)])
async def test_nothing_to_show_says_what_to_run(views):
    bare = tuple(type(v)(v.row, (), (), (), (), (), (), str) for v in views)
    async with running(FakeTrace("t", bare, make_trace().files, make_trace().issues)) as s:
        assert "ctxview info" in s.text()
        await s.press("e")
        assert "Load report" in s.text()


async def test_blocks_without_a_turn_are_what_stands_now():
    async with running(FakeTrace("t", (make_view(turns=0),)), size=WIDE) as s:
        assert "now, after turn 0" in s.text()
        assert "Never delete [/etc] data" in s.text()


async def test_too_small_says_so_and_growing_brings_the_screen_back():
    async with running(size=(50, 12)) as s:
        assert isinstance(s.app.screen, TooSmall)
        assert "too small" in s.text()
        await s.pilot.resize_terminal(80, 24)
        await s.settle()
        assert s.app.screen is s.main
        await s.pilot.resize_terminal(59, 24)
        await s.settle()
        assert isinstance(s.app.screen, TooSmall)


async def test_q_quits_where_there_is_no_room():
    async with running(size=(20, 8)) as s:
        assert "q quits" in s.text()
        await s.pilot.press("q")
        await s.pilot.pause()
        assert s.app.return_code == 0
        assert not s.app.is_running


async def test_the_palette_opens_once_and_not_over_the_word_that_there_is_no_room():
    async with running() as s:
        await s.pilot.resize_terminal(40, 10)
        await s.press("colon")
        await s.pilot.resize_terminal(80, 24)
        await s.settle()
        assert s.app.screen is s.main, "growing brings the screen back"
        await s.press("colon")
        assert isinstance(s.app.screen, CommandPalette)
        await s.pilot.resize_terminal(40, 10)
        await s.press("colon")
        assert "too small" in s.text()
        await s.pilot.resize_terminal(80, 24)
        await s.press("escape", "escape")
        assert s.app.screen is s.main


async def test_resizing_keeps_every_row_whole():
    async with running(size=WIDE) as s:
        for width, height in ((61, 16), (109, 30), (110, 30), (200, 60)):
            await s.pilot.resize_terminal(width, height)
            await s.settle()
            assert len(s.lines()) == height
            assert "turn 12/12" in s.lines()[0]


async def test_light_and_dark_take_their_colours_at_once():
    async with running(size=WIDE) as s:
        await s.press("t")
        assert s.app.theme == LIGHT
        backgrounds = {
            seg.style.bgcolor.name for strip in s.app.screen._compositor.render_strips() for seg in strip
            if seg.style and seg.style.bgcolor
        }  # fmt: skip
        assert BACKGROUNDS["surface"][1] in backgrounds
        assert not backgrounds & {BACKGROUNDS["surface"][0], BACKGROUNDS["panel"][0], BACKGROUNDS["cursor"][0]}


async def test_no_color_leaves_greys_only(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(size=WIDE) as s:
        colours = set(re.findall(r"#[0-9a-f]{6}", s.app.export_screenshot().split("<text")[1]))
        assert s.app.no_color
        for strip in s.app.screen._compositor.render_strips():
            for segment in strip.apply_filter(s.app._filters[-1], s.app.screen.styles.background):
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    if colour is not None and colour.triplet is not None:
                        assert len(set(colour.triplet)) == 1
        assert colours is not None
        assert "◆ " in s.text() or "● rolling" in s.text(), "glyph and word say what colour cannot"


def _luminance(colour: str) -> float:
    def channel(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = Color.parse(colour).triplet
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)


@pytest.mark.parametrize("theme", [0, 1], ids=["dark", "light"])
def test_every_ink_can_be_read_on_every_background(theme):
    for ink, colours in INKS.items():
        if ink == "rule":
            continue
        wanted = 3.0 if ink.startswith("fill-") else 4.5
        for name, back in BACKGROUNDS.items():
            if ink.startswith("fill-") and name != "surface":
                continue
            a, b = sorted((_luminance(colours[theme]), _luminance(back[theme])), reverse=True)
            assert (a + 0.05) / (b + 0.05) >= wanted, (ink, name)


def test_every_state_has_a_glyph_and_an_ink():
    assert set(GLYPHS) <= set(INKS)


async def test_status_uses_honest_words():
    async with running(FakeTrace("t", (make_view(recorded=False),)), size=WIDE) as s:
        words = "".join(t for piece in status(s.main.scene, 12) for t, _ in piece)
        assert "counted" in words
        assert "unlogged unknown" in words
        assert "recorded" not in words.replace("policy recorded", "")


def test_a_size_without_its_unlogged_part_is_no_share_of_the_limit():
    view = make_view()
    rows = [turn_row(7, None) if turn.turn == 7 else turn for turn in view.turns]
    partly = SessionView(
        view.row, rows, view.blocks, view.spans, view.edits, view.cuts, (), view.texts, facts=view.facts
    )
    scene = make_scene(partly)
    for turn, is_lacking in ((6, False), (7, True), (8, False), (partly.now, True)):
        words = " ".join("".join(t for t, _ in piece) for piece in status(scene, turn))
        assert ("unlogged part unknown here" in words) == is_lacking, turn
        assert ("%" in words) != is_lacking, turn


async def test_timeline_columns_and_turns_are_inverse_and_peaks_survive():
    view = make_view(turns=500, per_turn=3, cut_every=50)
    async with running(FakeTrace("t", (view,)), size=(80, 24)) as s:
        timeline = s.main.query_one(Timeline)
        seen = []
        for column in range(timeline._width):
            first, stop = timeline._turns(column)
            seen += range(first, stop)
            for turn in range(first, stop):
                start, end = timeline._extent(turn)
                assert start <= column < end
        assert seen == list(range(1, 501))
        top = max(range(1, 501), key=view.size)
        column = timeline._extent(top)[0]
        assert timeline.columns()[column].cells[0][0] != " ", "the largest window reaches the top row"
        assert sum(c.cut for c in timeline.columns()) == 10


def test_short_numbers():
    assert [short(n) for n in (0, 999, 1000, 1500, 15_000, 200_000, 1_000_000, 1_250_000)] == [
        "0", "999", "1k", "1.5k", "15k", "200k", "1M", "1.2M",
    ]  # fmt: skip


async def test_a_long_path_shows_its_last_part_and_a_result_its_tool():
    """Where the log names the tool at the call alone, as Claude Code's does."""
    view = make_view()
    blocks = [replace(b, tool=None) if b.kind == "tool_result" else b for b in view.blocks]
    bare = SessionView(
        view.row, view.turns, blocks, view.spans, view.edits, view.cuts, view.audit, view.texts, facts=view.facts
    )
    path = "/a/long/way/to/where/traces/are/kept/run-17.jsonl"
    app = CtxviewApp(opener(FakeTrace("x", (bare,), (), ())), path, Focus())
    async with app.run_test(size=(80, 24)) as pilot:
        s = Session(app, pilot)
        await pilot.pause()
        await s.settle()
        await pilot.pause()
        assert s.lines()[0].startswith(" run-17.jsonl › turn 12/12")
        assert "← Bash" in s.text()
        assert "← result" not in s.text()
