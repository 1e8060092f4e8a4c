"""Text from a trace as terminal cells: literal, escaped and exactly as wide as asked.

It prevents three mistakes: markup that runs, escape sequences that pass, and rows that push their neighbours aside
because two programs disagree on how wide a character is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ctxview.text import one_line, safe_text

Part: TypeAlias = tuple[str, Style]

# Terminals differ on the width of joined emoji, so the parts are shown side by side: nothing here has a picture of
# its own. Variation selectors, the joiner, skin tones, and letters that are blank.
_UNSTEADY: Final = re.compile("[\u034f\u115f\u1160\u200d\u3164\ufe00-\ufe0f\uffa0\U0001f3fb-\U0001f3ff]")


def shown(text: str, limit: int | None = None) -> str:
    """`text` on one line, escaped, with characters of steady width only. Of a long text only the start is looked at."""
    line = one_line(text, limit)
    return line if line.isascii() else _UNSTEADY.sub("", line)


def shown_lines(text: str) -> list[str]:
    """As `shown`, for text that keeps its lines."""
    clean = safe_text(text).expandtabs(4)
    return (clean if clean.isascii() else _UNSTEADY.sub("", clean)).split("\n")


def fit(text: str, width: int) -> str:
    """`text` in exactly `width` cells; what does not fit ends in `…`."""
    if width <= 0:
        return ""
    if text.isascii():
        return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…"


def right(text: str, width: int) -> str:
    """`text` at the right end of `width` cells."""
    short = width - cell_len(text)
    return " " * short + text if short >= 0 else fit(text, width)


def row(parts: Iterable[Part], width: int, base: Style) -> Strip:
    """One line of exactly `width` cells: what is too long is cut, what is missing is blank."""
    segments: list[Segment] = []
    left = width
    for text, style in parts:
        if left <= 0:
            break
        size = cell_len(text)
        if size > left:
            text, size = fit(text, left), left
        segments.append(Segment(text, base + style))
        left -= size
    if left > 0:
        segments.append(Segment(" " * left, base))
    return Strip(segments, width)


def wrap(line: str, width: int) -> list[str]:
    """One line of clean text as lines of at most `width` cells, broken at spaces where that leaves no great gap."""
    width = max(width, 2)
    found: list[str] = []
    at, end, plain = 0, len(line), line.isascii()
    while at < end:
        if plain:
            head = line[at : at + width]
        else:  # a bounded head: one cell per character at least, save combining marks
            head = chop_cells(line[at : at + width + 8], width)[0]
        stop = at + len(head)
        if stop < end and line[stop] != " " and (space := head.rfind(" ")) > width // 2:
            head, stop = head[:space], at + space
        found.append(head)
        at = stop + 1 if stop < end and line[stop] == " " else stop
    return found or [""]
