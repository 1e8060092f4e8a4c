"""`carry-decisions`: a trim whose marker is true. What was decided, laid down or left open in the dropped messages
stands behind it verbatim, each as an item of its own.

A result that is among the last messages while its call was dropped cannot be sent: pairing repair takes it. So what is
pinned in it is carried as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from ctxview.model import NEVER, Pin
from ctxview.policies.edits import Drops, Edit, Insert, Numbered, Renew
from ctxview.policies.facts import PIN_KINDS
from ctxview.policies.items import Entry
from ctxview.policies.parts import blocks_of, dropped, is_half, kinds_of, note
from ctxview.policies.pin_goal import KEY, RULE, HeadAndTail, goal_is_first, is_pinned_late
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.step import Restart, Shed, Step, Stretch, leaving
from ctxview.policies.window import Window

_MARKER: Final = "[earlier messages dropped: {n}; settled or left open in them, and carried below: {m}]"
_STANDS: Final = "stands for what was dropped"


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    n: int = ctx.params["n"]
    messages = window.messages
    if len(messages) <= n + 1:
        return []
    tail = len(messages) - n
    goal = next((i for i, m in enumerate(messages) if any(ctx.is_pinned(e, ("goal",)) for e in m.entries)), 0)
    gone = [m for i, m in enumerate(messages[:tail]) if i != goal]
    entries = blocks_of(gone)
    torn = {e.item.group for e in entries if is_half(e)}
    follow = [e for e in blocks_of(messages[tail:]) if e.item.group in torn and is_half(e)]
    anchor = messages[goal].entries[-1].n if goal < tail else None
    notes = _notes([*entries, *follow], kinds_of(ctx.params, "kinds"), anchor, ctx)
    numbers = tuple(e.n for e in entries)
    marker = _marker(len(gone), len(notes), anchor, ())._replace(covers=numbers, news=None)
    reason = f"neither the goal nor among the last {n:,} messages"
    return [*dropped(entries, RULE, reason, {"n": n}), marker, *notes]


class _Carrying(HeadAndTail):
    """Head and tail, with what is carried between them. The marker counts it, so it changes when more is carried."""

    def __init__(self, params: Params) -> None:
        super().__init__({**params, "marker": "", "role": "user", "threshold": None})
        self._kinds = kinds_of(params, "kinds")
        self._pins: Sequence[Pin] | None = None
        """Everything of the session that may have to be carried; None before the first turn."""
        self._pinned: set[int] = set()
        """The blocks of `_pins`."""
        self._carriers: list[Entry] = []
        """The blocks among them that were dropped, or that lost their pair."""
        self._halves: dict[int, list[Entry]] = {}
        """Turn group -> the calls and results of it that are among them."""
        self._torn: set[int] = set()
        """Turn groups of which a call or a result was dropped."""
        self._counts: dict[tuple[str, int], int] = {}
        """Tokens of a marker by its wording and the digits of its number."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        if self._pins is None:
            self._begin(ctx)
        elif (
            is_pinned_late(self._pins, entries, ctx.turn)
            or any(p.until == ctx.turn for p in self._pins)
            or any(e.n in self._pinned and e.item.group in self._torn and is_half(e) for e in entries)
        ):
            raise Restart
        self._keep_halves(entries)
        return super().arrive(entries, ctx)

    def _begin(self, ctx: Context) -> Sequence[Pin]:
        self._pins = [p for p in ctx.facts.all_pins() if p.kind in self._kinds]
        self._pinned = {p.block for p in self._pins}
        return self._pins

    def _keep_halves(self, entries: Sequence[Entry]) -> None:
        for e in entries:
            if e.n in self._pinned and is_half(e):
                self._halves.setdefault(e.item.group, []).append(e)

    def stand_ins(self, news: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        return self._stand_ins(news, self._dropped, self.after, ctx)

    def _stand_ins(self, news: Sequence[Entry], dropped: int, after: int | None, ctx: Context) -> Sequence[Edit]:
        known = {e.n for e in self._carriers}
        torn = {e.item.group for e in news if is_half(e)}
        self._torn |= torn
        leaving = [e for e in news if e.n in self._pinned]
        halves = [e for group in torn for e in self._halves.get(group, ())]
        more = {e.n: e for e in (*leaving, *halves) if e.n not in known}
        is_same = not more and self._insert is not None and after == self._after
        if not is_same:
            self._carriers = sorted([*self._carriers, *more.values()], key=lambda e: e.pos)
            notes = _notes(self._carriers, self._kinds, after, ctx)
            self._after, self._insert = after, _numbered(len(notes), after)
        assert self._insert is not None
        numbers = tuple(e.n for e in news)
        tokens = self._tokens_of(self._insert, dropped, ctx)
        if is_same:
            return (Renew(KEY, dropped, tokens, numbers, self._insert),)
        old = [n._replace(news=()) if n.covers[0] in known else n for n in notes]
        return (self._insert.make(dropped, numbers)._replace(tokens=tokens), *old)

    def _tokens_of(self, insert: Numbered, number: int, ctx: Context) -> int:
        shape = insert.wording, len(str(number))
        found = self._counts.get(shape)
        if found is None:
            found = self._counts[shape] = ctx.count(insert.text(number))
        return found

    def shed(self, stretch: Stretch, ctx: Context) -> Shed | None:
        pins = self._begin(ctx)
        arrived = {e.n: turn for turn, entries in enumerate(stretch.arrivals) for e in entries if e.n in self._pinned}
        if not goal_is_first(stretch, ctx) or any(
            p.until != NEVER or p.since > arrived.get(p.block, p.since) for p in pins
        ):
            return None
        messages = stretch.messages
        turns, bounds = leaving(messages, self._n, self._threshold, 1)
        numbers = [messages.counts[turn] - self._n - 1 for turn in turns]
        tokens: list[int] = []
        marks: dict[int, tuple[Sequence[Insert], Numbered]] = {}
        halves = _halves(messages.entries, self._pinned)
        if halves and _come_torn(stretch, turns, bounds, halves):
            return None
        self._keep_halves(messages.entries)
        noted = self._pinned | halves.keys()
        after = messages.ns[bounds[0] - 1] if turns else None
        for index, turn in enumerate(turns):
            if index == 0 or not noted.isdisjoint(messages.ns[bounds[index] : bounds[index + 1]]):
                ctx.turn = turn
                news = messages.entries[bounds[index] : bounds[index + 1]]
                put = [e for e in self._stand_ins(news, numbers[index], after, ctx) if isinstance(e, Insert)]
                if put and self._insert is not None:
                    marks[index] = put, self._insert
            assert self._insert is not None
            tokens.append(self._tokens_of(self._insert, numbers[index], ctx))
        return Shed(messages, turns, bounds, Drops((), RULE, self._reason, self._evidence), KEY, marks, numbers, tokens)


def _halves(entries: Sequence[Entry], pinned: Collection[int]) -> dict[int, int]:
    """The calls and results of the turn groups in which one of them is pinned, with their group."""
    groups = {e.item.group for e in entries if e.n in pinned and is_half(e)}
    return {e.n: e.item.group for e in entries if e.item.group in groups and is_half(e)} if groups else {}


def _come_torn(stretch: Stretch, turns: Sequence[int], bounds: Sequence[int], halves: Mapping[int, int]) -> bool:
    """Whether anything of a group arrives after a part of it left."""
    arrives: dict[int, int] = {}
    for turn, entries in enumerate(stretch.arrivals):
        for e in entries:
            if e.n in halves:
                arrives[halves[e.n]] = turn
    ns = stretch.messages.ns
    return any(
        n in halves and arrives[halves[n]] > turn
        for index, turn in enumerate(turns)
        for n in ns[bounds[index] : bounds[index + 1]]
    )


def _marker(dropped: int, carried: int, after: int | None, news: Sequence[int]) -> Insert:
    where = "head" if after is None else "after"
    evidence = {"dropped": dropped, "carried": carried}
    marker = note(KEY, _MARKER.format(n=dropped, m=carried), where, after, (), "marker", _STANDS, evidence)
    return marker._replace(news=tuple(news))


def _numbered(carried: int, after: int | None) -> Numbered:
    return Numbered(
        _MARKER.replace("{m}", str(carried)),
        lambda number: _MARKER.format(n=number, m=carried),
        lambda number, news: _marker(number, carried, after, news),
    )


def _notes(entries: Sequence[Entry], kinds: Sequence[str], after: int | None, ctx: Context) -> list[Insert]:
    """What is carried of dropped blocks."""
    where = "head" if after is None else "after"
    return [
        note(
            f"item-{entry.n}-{index}", f"{pin.kind}: {pin.quote or entry.item.text()}", where, after, (entry.n,),
            "carried", f"a {pin.kind} of a dropped message, in its own words", {"kind": pin.kind},
        )
        for entry in entries
        for index, pin in enumerate(p for p in ctx.pins(entry) if p.kind in kinds)
    ]  # fmt: skip


def _step(params: Params) -> Step:
    return _Carrying(params)


POLICY = Policy(
    name="carry-decisions",
    title="Goal, what was settled, and the last N messages",
    source="ours, against context collapse",
    plan=plan,
    step=_step,
    params=(
        Param("n", 6, "how many messages stay besides the goal", low=1),
        Param("kinds", "decision+constraint+preference+question+denial+approval+user", "kinds of pins that are carried",
              choices=PIN_KINDS, type="names"),
    ),
    may_grow=True,
    monotone=True,
    examples=("carry-decisions:n=6",),
)  # fmt: skip
