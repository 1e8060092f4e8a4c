"""What every way of running a layer has: its edits as changes of a window, checked, and told from those before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ctxview.policies.edits import Aging, Drop, Drops, Edit, Fail, Insert, Move, Replace, Restored, Tag
from ctxview.policies.items import Entry, same
from ctxview.policies.policy import Context
from ctxview.policies.stack import Layer
from ctxview.policies.window import Window
from ctxview.replay.change import Delta, Why
from ctxview.replay.inserted import Inserted
from ctxview.replay.order import Ordered, Places, gap
from ctxview.replay.texts import Texts

Few = tuple[Sequence[int], Why, tuple[Entry, Why] | None]
"""Blocks that leave and why, and one that was put in and says something new."""
Overlay = dict[int, tuple[Entry | None, Why]]
"""What a layer makes of its input: None where it drops, an entry where it replaces, moves or inserts."""


class Runner(Protocol):
    """A layer over time."""

    fired: dict[int, int | None]
    """Turns on which it changed something, each with the tokens that its trigger saw; None without such a trigger."""

    def update(self, delta: Delta, ctx: Context) -> Delta: ...

    def left(self, n: int) -> Entry | None:
        """A block as it stands in the output; None when it does not."""
        ...


class Tools:
    """What every layer of one replay shares."""

    def __init__(
        self,
        texts: Texts,
        inserted: Inserted,
        tag: Callable[[int, Why], None],
        fail: Callable[[str, int, Fail], None],
        arrived: Mapping[int, tuple[int, Entry]],
    ) -> None:
        """`arrived`: what arrives quietly, by block, with its turn; it names later ones, too."""
        self.texts = texts
        self.inserted = inserted
        self.tag = tag
        self.fail = fail
        self.arrived = arrived


class LayerBase:
    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        self.layer = layer
        self.policy = layer.policy
        self.label = label
        self.places = places
        self.tools = tools
        self.input = Ordered()
        self.fired: dict[int, int | None] = {}
        self._seen: int | None = None
        """The tokens that the trigger saw on this turn."""
        self._tagged: set[tuple[int | None, str]] = set()
        self._would_grow = False
        self._is_on = False
        """Above its border, for a layer that has one."""
        self._last: Overlay = {}
        """What stands against the input, for the layers that make it anew."""

    def fires(self, window: Ordered, ctx: Context) -> bool:
        size = window.tokens + ctx.overhead
        above, begin = self.layer.params.get("above"), self.layer.params.get("from")
        when = self.policy.when
        self._seen = None if above is None and when is None else size
        if above is not None:
            self._is_on = size > (above if begin is None or self._is_on else begin)
            if not self._is_on:
                return False
        return when is None or when(size, ctx)

    def planned(self, window: Ordered, ctx: Context) -> Sequence[Edit]:
        """What the policy makes of the whole window."""
        whole = Window(list(window.entries))
        seen = None if self.policy.sees is None else self.policy.sees(whole, ctx)
        if seen is not None:
            self._seen = seen
        return self.policy.plan(whole, ctx)

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
                    why = Why(self.label, edit)
                    found[n] = (self._replaced(self._standing(n), edit, ctx, why), why)
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
                    covers, volatile = old.covers, old.volatile
                    entry = Entry(old.item, pos, old.tokens, old.form, old.content, covers, volatile, old.cause)
                if entry is not None:
                    found[entry.n] = (entry, Why(self.label, edit))
        return found

    def _standing(self, n: int) -> Entry:
        """A block of the input window."""
        return self.input.by_n[n]

    def _replaced(self, old: Entry, edit: Replace, ctx: Context, why: Why) -> Entry:
        content = self.tools.texts.keep(edit.text)
        tokens = self.tools.texts.size(content, ctx.count) if edit.tokens is None else edit.tokens
        ages = isinstance(edit.text, Aging)
        return Entry(old.item, old.pos, tokens, edit.form, content, old.covers, ages, why)

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

    def difference(self, delta: Delta, new: Overlay, turn: int) -> Delta:
        """The output's changes, when `new` takes the place of the last overlay."""
        last = self._last
        self._last = new
        if not new and not last:
            return delta
        out: Delta = {n: change for n, change in delta.items() if n not in new}
        changed = False
        for n, (entry, why) in new.items():
            before = last.get(n)
            if before is not None and n not in delta and self._reads_alike(before[0], entry):
                new[n] = before
            elif n in delta or before is None or not same(before[0], entry):
                out[n] = (entry, _with_news(why, before))
                changed = True
        for n in last:
            if n not in new and n not in delta:
                changed = True
                if n in self.input.by_n:
                    out[n] = (self.input.by_n[n], Why(self.label, Restored(n)))
                elif last[n][0] is not None:
                    out[n] = (None, Why(self.label, Drop(n, "withdrawn", "no longer put in", {})))
        if changed:
            self.fired[turn] = self._seen
        return out


    def _reads_alike(self, before: Entry | None, entry: Entry | None) -> bool:
        """Whether one written text stands at one place under two keys: once numbered, once as it is."""
        if before is None or entry is None or not before.content != entry.content < 0 > before.content:
            return False
        texts = self.tools.texts
        return (before.form, before.pos) == (entry.form, entry.pos) and texts(before.content) == texts(entry.content)


def _with_news(why: Why, before: tuple[Entry | None, Why] | None) -> Why:
    """An insert's cause, naming only those covered blocks that the turn before did not cover."""
    edit = why.edit
    if not isinstance(edit, Insert) or edit.news is not None or before is None or before[0] is None:
        return why
    known = set(before[0].covers)
    return Why(why.layer, edit._replace(news=tuple(n for n in edit.covers if n not in known)))
