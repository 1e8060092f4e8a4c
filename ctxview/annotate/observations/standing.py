"""What stands of each resource: which observations are live, and what a new one does to those before it.

A newer whole takes the place of everything; a newer part only of the lines it holds; an edit of all it may have
touched. Facts are written once, when they become true, and depend on nothing later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from ctxview.annotate.observations.keys import is_named_by, is_under, type_of
from ctxview.annotate.observations.rules import Dependency
from ctxview.annotate.observations.seen import Spans, Text, differing, hull, overlaps, without
from ctxview.model import Observation, ResourceChange, ResourceState

_UNTRACKED: Final = frozenset(("node_modules", ".venv", "venv", "site-packages", ".git", "__pycache__", ".cache"))


@dataclass(slots=True)
class _Entry:
    observation: Observation
    left: Spans
    """Lines that nothing newer holds; empty for the whole."""
    text: Text | None
    first: int
    """Number of the first line of `text`."""
    question: str | None
    low: int
    high: int
    """Lines outside of which nothing was seen; `low` is 0 where the whole was, or the lines count from the end."""
    stale: bool = False
    acks: list[int] = field(default_factory=list)


class Standing:
    """The observations of one session that nothing has taken the place of."""

    def __init__(self, dependencies: tuple[Dependency, ...] = ()) -> None:
        self.changes: list[ResourceChange] = []
        self._entries: dict[str, list[_Entry]] = {}
        self._dependencies = dependencies

    def length_of(self, key: str) -> int | None:
        """Lines of the newest whole reading, while it stands."""
        for entry in reversed(self._entries.get(key, ())):
            if entry.observation.effect == "edit":
                return None
            if entry.observation.first is None and entry.text is not None:
                return len(entry.text.lines)
        return None

    def holds(self, key: str) -> bool:
        return bool(self._entries.get(key))

    def matching(self, pattern: str) -> list[str]:
        """Keys of the files known by a pattern of paths, without those whose removal is the newest that is known."""
        return [
            key
            for key, entries in self._entries.items()
            if entries and not entries[-1].observation.rule.startswith("rm") and is_named_by(key, pattern)
        ]

    def add(self, new: Observation, spans: Spans, text: Text | None = None, question: str | None = None) -> None:
        """A read, a write, an edit or a change of one resource arrives."""
        key = new.key
        if key is None:
            return
        first = spans[0][0] if spans else 1
        low, high = hull(spans)
        if low is None or high is None or low < 0:
            low, high = 0, 0
        elif text is not None:
            high = max(high, first + len(text.lines) - 1)
        entry = _Entry(new, spans, text, first, question, low, high)
        kept = [old for old in self._entries.get(key, ()) if self._stays(old, entry)]
        kept.append(entry)
        self._entries[key] = kept
        if new.effect != "read" and self._dependencies:
            self._depend(key, new)

    def acknowledge(self, key: str, call: int, block: int) -> None:
        """`block` acknowledges the write or edit in `call`: it goes when that goes."""
        for entry in self._entries.get(key, ()):
            if entry.observation.block == call:
                entry.acks.append(block)

    def sweep(
        self, folder: str | None, since: int, because: int, reason: str, *, tracked: bool = False
    ) -> None:  # fmt: skip
        """Any file in `folder` may have changed; with `tracked`, those that version control leaves alone have not."""
        for key, entries in self._entries.items():
            if tracked and not _UNTRACKED.isdisjoint(key.split("/")):
                continue
            if type_of(key) == "file" and (folder is None or is_under(key, folder)):
                for entry in entries:
                    self._make_stale(entry, since, because, reason)

    def outdate(self, keys: Iterable[str], since: int, because: int, reason: str) -> None:
        """These have changed."""
        for key in keys:
            for entry in self._entries.get(key, ()):
                self._make_stale(entry, since, because, reason)

    # ------------------------------------------------------------------------------------------------------- rules

    def _stays(self, old: _Entry, new: _Entry) -> bool:
        """Whether `old` stands beside `new`; what happens to it is written down."""
        effect = new.observation.effect
        if effect == "read" and new.low and old.low and (new.high < old.low or old.high < new.low):
            return True  # nearly all there is, where a long file is read bit by bit
        if effect == "change":
            if old.observation.effect == "change":
                return self._replace(old, new, "a newer change was reported")
            self._make_stale(old, new.observation.since, new.observation.block, "changed outside")
            return True
        if effect == "edit":
            spans = new.left
            if not spans or overlaps(old.left, spans):
                return self._replace(old, new, "edited")
            if old.first > spans[-1][1]:
                old.text = None  # its lines may have moved
            return True
        if new.question != old.question and "edit" not in (old.observation.effect, new.observation.effect):
            return True
        if not new.left:
            return self._replace(old, new, "written anew" if effect == "write" else "read again")
        return self._partly(old, new)

    def _partly(self, old: _Entry, new: _Entry) -> bool:
        """A part was read after `old`."""
        if old.left or old.text is not None:
            whole: Spans = old.left or ((1, max(1, len(old.text.lines))),) if old.text is not None else old.left
            left = without(whole, new.left)
            if not left:
                return self._replace(old, new, "its lines were read again")
            if old.left:
                old.left = left
        found = differing(old.text, old.first, new.text, new.first) if old.text and new.text else None
        if found is not None:
            words = f"line {found[0]} reads" if found[0] == found[1] else f"lines {found[0]}-{found[1]} read"
            reason = f"{words} differently now"
            self._make_stale(old, new.observation.since, new.observation.block, reason)
        return True

    def _replace(self, old: _Entry, new: _Entry, reason: str) -> bool:
        since, because = new.observation.since, new.observation.block
        self._write(old, "superseded", since, because, reason)
        for ack in old.acks:
            key = old.observation.key or ""
            self.changes.append(ResourceChange(ack, key, since, "superseded", because, reason))
        return False

    def _make_stale(self, old: _Entry, since: int, because: int, reason: str) -> None:
        if not old.stale and old.observation.effect != "change" and old.observation.block != because:
            old.stale = True
            self._write(old, "stale", since, because, reason)

    def _write(self, old: _Entry, state: ResourceState, since: int, because: int, reason: str) -> None:
        key = old.observation.key or ""
        self.changes.append(ResourceChange(old.observation.block, key, since, state, because, reason))

    def _depend(self, changed: str, new: Observation) -> None:
        for dependency in self._dependencies:
            if not fnmatchcase(changed, dependency.on):
                continue
            for entry in self._matching(dependency.of, changed):
                self._make_stale(entry, new.since, new.block, f"depends on {changed}")

    def _matching(self, pattern: str, changed: str) -> Iterator[_Entry]:
        for key, entries in self._entries.items():
            if key != changed and fnmatchcase(key, pattern):
                yield from entries
