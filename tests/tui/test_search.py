"""Searching: whole texts, counts with their unit, hits that unfold, and queries that mean themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake import FakeTrace, make_trace, make_view
from running import NARROW, WIDE, running

from ctxview.focus import Focus
from ctxview.ingest import open_trace
from ctxview.tui.block_list import BlockList
from ctxview.tui.detail import DetailPane
from ctxview.tui.filters import Filter
from ctxview.tui.overlays import DetailScreen
from ctxview.tui.policies import PolicyScreen
from ctxview.tui.search import SearchPrompt
from ctxview.window import Needle

U07 = Path(__file__).parent.parent / "data" / "cases" / "U07.jsonl"


async def search(s, query: str) -> None:
    await s.press("slash")
    assert isinstance(s.app.screen, SearchPrompt)
    s.app.screen.query_one("Input").value = query
    await s.press("enter")
    await s.settle()
    await s.settle()


def u07(progress):
    return open_trace([str(U07)], progress, cache=False)


async def test_u07_a_hit_beyond_the_preview_is_found_and_unfolded(size):
    async with running(size=size, open_trace=u07) as s:
        await search(s, "needle-42")
        assert "“needle-42” 1 of 1 hit in 1 block of this window" in s.text()
        assert s.place.block == "r1"
        assert "needle-42 at the very end" in s.text(), "the text is scrolled to it"
        assert isinstance(s.app.screen, DetailScreen) == (size == NARROW)
        assert s.place.query == "needle-42"


async def test_u07_hits_and_blocks_are_counted_with_their_unit():
    async with running(size=WIDE, open_trace=u07) as s:
        await search(s, "line")
        assert "1 of 400 hits in 1 block of this window" in s.text()
        await search(s, "LINE 39")
        assert "1 of 11 hits in 1 block" in s.text(), "39, 390 to 399, in any letter case"


async def test_u07_opens_at_the_hit_that_the_command_names():
    async with running(size=NARROW, open_trace=u07, focus=Focus(query="needle-42")) as s:
        await s.settle()
        assert "needle-42 at the very end" in s.text()
        await s.press("escape", "Y")
        assert s.app.clipboard.endswith("--turn 2 --block r1 --stack recorded --query needle-42")


async def test_next_and_previous_hit_go_through_texts_and_blocks_and_around(size):
    view = make_view(turns=3, cut_every=0, texts=["one fox, two Foxes", "no animal", "a fox"])
    async with running(FakeTrace("t", (view,)), size=size) as s:
        hits = view.find("fox", 3)
        assert hits.total > 3
        await s.press("home")
        await search(s, "fox")
        seen = []
        for number in range(1, hits.total + 1):
            assert f"{number} of {hits.total} hits in {len(hits.blocks)} blocks" in s.text(), number
            seen.append(s.place.block)
            await s.press("n")
        assert len(set(seen)) == len(hits.blocks)
        assert f"1 of {hits.total} hits" in s.text()
        assert "around the end" in s.text()
        await s.press("N")
        assert f"{hits.total} of {hits.total} hits" in s.text()


async def test_next_goes_on_from_the_cursor_and_looks_again_in_another_window():
    view = make_view(turns=3, cut_every=0, texts=["one fox", "no animal", "a fox"])
    async with running(FakeTrace("t", (view,)), size=WIDE) as s:
        await search(s, "fox")
        await s.press("home", "n")
        hits = view.find("fox", 3)
        assert s.place.block == view.blocks[hits.found[0].block].id
        await s.press("h", "n")
        await s.settle()
        assert s.place.turn == 2
        assert f"of {view.find('fox', 2).total} hits" in s.text()


async def test_the_session_is_searched_when_the_window_holds_nothing():
    view = make_view(turns=9, cut_every=5)
    async with running(FakeTrace("t", (view,)), size=WIDE) as s:
        assert not view.find("Never delete [/etc]", 9).found
        await search(s, "Never delete [/etc]")
        assert "1 of 1 hit in 1 block of the session, none in the window searched" in s.text()
        assert s.place.block == "b000000"
        assert s.place.turn == 4, "the nearest turn whose window holds it"


async def test_a_permalink_keeps_its_turn_although_the_hit_is_elsewhere():
    view = make_view(turns=9, cut_every=5)
    focus = Focus(turn=9, query="Never delete [/etc]")
    async with running(FakeTrace("t", (view,)), size=WIDE, focus=focus) as s:
        await s.settle()
        assert s.place.turn == 9
        assert "1 hit in 1 block of the session" in s.text()


async def test_a_permalink_keeps_its_block_although_the_hit_is_on_another():
    async with running(size=NARROW, open_trace=u07, focus=Focus(turn=2, block="u1", query="needle-42")) as s:
        await s.settle()
        assert s.place.block == "u1"
        assert s.app.screen is s.main, "no other block unfolds"
        assert "1 hit in 1 block of this window" in s.text()


async def test_rows_with_a_hit_are_marked_and_escape_takes_it_back():
    async with running(size=WIDE, open_trace=u07) as s:
        await search(s, "needle-42")
        row = s.main.query_one(BlockList).cursor
        rows = [line for line in s.lines() if line.startswith("/")]
        assert len(rows) == 1
        await s.press("escape")
        assert s.place.query is None
        assert not [line for line in s.lines() if line.startswith("/")]
        assert s.main.query_one(BlockList).cursor == row


@pytest.mark.parametrize("query", ["[/x]", "[@click=app.quit]", ".*", "(?i)(", "\\", "[/bold]", "*", "\x1b]52", "%s{}"])
async def test_a_query_means_itself(query, size):
    view = make_trace().views[0]
    async with running(size=size) as s:
        await search(s, query)
        near = view.find(query, 12)
        count = (near if near.found else view.find(query)).total
        assert count == sum(
            text.lower().count(query.lower())
            for text in (view.text(h.span.content) for h in (near if near.found else view.find(query)).found)
        )
        if count:
            assert f" of {count} hit" in s.text()
        else:
            assert "no hit for" in s.text()
        assert "\x1b" not in s.text()
        assert s.app.is_running


async def test_without_a_search_n_says_how_to_start_one():
    async with running() as s:
        await s.press("n")
        assert "/ asks" in s.text()
        await s.press("slash", "escape")
        assert s.app.screen is s.main


async def test_searching_from_the_detail_moves_it_on():
    view = make_view(turns=3, cut_every=0, texts=["one fox, two Foxes", "no animal", "a fox"])
    async with running(FakeTrace("t", (view,)), size=NARROW) as s:
        await s.press("home", "j", "enter")
        await search(s, "fox")
        assert isinstance(s.app.screen, DetailScreen)
        first = s.place.block
        await s.press("n", "n")
        assert s.place.block != first
        assert s.app.screen.item.block == view.block(s.place.block).n
        await s.press("escape")
        assert s.app.screen is s.main


async def test_a_hit_that_the_filter_hides_takes_the_filter_away():
    view = make_view(turns=3, cut_every=0, texts=["one fox", "no animal", "a fox"])
    async with running(FakeTrace("t", (view,)), size=WIDE) as s:
        s.main.set_filter(Filter(kind=frozenset({"user"})))
        await search(s, "fox")
        assert "filter taken away" in s.text()
        assert s.main.block_here() in view.find("fox", 3).blocks


async def test_the_palette_searches_too():
    async with running(size=WIDE, open_trace=u07) as s:
        await s.press("colon", *"search", "space", *"needle")
        await s.pilot.pause(0.5)
        await s.press("enter")
        await s.pilot.pause(0.3)
        await s.settle()
        assert "“needle” 1 of 1 hit" in s.text()


def test_places_and_counts_agree_whatever_the_script():
    for text in ("Straße STRASSE straße", "İstanbul istanbul", "用户 用户", "aAaA", ""):
        for query in ("straße", "i", "用户", "aa", "K", ""):
            needle = Needle(query)
            assert needle.count(text) == len(list(needle.places(text)))


async def test_the_hit_in_a_long_text_is_scrolled_to_in_every_view():
    text = "x\t\x1b[2J line\r\n" * 3000 + "the needle" + "\n tail" * 3000
    view = make_view(turns=2, cut_every=0, texts=[text])
    async with running(FakeTrace("t", (view,)), size=WIDE) as s:
        await search(s, "needle")
        for _ in range(2):
            assert "the needle" in s.text()
            await s.press("r")
        assert s.main.query_one(DetailPane).mode == "wrapped"


async def test_another_session_is_not_searched_with_the_hits_of_the_one_before(size):
    texts = ["alpha"] * 7 + ["needle"] + ["beta"] * 3
    async with running(make_trace(turns=30, texts=texts), size=size) as s:
        await s.press("g")
        await search(s, "needle")
        assert s.main.search.hits.found, "hits whose blocks the other session does not have"
        await s.press(*(["escape"] if size == NARROW else []), "S", "j", "enter")
        await s.settle()
        assert s.place.session == "s-child"
        await s.press("n")
        assert "nothing was searched for" in s.text()
        await s.press("ctrl+o")
        await s.settle()
        assert (s.place.session, s.place.query) == ("s-main", "needle"), "the way back leads to what was looked for too"


async def test_the_next_hit_is_found_after_going_back_to_a_place_from_before_the_search(size):
    async with running(make_trace(cut_every=0), size=size) as s:
        await s.press("g", "G")
        await search(s, "job")
        await s.press(*(["escape"] if size == NARROW else []), "ctrl+o")
        assert s.place.query == "job"
        await s.press("l", "n")
        await s.settle()
        assert "“job” 1 of 1 hit in 1 block" in s.text()


async def test_a_policy_put_on_the_stack_while_something_is_searched_for_moves_nothing(size):
    async with running(size=size, open_trace=u07) as s:
        await search(s, "line")
        await s.press(*(["escape"] if size == NARROW else []), "home")
        here = s.place.block
        await s.press("p", "space")
        await s.settle()
        assert s.place.stack != "recorded"
        assert isinstance(s.app.screen, PolicyScreen), "no block unfolds over the panel"
        await s.press("escape")
        assert s.place.block == here
        assert s.main.search.blocks, "the hits are found anew in the windows of the stack"
