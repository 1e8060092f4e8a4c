"""A few centred lines where there is nothing to list: loading, empty, an error, no room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.cells import Part, row, wrap
from ctxview.tui.lines import size_of
from ctxview.tui.palette import Words, brush

SMALLEST: Final = (60, 15)
"""Cells; below this nothing is shown but a word that says so."""


class Notice(Widget):
    """Centred lines of words."""

    ALLOW_SELECT = False
    lines: Sequence[Words] = ()

    def show(self, lines: list[Words]) -> None:
        self.lines = lines
        self.refresh()

    def _rows(self, width: int) -> list[Words]:
        """The lines, with a text that is too long on several rows."""
        rows: list[Words] = []
        for words in self.lines:
            text, ink = words[0] if len(words) == 1 else ("", "")
            rows += [[(part, ink)] for part in wrap(text, width - 4)] if text else [words]
        return rows

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.size.width, self.visual_style.rich_style, brush(self)
        rows = self._rows(width)
        index = y - max(0, (self.size.height - len(rows)) // 2)
        if not 0 <= index < len(rows):
            return Strip.blank(width, base)
        words = rows[index]
        used = size_of(words)
        parts: list[Part] = [(" " * max(0, (width - used) // 2), paint("text"))]
        return row([*parts, *((text, paint(ink)) for text, ink in words)], width, base)


class TooSmall(ModalScreen[None]):
    """Stands over everything while the terminal is smaller than `SMALLEST`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.quit", show=False)]

    def compose(self) -> ComposeResult:
        notice = Notice()
        width, height = SMALLEST
        notice.lines = [
            [("This terminal is too small", "warn")],
            [(f"ctxview needs {width} × {height} cells", "dim")],
            [("q quits", "dim")],
        ]
        yield notice
