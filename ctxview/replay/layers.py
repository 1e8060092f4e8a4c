"""One layer at work: changes of its input window in, changes of its output window out.

Three ways: `Recompute` plans from the whole input every turn, `Stepped` keeps the same plan up to date by increments,
`Sticky` goes on from its own output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, cast

from ctxview.model import EditRow
from ctxview.policies.edits import Aging, Drop, Drops, Edit, Fail, Insert, Move, Renew, Replace, Restored, Tag
from ctxview.policies.items import Entry, same
from ctxview.policies.policy import Context
from ctxview.policies.stack import Layer
from ctxview.policies.step import Restart, Shed, Step, Stretch
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


class _Base:
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


class Recompute(_Base):
    """Plans from the whole input window, every turn anew, and says what differs from the turn before."""

    def left(self, n: int) -> Entry | None:
        made = self._last.get(n)
        return self.input.by_n.get(n) if made is None else made[0]

    def update(self, delta: Delta, ctx: Context) -> Delta:
        self.input.change(delta)
        new: Overlay = {}
        if self.fires(self.input, ctx):
            edits = self.planned(self.input, ctx)
            if edits:
                new = self.checked(self.overlay(edits, self.input, ctx), self.input, ctx)
        return self.difference(delta, new, ctx.turn)


class Stepped(_Base):
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


class Sticky(_Base):
    """Goes on from its own output: what it did stays done."""

    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        super().__init__(layer, label, places, tools)
        self._mine: dict[int, Entry] = {}
        """Blocks in a form or at a place that this layer gave them, as its input has them."""
        self._gone: set[int] = set()
        """Blocks of the input that this layer dropped."""

    def update(self, delta: Delta, ctx: Context) -> Delta:
        window = self.input  # the output of the turn before, to which the input's changes come
        out: Delta = {}
        for n, (entry, why) in delta.items():
            if entry is None:
                self._gone.discard(n)
                self._mine.pop(n, None)
                window.take(n)
                out[n] = (None, why)
            elif n not in self._gone:
                changed = self._changed(entry, isinstance(why, EditRow)) if n in self._mine else entry
                if changed is not None:
                    window.put(changed)
                    out[n] = (changed, why)
        if not self.fires(window, ctx):
            return out
        edits = self.planned(window, ctx)
        if not edits:
            return out
        new = self.checked(self.overlay(edits, window, ctx, f"-{len(self.fired) + 1}"), window, ctx)
        if not new:
            return out
        self.fired[ctx.turn] = self._seen
        for n, (entry, why) in new.items():
            if entry is None:
                self._gone.add(n)
                self._mine.pop(n, None)
                window.take(n)
            else:
                if n in window.by_n:
                    self._mine.setdefault(n, window.by_n[n])
                window.put(entry)
            out[n] = (entry, why)
        return out

    def left(self, n: int) -> Entry | None:
        return self.input.by_n.get(n)

    def _changed(self, entry: Entry, by_log: bool) -> Entry | None:
        """What a change of the input makes of a block that this layer replaced or moved: the log's own edits hold, and
        so does what a layer before makes shorter still. None where the block stands as this layer left it."""
        n = entry.n
        before, mine = self._mine[n], self.input.by_n[n]
        self._mine[n] = entry
        is_longer = mine.content != before.content and entry.tokens > mine.tokens
        if same(before, entry) or (is_longer and not by_log):
            return None
        if mine.pos != before.pos and entry.pos == before.pos:
            covers, volatile, cause = entry.covers, entry.volatile, entry.cause
            return Entry(entry.item, mine.pos, entry.tokens, entry.form, entry.content, covers, volatile, cause)
        del self._mine[n]
        return entry


def _with_news(why: Why, before: tuple[Entry | None, Why] | None) -> Why:
    """An insert's cause, naming only those covered blocks that the turn before did not cover."""
    edit = why.edit
    if not isinstance(edit, Insert) or edit.news is not None or before is None or before[0] is None:
        return why
    known = set(before[0].covers)
    return Why(why.layer, edit._replace(news=tuple(n for n in edit.covers if n not in known)))


def can_sweep(layer: Layer) -> bool:
    """Whether a layer can be told of arrivals alone, with nothing to be looked at on every turn."""
    return _is_stepped(layer) and layer.budget is None


def _is_stepped(layer: Layer) -> bool:
    return layer.mode != "sticky" and layer.policy.step is not None and layer.params.get("above") is None


def runner(layer: Layer, label: str, places: Places, tools: Tools, *, naive: bool = False) -> Runner:
    """The cheapest runner with the layer's outcome. `naive` plans from scratch wherever the mode allows."""
    if layer.mode == "sticky":
        return Sticky(layer, label, places, tools)
    if _is_stepped(layer) and not naive:
        return Stepped(layer, label, places, tools)
    return Recompute(layer, label, places, tools)
