"""Pairing repair: after the policies, every call has its result and every result its call, or both go.

A result without its call goes, a call whose result is not in the window goes, a batch of parallel calls of which a part
was taken goes as a whole, an assistant message left with thinking only goes. What goes is reported as edits of a layer
of its own. Works group by group, on those that changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ctxview.policies.edits import Drop
from ctxview.policies.items import Entry, Item
from ctxview.replay.change import Delta, Restored, Why

LABEL: Final = "repair"
_WORDS: Final = {
    "orphan-result": "its call is not in the window",
    "orphan-call": "its result is not in the window",
    "broken-batch": "another call of the same response, or its result, is not in the window",
    "second-result": "its call is already answered",
    "thinking-only": "nothing else is left of its message",
}


class _Group:
    """One turn group, with just enough to tell at a glance that nothing in it can be broken."""

    __slots__ = ("answered", "is_odd", "is_solid", "members", "open", "present")

    def __init__(self) -> None:
        self.members: list[Item] = []
        """All of it that arrived, whether it stands in the window or not."""
        self.present = 0
        self.open = 0
        """Calls of which no result arrived yet."""
        self.answered: set[int] = set()
        self.is_odd = False
        """A result without a call, a second one, or one out of order: has to be looked at each time."""
        self.is_solid = False
        """Holds more than thinking."""

    def add(self, item: Item) -> None:
        self.members.append(item)
        kind = item.row.kind
        if kind == "image" and item.call >= 0:
            return
        if kind == "tool_result":
            if item.call < 0 or item.call in self.answered:
                self.is_odd = True
            else:
                self.answered.add(item.call)
                self.open -= 1
            return
        self.open += kind == "tool_call"
        self.is_solid = self.is_solid or kind != "thinking"

    @property
    def is_whole(self) -> bool:
        """All of it stands, or nothing does."""
        if self.present == 0:
            return True
        return self.present == len(self.members) and not self.open and self.is_solid and not self.is_odd


class Repair:
    """Keeps the pairing of one window whole, turn after turn. `items` are the session's own blocks."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._known = bytearray(len(items))
        """Blocks that arrived."""
        self._present: dict[int, Entry] = {}
        self._groups: dict[int, _Group] = {}
        self._gone: dict[int, dict[int, str]] = {}
        """Group -> the rule by which each of its blocks was mended away."""

    def update(self, delta: Delta, pending: Collection[int] = ()) -> Delta:
        """`pending`: groups whose open calls may still be answered, because the window has not been sent."""
        dirty: dict[int, _Group] = {g: self._groups[g] for g in pending if g in self._groups}
        present, items, known = self._present, self._items, self._known
        for n, (entry, _) in delta.items():
            if n >= len(known):
                continue
            item = items[n]
            row = item.row
            if row.role != "assistant" and row.kind != "tool_result" and item.call < 0:
                continue
            group = dirty.get(item.group) or self._groups.get(item.group)
            if group is None:
                group = self._groups[item.group] = _Group()
            if not known[n]:
                known[n] = 1
                group.add(item)
            if entry is None:
                if present.pop(n, None) is not None:
                    group.present -= 1
            else:
                if n not in present:
                    group.present += 1
                present[n] = entry
                if item.call >= 0 and not (item.call in present and present[item.call].pos < entry.pos):
                    group.is_odd = True
            dirty[item.group] = group
        gone = self._gone
        doubtful = [g for g, group in dirty.items() if g in gone or not group.is_whole]
        return self._mend(delta, doubtful, pending) if doubtful else delta

    def _mend(self, delta: Delta, dirty: Iterable[int], pending: Collection[int]) -> Delta:
        out = delta
        for group in dirty:
            members = self._groups[group].members
            last = self._gone.get(group)
            new = broken(members, self._present, group in pending)
            if not new and not last:
                continue
            if out is delta:
                out = dict(delta)
            self._gone[group] = new
            for n, rule in new.items():
                if n in delta or last is None or n not in last:
                    out[n] = (None, Why(LABEL, Drop(n, rule, _WORDS[rule], {"group": self._items[group].id})))
            for n in last or ():
                if n not in new and n not in delta and n in self._present:
                    out[n] = (self._present[n], Why(LABEL, Restored(n, reason="its pair stands again")))
        return out


def broken(members: Sequence[Item], present: dict[int, Entry], pending: bool) -> dict[int, str]:
    """What has to go of one group, with the rule. `members` holds all of it that arrived."""
    calls = [m for m in members if m.row.kind == "tool_call"]
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
