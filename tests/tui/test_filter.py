"""The filter shows what it says it shows, on every turn, until it is taken away."""

from __future__ import annotations

from fake import FakeTrace, make_view
from running import WIDE, running

from ctxview.model import SpanRow
from ctxview.tui.block_list import BlockList
from ctxview.tui.filters import Filter, FilterScreen, choices


def kinds(s) -> list[str]:
    rows = s.main.query_one(BlockList).rows
    return [s.main.scene.view.blocks[r.block].kind for r in rows if isinstance(r, SpanRow)]


async def test_choosing_a_line_filters_by_it_and_says_how_much_is_left(size):
    async with running(size=size) as s:
        whole = len(s.main.scene.view.spans_at(12))
        await s.press("f")
        screen = s.app.screen
        assert isinstance(screen, FilterScreen)
        lines = screen.body.lines
        target = next(i for i, line in enumerate(lines) if any("tool_call" in text for text, _ in line.words))
        while screen.body.cursor < target:
            await s.press("j")
        await s.press("enter")
        assert set(kinds(s)) == {"tool_call"}
        assert f"{len(kinds(s))} of {whole} blocks · kind tool_call" in s.text()
        await s.press("h")
        assert set(kinds(s)) == {"tool_call"}, "it holds from turn to turn"
        await s.press("f")
        assert "tool_result" in kinds(s)
        assert "of blocks" not in s.text()


async def test_marks_of_one_facet_add_up_and_facets_narrow():
    async with running(size=WIDE) as s:
        view = s.main.scene.view
        s.main.set_filter(Filter(kind=frozenset({"tool_call", "tool_result"}), tool=frozenset({"Bash"})))
        assert set(kinds(s)) == {"tool_call", "tool_result"}
        s.main.set_filter(Filter(kind=frozenset({"tool_call"}), state=frozenset({"orphan"})))
        orphans = view.pairing(12).orphan_calls
        assert len(kinds(s)) == len(orphans)
        await s.press("escape")
        assert "user" in kinds(s) or "summary" in kinds(s)


async def test_space_marks_enter_applies_escape_leaves_all_as_it_was():
    async with running(size=WIDE) as s:
        before = kinds(s)
        await s.press("f", "space", "escape")
        assert kinds(s) == before
        await s.press("f", "space", "j", "space")
        chosen = s.app.screen.chosen
        await s.press("enter")
        assert s.main._filter == chosen
        assert (len(chosen.state), len(chosen.kind)) == (1, 1)


async def test_nothing_left_is_no_crash(size):
    async with running(size=size) as s:
        s.main.set_filter(Filter(tool=frozenset({"[/x]"})))
        await s.press("j", "k", "end", "enter", "y", "v", "g", "G", "n", "d", "escape")
        assert "0 of" in s.text()
        assert "tool [/x]" in s.text()


async def test_the_counts_are_those_of_the_window():
    view = make_view(turns=6)
    async with running(FakeTrace("t", (view,)), size=WIDE) as s:
        found = {(c.facet, c.value): c for c in choices(s.main.scene, 6, Filter())}
        window = view.window(6)
        for (facet, value), choice in found.items():
            chosen = Filter(**{facet: frozenset({value})})
            assert choice.blocks == sum(chosen.takes(w.block, w.states) for w in window)
        assert sum(c.tokens for c in found.values() if c.facet == "kind") == view.counted(6)
