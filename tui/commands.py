"""The command palette: turns, cuts, sessions and themes by name; `:120` goes to turn 120."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from ctxview.tui.cells import shown
from ctxview.tui.facts import cut_words, turn_words

if TYPE_CHECKING:
    from ctxview.tui.main_screen import MainScreen

_MOST: Final = 50
"""Entries offered per search: a palette is for choosing, not for reading."""


class Places(Provider):
    """Everything one can go to. Texts from the trace are shown as literal `Content`, never highlighted as markup."""

    async def discover(self) -> Hits:
        for index, (text, call) in enumerate(self._all()):
            if index >= _MOST:
                break
            yield DiscoveryHit(Content(text), call, text=text)

    async def search(self, query: str) -> Hits:
        from ctxview.tui.main_screen import MainScreen

        screen = self.screen
        words = query.strip().lower()
        number = words.removeprefix("turn").strip()
        if isinstance(screen, MainScreen) and number.isdecimal() and len(number) < 10:
            turn = max(1, min(int(number), screen.scene.view.now))
            text = turn_words(screen.scene.view, turn)
            yield Hit(1.0, Content(text), lambda: screen.jump(turn), text=text)
        sought = _words_to_find(query)
        if isinstance(screen, MainScreen) and sought:
            yield Hit(1.0, Content(f"search for “{shown(sought, 80)}”"), lambda: screen.search.start(sought))
        found = 0
        for text, call in self._all():
            if all(word in text.lower() for word in words.split()):
                found += 1
                yield Hit(0.5 - found / 1000, Content(text), call, text=text)
                if found >= _MOST:
                    break

    def _all(self) -> Iterator[tuple[str, Callable[[], None]]]:
        from ctxview.tui.main_screen import MainScreen

        screen = self.screen
        if not isinstance(screen, MainScreen):
            return
        scene, trace = screen.scene, screen.trace
        view = scene.view
        if scene.trouble is not None:
            yield f"what went wrong first: {scene.trouble.what}, turn {scene.trouble.turn:,}", screen.action_trouble
        yield f"last turn, {view.last:,}", screen.action_last_turn
        yield "first turn", screen.action_first_turn
        yield "now: what stands after the last turn", _to_turn(screen, view.now)
        yield "search whole texts (also :search WORDS)", screen.action_search
        yield "filter the list by state, kind, tool", screen.action_filter
        yield "mark this turn", screen.action_mark
        yield "go to the marked turn", screen.action_to_mark
        yield "diff with the marked turn, else with the turn before", screen.action_compare
        yield "budget: what fills the window", screen.action_budget
        yield "ledger: what was noted, and whether it was written", screen.action_ledger
        yield "sessions of this trace", screen.action_sessions
        yield "load report", screen.action_report
        yield "copy the command that opens this place", screen.action_permalink
        for cut in view.cuts:
            yield f"cut {cut.n + 1:,} before turn {cut.turn:,}: {cut_words(cut)}", _to_turn(screen, cut.turn)
        if len(trace.sessions) > 1:
            for row in trace.sessions:
                name = shown(row.title or row.agent or row.session, 80)
                yield f"session {name} ({shown(row.session, 40)})", _to_session(screen, row.session)
        yield "theme: dark", lambda: screen.ctxview.use_theme(True)
        yield "theme: light", lambda: screen.ctxview.use_theme(False)


def _words_to_find(query: str) -> str:
    """What stands behind `search` or `/`."""
    for start in ("search ", "/"):
        if query.lower().startswith(start):
            return query[len(start) :].strip()
    return ""


def _to_turn(screen: MainScreen, turn: int) -> Callable[[], None]:
    return lambda: screen.jump(turn)


def _to_session(screen: MainScreen, session: str) -> Callable[[], None]:
    return lambda: screen.open_session(session)
