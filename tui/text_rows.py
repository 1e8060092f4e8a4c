"""A text as rows of a width, laid out only as far as someone looks: a megabyte opens as fast as a line.

Offsets of the text survive into the rows, so that a hit can be scrolled to and lit whatever was escaped before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from ctxview.text import safe_text
from ctxview.tui.cells import raw, visible, wrap_at
from ctxview.tui.palette import Words
from ctxview.window import Needle

Mode: TypeAlias = Literal["wrapped", "raw", "JSON"]
MODES: Final[tuple[Mode, ...]] = ("wrapped", "raw", "JSON")

MOST_CHARS: Final = 2_000_000
"""Characters of one text that are shown, around the hit where there is one; the copy key takes all."""
_MARKS: Final = 5_000
"""Hits lit in one line of a text."""


def pretty(text: str) -> str | None:
    """`text` as indented JSON; None when it is no JSON object or list, or would lose something."""
    if len(text) > MOST_CHARS or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.dumps(json.loads(text, object_pairs_hook=_once), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


class TextRows:
    """The rows of one text."""

    def __init__(
        self, text: str, width: int, mode: Mode = "wrapped", needle: Needle | None = None, at: int | None = None
    ) -> None:
        """`at`: where in `text` the hit begins that one stands on."""
        self.text = text
        self.mode: Mode = mode
        self._needle = needle
        self._width = width
        self._from, stop = _shown_part(text, at)
        self.before, self.after = self._from, len(text) - stop
        """Characters that are not shown."""
        self.lines = text[self._from : stop].split("\n")
        self._now: tuple[int, int] | None = None
        """Line of the current hit, and its place there."""
        if at is not None:
            above = text.count("\n", self._from, at)
            self._now = (above, at - (text.rfind("\n", self._from, at) + 1 if above else self._from))
        self._rows: list[tuple[int, int, int]] = []
        """(line, first, one past the last character of what is shown of it)"""
        self._laid = 0
        self._shown: dict[int, str] = {}
        self._marks: dict[int, list[tuple[int, int, str]]] = {}

    @property
    def complete(self) -> bool:
        return self._laid == len(self.lines)

    def __len__(self) -> int:
        """Rows laid out so far."""
        return len(self._rows)

    @property
    def guess(self) -> int:
        """Rows there will be, about; exact once complete."""
        if self.complete or not self._laid:
            return len(self._rows) or len(self.lines)
        return len(self._rows) + round(len(self._rows) / self._laid * (len(self.lines) - self._laid))

    def reach(self, row: int | None) -> None:
        """Lay out up to and with `row`; None: all."""
        while self._laid < len(self.lines) and (row is None or len(self._rows) <= row):
            line = self._laid
            if self.mode == "raw":
                self._rows.append((line, 0, 0))
            else:
                self._rows += [(line, start, stop) for start, stop in wrap_at(self._line(line), self._width)]
            self._laid += 1

    def row_of_hit(self) -> int | None:
        """The row in which the current hit begins."""
        if self._now is None:
            return None
        line, at = self._now
        while self._laid <= line:
            self.reach(len(self._rows))
        place = len(self._clean(self.lines[line][:at]))
        row = next(i for i, (n, _, _) in enumerate(self._rows) if n == line)
        while row + 1 < len(self._rows) and self._rows[row + 1][0] == line and self._rows[row + 1][1] <= place:
            row += 1
        return row

    def column_of_hit(self) -> int:
        """Characters before the current hit in its line, for a view that does not wrap."""
        return 0 if self._now is None else len(self._clean(self.lines[self._now[0]][: self._now[1]]))

    def number(self, row: int) -> int | None:
        """The line number, for the first row of a line; lines before what is shown count."""
        line, start, _ = self._rows[row]
        first = self.text.count("\n", 0, self._from) if self._from else 0
        return first + line + 1 if start == 0 else None

    def words(self, row: int, column: int = 0) -> Words:
        """What stands in a row. `column`: characters left out at the left of one that does not wrap."""
        line, start, stop = self._rows[row]
        shown = self._line(line)
        if self.mode == "raw":
            start, stop = column, column + self._width
        return list(_lit(shown, start, min(stop, len(shown)), self._lights(line)))

    def cells_wide(self) -> int:
        """Characters of the longest line laid out so far."""
        return max((len(self._line(n)) for n, _, _ in self._rows), default=0)

    def _clean(self, line: str) -> str:
        return raw(line) if self.mode == "raw" else visible(safe_text(line))

    def _line(self, line: int) -> str:
        if line not in self._shown:
            text = self.lines[line]
            if self.mode != "raw" and line < len(self.lines) - 1:
                text = text.removesuffix("\r")  # half a line break of the text, not a character of the line
            self._shown[line] = self._clean(text)
        return self._shown[line]

    def _lights(self, line: int) -> list[tuple[int, int, str]]:
        """Where hits stand in what is shown of a line."""
        if self._needle is None:
            return []
        if line not in self._marks:
            now = self._now[1] if self._now is not None and self._now[0] == line else None
            self._marks[line] = list(self._find_lights(self.lines[line], now))
        return self._marks[line]

    def _find_lights(self, text: str, now: int | None) -> Iterator[tuple[int, int, str]]:
        assert self._needle is not None
        at, place = 0, 0
        for start, stop in islice(self._needle.places(text), _MARKS):
            place += len(self._clean(text[at:start]))
            size = len(self._clean(text[start:stop]))
            yield place, place + size, "hit-now" if start == now else "hit"
            at, place = stop, place + size


def _shown_part(text: str, at: int | None) -> tuple[int, int]:
    if len(text) <= MOST_CHARS:
        return 0, len(text)
    start = max(0, min((at or 0) - MOST_CHARS // 2, len(text) - MOST_CHARS))
    return start, start + MOST_CHARS


def _lit(text: str, start: int, stop: int, lights: list[tuple[int, int, str]]) -> Iterator[tuple[str, str]]:
    at = start
    for first, last, ink in lights:
        if last <= at:
            continue
        if first >= stop:
            break
        if first > at:
            yield text[at:first], "text"
        yield text[max(at, first) : min(last, stop)], ink
        at = min(last, stop)
    if at < stop:
        yield text[at:stop], "text"


def lit_words(words: Words, needle: Needle | None) -> Words:
    """Words with the hits in them lit."""
    if needle is None:
        return words
    found: Words = []
    for text, ink in words:
        lights = [(start, stop, "hit") for start, stop in needle.places(text)]
        found += [(piece, ink if style == "text" else style) for piece, style in _lit(text, 0, len(text), lights)]
    return found
