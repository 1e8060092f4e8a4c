"""The guard: the newest request is in every window, so no window is empty or system-only; and budgets are checked.

A budget that cannot be kept is data: from which turn, by how much, and which blocks stand in its way. It never ends a
replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ctxview.policies.edits import Drop, Move, Restored
from ctxview.policies.items import Entry, same
from ctxview.replay.change import Delta, Why

LABEL: Final = "guard"
Protected: TypeAlias = Callable[[], Iterable[tuple[str, int]]]
"""Names the blocks that stand in the way, with their tokens, when they are wanted."""


@dataclass(frozen=True, slots=True)
class BudgetUnsatisfiable:
    """A stretch of turns on which a policy's budget was exceeded."""

    layer: str
    what: str
    """`window`, `pins`, or the component that is over its limit."""
    turn: int
    """First turn of the stretch."""
    until: int
    """Last turn of the stretch."""
    budget: int
    tokens: int
    """Size of the window at `turn`, as policies count it."""
    protected: tuple[tuple[str, int], ...]
    """Id and tokens of what had to stay at `turn`, the largest first."""

    @property
    def message(self) -> str:
        named = ", ".join(f"{block} {tokens:,}" for block, tokens in self.protected[:8])
        more = f" and {len(self.protected) - 8} more" if len(self.protected) > 8 else ""
        return (
            f"{self.layer}: {self.what} of {self.tokens:,} tokens at turn {self.turn} over the budget of"
            f" {self.budget:,}: {named}{more}"
        )


class Failures:
    """The stretches of turns on which something did not fit."""

    def __init__(self) -> None:
        self.found: list[BudgetUnsatisfiable] = []
        self._open: dict[tuple[str, str], int] = {}

    def add(self, layer: str, what: str, turn: int, budget: int, tokens: int, protected: Protected) -> None:
        """Add a turn to a stretch, or begin one with what is protected then."""
        index = self._open.get((layer, what))
        if index is not None and self.found[index].until >= turn - 1:
            self.found[index] = replace(self.found[index], until=turn)
            return
        named = tuple(sorted(protected(), key=lambda item: -item[1]))
        self._open[layer, what] = len(self.found)
        self.found.append(BudgetUnsatisfiable(layer, what, turn, turn, budget, tokens, named))


class Guard:
    """Puts the newest request back where a policy took it, as the last layer that kept it had left it."""

    def __init__(
        self,
        standing: Callable[[int], Entry | None],
        window: Callable[[], Iterable[Entry]],
        own: int,
        left: Callable[[int], tuple[int, Entry] | None],
    ) -> None:
        """`standing` looks a block up in the window before, `window` is all of it; blocks from number `own` on were put
        in. `left` looks a block up in what the layers leave: the number of the last layer that kept it, and the entry;
        None where the first took it."""
        self._standing = standing
        self._window = window
        self._own = own
        self._left = left
        self._back: dict[int, Entry] = {}
        """What the guard alone holds in the window."""
        self._aside: dict[int, Entry] = {}
        """What was put in where a pair came back around it, as its layer has it."""

    @property
    def holds(self) -> bool:
        """Whether something is in the window by the guard's doing alone."""
        return bool(self._back)

    def update(self, delta: Delta, request: Sequence[Entry]) -> Delta:
        """`request`: the newest request of the base window, with the responses that it answers."""
        last = self._back
        back: dict[int, Entry] = {}
        missing = [e for e in request if not self._stands(e.n, delta)]
        if missing:
            # A result of several blocks, of which one stands for all in another form, is there.
            answered = {e.item.call for e in request if e.item.call >= 0 and self._stands(e.n, delta)}
            back = self._as_left([e for e in missing if e.item.call not in answered])
            if all(e.role == "assistant" for e in back.values()):
                back = {}
        if not back and not last:
            return delta
        self._back = back
        out = dict(delta)
        for n, entry in back.items():
            if n in delta or not same(entry, last.get(n)):
                out[n] = (entry, Why(LABEL, Restored(n, "newest-request", "the newest request is always sent")))
        for n in last:
            if n not in back and n not in delta:
                out[n] = (None, Why(LABEL, Drop(n, "request-over", "no longer the newest request", {})))
        self._make_way(delta, request, out)
        return out

    def _as_left(self, missing: Sequence[Entry]) -> dict[int, Entry]:
        """Of the parts of one result, those that were kept the longest: they stand for the others."""
        left = {e.n: self._left(e.n) or (-1, e) for e in missing}
        longest: dict[int, int] = {}
        for e in missing:
            longest[e.item.call] = max(longest.get(e.item.call, -1), left[e.n][0])
        return {e.n: left[e.n][1] for e in missing if e.item.call < 0 or left[e.n][0] == longest[e.item.call]}

    def _stands(self, n: int, delta: Delta) -> bool:
        """Whether a block is in the window without the guard's doing."""
        change = delta.get(n)
        if change is not None:
            return change[0] is not None
        return n not in self._back and self._standing(n) is not None

    def _make_way(self, delta: Delta, request: Sequence[Entry], out: Delta) -> None:
        """Nothing that was put in comes to stand between a call and its result: it goes behind the pairs that came
        back, as long as they are there."""
        back, last, self._aside = self._back, self._aside, {}
        asked = {e.n: back.get(e.n, e) for e in request}
        results = [e for e in asked.values() if e.item.call in asked]
        pairs = [(asked[e.item.call], e) for e in results if {e.n, e.item.call} & back.keys()]
        if pairs:
            standing = {e.n: e for e in self._window()} | last
            for n, (entry, _) in out.items():
                standing.pop(n, None)
                if entry is not None:
                    standing[n] = entry
            put_in = sorted((e for e in standing.values() if e.n >= self._own), key=lambda e: e.pos)
            self._aside = {e.n: e for e in put_in if any(call.pos < e.pos < result.pos for call, result in pairs)}
        if self._aside:
            call, result = max(pairs, key=lambda pair: pair[1].pos)
            evidence = {"call": call.item.id, "result": result.item.id}
            reason = "nothing goes between a call and its result"
            later = [e.pos for n, e in standing.items() if e.pos > result.pos and n not in self._aside]
            room = min(later, default=result.pos + 1.0) - result.pos
            for number, (n, e) in enumerate(self._aside.items(), 1):
                pos = result.pos + room * number / (len(self._aside) + 1)
                moved = Entry(e.item, pos, e.tokens, e.form, e.content, e.covers, e.volatile)
                why = Why(LABEL, Move(n, "after", result.n, "pair-kept", reason, evidence))
                out[n] = (moved, delta[n][1] if n in delta else why)
        for n, entry in last.items():
            if n not in self._aside and n not in delta:
                out[n] = (entry, Why(LABEL, Restored(n, reason="the pair around it is no longer put back")))
