"""Which pins and values each window holds, and from which turn one is lost.

When a pin stands is said in `ctxview.window.absence`: one rule for the recorded windows and for every stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from ctxview.ledger.encoding import holds_value
from ctxview.model import NEVER, Pin
from ctxview.policies.facts import Facts
from ctxview.window import SessionView
from ctxview.window.absence import LOSSES as PINS
from ctxview.window.absence import READABLE as READABLE
from ctxview.window.absence import (
    Carrier,
    Standing,
    Stretch,
    carried_stretches,
    carriers_in,
    first_gap,
    joined,
)

LOSSES: Final = (*PINS, "value")
"""What a run can lose, as `replay --json` names it."""


@dataclass(frozen=True, slots=True)
class PinStay:
    """A pin, while it holds."""

    pin: Pin
    start: int
    """First turn on which it has to be there."""
    end: int
    """First turn on which it no longer has to."""
    stood: Sequence[Stretch]
    """When it was there, in order and apart from each other."""

    def gaps(self, until: int) -> Iterator[Stretch]:
        """When it was not, before `until`."""
        at, end = self.start, min(self.end, until)
        for a, b in self.stood:
            if at < min(a, end):
                yield at, min(a, end)
            at = b
        if at < end:
            yield at, end


@dataclass(frozen=True, slots=True)
class Presence:
    """Pins over one session's windows, for turns 0 .. now."""

    present: Sequence[int]
    required: Sequence[int]
    lost: dict[str, int | None]
    """Kind -> first turn on which a required one is absent."""
    first_absence: int | None
    """First turn on which any required pin is absent."""
    stays: Sequence[PinStay]
    """The required pins, by block."""


def presence(view: SessionView, facts: Facts, blocks: int) -> Presence:
    """`blocks`: number of the session's own blocks; those above were put in."""
    now = view.now
    pins = [p for n in range(blocks) for p in facts.pins(n) if p.kind in PINS]
    standing, inserted = Standing(view, pins), carriers_in(view, blocks)
    present, required = [0] * (now + 2), [0] * (now + 2)
    lost: dict[str, int | None] = dict.fromkeys(LOSSES)
    found: list[PinStay] = []
    for pin in pins:
        start, end = max(1, pin.since), min(pin.until, now + 1)
        own = standing.of(pin)
        if start >= end or own is None:
            continue
        _add(required, start, end)
        stood = joined([*own, *carried_stretches(view, pin, inserted)], start, end)
        found.append(PinStay(pin, start, end, stood))
        for a, b in stood:
            _add(present, a, b)
        _lose(lost, pin.kind, stood, start, min(end, now))
    for row in facts.ledger():
        if row.value and row.since < now:
            stood = joined(_value_stretches(view, row.value, inserted, blocks), row.since, now)
            _lose(lost, "value", stood, row.since, now)
    first = min((t for kind, t in lost.items() if t is not None and kind != "value"), default=None)
    return Presence(running(present), running(required), lost, first, found)


def _value_stretches(
    view: SessionView, value: str, inserted: Sequence[Carrier], blocks: int
) -> Iterable[Stretch]:
    known: dict[int, bool] = {}
    for span in view.spans:
        if span.block < blocks and span.start < span.end:
            if span.content not in known:
                text = view.text(span.content)
                known[span.content] = holds_value(text, value)
            if known[span.content]:
                yield span.start, span.end
    for carrier in inserted:
        if not carrier.is_summary and holds_value(carrier.text, value):
            yield carrier.span.start, carrier.span.end


def _lose(lost: dict[str, int | None], kind: str, stood: Sequence[Stretch], start: int, end: int) -> None:
    """Note the first turn from start on, before `end`, that no stretch covers."""
    gap = first_gap(stood, start, end)
    if gap is not None and gap < (lost[kind] or NEVER):
        lost[kind] = gap


def _add(deltas: list[int], start: int, end: int) -> None:
    deltas[start] += 1
    deltas[min(end, len(deltas) - 1)] -= 1


def running(deltas: Sequence[int]) -> list[int]:
    """The sums of what comes and goes by turn; the last delta is that of the turn after all."""
    return list(accumulate(deltas[:-1]))
