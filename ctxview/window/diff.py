"""What differs between two windows: of two turns, or of two stacks at one turn."""

from __future__ import annotations

from dataclasses import dataclass

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


def diff_windows(a: SessionView, turn_a: int, b: SessionView, turn_b: int) -> Diff:
    """Compare the window of `a` at `turn_a` with that of `b` at `turn_b`; both views are of one session.

    Blocks are told apart by id: what two stacks put in can have the same number.
    """
    first, second = a.window(turn_a), b.window(turn_b)
    in_first = {w.block.id: w for w in first}
    in_second = {w.block.id: w for w in second}

    def same(x: WindowBlock, y: WindowBlock) -> bool:
        if x.block.id != y.block.id or x.span.form != y.span.form:
            return False
        if x.span.content < 0 or y.span.content < 0:  # each stack numbers the texts it wrote for itself
            return a.text(x.span.content) == b.text(y.span.content)
        return x.span.content == y.span.content

    shared = 0
    breaks_at: WindowBlock | None = None
    for index, block in enumerate(second):
        if index >= len(first) or not same(first[index], block):
            breaks_at = block
            break
        shared += block.span.tokens
    total = sum(w.span.tokens for w in second)
    return Diff(
        added=tuple(w for w in second if w.block.id not in in_first),
        removed=tuple(w for w in first if w.block.id not in in_second),
        changed=tuple(
            (in_first[i], w) for i, w in in_second.items() if i in in_first and not same(in_first[i], w)
        ),
        tokens_a=a.size(turn_a),
        tokens_b=b.size(turn_b),
        prefix=Prefix(shared, shared / total if total else None, breaks_at),
    )
