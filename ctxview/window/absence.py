"""Which pins a session's windows lack, and from which turn on: one rule for the screen and for `replay`.

A pin stands while its block or a copy of it does, in its own words or flagged; or while a summary, or a text that a
policy put in, carries its quote.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

from ctxview.model import NEVER, Form, Pin, SpanRow
from ctxview.window.table import column, pick
from ctxview.window.view import SessionView

LOSSES: Final = ("goal", "constraint", "preference", "decision", "denial", "approval")
"""Kinds of pins that a run can lose, the gravest first."""
READABLE: Final[frozenset[Form]] = frozenset({"verbatim", "flagged"})

_LEAST_CHARS: Final = 40
"""Of a text that a later block with the same words repeats; shorter ones (`yes`) are said of something else."""
_WRAPPED: Final = re.compile(r"<([\w-]+)(?:\s[^<>]*)?>(.*)</\1>", re.DOTALL)
_LEAST_QUOTED: Final = 12
"""Characters of a quote in a client's summary; a shorter one (`proceed`) may stand there by chance."""

Stretch = tuple[int, int]
"""From a turn up to but not including another."""


class Carrier(NamedTuple):
    """A text in some windows that may carry the words of pinned blocks."""

    span: SpanRow
    text: str
    is_summary: bool
    """The client's own; else a policy put it in."""


@dataclass(frozen=True, slots=True)
class Absence:
    pin: Pin
    turn: int
    """First turn that was sent while the pin held and whose window lacks it."""


class Standing:
    """When the blocks that pins are about stand in a session's windows, in their own words or flagged.

    For a block stand its later copies too: one with the same text, and one that is pinned for the same words (a rule
    that a skill and the client's reminder of it both hold).
    """

    def __init__(self, view: SessionView, pins: Sequence[Pin]) -> None:
        self._view = view
        self._stays = _stays_of(view, {pin.block for pin in pins})
        self._blocks: dict[tuple[str, str | int], set[int]] = {}
        for pin in pins:
            self._blocks.setdefault(_words_of(pin), set()).add(pin.block)
        self._known: dict[tuple[str, str | int], Sequence[Stretch]] = {}

    def of(self, pin: Pin) -> Sequence[Stretch] | None:
        """The stretches of turns, in order; None for what can stand in no window of this run: the client's own
        summary, where the run has none."""
        words = _words_of(pin)
        if words not in self._known:
            blocks = self._view.blocks
            spans = chain.from_iterable(self._stays.get(n, ()) for n in self._blocks[words])
            self._known[words] = joined(
                (
                    (span.start, span.end)
                    for span in spans
                    if span.form in READABLE or span.content == blocks[span.block].content
                ),
                0,
                NEVER,
            )
        found = self._known[words]
        if not found and not self._stays.get(pin.block) and self._view.blocks[pin.block].inserted:
            return None
        return found


def _words_of(pin: Pin) -> tuple[str, str | int]:
    return pin.kind, pin.quote if len(pin.quote) >= _LEAST_QUOTED else pin.block


def absences(view: SessionView, blocks: int) -> list[Absence]:
    """The pins of the kinds in LOSSES that some window lacks, by turn, then as LOSSES has them.

    `blocks`: number of the session's own blocks; those above were put in.
    """
    pins = [p for p in view.facts.pins if p.kind in LOSSES and p.block < blocks]
    standing = Standing(view, pins)
    carriers: Sequence[Carrier] | None = None
    found = []
    for pin in pins:
        start, end = max(1, pin.since), min(pin.until, view.now)
        own = standing.of(pin)
        if own is None:
            continue
        gap = first_gap(joined(own, start, end), start, end)
        if gap is not None:
            carriers = carriers_in(view, blocks) if carriers is None else carriers
            gap = first_gap(joined([*own, *carried_stretches(view, pin, carriers)], start, end), start, end)
        if gap is not None:
            found.append(Absence(pin, gap))
    return sorted(found, key=lambda a: (a.turn, LOSSES.index(a.pin.kind), a.pin.block))


def _stays_of(view: SessionView, wanted: Collection[int]) -> Mapping[int, Sequence[SpanRow]]:
    """The spans of several blocks and of their later copies (a memory file that the client put in again), each block's
    oldest first, in one pass over all blocks and spans."""
    found: dict[int, list[SpanRow]] = {}
    if wanted:
        stands_for = _copies(view, wanted)
        indexes = [i for i, n in enumerate(column(view.spans, "block")) if n in stands_for]
        for span in pick(view.spans, indexes):
            for block in stands_for[span.block]:
                found.setdefault(block, []).append(span)
    return found


def _copies(view: SessionView, wanted: Collection[int]) -> Mapping[int, Sequence[int]]:
    """Block -> the wanted ones whose words it holds: itself, and earlier ones of the same text."""
    contents, chars = column(view.blocks, "content"), column(view.blocks, "chars")
    stands_for = {n: [n] for n in wanted}
    by_content: dict[int, list[int]] = {}
    for n in wanted:
        if chars[n] >= _LEAST_CHARS:
            by_content.setdefault(contents[n], []).append(n)
    for n, content in enumerate(contents):
        for earlier in by_content.get(content, ()):
            if earlier < n:
                stands_for.setdefault(n, []).append(earlier)
    return stands_for


def carriers_in(view: SessionView, blocks: int) -> Sequence[Carrier]:
    """The spans of blocks that a policy put into some window, and of the client's own summaries, with their texts."""
    summaries = {n for n, kind in enumerate(column(view.blocks, "kind")) if kind == "summary"}
    indexes = [i for i, n in enumerate(column(view.spans, "block")) if n >= blocks or n in summaries]
    spans = (s for s in pick(view.spans, indexes) if s.start < s.end)
    return [Carrier(s, view.text(s.content), s.block < blocks) for s in spans]


def carried_stretches(view: SessionView, pin: Pin, carriers: Sequence[Carrier]) -> Iterable[Stretch]:
    """The turns whose windows hold a summary, or a text that a policy put in, with the pin's quote."""
    if not carriers:
        return
    quote = pin.quote.rstrip("…") or _bare(view.text(view.blocks[pin.block].content))
    for span, text, is_summary in carriers:
        least = _LEAST_QUOTED if is_summary else 1
        if least <= len(quote) <= len(text) and quote in text:
            yield span.start, span.end


def _bare(text: str) -> str:
    """A block's own words: without blank ends, and without the one tag that a client put around them all."""
    text = text.strip()
    wrapped = _WRAPPED.fullmatch(text) if text.startswith("<") else None
    return wrapped[2].strip() if wrapped else text


def joined(stretches: Iterable[Stretch], start: int, end: int) -> list[Stretch]:
    """The stretches inside start .. end, overlapping ones as one."""
    found: list[Stretch] = []
    for a, b in sorted(stretches):
        a, b = max(a, start), min(b, end)
        if a >= b:
            continue
        if found and a <= found[-1][1]:
            found[-1] = (found[-1][0], max(b, found[-1][1]))
        else:
            found.append((a, b))
    return found


def first_gap(stood: Sequence[Stretch], start: int, end: int) -> int | None:
    """The first turn from `start` on, before `end`, that no stretch covers; the stretches are `joined`."""
    gap = start
    for a, b in stood:
        if a > gap:
            break
        gap = b
    return gap if gap < end else None
