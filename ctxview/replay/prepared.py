"""What every replay of one session shares: its items, the changes of both bases, the texts that policies write.

Made once per view and kept as long as the view lives, so that toggling a policy costs the policy alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from weakref import WeakKeyDictionary

from ctxview.ledger.encoding import distinctive_tokens
from ctxview.model import NEVER, TurnRow
from ctxview.policies.items import Entry, Item
from ctxview.policies.step import Messages, Stretch
from ctxview.policies.window import newest_request
from ctxview.replay.arguments import strings
from ctxview.replay.base import history_base, recorded_base
from ctxview.replay.change import Delta
from ctxview.replay.ground import Ground, ground_of, loose
from ctxview.replay.items import items_of
from ctxview.replay.order import Ordered
from ctxview.replay.texts import Texts
from ctxview.window import SessionView
from ctxview.window.limits import limit_of


class Base:
    """What a stack starts from, turn by turn, and what repair and guard have to know of it."""

    def __init__(self, deltas: dict[int, Delta], groups: dict[int, list[Item]], now: int) -> None:
        self.deltas = deltas
        self._groups = groups
        self.now = now
        self._extents: dict[Messages, tuple[Sequence[int], Sequence[int]]] = {}

    @cached_property
    def ground(self) -> Ground:
        """The turns on which blocks only arrive."""
        return ground_of(self.deltas, self.now)

    @cached_property
    def stretch(self) -> Stretch:
        """The turns before the first on which more happens than arrivals."""
        arrivals = self.ground.arrivals
        end = next((turn for turn, entries in enumerate(arrivals) if entries is None), len(arrivals))
        return Stretch([entries or () for entries in arrivals[:end]], self.ground.opened)

    def extents(self, messages: Messages) -> tuple[Sequence[int], Sequence[int]]:
        """For each entry of the stretch's messages: where the first and the last of its turn group stand among them.
        The first is -1 for groups that are not whole at all times."""
        found = self._extents.get(messages)
        if found is None:
            firsts: dict[int, int] = {}
            lasts: dict[int, int] = {}
            groups = [e.item.group if e.item.is_paired else -1 - i for i, e in enumerate(messages.entries)]
            for index, group in enumerate(groups):
                firsts.setdefault(group, index)
                lasts[group] = index
            firsts.update(dict.fromkeys(self.irregular, -1))
            found = self._extents[messages] = [firsts[g] for g in groups], [lasts[g] for g in groups]
        return found

    @cached_property
    def touchy(self) -> frozenset[int]:
        """Turns on which repair or guard may have something to do that nothing but the session itself brings about."""
        arrivals, oldest = self.ground.arrivals, self.oldest
        found = {self.now, *self.loose}
        found.update(t for t, entries in enumerate(arrivals) if not entries or oldest[t] < entries[0].n)
        return frozenset(found)

    @cached_property
    def loose(self) -> dict[int, Delta]:
        """By turn: quiet arrivals that repair has to see."""
        return loose(self.ground, self.irregular)

    @cached_property
    def oldest(self) -> Sequence[int]:
        """By turn: the lowest block number of `requests`; NEVER where nothing is asked."""
        return [min((e.n for e in request), default=NEVER) for request in self.requests]

    @cached_property
    def requests(self) -> Sequence[tuple[Entry, ...]]:
        """By turn: the newest request with the responses that it answers, whole pairs only. Index 0 is unused."""
        window = Ordered()
        found: list[tuple[Entry, ...]] = [()]
        for turn in range(1, self.now + 1):
            delta = self.deltas.get(turn)
            if delta is None:
                found.append(found[-1])
                continue
            window.change(delta)
            found.append(_with_calls(newest_request(window.entries), window.by_n, self._groups))
        return found

    @cached_property
    def pending(self) -> frozenset[int]:
        """Groups of the responses that nothing has followed when the log ends."""
        window = Ordered()
        for turn in sorted(self.deltas):
            window.change(self.deltas[turn])
        found = set()
        for entry in reversed(window.entries):
            if entry.role != "assistant":
                break
            found.add(entry.item.group)
        return frozenset(found)

    @cached_property
    def irregular(self) -> frozenset[int]:
        """Groups that are not whole at all times: all others need a look only when something of them is taken."""
        came: dict[int, tuple[int, int]] = {}
        changed: set[int] = set()
        for turn, delta in self.deltas.items():
            for n, (entry, _) in delta.items():
                if entry is None or (n in came and came[n][1] != entry.pos):
                    changed.add(n)
                elif n not in came:
                    came[n] = (turn, int(entry.pos))
        return frozenset(g for g, items in self._groups.items() if not _is_regular(items, came, changed))


class Prepared:
    """A session made ready. `texts` only grows; equal texts have one key."""

    def __init__(self, view: SessionView) -> None:
        self.texts = Texts(view.texts)
        self.items: list[Item] = items_of(view.blocks, view.row.joins_roles, self.texts)
        self.groups: dict[int, list[Item]] = {}
        """Turn groups by number, those of the person's messages left out."""
        for item in self.items:
            if item.is_paired:
                self.groups.setdefault(item.group, []).append(item)
        self.overheads = overheads(view)
        self.limits = _limits(view)
        """By turn: the model's context size as far as it was known by then. Index 0 is unused."""
        self._bases: dict[str, Base] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        self._said: dict[int, tuple[str, ...]] = {}

    def words(self, item: Item) -> tuple[str, ...]:
        """The numbers and identifiers of a block's text that could hardly have come from anywhere else."""
        content = item.row.content
        if content not in self._words:
            self._words[content] = distinctive_tokens(item.text(), "")
        return self._words[content]

    def said(self, item: Item) -> tuple[str, ...]:
        """The same of what an answer says: of a call's arguments the values alone, because their names come from the
        tool's schema."""
        content = item.row.content
        if item.row.kind != "tool_call" or not (words := self.words(item)):
            return self.words(item)
        if content not in self._said:
            values = strings(item.text(), names=False)
            self._said[content] = words if values is None else distinctive_tokens("\n".join(values), "")
        return self._said[content]

    @cached_property
    def schema_words(self) -> frozenset[str]:
        """The names of tools and of their arguments, as far as calls show them."""
        calls = [item for item in self.items if item.row.kind == "tool_call"]
        names = {name for item in calls for name in strings(item.text(), names=True) or ()}
        return frozenset(names | {item.row.tool for item in calls if item.row.tool})

    def base(self, view: SessionView, name: str) -> Base:
        """The recorded window's changes, or the history's."""
        found = self._bases.get(name)
        if found is None:
            make = recorded_base if name == "recorded" else history_base
            found = self._bases[name] = Base(make(view, self.items), self.groups, view.now)
        return found


_known: WeakKeyDictionary[SessionView, Prepared] = WeakKeyDictionary()


def prepared(view: SessionView) -> Prepared:
    """The session's preparation, made at the first question."""
    found = _known.get(view)
    if found is None:
        found = _known[view] = Prepared(view)
    return found


def overheads(view: SessionView) -> list[int]:
    """By turn: tokens of the latest earlier call that were sent and never logged. Index 0 is unused.

    Uncalibrated: the fit of a factor would look at later calls.
    """
    found = [0, 0]
    latest = 0
    for call in view.turns:
        recorded = call.recorded
        if recorded is not None:
            latest = recorded - view.counted(call.turn)
        found.append(latest)
    return found


def _limits(view: SessionView) -> list[int | None]:
    """The rules of `ctxview.window.limits`, asked of what was logged before each call and of the call's own model."""
    telling: list[TurnRow] = []
    """The calls that any rule can look at: the first of each model, and the largest below and above each border."""
    models: set[str | None] = set()
    largest: dict[int, int] = {}
    borders = sorted({200_000, view.row.limit or 200_000})
    known = limit_of(view.row, telling)
    found = [known, known]
    for call in view.turns:
        if call.model not in models:
            models.add(call.model)
            telling.append(replace(call, input=None, cache_read=None, cache_write=None))
            found[-1] = known = limit_of(view.row, telling)
        stage = bisect_left(borders, call.recorded or 0)
        if (call.recorded or 0) > largest.get(stage, 0):
            if stage not in largest:
                telling.append(call)
                known = limit_of(view.row, telling)
            largest[stage] = call.recorded or 0
        found.append(known)
    return found


def _with_calls(
    request: Sequence[Entry], window: dict[int, Entry], groups: dict[int, list[Item]]
) -> tuple[Entry, ...]:
    """The request, and for its results the responses that asked; a result whose call is not there stays away."""
    asked = {e.item.group for e in request if e.item.call >= 0}
    found = {e.n: e for e in request if e.item.call < 0 and e.kind != "tool_result"}
    for group in asked:
        standing = [window[item.n] for item in groups[group] if item.n in window]
        calls = {e.n for e in standing if e.kind == "tool_call"}
        answered = {e.item.call for e in standing if e.kind == "tool_result"} & calls
        for e in standing:
            if e.n in answered or e.item.call in answered or (e.role == "assistant" and e.kind != "tool_call"):
                found[e.n] = e
    return tuple(found.values())


def _is_regular(items: Sequence[Item], came: dict[int, tuple[int, int]], changed: set[int]) -> bool:
    """Whether all of a group enters at once, as whole pairs in order, and stays."""
    turns = set()
    answered: set[int] = set()
    is_solid = False
    for item in items:
        arrival = came.get(item.n)
        if arrival is None or item.n in changed:
            return False
        turns.add(arrival[0])
        kind = item.row.kind
        if kind == "tool_result":
            if item.call < 0 or item.call in answered or came.get(item.call, (0, arrival[1]))[1] >= arrival[1]:
                return False
            answered.add(item.call)
        is_solid = is_solid or (item.call < 0 and kind != "thinking")
    calls = sum(item.row.kind == "tool_call" for item in items)
    return len(turns) == 1 and calls == len(answered) and is_solid
