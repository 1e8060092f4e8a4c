"""`pin-goal`: the goal, one marker line, and the last N messages.

Up to N+1 messages nothing changes; above, the window holds at most N+2. Equal to autogen-core's head-and-tail context
with a head of one, the number in the marker included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from ctxview.model import NEVER, Pin
from ctxview.policies.edits import Drops, Edit, Insert, Numbered, Renew
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.step import Restart, Shed, Step, Stretch, leaving
from ctxview.policies.window import Message, Window

MARKER: Final = "[{n} earlier messages dropped; no decisions were made in them]"
RULE: Final = "between-goal-and-tail"
KEY: Final = "marker"


def marker_text(params: Params, dropped: int) -> str:
    return str(params["marker"]).replace("{n}", str(dropped))


def _is_goal(message: Message, ctx: Context) -> bool:
    return any(p.kind == "goal" for e in message.entries for p in ctx.pins(e))


def _marker(
    params: Params, dropped: int, after: int | None, covers: tuple[int, ...], news: tuple[int, ...] | None,
    tokens: int | None = None,
) -> Insert:  # fmt: skip
    return Insert(
        key=KEY,
        text=marker_text(params, dropped),
        where="head" if after is None else "after",
        ref=after,
        role=params["role"],
        kind="note",
        covers=covers,
        rule="marker",
        reason=f"stands for {dropped:,} dropped messages",
        evidence={"dropped": dropped},
        tokens=tokens,
        news=news,
        form="pointer",
    )


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    n: int = ctx.params["n"]
    messages = window.messages
    if len(messages) <= max(n + 1, ctx.params["threshold"] or 0):
        return []
    tail = len(messages) - n
    goal = next((i for i, m in enumerate(messages) if _is_goal(m, ctx)), 0)
    gone = [m for i, m in enumerate(messages[:tail]) if i != goal]
    entries = [e.n for m in gone for e in m.entries]
    anchor = messages[goal].entries[-1].n if goal < tail else None
    reason, evidence = f"neither the goal nor among the last {n:,} messages", {"n": n}
    marker = _marker(ctx.params, len(gone), anchor, tuple(entries), None)
    return [Drops(entries, RULE, reason, evidence), marker]


class HeadAndTail(Step):
    """The goal and the tail. What left between them stays away."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._n: int = params["n"]
        self._threshold = max(self._n + 1, params["threshold"] or 0)
        self._reason = f"neither the goal nor among the last {self._n:,} messages"
        self._evidence = {"n": self._n}
        self._tail: deque[list[Entry]] = deque()
        """Before the first firing every message; afterwards the last n."""
        self._goal: list[Entry] | None = None
        """The goal's message, in the tail or before it; the first message until a goal is known."""
        self._goal_left_tail = False
        self._is_known = False
        """Whether `_goal` is a pin, not just the first message."""
        self._until = NEVER
        """First turn at which the goal's pin holds no longer."""
        self._goals: Sequence[Pin] | None = None
        """All goals of the session; None before the first turn."""
        self._key: str | None = None
        self._count = 0
        self._dropped = 0
        self._after: int | None = None
        """The block after which the marker stands; None for the head of the window."""
        self._insert: Numbered | None = None
        """The marker that stands; None before the first."""
        self._tokens = 0
        self._limit = 0
        """Tokens of the marker with a number below this: both vocabularies cut digits off and take them in threes."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        if self._goals is None:
            self._goals = [p for p in ctx.facts.all_pins() if p.kind == "goal"]
        elif ctx.turn >= self._until or is_pinned_late(self._goals, entries, ctx.turn):
            raise Restart
        news: list[Entry] = []
        tail = self._tail
        for entry in entries:
            item = entry.item
            key = item.key
            if key is None:
                continue
            if item.row.kind == "system":
                self._key = key
                continue
            if key == self._key:
                tail[-1].append(entry)
            else:
                self._key = key
                self._count += 1
                tail.append([entry])
                if self._goal is None:
                    self._goal = tail[-1]
            if not self._is_known:
                self._look_for_goal(entry, ctx, news)
        if self._count > self._threshold:
            while len(tail) > self._n:
                message = tail.popleft()
                if message is self._goal:
                    self._goal_left_tail = True
                else:
                    self._drop(message, news)
        if not news:
            return []
        return [Drops([e.n for e in news], RULE, self._reason, self._evidence), *self.stand_ins(news, ctx)]

    def reform(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        return ()  # messages are counted, whatever they say

    def shed(self, stretch: Stretch, ctx: Context) -> Shed | None:
        messages, params = stretch.messages, self._params
        if "{n}" not in params["marker"] or not goal_is_first(stretch, ctx):
            return None
        turns, bounds = leaving(messages, self._n, self._threshold, 1)
        numbers = [messages.counts[turn] - self._n - 1 for turn in turns]
        tokens = [self._size(number, ctx) for number in numbers]
        drops = Drops((), RULE, self._reason, self._evidence)
        if not turns:
            return Shed(messages, turns, bounds, drops)
        after = messages.ns[bounds[0] - 1]
        marker = _marker(params, numbers[0], after, (), tuple(messages.ns[bounds[0] : bounds[1]]), tokens[0])
        marks = {0: ((marker,), _numbered(params, after))}
        return Shed(messages, turns, bounds, drops, KEY, marks, numbers, tokens)

    def _look_for_goal(self, entry: Entry, ctx: Context, news: list[Entry]) -> None:
        pins = [p for p in ctx.pins(entry) if p.kind == "goal"]
        if pins:
            if self._goal_left_tail and self._goal is not None:
                self._drop(self._goal, news)
                self._goal_left_tail = False
            self._goal, self._is_known = self._tail[-1], True
            self._until = max(p.until for p in pins)

    def _drop(self, message: list[Entry], news: list[Entry]) -> None:
        self._dropped += 1
        news += message

    @property
    def after(self) -> int | None:
        """The block after which the marker stands; None for the head of the window."""
        return self._goal[-1].n if self._goal_left_tail and self._goal else None

    def stand_ins(self, news: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        """What stands for all that left, of which `news` just did."""
        after, dropped, numbers = self.after, self._dropped, [e.n for e in news]
        tokens = self._size(dropped, ctx)
        if self._insert is not None and after == self._after:
            return (Renew(KEY, dropped, tokens, numbers, self._insert),)
        if "{n}" in self._params["marker"]:  # else all markers have one text
            self._after, self._insert = after, _numbered(self._params, after)
        return (_marker(self._params, dropped, after, (), tuple(numbers), tokens),)

    def _size(self, number: int, ctx: Context) -> int:
        if number >= self._limit:
            self._limit = 10 ** len(str(number))
            self._tokens = ctx.count(marker_text(self._params, number))
        return self._tokens


def _numbered(params: Params, after: int | None) -> Numbered:
    return Numbered(
        params["marker"],
        lambda number: marker_text(params, number),
        lambda number, covered: _marker(params, number, after, (), tuple(covered)),
    )


def is_pinned_late(pins: Sequence[Pin], entries: Sequence[Entry], turn: int) -> bool:
    """Whether one of the pins is known from this turn on, and its block is not among what arrives."""
    late = {p.block for p in pins if p.since == turn}
    return bool(late) and not late <= {e.n for e in entries}


def goal_is_first(stretch: Stretch, ctx: Context) -> bool:
    """Whether the first message is the goal on every turn: it is pinned as one for good, or nothing is."""
    goals = [pin for pin in ctx.facts.all_pins() if pin.kind == "goal"]
    ns, offsets = stretch.messages.ns, stretch.messages.offsets
    first = set(ns[: offsets[1]] if len(offsets) > 1 else ns)
    for turn, entries in enumerate(stretch.arrivals):
        if any(pin.block == entry.n and pin.since <= turn and pin.until == NEVER and pin.block in first
               for entry in entries for pin in goals):  # fmt: skip
            return True
        if any(entry.n in first for entry in entries):
            break
    return not goals


def _step(params: Params) -> Step:
    return HeadAndTail(params)


POLICY = Policy(
    name="pin-goal",
    title="Goal, marker and the last N messages",
    source="MenokoOG/agent-autopsy, 07-context-collapse (MIT); equal to autogen-core 0.7.5 HeadAndTail, head 1",
    plan=plan,
    step=_step,
    params=(
        Param("n", 6, "how many messages stay besides the goal", low=1),
        Param("marker", MARKER, "what stands for the dropped messages; {n} is their number", type="text"),
        Param("role", "user", "the marker's role", choices=("user", "system"), type="choice"),
        Param("threshold", None, "messages up to which nothing changes, when more than n+1", low=1),
    ),
    may_grow=True,
    monotone=True,
    examples=("pin-goal:n=6", "pin-goal:n=10:role=system"),
)
