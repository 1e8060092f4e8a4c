"""One layer at work: changes of its input window in, changes of its output window out.

Three ways: `Recompute` plans from the whole input every turn, `Stepped` keeps the same plan up to date by increments,
`Sticky` goes on from its own output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ctxview.policies.edits import Drop, Drops, Edit, Fail, Insert, Move, Replace, Tag
from ctxview.policies.items import Entry, same
from ctxview.policies.policy import Context, Restart, Step
from ctxview.policies.stack import Layer
from ctxview.policies.window import Window
from ctxview.replay.change import Delta, Restored, Why
from ctxview.replay.inserted import Inserted
from ctxview.replay.order import Ordered, Places, gap
from ctxview.replay.texts import Texts

Overlay = dict[int, tuple[Entry | None, Why]]
"""What a layer makes of its input: None where it drops, an entry where it replaces, moves or inserts."""


class Runner(Protocol):
    """A layer over time."""

    fired: int
    """Turns on which it changed something."""

    def update(self, delta: Delta, ctx: Context) -> Delta: ...


class Tools:
    """What every layer of one replay shares."""

    def __init__(
        self,
        texts: Texts,
        inserted: Inserted,
        tag: Callable[[int, Why], None],
        fail: Callable[[str, int, Fail], None],
    ) -> None:
        self.texts = texts
        self.inserted = inserted
        self.tag = tag
        self.fail = fail


class _Base:
    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        self.layer = layer
        self.policy = layer.policy
        self.label = label
        self.places = places
        self.tools = tools
        self.input = Ordered()
        self.fired = 0
        self._tagged: set[tuple[int | None, str]] = set()
        self._would_grow = False
        self._last: Overlay = {}
        """What stands against the input, for the layers that make it anew."""

    def fires(self, window: Ordered, ctx: Context) -> bool:
        when = self.policy.when
        return when is None or when(window.tokens + ctx.overhead, ctx)

    def overlay(self, edits: Sequence[Edit], window: Ordered, ctx: Context, suffix: str = "") -> Overlay:
        """Edits as what they make of the window."""
        found: Overlay = {}
        gaps: dict[tuple[float, float], list[Insert | Move]] = {}
        tags: set[tuple[int | None, str]] = set()
        for edit in edits:
            match edit:
                case Drops(ns):
                    gone = (None, Why(self.label, edit))
                    for n in ns:
                        found[n] = gone
                case Drop(n):
                    found[n] = (None, Why(self.label, edit))
                case Replace(n):
                    found[n] = (self._replaced(window.by_n[n], edit, ctx), Why(self.label, edit))
                case Insert() | Move():
                    gaps.setdefault(gap(window, edit.where, edit.ref), []).append(edit)
                case Fail():
                    self.tools.fail(self.label, ctx.turn, edit)
                case Tag(n, rule):
                    tags.add((n, rule))
                    if (n, rule) not in self._tagged:
                        self.tools.tag(ctx.turn, Why(self.label, edit))
        self._tagged = tags
        for (low, high), placed in gaps.items():
            for pos, edit in zip(self.places.keys(low, high, len(placed)), placed, strict=True):
                entry = self._inserted(edit, pos, ctx, suffix) if isinstance(edit, Insert) else None
                if isinstance(edit, Move):
                    old = window.by_n[edit.n]
                    entry = Entry(old.item, pos, old.tokens, old.form, old.content, old.covers, old.volatile)
                if entry is not None:
                    found[entry.n] = (entry, Why(self.label, edit))
        return found

    def _replaced(self, old: Entry, edit: Replace, ctx: Context) -> Entry:
        content = self.tools.texts.keep(edit.text)
        tokens = self.tools.texts.size(content, ctx.count) if edit.tokens is None else edit.tokens
        return Entry(old.item, old.pos, tokens, edit.form, content, old.covers, edit.volatile)

    def _inserted(self, edit: Insert, pos: float, ctx: Context, suffix: str) -> Entry:
        content = self.tools.texts.keep(edit.text)
        tokens = self.tools.texts.size(content, ctx.count) if edit.tokens is None else edit.tokens
        if suffix:
            edit = edit._replace(key=edit.key + suffix)
        item = self.tools.inserted.item(self.label, edit, content, tokens, ctx.turn)
        return Entry(item, pos, tokens, edit.form, content, edit.covers)

    def grows(self, found: Overlay, window: Ordered) -> int:
        """Tokens by which the edits would change the window."""
        total = 0
        for n, (entry, _) in found.items():
            old = window.by_n.get(n)
            total += (entry.tokens if entry else 0) - (old.tokens if old else 0)
        return total

    def checked(self, found: Overlay, window: Ordered, ctx: Context) -> Overlay:
        """The overlay, or an empty one with a remark when it would make the window larger."""
        if self.policy.may_grow or self.layer.unsafe or not found:
            return found
        grown = self.grows(found, window)
        if grown <= 0:
            self._would_grow = False
            return found
        edit = Tag(None, "would_grow", f"would add {grown:,} tokens, so nothing was done", {"tokens": grown})
        if not self._would_grow:
            self.tools.tag(ctx.turn, Why(self.label, edit))
        self._would_grow = True
        return {}

    def difference(self, delta: Delta, new: Overlay) -> Delta:
        """The output's changes, when `new` takes the place of the last overlay."""
        last = self._last
        self._last = new
        if not new and not last:
            return delta
        out: Delta = {n: change for n, change in delta.items() if n not in new}
        changed = False
        for n, (entry, why) in new.items():
            before = last.get(n)
            if n in delta or before is None or not same(before[0], entry):
                out[n] = (entry, _with_news(why, before))
                changed = True
        for n in last:
            if n not in new and n not in delta:
                changed = True
                if n in self.input.by_n:
                    out[n] = (self.input.by_n[n], Why(self.label, Restored(n)))
                elif last[n][0] is not None:
                    out[n] = (None, Why(self.label, Drop(n, "withdrawn", "no longer put in", {})))
        self.fired += changed
        return out


class Recompute(_Base):
    """Plans from the whole input window, every turn anew, and says what differs from the turn before."""

    def update(self, delta: Delta, ctx: Context) -> Delta:
        self.input.change(delta)
        new: Overlay = {}
        if self.fires(self.input, ctx):
            edits = self.policy.plan(Window(list(self.input.entries)), ctx)
            if edits:
                new = self.checked(self.overlay(edits, self.input, ctx), self.input, ctx)
        return self.difference(delta, new)


class Stepped(_Base):
    """Keeps a plan up to date. Anything but arrivals at the end starts a new step from the whole window."""

    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        super().__init__(layer, label, places, tools)
        assert self.policy.step is not None
        self._make = self.policy.step
        self._step: Step = self._make(layer.params)
        self._placed: dict[str, tuple[str, int | None, Entry]] = {}
        """Insert key -> where it went. While the window only grows at its end, the place stays right."""

    def update(self, delta: Delta, ctx: Context) -> Delta:
        window = self.input
        by_n, last = window.by_n, self._last
        end = window.entries[-1].pos if window.entries else float("-inf")
        arrived: list[Entry] = []
        added = 0
        """How many of them the window has already: others may have to find their place among them."""
        is_plain, in_other_form = True, False
        for n, (entry, _) in delta.items():
            if entry is None:
                taken = window.take(n)
                is_plain = is_plain and taken is None
            elif n not in by_n and entry.pos > end:
                end = entry.pos
                arrived.append(entry)
            else:
                old = by_n.get(n)
                in_other_form = True
                is_plain = is_plain and old is not None and old.pos == entry.pos and self._step.ignores_forms
                window.extend(arrived[added:])
                added = len(arrived)
                window.put(entry)
                end = window.keys[-1]
        window.extend(arrived[added:])
        if is_plain:
            try:
                edits = self._step.arrive(arrived, ctx)
            except Restart:
                is_plain = False
        if not is_plain:
            return self._again(delta, ctx)
        if not edits and not in_other_form:
            return delta
        out = {n: change for n, change in delta.items() if n not in last} if in_other_form else dict(delta)
        if edits:
            new = self._increment(edits, ctx)
            out.update(new)
            last.update(new)
            self.fired += 1
        return out

    def _increment(self, edits: Sequence[Edit], ctx: Context) -> Overlay:
        """`overlay`, without searching for a place that is known."""
        found: Overlay = {}
        other: list[Edit] = []
        for edit in edits:
            if isinstance(edit, Drops):
                gone = (None, Why(self.label, edit))
                for n in edit.ns:
                    found[n] = gone
            elif isinstance(edit, Insert) and edit.tokens is not None and edit.key in self._placed:
                where, ref, old = self._placed[edit.key]
                if where != edit.where or ref != edit.ref or where == "end":
                    other.append(edit)
                    continue
                content = self.tools.texts.keep(edit.text)
                entry = Entry(old.item, old.pos, edit.tokens, edit.form, content, edit.covers)
                found[old.n] = (entry, Why(self.label, edit))
            else:
                other.append(edit)
        if other:
            placed = self.overlay(other, self.input, ctx)
            for standing, why in placed.values():
                if standing is not None and isinstance(why.edit, Insert):
                    self._placed[why.edit.key] = (why.edit.where, why.edit.ref, standing)
            found |= placed
        return found

    def _again(self, delta: Delta, ctx: Context) -> Delta:
        self._step = self._make(self.layer.params)
        self._placed = {}
        edits = self._step.arrive(self.input.entries, ctx)
        return self.difference(delta, self.overlay(edits, self.input, ctx))


class Sticky(_Base):
    """Goes on from its own output: what it did stays done."""

    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        super().__init__(layer, label, places, tools)
        self._mine: set[int] = set()
        """Blocks in a form that this layer gave them."""
        self._gone: set[int] = set()
        """Blocks of the input that this layer dropped."""

    def update(self, delta: Delta, ctx: Context) -> Delta:
        window = self.input  # the output of the turn before, to which the input's changes come
        out: Delta = {}
        for n, (entry, why) in delta.items():
            if entry is None:
                self._gone.discard(n)
                self._mine.discard(n)
                window.take(n)
                out[n] = (None, why)
            elif n not in self._gone and n not in self._mine:
                window.put(entry)
                out[n] = (entry, why)
        if not self.fires(window, ctx):
            return out
        edits = self.policy.plan(Window(list(window.entries)), ctx)
        if not edits:
            return out
        new = self.checked(self.overlay(edits, window, ctx, f"-{self.fired + 1}"), window, ctx)
        if not new:
            return out
        self.fired += 1
        for n, (entry, why) in new.items():
            if entry is None:
                self._gone.add(n)
                self._mine.discard(n)
                window.take(n)
            else:
                self._mine.add(n)
                window.put(entry)
            out[n] = (entry, why)
        return out


def _with_news(why: Why, before: tuple[Entry | None, Why] | None) -> Why:
    """An insert's cause, naming only those covered blocks that the turn before did not cover."""
    edit = why.edit
    if not isinstance(edit, Insert) or edit.news is not None or before is None or before[0] is None:
        return why
    known = set(before[0].covers)
    return Why(why.layer, edit._replace(news=tuple(n for n in edit.covers if n not in known)))


def runner(layer: Layer, label: str, places: Places, tools: Tools, *, naive: bool = False) -> Runner:
    """The cheapest runner with the layer's outcome. `naive` plans from scratch wherever the mode allows."""
    if layer.mode == "sticky":
        return Sticky(layer, label, places, tools)
    if layer.policy.step is not None and not naive:
        return Stepped(layer, label, places, tools)
    return Recompute(layer, label, places, tools)
