"""Plain text for a terminal or a pipe: every text of a trace passes `safe_text` or `one_line` here."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Final

import click

from ctxview.text import one_line, safe_text

GLYPHS: Final = {"pinned": "◆", "rolling": "●", "absent": "∅", "doubtful": "?"}


def width() -> int:
    """Columns to fill; 120 where nobody's terminal says."""
    return shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 120


def say(text: str = "") -> None:
    click.echo(safe_text(text))


def number(value: int | None) -> str:
    """Thousands separated; unknown is said so."""
    return "unknown" if value is None else f"{value:,}"


def counted(count: int, thing: str) -> str:
    """So many things, in the plural where it is due."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def tokens(count: int, estimated: bool) -> str:
    """A block's tokens, with `~` where a formula gave them."""
    return f"{'~' if estimated else ''}{count:,}"


def told(text: str, *, kind: str, form: str, note: str | None, is_error: bool) -> str:
    """A block's text behind what the text does not say itself: its form, an error, and how far it can be trusted."""
    words = [f"{form} · " if form not in ("verbatim", kind) else "", "[error] " if is_error else ""]
    return "".join((*words, f"({note}) " if note else "", text))


def percent(part: int | None, whole: int | None) -> str:
    return "" if part is None or not whole else f" ({part / whole:.1%})"


def fit(text: str, cells: int) -> str:
    """`one_line` cut to `cells` terminal cells."""
    line = one_line(text, limit=cells)
    words = line.rstrip("…")
    while words and _cells(line) > cells:
        words = words[: len(words) - max(1, (_cells(line) - cells) // 2)]
        line = words + "…"
    return line


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Aligned columns, two spaces apart; `right` names the columns that hold numbers."""
    widths = [max(_cells(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = []
        for i, cell in enumerate(row):
            pad = " " * (widths[i] - _cells(cell))
            cells.append(pad + cell if i in right else cell + pad)
        lines.append("  ".join(cells).rstrip())
    return lines
