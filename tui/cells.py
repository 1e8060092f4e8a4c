"""Text from a trace as terminal cells: literal, escaped and exactly as wide as asked.

It prevents three mistakes: markup that runs, escape sequences that pass, and rows that push their neighbours aside
because two programs disagree on how wide a character is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from rich.cells import cell_len, set_cell_size
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


def shown_path(path: str, limit: int) -> str:
    """A path as `shown`; of one that is too long only the last part, which tells one trace from another."""
    return shown(path if len(path) <= limit else path.rstrip("/").rpartition("/")[2] or path, limit)


def shown_lines(text: str) -> list[str]:
    """As `shown`, for text that keeps its lines."""
    return visible(safe_text(text)).split("\n")


def visible(clean: str) -> str:
    """Clean text with tabs as spaces and characters of steady width only. Each character is changed by itself."""
    line = clean.replace("\t", "    ")
    return line if line.isascii() else _UNSTEADY.sub("", line)


def raw(line: str) -> str:
    """One line with everything in it spelled out: tabs, joiners and carriage returns too."""
    clean = safe_text(line).replace("\t", "\\t")
    return clean if clean.isascii() else _UNSTEADY.sub(lambda m: f"\\u{ord(m[0]):04x}", clean)


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
    return [line[start:stop] for start, stop in wrap_at(line, width)]


def wrap_at(line: str, width: int) -> list[tuple[int, int]]:
    """As `wrap`: first and one past the last character of each piece."""
    width = max(width, 2)
    found: list[tuple[int, int]] = []
    at, end, plain = 0, len(line), line.isascii()
    while at < end:
        stop = min(end, at + width)
        if not plain:
            stop = _stop(line, at, stop, width)
        if stop < end and line[stop] != " " and (space := line.rfind(" ", at, stop)) - at > width // 2:
            stop = space
        found.append((at, stop))
        at = stop + 1 if stop < end and line[stop] == " " else stop
    return found or [(0, 0)]


def _stop(line: str, at: int, stop: int, width: int) -> int:
    """Where a piece from `at` has to stop to be at most `width` cells; marks that take no cell stay with their base."""
    while (over := cell_len(line[at:stop]) - width) > 0:
        stop -= (over + 1) // 2
    for _ in range(8):
        if stop >= len(line) or cell_len(line[stop]):
            break
        stop += 1
    return max(stop, at + 1)
