"""`keep-last-n`: the window is the last N messages, or the last messages that fit N tokens. The naive loop.

Literal, so that its breaks are seen: results lose their calls and the goal goes. Equal to langchain-core's
`trim_messages(strategy="last")`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ctxview.policies.edits import Drops, Edit
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.step import Restart, Shed, Step, Stretch, leaving
from ctxview.policies.window import Window

_RULE = "not-last"


def _reason(params: Params) -> str:
    unit = "messages" if params["by"] == "messages" else "tokens"
    return f"older than the last {params['n']:,} {unit}"


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    n: int = params["n"]
    messages = window.messages if params["system"] == "keep" else window.all_messages
    if params["by"] == "messages":
        gone = messages[:-n] if n < len(messages) else ()
    else:
        left = len(messages)
        size = 0
        while left and size + messages[left - 1].tokens <= n:
            left -= 1
            size += messages[left].tokens
        gone = messages[:left]
    numbers = [e.n for m in gone for e in m.entries]
    return [Drops(numbers, _RULE, _reason(params), {"n": n})] if numbers else []


class _Last(Step):
    """The messages that are kept; each arrival pushes the oldest out."""

    def __init__(self, params: Params) -> None:
        self._n: int = params["n"]
        self._by_tokens = params["by"] == "tokens"
        self._system = params["system"] == "keep"
        self._reason = _reason(params)
        self._evidence = {"n": self._n}
        self._kept: deque[list[Entry]] = deque()
        self._size = 0
        self._key: str | None = None
        """Wire message of the newest entry, kept or not."""
        self._is_last_dropped = False
        """By tokens: the newest message alone is too large, so all that joins it goes too."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        gone: list[int] = []
        kept = self._kept
        for entry in entries:
            item = entry.item
            key = item.key
            if key is None:
                continue
            if self._system and item.row.kind == "system":
                self._key = key
                continue
            if key != self._key:
                self._key = key
                self._is_last_dropped = False
                kept.append([entry])
            elif self._is_last_dropped:
                gone.append(item.n)
                continue
            else:
                kept[-1].append(entry)
            if self._by_tokens:
                self._size += entry.tokens
                self._shrink(gone)
        if not self._by_tokens:
            while len(kept) > self._n:
                for old in kept.popleft():
                    gone.append(old.n)
        return [Drops(gone, _RULE, self._reason, self._evidence)] if gone else []

    def reform(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        if self._by_tokens:
            raise Restart
        return ()

    def shed(self, stretch: Stretch, ctx: Context) -> Shed | None:
        if self._by_tokens:
            return None
        messages = stretch.messages if self._system else stretch.all_messages
        turns, bounds = leaving(messages, self._n, self._n, 0)
        return Shed(messages, turns, bounds, Drops((), _RULE, self._reason, self._evidence))

    def _shrink(self, gone: list[int]) -> None:
        while self._size > self._n:
            oldest = self._kept.popleft()
            self._is_last_dropped = not self._kept
            for old in oldest:
                gone.append(old.n)
                self._size -= old.tokens


def _step(params: Params) -> Step:
    return _Last(params)


POLICY = Policy(
    name="keep-last-n",
    title="Keep the last N messages",
    source="the naive loop; equal to langchain-core 1.8 trim_messages(strategy='last')",
    plan=plan,
    step=_step,
    params=(
        Param("n", 6, "how many messages, or tokens, stay", low=1),
        Param("by", "messages", "what n counts", choices=("messages", "tokens"), type="choice"),
        Param("system", "keep", "whether the system prompt stays and is not counted", choices=("keep", "drop"),
              type="choice"),
    ),
    unsafe=True,
    idempotent=True,
    monotone=True,
    examples=("keep-last-n:n=6", "keep-last-n:n=2000:by=tokens", "keep-last-n:n=6:repair=yes"),
)  # fmt: skip
