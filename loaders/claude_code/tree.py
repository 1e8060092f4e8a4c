"""The lines of one file as a tree, each once: finds a line's parent and tells a repeated line from a new one."""

from __future__ import annotations

from ctxview.loaders.claude_code.lines import Fingerprint, Node


class Tree:
    """Uuid to node. A line that a resume wrote again under a new uuid resolves to the node it repeats."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._copies: dict[Fingerprint, list[Node]] = {}
        self._dated: dict[str, Fingerprint | None] = {}
        """Timestamp -> the only thing said at that moment; None once there were several."""
        self.writing: str | None = None
        """Message id of the response whose lines are being read."""

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._nodes

    def get(self, uuid: object) -> Node | None:
        return self._nodes.get(uuid) if isinstance(uuid, str) else None

    def skip(self, uuid: str, parent: Node) -> None:
        """A line in no window: whoever names it as parent means `parent`."""
        self._nodes[uuid] = parent

    def add(self, node: Node, mark: Fingerprint | None, at: str = "") -> Node | None:
        """Take the node in; the node it repeats instead, if it does. `at`: its timestamp."""
        if mark is not None and self._dated.setdefault(at, mark) != mark:
            self._dated[at] = None
        original = self._original(node, self._copies.get(mark, []), at) if mark is not None else None
        self._nodes[node.uuid] = original or node
        if original is None and mark is not None:
            self._copies.setdefault(mark, []).append(node)
        return original

    def _original(self, node: Node, earlier: list[Node], at: str) -> Node | None:
        """The line that this one repeats.

        Two equal blocks of one response are two lines (empty thinking in one millisecond): while a response is still
        being written, only the same parent makes a repetition. So it is for text without a provider's id when other
        lines carry its timestamp: a resume can date all that it writes again by its own moment, and the person may
        have been interrupted twice in the same words.
        """
        same_parent = next((n for n in earlier if n.parent is node.parent), None)
        if same_parent is not None or not earlier:
            return same_parent
        if node.calls or node.results:
            return earlier[0]
        if node.message_id is None:
            return earlier[0] if self._dated.get(at) is not None else None
        return None if node.message_id == self.writing else earlier[0]
