"""A layer that keeps its plan up to date by increments: the outcome of planning anew, in less time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from ctxview.policies.edits import Drops, Edit, Insert, Renew, Replace, Restored
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context
from ctxview.policies.stack import Layer
from ctxview.policies.step import Restart, Shed, Step, Stretch
from ctxview.replay.change import Delta, Why
from ctxview.replay.layer import Few, LayerBase, Overlay, Tools
from ctxview.replay.order import Places


class Stepped(LayerBase):
    """Keeps a plan up to date. Anything but arrivals at the end starts a new step from the whole window."""

    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        super().__init__(layer, label, places, tools)
        assert self.policy.step is not None
        self._make = self.policy.step
        self._step: Step = self._make(layer.params)
        self._placed: dict[str, Entry] = {}
        """What was put in, by its key. While the window only grows at its end, the place stays right."""
        self._is_spent = False
        """The step was not told of what arrived."""
        self._waiting: list[Entry] = []
        """What has arrived and is not yet in `input`: few turns have to look at it."""
        self._gone: tuple[None, Why] | None = None
        """What the last drops came to: the next ones mostly have the same rule, reason and evidence."""

    def shed(self, stretch: Stretch, ctx: Context) -> Shed | None:
        """The session's first stretch at once; None when its turns have to be told one by one."""
        return self._step.shed(stretch, ctx)

    def heeds(self, stretch: Stretch, ctx: Context) -> Collection[int] | None:
        """Turns of the first stretch that the layer has to be told of; None for all."""
        return self._step.heeds(stretch, ctx)

    def miss(self, arrivals: Sequence[Sequence[Entry]]) -> None:
        """What arrives on turns that the layer need not be told of."""
        for entries in arrivals:
            self._waiting += entries

    def placed(self, key: str) -> Entry:
        """What was put in under a key, as it stands."""
        return self._placed[key]

    def place(self, entry: Entry) -> None:
        """Something that was put in says something new."""
        self._placed[self.tools.inserted.key(entry.n)] = entry

    def put(self, edits: Sequence[Edit], arrivals: Sequence[Sequence[Entry]], ctx: Context) -> Delta:
        """What inserts come to in the window that those arrivals make."""
        for entries in arrivals:
            self.input.extend(entries)
        found = self._put(edits, ctx)
        self._last.update(found)
        return cast("Delta", found)

    def spend(self, gone: Overlay, arrivals: Sequence[Sequence[Entry]]) -> None:
        """Whatever comes next, the plan has to start anew: its step was told of nothing."""
        self._is_spent = True
        for entry in self._placed.values():
            self._last[entry.n] = (entry, self._last[entry.n][1])
        self._last.update(gone)
        for entries in arrivals:
            self._waiting += (e for e in entries if e.n not in self.input.by_n)

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit] | None:
        """What entries that arrive at the end, and nothing else, bring about, for `take`; None: begin anew."""
        self._waiting += entries
        if self._is_spent:
            return None
        try:
            edits = self._step.arrive(entries, ctx)
        except Restart:
            return None
        if edits:
            self.fired[ctx.turn] = None
        return edits

    def take(self, edits: Sequence[Edit] | None, ctx: Context) -> Delta:
        """The output's changes beside the arrivals."""
        if edits is None:
            return self._again({}, ctx)
        return self._increment(edits, ctx) if edits else {}

    def few(self, edits: Sequence[Edit]) -> Few | None:
        """Edits that are no more than drops and at most a renewal, as a record takes them; None for others."""
        drops = edits[0]
        if type(drops) is not Drops:
            return None
        renewed = None
        if len(edits) > 1:
            renew = edits[1]
            if len(edits) > 2 or type(renew) is not Renew:
                return None
            renewed = self._renewed(renew)
            self._last[renewed[0].n] = renewed
        gone = self._dropped(drops)
        self._last.update(dict.fromkeys(drops.ns, gone))
        return drops.ns, gone[1], renewed

    def _renewed(self, edit: Renew) -> tuple[Entry, Why]:
        old, insert = self._placed[edit.key], edit.insert
        (content,) = self.tools.texts.numbered(insert, (edit.number,))
        return Entry(old.item, old.pos, edit.tokens, old.form, content), Why(self.label, edit)

    def _standing(self, n: int) -> Entry:
        known = self.input.by_n.get(n)
        return self.tools.arrived[n][1] if known is None else known  # what waits has come quietly

    def left(self, n: int) -> Entry | None:
        made = self._last.get(n)
        if made is not None:
            return made[0]
        return self.input.by_n.get(n) or next((e for e in reversed(self._waiting) if e.n == n), None)

    def _catch_up(self) -> None:
        if self._waiting:
            self.input.extend(self._waiting)
            self._waiting = []

    def update(self, delta: Delta, ctx: Context) -> Delta:
        self._catch_up()
        window = self.input
        by_n, last = window.by_n, self._last
        end = window.entries[-1].pos if window.entries else float("-inf")
        arrived: list[Entry] = []
        added = 0
        """How many of them the window has already: others may have to find their place among them."""
        is_plain = True
        reformed: list[Entry] = []
        for n, (entry, _) in delta.items():
            if entry is None:
                taken = window.take(n)
                is_plain = is_plain and taken is None
            elif n not in by_n and entry.pos > end:
                end = entry.pos
                arrived.append(entry)
            else:
                old = by_n.get(n)
                is_plain = is_plain and old is not None and old.pos == entry.pos
                reformed.append(entry)
                window.extend(arrived[added:])
                added = len(arrived)
                window.put(entry)
                end = window.keys[-1]
        window.extend(arrived[added:])
        if is_plain and not self._is_spent:
            try:
                edits = [*(self._step.reform(reformed, ctx) if reformed else ()), *self._step.arrive(arrived, ctx)]
            except Restart:
                is_plain = False
        if not is_plain or self._is_spent:
            return self._again(delta, ctx)
        if not edits and not reformed:
            return delta
        let_go = {edit.n for edit in edits if isinstance(edit, Restored) and edit.n in delta}
        out = {n: change for n, change in delta.items() if n not in last or n in let_go} if reformed else dict(delta)
        if edits:
            out.update({n: change for n, change in self._increment(edits, ctx).items() if n not in let_go})
            if len(edits) > len(let_go):
                self.fired[ctx.turn] = None
        return out

    def _increment(self, edits: Sequence[Edit], ctx: Context) -> Delta:
        """What new edits change, added to the overlay; without searching for a place that is known."""
        found: Overlay = {}
        back: Delta = {}
        other: list[Edit] = []
        for edit in edits:
            if isinstance(edit, Drops):
                gone = self._dropped(edit)
                for n in edit.ns:
                    found[n] = gone
            elif isinstance(edit, Restored):
                del self._last[edit.n]
                back[edit.n] = (self._standing(edit.n), Why(self.label, edit))
            elif isinstance(edit, Renew):
                entry, why = self._renewed(edit)
                found[entry.n] = (entry, why)
            else:
                other.append(edit)
        if other:
            if not all(isinstance(edit, Replace) for edit in other):
                self._catch_up()  # a place has to be found
            found |= self._put(other, ctx)
        self._last.update(found)
        return {**back, **found} if back else cast("Delta", found)

    def _dropped(self, edit: Drops) -> tuple[None, Why]:
        last = self._gone
        if last is None or edit[1:] != last[1].edit[1:]:
            last = self._gone = (None, Why(self.label, edit._replace(ns=())))
        return last

    def _again(self, delta: Delta, ctx: Context) -> Delta:
        self._catch_up()
        self._step = self._make(self.layer.params)
        self._is_spent = False
        self._placed = {}
        edits = self._step.arrive(self.input.entries, ctx)
        return self.difference(delta, self._put(edits, ctx), ctx.turn)

    def _put(self, edits: Sequence[Edit], ctx: Context) -> Overlay:
        found = self.overlay(edits, self.input, ctx)
        for entry, why in found.values():
            if entry is not None and isinstance(why.edit, Insert):
                self._placed[why.edit.key] = entry
        return found
