"""Search: the prompt, and the hits of a query with the one that is stood on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from ctxview.model import SpanRow
from ctxview.text import safe_text
from ctxview.tui.cells import shown
from ctxview.tui.detail import Sought
from ctxview.tui.filters import Filter
from ctxview.tui.lines import Title
from ctxview.window import Hits, Needle, SessionView

if TYPE_CHECKING:
    from ctxview.tui.main_screen import MainScreen

_QUERY_SHOWN: Final = 24
"""Characters of the query in the status line."""


class SearchPrompt(ModalScreen[str | None]):
    """One line at the bottom to type a query into. Enter searches, Esc leaves everything as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def __init__(self, query: str) -> None:
        super().__init__()
        self._query = query

    def compose(self) -> ComposeResult:
        with Vertical(classes="prompt"):
            yield Title(
                [("/", "accent"), (" words in whole texts of this window, else of the session   ", "dim"),
                 ("Enter", "accent"), (" search  ", "dim"), ("Esc", "accent"), (" back", "dim")],
                "title",
            )  # fmt: skip
            yield Input(safe_text(self._query), compact=True, select_on_focus=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_close(self) -> None:
        self.dismiss(None)


def find_near(view: SessionView, query: str, turn: int, stop: Callable[[], bool]) -> Hits:
    """Hits in the window of `turn`; where it holds none, in the whole session."""
    hits = view.find(query, turn, stop)
    return hits if hits.found else view.find(query, None, stop)


def hits_words(count: int, blocks: int) -> str:
    return f"{count:,} hit{'' if count == 1 else 's'} in {blocks:,} block{'' if blocks == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Place:
    """One hit: which block that holds the query, and which hit in its text."""

    at: int
    """Index into `Hits.found`."""
    hit: int
    """From 0."""


class Search:
    """What was looked for, where it was found, and the hit that is stood on. It moves the main screen."""

    def __init__(self, main: MainScreen) -> None:
        self._main = main
        self.hits: Hits | None = None
        self.needle: Needle | None = None
        self._place: Place | None = None

    # ------------------------------------------------------------------ searching

    def ask(self) -> None:
        main = self._main
        main.app.push_screen(SearchPrompt(main.place.query or ""), self._asked)

    def _asked(self, query: str | None) -> None:
        if query:
            self.start(query)
        elif query is not None:
            self.clear()

    def start(self, query: str, *, keep_turn: bool = False, keep_block: bool = False) -> None:
        """Look for `query` at this turn and go to the first hit; or only light and count what is here, when the hit is
        at a turn that is not to be left, or on a block that is not."""
        self.needle, self._place = Needle(query), None
        self._main.place = replace(self._main.place, query=query)
        self._search(query, lambda: self._first(keep_turn, keep_block))

    def clear(self) -> None:
        self.forget(None)
        self._main.place = replace(self._main.place, query=None)
        self._main.redraw()

    def forget(self, query: str | None) -> None:
        """Other windows are shown, which no hit is from: drop what was found, keep what is looked for."""
        self.needle, self.hits, self._place = Needle(query) if query else None, None, None

    def look_again(self) -> None:
        """Find in the windows that are shown now what was looked for before: light it, and move nothing."""
        self._search(self._query, self._main.redraw, quiet=True)

    def _search(self, query: str, then: Callable[[], None], quiet: bool = False) -> None:
        main = self._main
        view, turn = main.scene.view, main.place.turn
        if turn is None:
            return

        def done(hits: Hits) -> None:
            if view is main.scene.view and query == main.place.query:
                self.hits = hits
                then()

        self.hits = None
        if not quiet:
            main.say(f"searching for “{shown(query, _QUERY_SHOWN)}” …", "dim")
        main.ctxview.compute("search", lambda stop: find_near(view, query, turn, stop), done)

    def _first(self, keep_turn: bool = False, keep_block: bool = False) -> None:
        hits = self.hits
        if hits is None or not hits.found:
            self._main.redraw()
            self._main.say(f"no hit for “{shown(self._query, _QUERY_SHOWN)}” in this session", "warn")
            return
        if not keep_block and (not keep_turn or hits.turn is not None):
            self._go(Place(self._from_cursor(1, inclusive=True) or 0, 0))
        else:
            self._main.redraw()
            self._main.say(f"“{shown(self._query, _QUERY_SHOWN)}”: {self._where(hits)}", "warn")

    @property
    def _query(self) -> str:
        return self.needle.query if self.needle else ""

    # -------------------------------------------------------------------- moving

    def step(self, by: int) -> None:
        """The next or previous hit; in another window than the one that was searched, look there first."""
        main, hits = self._main, self.hits
        if self.needle is None:
            main.say("nothing was searched for: / asks", "warn")
        elif hits is None or (hits.turn is not None and hits.turn != main.place.turn):
            if hits is not None or not main.place.query:
                self._search(self._query, lambda: self._step(by))
        else:
            self._step(by)

    def _step(self, by: int) -> None:
        hits, place = self.hits, self._place
        if hits is None or not hits.found:
            self._first()
            return
        wrapped = False
        here = self._main.block_here()
        if place is not None and place.at < len(hits.found) and hits.found[place.at].block == here:
            at, hit = place.at, place.hit + by
            if not 0 <= hit < hits.found[at].count:
                at += by
                wrapped = not 0 <= at < len(hits.found)
                at %= len(hits.found)
                hit = 0 if by > 0 else hits.found[at].count - 1
        else:
            found = self._from_cursor(by)
            wrapped = found is None
            at = found if found is not None else 0 if by > 0 else len(hits.found) - 1
            hit = 0 if by > 0 else hits.found[at].count - 1
        self._go(Place(at, hit), wrapped)

    def _from_cursor(self, by: int, inclusive: bool = False) -> int | None:
        """Index of the first block with a hit after the cursor, or of the last before it."""
        hits, main = self.hits, self._main
        assert hits is not None
        if hits.turn is not None:
            keys, here = [hit.span.pos for hit in hits.found], main.pos_here()
        else:
            block = main.block_here()
            keys, here = [float(hit.block) for hit in hits.found], float("-inf" if block is None else block)
        at = bisect_left(keys, here)
        if by < 0:
            return at - 1 if at > 0 else None
        if not inclusive and at < len(keys) and keys[at] == here:
            at += 1
        return at if at < len(keys) else None

    def _go(self, place: Place, wrapped: bool = False) -> None:
        hits, main = self.hits, self._main
        assert hits is not None
        self._place = place
        hit, view = hits.found[place.at], main.scene.view
        turn = main.place.turn or 1
        block = view.blocks[hit.block].id
        main.jump(_nearest(hit.span, turn, view.now), block)
        hidden = main.block_here() != hit.block
        if hidden:
            main.set_filter(Filter(), block)
        number = sum(h.count for h in hits.found[: place.at]) + place.hit + 1
        around = ", around the end" if wrapped and hits.total > 1 else ""
        around += ", filter taken away" if hidden else ""
        words = f"“{shown(self._query, _QUERY_SHOWN)}” {number:,} of {self._where(hits)}{around}"
        main.redraw()
        main.say(words, "hit")
        main.unfold()

    def _where(self, hits: Hits) -> str:
        where = "of this window" if hits.turn is not None else "of the session, none in the window searched"
        return f"{hits_words(hits.total, len(hits.blocks))} {where}"

    # ------------------------------------------------------------------- showing

    def sought(self, span: SpanRow | None) -> Sought | None:
        """What the detail of a stay has to light and scroll to."""
        if self.needle is None:
            return None
        at = None
        if self.hits is not None and self._place is not None and span is not None:
            hit = self.hits.found[self._place.at]
            if (hit.block, hit.span.content) == (span.block, span.content):
                text = self._main.scene.view.text(span.content)
                places = (start for start, _ in self.needle.places(text))
                at = next((start for i, start in enumerate(places) if i == self._place.hit), None)
        return Sought(self.needle, at)

    @property
    def blocks(self) -> frozenset[int]:
        """Blocks with a hit, as far as the last search tells of the window shown."""
        hits = self.hits
        if hits is None or hits.turn not in (None, self._main.place.turn):
            return frozenset()
        return hits.blocks


def _nearest(span: SpanRow, turn: int, now: int) -> int:
    """The turn closest to `turn` whose window holds a stay."""
    return max(1, span.start, min(turn, span.end - 1, now))
