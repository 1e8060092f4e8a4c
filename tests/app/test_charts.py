"""Figures: what they show, what Plotly makes of them, and that no text gets in unescaped."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from ctxview.app.charts import MOST_BARS, Figure, Series, budget, kinds, label
from ctxview.app.colours import DARK, LIGHT, Palette, palette

HOSTILE = 'x<b onmouseover="x">&amp;<a href="javascript:alert(1)">\x1b</a>'


def figure(turns: int = 20, limit: int | None = 200_000, turn: int = 5, colours: Palette = LIGHT) -> Figure:
    sizes = [0, *(100 * t for t in range(1, turns + 2))]
    recorded = Series("recorded", sizes, [3, 7])
    others = [Series(HOSTILE, [s // 2 for s in sizes], [4]), Series("history", sizes, [])]
    return budget(recorded, others, turn, turns, limit, colours)


def test_a_label_is_shown_as_it_was_written() -> None:
    assert label("<b>a & b</b>") == "&lt;b&gt;a &amp; b&lt;/b&gt;"
    assert label("&lt;") == "&amp;lt;"


def test_no_tag_comes_into_a_figure_but_our_own() -> None:
    text = json.dumps(figure()).replace("<extra></extra>", "")
    assert "<" not in text
    assert "\\u001b" not in text


def test_every_turn_is_a_bar_and_now_as_well() -> None:
    bars = figure()["data"][0]
    assert bars["x"] == list(range(1, 22))
    assert bars["customdata"][-1] == "now"


def test_what_stands_now_is_no_bar_where_its_size_leaves_out_what_is_never_logged() -> None:
    sizes = [0, 50_000, 51_000, 400]
    other = Series("history", [0, 50_000, 52_000, 400], [3])
    found = budget(Series("recorded", sizes, [3]), [other], 3, 2, None, LIGHT, lacks_now=True)
    assert [trace["x"] for trace in found["data"]] == [[1, 2], [1, 2]], "nor a line that falls, nor a cut beside it"
    assert found["layout"]["annotations"][0]["text"] == "now", "the place is still marked"


def test_a_long_run_is_shown_by_its_peaks() -> None:
    sizes = [0] + [10] * 10_001
    sizes[7_777] = 99_000
    found = budget(Series("recorded", sizes, [5, 6, 7_778]), [], 9_999, 10_000, None, DARK)
    bars = found["data"][0]
    assert len(bars["x"]) <= MOST_BARS
    assert 7_777 in bars["x"]
    assert max(bars["y"]) == 99_000
    assert all(a < b for a, b in pairwise(bars["x"]))
    assert 7_778 in found["data"][-1]["x"]


def test_a_limit_far_above_is_named_and_one_that_is_near_is_drawn() -> None:
    far, near = figure(limit=200_000), figure(limit=2_500)
    assert "200,000" in json.dumps(far["layout"]["annotations"])
    assert len(far["layout"]["shapes"]) == 1
    assert [s["y0"] for s in near["layout"]["shapes"]][1:] == [2_500]
    assert near["layout"]["yaxis"]["range"][1] > 2_500


def test_kinds_with_nothing_are_left_out_and_negative_ones_have_room() -> None:
    found = kinds({"system": 10, "user": 0, "unlogged": -40}, None, LIGHT)
    assert found["data"][0]["y"] == ["unlogged", "system"]
    assert found["layout"]["xaxis"]["range"][0] < -40
    kinds({"system": None, "unlogged": None}, {"system": 0, "unlogged": None}, LIGHT)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_plotly_takes_the_figures(colours: Palette) -> None:
    go = pytest.importorskip("plotly.graph_objects", reason="the extra `web` is not installed")
    go.Figure(figure(colours=colours))
    go.Figure(kinds({"system": 10, "unlogged": 5}, {"system": 3, "unlogged": 5}, colours))


def luminance(ink: str) -> float:
    parts = [int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("colours", "page"), [(LIGHT, "#ffffff"), (DARK, "#161513")])
def test_text_in_figures_can_be_read(colours: Palette, page: str) -> None:
    for ink in (colours.text, colours.dim, colours.cut, colours.limit, colours.stack, colours.base, colours.cursor):
        low, high = sorted((luminance(ink), luminance(page)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, ink


def test_the_palette_follows_the_page() -> None:
    assert palette("dark") is DARK
    assert palette("light") is LIGHT
    assert palette(None) is LIGHT
