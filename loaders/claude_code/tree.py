"""The lines of one file as a tree, each once: finds a line's parent and tells a repeated line from a new one."""

from __future__ import annotations

from ctxview.loaders.claude_code.lines import Fingerprint, Node


class Tree:
    """Uuid to node. A line that a resume wrote again under a new uuid resolves to the node it repeats."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._copies: dict[Fingerprint, list[Node]] = {}
        self.writing: str | None = None
        """Message id of the response whose lines are being read."""

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._nodes

    def get(self, uuid: object) -> Node | None:
        return self._nodes.get(uuid) if isinstance(uuid, str) else None

    def add(self, node: Node, mark: Fingerprint | None) -> Node | None:
        """Take the node in; the node it repeats instead, if it does."""
        original = self._original(node, self._copies.get(mark, [])) if mark is not None else None
        self._nodes[node.uuid] = original or node
        if original is None and mark is not None:
            self._copies.setdefault(mark, []).append(node)
        return original

    def _original(self, node: Node, earlier: list[Node]) -> Node | None:
        """Two equal blocks of one response are two lines (empty thinking in one millisecond): while a response is
        still being written, only the same parent makes a repetition."""
        same_parent = next((n for n in earlier if n.parent is node.parent), None)
        if same_parent is not None or not earlier:
            return same_parent
        if node.calls or node.results:
            return earlier[0]
        return None if node.message_id is not None and node.message_id == self.writing else earlier[0]
