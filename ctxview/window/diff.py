"""What differs between two windows: of two turns, or of two stacks at one turn."""

from __future__ import annotations

from dataclasses import dataclass

from ctxview.model import SpanRow
from ctxview.window.view import SessionView, WindowBlock


@dataclass(frozen=True, slots=True)
class Prefix:
    """The head two windows share byte for byte: what a provider's prompt cache could reuse."""

    shared_tokens: int
    share: float | None
    """Of the second window's counted tokens; None when that window is empty."""
    breaks_at: WindowBlock | None
    """The second window's first block that differs; None when nothing does."""


@dataclass(frozen=True, slots=True)
class Diff:
    added: tuple[WindowBlock, ...]
    """Only in the second window."""
    removed: tuple[WindowBlock, ...]
    """Only in the first."""
    changed: tuple[tuple[WindowBlock, WindowBlock], ...]
    """In both, in another form."""
    tokens_a: int
    tokens_b: int
    prefix: Prefix


def _same(a: SpanRow, b: SpanRow) -> bool:
    return a.block == b.block and a.content == b.content and a.form == b.form


def diff_windows(a: SessionView, turn_a: int, b: SessionView, turn_b: int) -> Diff:
    """Compare the window of `a` at `turn_a` with that of `b` at `turn_b`; both views are of one session."""
    first, second = a.window(turn_a), b.window(turn_b)
    in_first = {w.block.n: w for w in first}
    in_second = {w.block.n: w for w in second}
    shared = 0
    breaks_at: WindowBlock | None = None
    for index, block in enumerate(second):
        if index >= len(first) or not _same(first[index].span, block.span):
            breaks_at = block
            break
        shared += block.span.tokens
    total = sum(w.span.tokens for w in second)
    return Diff(
        added=tuple(w for w in second if w.block.n not in in_first),
        removed=tuple(w for w in first if w.block.n not in in_second),
        changed=tuple(
            (in_first[n], w) for n, w in in_second.items() if n in in_first and not _same(in_first[n].span, w.span)
        ),
        tokens_a=a.size(turn_a),
        tokens_b=b.size(turn_b),
        prefix=Prefix(shared, shared / total if total else None, breaks_at),
    )
