"""The branch of a conversation that calls build on: the lines from its root to the newest one that counts.

A parent walk alone is wrong: results of parallel calls hang off their own assistant block, and the messages that a
compaction preserved follow its summary, wherever they were logged. So for each line that is off the walk it is counted
for how many reasons it stands in the window. Source: formats.md section 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

from ctxview.loaders.claude_code.index import Index
from ctxview.loaders.claude_code.lines import Boundary, Node
from ctxview.loaders.claude_code.tree import Tree

Key = TypeVar("Key", str, Node)


@dataclass(frozen=True, slots=True)
class Step:
    """How the branch went from one tip to another."""

    fresh: list[Node]
    """Lines that joined it, oldest first."""
    is_joined: bool
    """Whether they hang below a line that was on it; else they start at a root."""
    parted: Collection[Node]
    """Lines that left it, and those that may have stood in the window by them alone."""


class Branch:
    """The lines on the path from the root, and the older ones that compactions on it preserved."""

    def __init__(self, tree: Tree, index: Index) -> None:
        self._tree = tree
        self._index = index
        self._path: list[Node] = []
        self._places: dict[Node, int] = {}
        """Where on the path a line stands, or stood."""
        self._standing: Counter[Node] = Counter()
        """Lines on the path, and those that a compaction on it preserved: for how many reasons each."""
        self._responses: Counter[str] = Counter()
        """Message id -> for how many reasons lines of that response do."""
        self._preserved: dict[Node, list[Node]] = {}
        """Line on the path -> the older lines that a compaction put after it."""
        self._anchors: dict[str, tuple[str, ...]] = {}
        """Uuid of a compaction's summary -> uuids of the older lines that stay right after it."""
        self._moved: dict[str, str] = {}
        """The same, from each older line to its newest anchor."""

    @property
    def tip(self) -> Node | None:
        return self._path[-1] if self._path else None

    @property
    def lines(self) -> Collection[Node]:
        """All that stand on it."""
        return self._standing.keys()

    @property
    def responses(self) -> Collection[str]:
        """Message ids of the responses that have a line on it."""
        return self._responses.keys()

    def holds(self, node: Node) -> bool:
        """Whether a line is on it, or part of a response on it, a result for one, or a hook's words on its call."""
        return node in self._standing or self.belongs(node)

    def belongs(self, node: Node) -> bool:
        """Whether a line off the walk is part of a response on it, a result for one, or a hook's words on its call."""
        if node.message_id is not None:
            return node.message_id in self._responses
        calls = node.results if node.about is None else (node.about,)
        return any(self._index.owner(call) in self._responses for call in calls)

    # ------------------------------------------------------------------- path

    def turn_to(self, tip: Node | None) -> Step:
        """Make it end at `tip`."""
        fresh, joint = self._walk(tip)
        parted = self._part(self._path[joint + 1 :])
        del self._path[joint + 1 :]
        self._path += fresh
        for i, node in enumerate(fresh, joint + 1):
            self._places[node] = i
            self._stand(node, 1)
            self._keep_preserved(node)
        return Step(fresh, joint >= 0, parted)

    def forget(self, gone: Collection[Node]) -> None:
        """Lines that stand no more were put away."""
        for node in gone:
            self._places.pop(node, None)

    def _walk(self, tip: Node | None) -> tuple[list[Node], int]:
        """Lines from `tip` up that are not on the path yet, oldest first, and where they join it (-1: a new root)."""
        fresh: list[Node] = []
        seen: set[Node] = set()
        node = tip
        while node is not None and node not in seen:  # in a cycle, what was found is the branch
            seen.add(node)
            at, anchor = self._places.get(node), self._anchor_of(node)
            if anchor is None and at is not None and at < len(self._path) and self._path[at] is node:
                return fresh[::-1], at
            if anchor is not None and anchor not in seen:
                node = anchor  # a compaction moved this line below its summary
                continue
            fresh.append(node)
            node = self._tree.parent(node)
        return fresh[::-1], -1

    def _part(self, left: list[Node]) -> Collection[Node]:
        """Lines leave the path: they, and those that may have stood in the window by them alone."""
        lines = list(left)
        for node in left:
            self._stand(node, -1)
            lines += self._let_go_preserved(node)
        return dict.fromkeys([*lines, *self._index.families(lines)])

    def _stand(self, node: Node, reasons: int) -> None:
        """A line has so many reasons more to stand in the window."""
        _add(self._standing, node, reasons)
        if node.message_id is not None:
            _add(self._responses, node.message_id, reasons)

    # -------------------------------------------------------------- preserved

    def preserve(self, boundary: Boundary) -> None:
        """Remember which older lines stay, on the line they are to follow: it is read after the boundary."""
        uuids = boundary.preserved or self._between(boundary.head, boundary.tail)
        if boundary.anchor is not None and uuids:
            self._anchors[boundary.anchor] = uuids
            self._moved |= dict.fromkeys(uuids, boundary.anchor)
            line = self._index.here(boundary.anchor)
            if line is not None and line in self._standing:
                self._keep_preserved(line)

    def meet(self, node: Node) -> None:
        """A compaction on the path may have named a line that comes only now."""
        anchor = self._index.here(self._moved.get(node.uuid))
        if anchor is not None and anchor in self._preserved:
            self._preserved[anchor].append(node)
            self._stand(node, 1)

    def preserved_by(self, node: Node) -> list[Node]:
        """Lines a compaction kept after `node`; some that it names were never logged."""
        return [n for n in map(self._index.line, self._anchors.get(node.uuid, ())) if n is not None]

    def _keep_preserved(self, anchor: Node) -> None:
        """A line on the path: what a compaction put after it stands, too."""
        self._let_go_preserved(anchor)
        if lines := self.preserved_by(anchor):
            self._preserved[anchor] = lines
            for line in lines:
                self._stand(line, 1)

    def _let_go_preserved(self, anchor: Node) -> list[Node]:
        lines = self._preserved.pop(anchor, [])
        for line in lines:
            self._stand(line, -1)
        return lines

    def _between(self, head: str | None, tail: str | None) -> tuple[str, ...]:
        """The lines from `tail` up to `head`, oldest first; the tail alone when the head is not above it."""
        node = self._index.line(tail)
        found: list[str] = []
        while node is not None:
            found.append(node.uuid)
            if node.uuid == head:
                return tuple(reversed(found))
            node = self._tree.parent(node)
        return tuple(found[:1])

    def _anchor_of(self, node: Node) -> Node | None:
        """The summary that a compaction moved this line below, once that has been read."""
        return self._index.line(self._moved.get(node.uuid))


def _add(counts: Counter[Key], key: Key, number: int) -> None:
    """Count, and forget what comes to nothing."""
    counts[key] += number
    if not counts[key]:
        del counts[key]
