"""Texts that clients and frameworks leave where content was: how a shortened block is told from a new one.

Source: policies.md 2.4.
"""

from __future__ import annotations

import re
from typing import Final

from ctxview.model import Form

_PLACEHOLDERS: Final = (
    "[cleared]",
    "[tool result cleared]",
    "[superseded file read]",
    "[old tool result content cleared]",
    "<masked>",
    "content omitted",
    "[tool results:",
    "[tool result removed to free up context.",
    "<tool_output_masked>",
)
_PLACEHOLDER_SHAPES: Final = re.compile(
    r"Old environment output: \(\d+ lines omitted\)|Outdated window with \d+ lines omitted\.\.\.|Skipped \d+ messages\."
)
_TRUNCATIONS: Final = re.compile(r"\[Trimmed: .{0,200}preview\]|…\d+ tokens truncated…|\[clamped: removed \d+ of \d+")


def form_of(new_text: str, old_chars: int) -> Form:
    """The form of a block whose text changed: a placeholder, a truncation, or verbatim (really another text)."""
    head = new_text[:200].strip()
    if head.lower().startswith(_PLACEHOLDERS) or _PLACEHOLDER_SHAPES.match(head):
        return "placeholder"
    if _TRUNCATIONS.search(new_text) or len(new_text) < old_chars:
        return "truncated"
    return "verbatim"
