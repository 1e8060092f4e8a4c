"""The guard: the newest request is in every window, so no window is empty or system-only; and budgets are checked.

A budget that cannot be kept is data: from which turn, by how much, and which blocks stand in its way. It never ends a
replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ctxview.policies.edits import Drop
from ctxview.policies.items import Entry
from ctxview.policies.window import newest_request
from ctxview.replay.change import Delta, Restored, Why
from ctxview.replay.order import Ordered

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
            f"{self.layer}: {self.what} of {self.tokens:,} tokens at turn {self.turn} do not fit the budget of"
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
    """Puts the newest request back where a policy took it."""

    def __init__(self) -> None:
        self._present: set[int] = set()
        """What stands before the guard acts."""
        self._back: dict[int, Entry] = {}
        """What the guard holds in the window."""

    def update(self, delta: Delta, base: Ordered) -> Delta:
        present = self._present
        for n, (entry, _) in delta.items():
            if entry is None:
                present.discard(n)
            else:
                present.add(n)
        request = newest_request(base.entries)
        back: dict[int, Entry] = {}
        if any(e.n not in present for e in request):
            # A result of several blocks, of which one stands for all in another form, is there.
            answered = {e.item.call for e in request if e.n in present and e.item.call >= 0}
            missing = [e for e in request if e.n not in present and e.item.call not in answered]
            if missing:
                back = {e.n: e for e in _with_calls(request, base) if e.n not in present}
                back = {n: e for n, e in back.items() if e.item.call not in answered}
        last, self._back = self._back, back
        if not back and not last:
            return delta
        out = dict(delta)
        for n, entry in back.items():
            if n in delta or n not in last:
                out[n] = (entry, Why(LABEL, Restored(n, "newest-request", "the newest request is always sent")))
        for n in last:
            if n not in back and n not in delta and n not in present:
                out[n] = (None, Why(LABEL, Drop(n, "request-over", "no longer the newest request", {})))
        return out


def _with_calls(request: Sequence[Entry], base: Ordered) -> list[Entry]:
    """The request, and for its results the responses that asked; a result whose call is not there stays away."""
    groups = {e.item.group for e in request if e.kind == "tool_result"}
    if not groups:
        return list(request)
    members: dict[int, list[Entry]] = {}
    firsts = set(groups)  # a group has the number of its first block
    for entry in reversed(base.entries):
        if entry.item.group in groups:
            members.setdefault(entry.item.group, []).append(entry)
            firsts.discard(entry.n)
            if not firsts:
                break
    found = {e.n: e for e in request if e.kind != "tool_result"}
    for entries in members.values():
        calls = {e.n for e in entries if e.kind == "tool_call"}
        answered = {e.item.call for e in entries if e.kind == "tool_result"} & calls
        for e in entries:
            is_whole = e.n in answered if e.kind == "tool_call" else e.item.call in answered or e.role == "assistant"
            if is_whole:
                found[e.n] = e
    return list(found.values())
