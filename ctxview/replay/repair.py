"""Pairing repair: after the policies, every call has its result and every result its call, or both go.

A result without its call goes, a call whose result is not in the window goes, a batch of parallel calls of which a part
was taken goes as a whole, an assistant message left with thinking only goes. What goes is reported as edits of a layer
of its own. Works group by group, and only on groups of which something was taken or that were never whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ctxview.policies.edits import Drop, Restored
from ctxview.policies.items import Entry, Item
from ctxview.replay.change import Delta, Why

LABEL: Final = "repair"
_WORDS: Final = {
    "orphan-result": "its call is not in the window",
    "orphan-call": "its result is not in the window",
    "broken-batch": "another call of the same response, or its result, is not in the window",
    "second-result": "its call is already answered",
    "thinking-only": "nothing else is left of its message",
}


class Mended(NamedTuple):
    """What one window needed."""

    orphans: int
    """Calls without a result and results without a call that the policies left in it."""
    taken: int
    """Blocks that were taken out of it and had not been out of the window before."""


class Repair:
    """Keeps the pairing of one window whole, turn after turn."""

    def __init__(
        self,
        items: Sequence[Item],
        groups: dict[int, list[Item]],
        irregular: Collection[int],
        standing: Callable[[int], Entry | None],
    ) -> None:
        """`standing` looks up a block in the window of the turn before, after repair and guard."""
        self._items = items
        self._groups = groups
        self._irregular = irregular
        self._standing = standing
        self._arrived: set[int] = set()
        """Blocks of irregular groups that arrived; of the others all arrive at once."""
        self._absent: dict[int, int] = {}
        """Blocks that arrived and that a layer or the base took, with their group."""
        self._taken: dict[int, int] = {}
        """Group -> how many of it are absent."""
        self._entries: dict[int, Entry] = {}
        """Entries of what was mended away, and of irregular groups, as they came."""
        self._gone: dict[int, dict[int, str]] = {}
        """Group -> the rule by which each of its blocks was mended away."""
        self.mended: dict[int, Mended] = {}
        """What was mended, by turn, where that changed."""
        self._orphans = 0

    def update(self, turn: int, delta: Delta, pending: Collection[int] = ()) -> Delta:
        """`pending`: groups whose open calls may still be answered, because the window has not been sent."""
        dirty: dict[int, None] = dict.fromkeys(g for g in pending if g in self._groups)
        items, absent, own = self._items, self._absent, len(self._items)
        for n, (entry, _) in delta.items():
            if n >= own or not items[n].is_paired:
                continue
            group = items[n].group
            if entry is None:
                if n not in absent:
                    absent[n] = group
                    self._taken[group] = self._taken.get(group, 0) + 1
                dirty[group] = None
            elif n in absent:
                del absent[n]
                self._taken[group] -= 1
                dirty[group] = None
            elif group in self._gone:
                dirty[group] = None
            if group in self._irregular:
                self._arrived.add(n)
                if entry is not None:
                    self._entries[n] = entry
                dirty[group] = None
        return self._mend(turn, delta, dirty, pending) if dirty else delta

    def take(self, ns: Sequence[int]) -> bool:
        """Blocks leave; whether `update` has to look at them, because part of a group is left."""
        items, absent, taken, groups = self._items, self._absent, self._taken, self._groups
        partial: set[int] = set()
        for n in ns:
            item = items[n]
            if item.is_paired and n not in absent:
                group = absent[n] = item.group
                count = taken[group] = taken.get(group, 0) + 1
                if count != len(groups[group]) or group in self._irregular or group in self._gone:
                    partial.add(group)
                else:
                    partial.discard(group)
        return bool(partial)

    def _mend(self, turn: int, delta: Delta, dirty: Iterable[int], pending: Collection[int]) -> Delta:
        out = delta
        taken, orphans = 0, self._orphans
        for group in dirty:
            members = self._groups[group]
            last = self._gone.get(group)
            if last is None and group not in self._irregular and self._taken.get(group, 0) in (0, len(members)):
                continue
            if group in self._irregular:
                members = [m for m in members if m.n in self._arrived]
            entries = ((m.n, self._entry(m.n, delta)) for m in members if m.n not in self._absent)
            present = {n: entry for n, entry in entries if entry is not None}
            new = broken(members, present, group in pending)
            if not new and not last:
                continue
            if out is delta:
                out = dict(delta)
            if new:
                self._gone[group] = new
            else:
                del self._gone[group]
            orphans += _orphans(new) - _orphans(last or {})
            taken += len(new.keys() - (last or {}).keys())
            for n, rule in new.items():
                self._entries[n] = present[n]
                if n in delta or last is None or n not in last:
                    out[n] = (None, Why(LABEL, Drop(n, rule, _WORDS[rule], {"group": self._items[group].id})))
            for n in last or ():
                if n not in new and n not in delta and n in present:
                    out[n] = (present[n], Why(LABEL, Restored(n, reason="its pair stands again")))
        if taken or orphans != self._orphans:
            self._orphans = orphans
            self.mended[turn] = Mended(orphans, taken)
        return out

    def _entry(self, n: int, delta: Delta) -> Entry | None:
        """A block as the layers leave it."""
        change = delta.get(n)
        if change is not None:
            return change[0]
        return self._entries.get(n) or self._standing(n)


def _orphans(rules: Mapping[int, str]) -> int:
    return sum(rule in ("orphan-call", "orphan-result") for rule in rules.values())


def broken(members: Sequence[Item], present: dict[int, Entry], pending: bool) -> dict[int, str]:
    """What has to go of one group, with the rule. `members` holds all of it that arrived."""
    # A call without an id is the provider's own (a web search): its result is no block of the window.
    calls = [m for m in members if m.row.kind == "tool_call" and m.row.call_id is not None]
    results: dict[int, list[Item]] = {}
    for m in members:
        if m.row.kind == "tool_result":
            results.setdefault(m.call, []).append(m)
    gone: dict[int, str] = {}
    whole = True
    for call in calls:
        arrived = results.get(call.n, ())
        stands = call.n in present
        answers = [r for r in arrived if r.n in present and stands and present[r.n].pos > present[call.n].pos]
        if answers:
            first = min(answers, key=lambda r: present[r.n].pos).row
            record = (first.file, first.line, first.message)
            for r in answers:
                if (r.row.file, r.row.line, r.row.message) != record:
                    gone[r.n] = "second-result"
        elif arrived:
            whole = False
            gone |= {r.n: "orphan-result" for r in arrived if r.n in present}
            if stands:
                gone[call.n] = "orphan-call"
        elif stands and not pending:
            gone[call.n] = "orphan-call"
    gone |= {r.n: "orphan-result" for r in results.get(-1, ()) if r.n in present}
    for m in members:
        if m.row.kind == "image" and m.call >= 0 and m.n in present:
            answers = [r for r in results.get(m.call, ()) if r.n in present and r.n not in gone]
            if not answers:
                gone[m.n] = "orphan-result"
    if not whole:
        for m in members:
            if (m.row.kind == "tool_call" or m.call >= 0) and m.n in present:
                gone.setdefault(m.n, "broken-batch")
    if not pending:
        left = [m for m in members if m.row.role == "assistant" and m.n in present and m.n not in gone]
        if left and all(m.row.kind == "thinking" for m in left):
            gone |= {m.n: "thinking-only" for m in left}
    return gone
