"""`pin-goal`: the goal, one marker line, and the last N messages.

Up to N+1 messages nothing changes; above, the window holds at most N+2. Equal to autogen-core's head-and-tail context
with a head of one, the number in the marker included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from ctxview.model import NEVER
from ctxview.policies.edits import Drops, Edit, Insert
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Param, Params, Policy, Restart, Step
from ctxview.policies.window import Message, Window

MARKER: Final = "[{n} earlier messages dropped; no decisions were made in them]"
_RULE: Final = "between-goal-and-tail"
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
    return [Drops(entries, _RULE, reason, evidence), marker]


class _HeadAndTail:
    """The goal and the tail. What left between them stays away."""

    ignores_forms = True

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
        self._key: str | None = None
        self._count = 0
        self._dropped = 0
        self._sizes: dict[int, int] = {}
        """Tokens of the marker by digits of its number: both vocabularies cut digits off and take them in threes."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        if ctx.turn >= self._until:
            raise Restart
        news: list[int] = []
        for entry in entries:
            self._take(entry, ctx, news)
        tail = self._tail
        if self._count > self._threshold:
            while len(tail) > self._n:
                message = tail.popleft()
                if message is self._goal:
                    self._goal_left_tail = True
                else:
                    self._drop(message, news)
        if not news:
            return []
        return [Drops(news, _RULE, self._reason, self._evidence), self._marker(tuple(news), ctx)]

    def _take(self, entry: Entry, ctx: Context, news: list[int]) -> None:
        key = entry.item.key
        if key is None:
            return
        if key != self._key:
            self._key = key
            if entry.item.row.kind == "system":
                return
            self._count += 1
            self._tail.append([])
            if self._goal is None:
                self._goal = self._tail[-1]
        elif entry.item.row.kind == "system":
            return
        self._tail[-1].append(entry)
        if self._is_known:
            return
        pins = [p for p in ctx.pins(entry) if p.kind == "goal"]
        if pins:
            if self._goal_left_tail and self._goal is not None:
                self._drop(self._goal, news)
                self._goal_left_tail = False
            self._goal, self._is_known = self._tail[-1], True
            self._until = max(p.until for p in pins)

    def _drop(self, message: list[Entry], news: list[int]) -> None:
        self._dropped += 1
        news += [old.n for old in message]

    def _marker(self, news: tuple[int, ...], ctx: Context) -> Insert:
        digits = len(str(self._dropped))
        tokens = self._sizes.get(digits)
        if tokens is None:
            tokens = self._sizes[digits] = ctx.count(marker_text(self._params, self._dropped))
        after = self._goal[-1].n if self._goal_left_tail and self._goal else None
        return _marker(self._params, self._dropped, after, (), news, tokens)


def _step(params: Params) -> Step:
    return _HeadAndTail(params)


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
