"""Calls and results in the windows of a session: which stand alone or twice, asked of few blocks of each window."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from ctxview.annotate import Pairing, pair
from ctxview.model import SpanRow
from ctxview.window.stays import Stays
from ctxview.window.table import column, pick

_LONE: Final = -1
_ODD: Final = -2
"""Instead of a partner: the block is no call and no result; other blocks have its call id, or none that fits."""


class Pairs(Stays):
    """Which calls and results of a window do not stand as one call before its one result."""

    def pairing(self, turn: int, spans: Sequence[SpanRow] | None = None) -> Pairing:
        """Orphans and duplicates of the window at `turn`."""
        if spans is None:
            numbers = [self._blocks[i] for i in self.standing(turn)]
        else:
            numbers = [s.block for s in spans]
        if self._scan():
            asked = self._unmatched(numbers)
        else:
            loose = self._loose
            asked = [n for n in numbers if loose[n]]
        found = pair(pick(self.blocks, asked))
        if turn < self.now or not found.orphan_calls:
            return found
        waiting = set()  # calls that may still be answered: nothing but what a policy recites follows them
        own = len(self.base.blocks) if self.base is not None else len(self.blocks)
        for n in reversed(numbers):
            if n < own and self.blocks[n].role != "assistant":
                break
            waiting.add(n)
        return replace(found, orphan_calls=found.orphan_calls - waiting)

    @property
    def irregular(self) -> Sequence[int]:
        """Numbers of the calls and results that do not come and leave as whole pairs: no other is ever an orphan."""
        return [n for n, is_loose in enumerate(self._loose) if is_loose]

    @cached_property
    def _partners(self) -> Sequence[int]:
        """By block: the result that answers a call and the call that a result answers, else _LONE or _ODD."""
        if self.base is not None:
            known = len(self.base.blocks)
            own = self.blocks[known:]
            partners = array("i", self.base._partners)
            partners.extend([_LONE] * len(own))
            copied = {block.call_id for block in own if block.kind in ("tool_call", "tool_result")} - {None}
            if copied:  # a copy stands beside what it was made from
                for block in self.blocks:
                    if block.call_id in copied and block.kind in ("tool_call", "tool_result"):
                        partners[block.n] = _ODD
            return partners
        kinds, ids = column(self.blocks, "kind"), column(self.blocks, "call_id")
        partners = array("i", [_LONE]) * len(self.blocks)
        first: dict[str, int] = {}
        for n, (kind, call) in enumerate(zip(kinds, ids)):
            if call is None or kind not in ("tool_call", "tool_result"):
                continue
            partners[n] = _ODD
            other = first.setdefault(call, n)
            if other in (n, _ODD):
                continue
            if partners[other] == _ODD and (kinds[other], kind) == ("tool_call", "tool_result"):
                partners[n], partners[other] = other, n
                continue
            if partners[other] != _ODD:
                partners[partners[other]] = partners[other] = _ODD
            first[call] = _ODD
        return partners

    def _unmatched(self, numbers: Sequence[int]) -> list[int]:
        """The calls and results of a window, by its blocks in order, that are not one call before its one result."""
        partners = self._partners
        place = dict(zip(numbers, range(len(numbers))))
        found = []
        for at, n in enumerate(numbers):
            partner = partners[n]
            if partner == _LONE:
                continue
            other = place.get(partner, _LONE)
            if other < 0 or (other > at) != (partner > n):
                found.append(n)
        return found

    @cached_property
    def _loose(self) -> Sequence[int]:
        """By block, 1 for a call or result that does not come and leave as a whole pair, as nearly all do."""
        partners = self._partners
        loose = bytearray(map((-1).__gt__, partners))  # _ODD
        first, indexes = self._stays
        starts, ends, places = self._starts, self._ends, self._places
        for call, result in enumerate(partners):
            if result <= call:
                continue
            low, high = first[call], first[result]
            if first[call + 1] - low == first[result + 1] - high == 1:
                a, b = indexes[low], indexes[high]
                is_whole = ends[a] == ends[b] and places[a] < places[b]
                if is_whole and (starts[a] == starts[b] or max(starts[a], starts[b]) <= 1):
                    continue
            loose[call] = loose[result] = 1
        return loose
