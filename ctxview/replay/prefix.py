"""How much of each window's head equals the window before: what a prompt cache could read again.

Linear in spans: a turn that only appends is answered from the total, any other from sums over stretches of the order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Final

from ctxview.model import NEVER, SpanRow

_STRETCH: Final = 512


def cached_prefixes(spans: Sequence[SpanRow], now: int, volatile: Collection[int] = ()) -> list[int]:
    """Counted tokens of the head that the windows of t-1 and t share, for t = 0 .. now (0 for the first two).

    `volatile`: content keys of texts that change on every turn.
    """
    starts: dict[int, list[SpanRow]] = {}
    ends: dict[int, list[SpanRow]] = {}
    for span in spans:
        if span.start < span.end:
            starts.setdefault(max(1, span.start), []).append(span)
            if span.end != NEVER:
                ends.setdefault(span.end, []).append(span)
    order = sorted({s.pos for s in spans})
    rank = {pos: i for i, pos in enumerate(order)}
    sums = _Sums(len(order))
    moving: set[float] = set()
    found = [0] * (now + 1)
    total, top = 0, float("-inf")
    for turn in range(1, now + 1):
        came, went = starts.get(turn, ()), ends.get(turn, ())
        cut = min((s.pos for s in came), default=float("inf"))
        cut = min(cut, min((s.pos for s in went), default=float("inf")), min(moving, default=float("inf")))
        if turn > 1:
            found[turn] = total if cut > top else sums.below(bisect_left(order, cut))
        for span in went:
            sums.add(rank[span.pos], -span.tokens)
            total -= span.tokens
            moving.discard(span.pos)
        for span in came:
            sums.add(rank[span.pos], span.tokens)
            total += span.tokens
            if span.content in volatile:
                moving.add(span.pos)
            if span.pos > top:
                top = span.pos
    return found


class _Sums:
    """Sums of numbers by index: adding is constant, asking costs one stretch and the stretches before it."""

    def __init__(self, size: int) -> None:
        self._values = [0] * size
        self._stretches = [0] * (size // _STRETCH + 1)

    def add(self, index: int, value: int) -> None:
        self._values[index] += value
        self._stretches[index // _STRETCH] += value

    def below(self, index: int) -> int:
        stretch = index // _STRETCH
        return sum(self._stretches[:stretch]) + sum(self._values[stretch * _STRETCH : index])
