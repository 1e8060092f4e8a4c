"""A block's text in three views, however long it is."""

from __future__ import annotations

import time

import pytest
from fake import HOSTILE, FakeTrace, make_view
from rich.cells import cell_len
from running import NARROW, WIDE, running

from ctxview.tui.cells import shown_lines, wrap
from ctxview.tui.detail import DetailPane
from ctxview.tui.overlays import DetailScreen
from ctxview.tui.text_rows import MOST_CHARS, TextRows, pretty
from ctxview.window import Needle


def trace(text: str) -> FakeTrace:
    return FakeTrace("t", (make_view(turns=2, cut_every=0, texts=[text]),))


async def test_r_goes_through_the_views_and_hash_numbers_lines(size):
    text = '{"command":"ls\\nls",\t"n":[1,2]}'
    async with running(trace(text), size=size) as s:
        await s.press("end")
        if size == NARROW:
            await s.press("r")
            assert "Enter opens the block" in s.text()
            await s.press("enter")
        await s.press("r")
        assert "raw: not wrapped" in s.text()
        assert '"ls\\nls",\\t"n"' in s.text()
        await s.press("r")
        assert "indented as JSON" in s.text()
        assert '  "command": "ls\\nls",' in s.text()
        await s.press("number_sign")
        assert '2   "command"' in s.text()
        await s.press("r")
        assert "JSON" not in s.text().split("── text")[1].splitlines()[0]


async def test_what_is_no_json_has_two_views():
    async with running(trace("{not json"), size=WIDE) as s:
        await s.press("end", "r")
        assert s.main.query_one(DetailPane).mode == "raw"
        await s.press("r")
        assert s.main.query_one(DetailPane).mode == "wrapped"


def test_json_is_indented_only_when_nothing_is_lost():
    assert pretty('{"a": 1}') == '{\n  "a": 1\n}'
    for text in ("[" * 100_000, '{"a": 1, "a": 2}', "12", "", "{", '"x"', "[1" + "0" * 5000 + "]"):
        assert pretty(text) is None, text[:20]


@pytest.mark.parametrize("mode", ["wrapped", "raw"])
def test_rows_hold_the_whole_text_and_no_more_than_the_width(mode):
    for text in HOSTILE:
        rows = TextRows(text, 40, mode)
        rows.reach(None)
        for index in range(len(rows)):
            assert mode == "raw" or sum(cell_len(t) for t, _ in rows.words(index)) <= 40
        if mode == "wrapped":
            expected = [piece for line in shown_lines(text) for piece in wrap(line, 40)]
            assert ["".join(t for t, _ in rows.words(i)) for i in range(len(rows))] == expected


def test_every_hit_is_lit_where_it_stands_whatever_was_escaped_before_it():
    text = "\x1b[2J needle\t\u200dneedle\r\n\x00need\tle NEEDLE " + "用户 " * 30 + "needle"
    needle = Needle("needle")
    for mode in ("wrapped", "raw"):
        for at, _ in needle.places(text):
            rows = TextRows(text, 30, mode, needle, at)
            row = rows.row_of_hit()
            rows.reach(None)
            column = rows.column_of_hit() if mode == "raw" else 0
            seen = [words for i in range(row, len(rows)) for words in rows.words(i, column)]
            assert "".join(t for t, ink in seen if ink == "hit-now").lower() == "needle"
            assert any(ink == "hit-now" for _, ink in rows.words(row, column)), "it begins in that row"
            lit = [t for i in range(len(rows)) for t, ink in rows.words(i) if ink in ("hit", "hit-now")]
            if mode == "wrapped":
                assert "".join(lit).lower() == "needle" * 4


def test_a_very_long_text_is_laid_out_only_as_far_as_one_looks():
    text = "some words of a log line that is long enough to be wrapped twice or so\n" * 200_000
    started = time.process_time()
    rows = TextRows(text, 60)
    rows.reach(50)
    assert time.process_time() - started < 0.5
    assert 50 < len(rows) < 60
    assert rows.after == len(text) - MOST_CHARS
    assert rows.guess > 20_000
    tail = TextRows(text + "needle", 60, "wrapped", Needle("needle"), len(text))
    assert tail.before > 0
    assert "needle" in "".join(t for t, _ in tail.words(tail.row_of_hit()))


@pytest.mark.parametrize("kind", ["line", "words", "lines", "wide"])
async def test_a_megabyte_opens_scrolls_and_ends(kind):
    text = {"line": "x" * 1_000_000, "words": "word " * 200_000, "lines": "line\n" * 200_000, "wide": "用户" * 300_000}[
        kind
    ].strip()
    async with running(trace(text), size=NARROW) as s:
        await s.press("end", "enter")
        pane = s.app.screen.query_one(DetailPane)
        started = time.process_time()
        pane._lay_out()
        assert time.process_time() - started < 1, "laid out as far as it is seen"
        await s.press("space", "space", "j", "k")
        assert pane.scroll_offset.y > 10
        await s.press("G")
        assert pane.scroll_offset.y == pane.max_scroll_y
        last = s.lines()[-2].strip()
        assert last
        await s.press("g")
        assert pane.scroll_offset.y == 0


async def test_raw_text_moves_aside():
    async with running(trace("start " + "x" * 200 + " end of the line"), size=NARROW) as s:
        await s.press("end", "enter", "r")
        assert "end of the line" not in s.text()
        await s.press(*["l"] * 9)
        assert "end of the line" in s.text()
        assert "start x" not in s.text()
        await s.press(*["h"] * 12)
        assert "start x" in s.text()
        assert isinstance(s.app.screen, DetailScreen)
