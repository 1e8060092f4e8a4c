"""The one-line widgets: breadcrumb, status and keys. Each draws literal segments, exactly as wide as the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len
from textual.events import Click
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.cells import Part, row
from ctxview.tui.contract import TraceLike
from ctxview.tui.keys import FOOTER
from ctxview.tui.palette import Words, brush

_GAP: Final = " · "


class Line(Widget):
    """One row of words; subclasses say how the words are chosen for a width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Line { height: 1; }"

    def parts(self, width: int) -> list[tuple[str, str]]:
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        paint = brush(self)
        width = self.size.width
        if y:
            return Strip.blank(width, self.visual_style.rich_style)
        words = self.parts(max(0, width - 2))
        parts: list[Part] = [(" ", paint("text")), *((text, paint(ink)) for text, ink in words)]
        return row(parts, width, self.visual_style.rich_style)


def issues_words(trace: TraceLike | None) -> Words:
    """How many issues the trace has and the key that shows them; nothing when there are none."""
    count = len(trace.issues) if trace else 0
    return [(f"{count:,} issue{'s' if count > 1 else ''} ", "warn"), ("e", "accent")] if count else []


def size_of(words: Iterable[tuple[str, str]]) -> int:
    return sum(cell_len(text) for text, _ in words)


class Breadcrumb(Line):
    """Where we are, and at the right end what was wrong with the file."""

    words: Sequence[Words] = ()
    aside: Sequence[tuple[str, str]] = ()

    def show(self, words: Sequence[Words], aside: Words) -> None:
        """`words`: ways to say it, the fullest first; the first that fits is drawn."""
        if (words, aside) != (self.words, self.aside):
            self.words, self.aside = words, aside
            self.refresh()

    def parts(self, width: int) -> Words:
        rest = width - size_of(self.aside)
        words = next((w for w in self.words if size_of(w) + 2 <= rest), self.words[-1] if self.words else [])
        room = rest - size_of(words)
        if room < 2:
            return list(words)
        return [*words, (" " * room, "dim"), *self.aside]


class Status(Line):
    """Sizes of this window in honest words; a message, when there is one, goes before what is least telling."""

    pieces: Sequence[Words] = ()
    message: Sequence[tuple[str, str]] = ()

    def show(self, pieces: list[Words], message: Words) -> None:
        if (pieces, message) != (self.pieces, self.message):
            self.pieces, self.message = pieces, message
            self.refresh()

    def parts(self, width: int) -> Words:
        pieces = list(self.pieces)
        message = list(self.message)
        if message:
            pieces.insert(1, message)
        words: Words = []
        for piece in pieces:
            more: Words = [(_GAP, "dim"), *piece] if words else list(piece)
            if words and size_of(words) + size_of(more) > width and piece is not message:
                break
            words += more
        return words


class KeyLine(Line):
    """The keys a newcomer needs. A click presses the key."""

    keys: Sequence[tuple[str, str, str]] = FOOTER

    def offer(self, keys: str) -> None:
        """Show only those of the letters `keys`."""
        self.keys = [key for key in FOOTER if key[0] in keys]
        self.refresh()

    def _fitting(self, width: int) -> Iterator[tuple[int, tuple[str, str, str]]]:
        """The keys that have room, each with the cell it begins at."""
        at = 0
        for key in self.keys:
            end = at + cell_len(key[0]) + 1 + cell_len(key[1])
            if end > width:
                return
            yield at, key
            at = end + 2

    def parts(self, width: int) -> Words:
        words: Words = []
        for at, (shown, says, _) in self._fitting(width):
            words += [("  ", "dim")] if at else []
            words += [(shown, "accent"), (f" {says}", "dim")]
        return words

    def on_click(self, event: Click) -> None:
        x = event.x - 1
        for at, (shown, says, key) in self._fitting(max(0, self.size.width - 2)):
            if at <= x < at + cell_len(shown) + 1 + cell_len(says):
                self.app.simulate_key(key)
                return


class Title(Line):
    """First or last line of an overlay."""

    def __init__(self, words: Words, classes: str) -> None:
        super().__init__(classes=classes)
        self.words = words

    def show(self, words: Words) -> None:
        self.words = words
        self.refresh()

    def parts(self, width: int) -> Words:
        return self.words


class FilterLine(Line):
    """Over the list, while it is filtered: by what, and how much is left."""

    words: Sequence[tuple[str, str]] = ()

    def show(self, words: Words) -> None:
        self.display = bool(words)
        if words != self.words:
            self.words = words
            self.refresh()

    def parts(self, width: int) -> Words:
        return list(self.words)
