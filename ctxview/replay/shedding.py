"""A stretch under which messages only leave, oldest first: recorded many turns at once.

Turns on which repair, guard or the engine's order may have a word are told one by one, like those of any other layer.
"""

from __future__ import annotations

from bisect import bisect_left

from ctxview.policies.edits import Renew
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context
from ctxview.policies.step import Shed
from ctxview.replay.change import Delta, Renewals, Why
from ctxview.replay.prepared import Base
from ctxview.replay.record import Record
from ctxview.replay.stepped import Stepped


class Shedding:
    """One layer's shed on its way into the record."""

    def __init__(self, run: Stepped, shed: Shed, base: Base, record: Record, mended: bool) -> None:
        self._run = run
        self._shed = shed
        self._base = base
        self._record = record
        self._gone = Why(run.label, shed.drops)
        self._next = 0
        """The first event that is not in the record."""
        self._seen = 0
        """The newest turn whose arrivals the layer's input has."""
        end = len(base.stretch.arrivals)
        self.turns = sorted(t for t in {*self._odd(mended), *(base.touchy if mended else ())} if 0 < t < end)
        """Turns of the stretch to stop at."""

    def _odd(self, mended: bool) -> list[int]:
        """Turns on which more happens than that whole groups leave which stood before."""
        shed = self._shed
        bounds, lengths = shed.bounds, shed.messages.lengths
        lows, highs = self._base.extents(shed.messages) if mended else ((), ())
        found = [shed.turns[index] for index in shed.marks]
        begin = bounds[0]
        for index, turn in enumerate(shed.turns, 1):
            end = bounds[index]
            if end > lengths[turn - 1] or (mended and (min(lows[begin:end]) < begin or max(highs[begin:end]) >= end)):
                found.append(turn)
            begin = end
        return found

    def until(self, turn: int, tokens: list[int]) -> None:
        """Record everything before `turn`. `tokens` takes what each turn adds or takes."""
        shed, first = self._shed, self._next
        last = self._next = bisect_left(shed.turns, turn, first)
        if first == last:
            return
        sums, bounds = shed.messages.sums, shed.bounds
        begin = sums[bounds[first]]
        for index in range(first, last):
            end = sums[bounds[index + 1]]
            tokens[shed.turns[index]] += begin - end
            begin = end
        ns = shed.messages.ns[bounds[first] : bounds[last]]
        counts = [bounds[index + 1] - bounds[index] for index in range(first, last)]
        turns = shed.turns[first:last]
        self._record.shed(ns, turns, counts, self._gone, self._base.ground.coming)
        if shed.marks:
            sizes = shed.tokens[first:last]
            for turn, size, before in zip(turns, sizes, [self._run.placed(shed.key).tokens, *sizes]):
                tokens[turn] += size - before
            newest = self._renewed(last - 1)
            contents = self._run.tools.texts.numbered(shed.insert(first), shed.numbers[first:last])
            self._record.renew(turns, contents, sizes, newest, Renewals(self._run.label, shed))
            self._run.place(newest)
        self._run.fired.update(dict.fromkeys(turns))

    def on(self, turn: int, ctx: Context) -> Delta:
        """What leaves on `turn`, after `until`, to be recorded by the caller."""
        shed, index = self._shed, self._next
        if index == len(shed.turns) or shed.turns[index] != turn:
            return {}
        self._next += 1
        self._run.fired[turn] = None
        ns = shed.messages.ns[shed.bounds[index] : shed.bounds[index + 1]]
        delta: Delta = dict.fromkeys(ns, (None, self._gone))
        if index in shed.marks:
            arrivals = self._base.stretch.arrivals[self._seen + 1 : turn + 1]
            self._seen = turn
            delta.update(self._run.put(shed.marks[index][0], arrivals, ctx))
        elif shed.marks:
            entry = self._renewed(index)
            renew = Renew(shed.key, shed.numbers[index], entry.tokens, ns, shed.insert(index))
            delta[entry.n] = (entry, Why(self._run.label, renew))
            self._run.place(entry)
        return delta

    def end(self) -> None:
        """The stretch is over; leave the layer as if it had been told turn by turn."""
        shed = self._shed
        gone = shed.messages.ns[shed.bounds[0] : shed.bounds[-1]]
        self._run.spend(dict.fromkeys(gone, (None, self._gone)), self._base.stretch.arrivals)

    def _renewed(self, index: int) -> Entry:
        """The marker as it stands from a turn on."""
        shed = self._shed
        old = self._run.placed(shed.key)
        (content,) = self._run.tools.texts.numbered(shed.insert(index), (shed.numbers[index],))
        return Entry(old.item, old.pos, shed.tokens[index], old.form, content)
