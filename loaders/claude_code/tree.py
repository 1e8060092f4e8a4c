"""The lines of one file as a tree, each once: finds a line's parent and tells a repeated line from a new one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Final

from ctxview.compact import CompactMap
from ctxview.loaders.claude_code.archive import Archive, Past
from ctxview.loaders.claude_code.lines import Fingerprint, Node

MANY: Final = 4_000
"""Lines from which on those that left the window are put away; after that, whenever there are twice as many as had to
stay or were asked for again, so that each line is put away a few times at most."""
_SEVERAL: Final = 0


class Tree:
    """Uuid to node. A line that a resume wrote again under a new uuid resolves to the node it repeats."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._copies: dict[Fingerprint, dict[str | None, Node]] = {}
        """Lines by what they have in common with a repetition, and by the uuid of their parent, oldest first."""
        self._dated = CompactMap(wide=True)
        """Timestamp -> a number for the only line of that moment; `_SEVERAL` once there were several."""
        self._archive = Archive()
        self._returns: dict[str, Callable[[Past], None]] = {}
        self._many = MANY
        self._is_full = False

    def __contains__(self, uuid: str) -> bool:
        return self.get(uuid) is not None

    def get(self, uuid: object) -> Node | None:
        if not isinstance(uuid, str):
            return None
        found = self._nodes.get(uuid)
        if found is None and self.recall(uuid):
            found = self._nodes.get(uuid)
        return found

    def parent(self, node: Node) -> Node | None:
        """The node above; None for a root."""
        if node.parent is None and node.above is not None:
            node.parent = self.get(node.above)
        return node.parent

    def skip(self, uuid: str, parent: Node) -> None:
        """A line in no window: whoever names it as parent means `parent`."""
        self._nodes[uuid] = parent

    def add(self, node: Node, marks: tuple[Fingerprint, ...], at: str = "", writing: str | None = None) -> Node | None:
        """Take the node in; the node it repeats instead, if it does. `at`: its timestamp; `writing`: message id of the
        response whose lines are being read in its conversation."""
        if not marks:
            self._nodes[node.uuid] = node
            return None
        original = self._original(node, marks, at, writing)
        self._nodes[node.uuid] = original or node
        said = _number(original or node)
        dated = self._dated.get(at)
        if dated is None:
            self._dated[at] = said
        elif dated not in (said, _SEVERAL):
            self._dated[at] = _SEVERAL
        if original is None:
            for mark in marks:
                self._copies.setdefault(mark, {}).setdefault(_above(node), node)
        return original

    # ------------------------------------------------------------------- past

    def on_return(self, session: str, take: Callable[[Past], None]) -> None:
        """Call `take` with every part of the session's past that comes back."""
        self._returns[session] = take

    @property
    def is_large(self) -> bool:
        """Whether it pays to put lines away."""
        return len(self._nodes) >= self._many and not self._is_full

    def put_away(self, gone: Collection[Node], past: Past) -> None:
        """Hold these lines on disk, with what `past` says of them, until one of them is asked for."""
        left = set(gone)
        past.nodes = {uuid: node for uuid, node in self._nodes.items() if node in left}
        for mark, nodes in self._copies.items():
            if away := {above: node for above, node in nodes.items() if node in left}:
                past.copies[mark] = away
        parents = {node: node.parent for node in self._nodes.values()}
        for node, parent in parents.items():
            if parent is not None and (node in left or parent in left):
                node.above, node.parent = parent.uuid, None
        try:
            self._archive.put(past)
        except OSError:  # no room: they stay here, and it is not tried again
            self._is_full = True
            self._take_back(past)
            return
        for uuid in past.nodes:
            del self._nodes[uuid]
        for mark in past.copies:
            rest = {above: node for above, node in self._copies[mark].items() if node not in left}
            if rest:
                self._copies[mark] = rest
            else:
                del self._copies[mark]
        self._many = max(MANY, 2 * len(self._nodes))

    def recall(self, key: Hashable) -> bool:
        """Bring back what was put away with `key`, if anything was."""
        past = self._archive.take(key)
        if past is None:
            return False
        self._nodes |= past.nodes
        for mark, nodes in past.copies.items():
            self._copies[mark] = nodes | self._copies.get(mark, {})
        self._take_back(past)
        self._many = max(MANY, 2 * len(self._nodes))
        return True

    def _take_back(self, past: Past) -> None:
        self._returns[past.session](past)

    def close(self) -> None:
        self._archive.close()

    def _original(self, node: Node, marks: tuple[Fingerprint, ...], at: str, writing: str | None) -> Node | None:
        """The line that this one repeats, in whole or in part: each of its blocks has been said before, or if it holds
        calls or results each of those.

        Two equal blocks of one response are two lines (empty thinking in one millisecond): while a response is still
        being written, only the same parent makes a repetition. So it is for text without a provider's id when other
        lines carry its timestamp: a resume can date all that it writes again by its own moment, and the person may
        have been interrupted twice in the same words.
        """
        named = [mark for mark in marks if mark[0] in ("tool_call", "tool_result")]
        earlier: list[dict[str | None, Node]] = []
        for mark in named or marks:
            said = self._said(mark)
            if not said:
                return None
            earlier.append(said)
        same_parent = _below(earlier, _above(node)) or _part_of(node.parent, node, earlier)
        if same_parent is not None:
            return same_parent
        oldest = next(iter(earlier[-1].values()))
        if named:
            return oldest
        if node.message_id is None:
            return oldest if self._dated.get(at) == _number(oldest) else None
        return None if node.message_id == writing else oldest

    def _said(self, mark: Fingerprint) -> dict[str | None, Node]:
        """Earlier lines with a block like this, by the uuid of their parent, oldest first."""
        found = self._copies.get(mark)
        if found is None and self.recall(mark):
            found = self._copies.get(mark)
        return found or {}


def _below(earlier: list[dict[str | None, Node]], above: str | None) -> Node | None:
    """The line with this parent that holds all the blocks, or the last of several that hold them one below the other.
    `earlier`: for each block, the lines that hold one like it."""
    found: Node | None = None
    for lines in earlier:
        if found is None:
            found = lines.get(above)
        elif lines.get(above) is not found:
            above = found.uuid
            found = lines.get(above)
        if found is None:
            return None
    return found


def _part_of(line: Node | None, node: Node, earlier: list[dict[str | None, Node]]) -> Node | None:
    """The line above `node`, if that is the message itself of which `node` is a later part, written as its own line."""
    if line is None or len(line.ids) <= len(node.ids):
        return None
    return line if all(lines.get(_above(line)) is line for lines in earlier) else None


def _number(node: Node) -> int:
    """What `_dated` holds for a line."""
    return hash(node.uuid) or 1


def _above(node: Node) -> str | None:
    """Uuid of the parent."""
    return node.above if node.parent is None else node.parent.uuid
