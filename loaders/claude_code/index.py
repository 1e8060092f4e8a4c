"""The lines of one conversation by what they are found by: their own uuid, their response, the calls they are about.

It prevents parts of one response from being told apart: the results of its calls and a hook's words on those are logged
anywhere below it, and come and go with it. What was put away behind a cut is brought back when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxview.loaders.claude_code.archive import Past
from ctxview.loaders.claude_code.lines import Node
from ctxview.loaders.claude_code.tree import Tree
from ctxview.model import Usage


class Index:
    """Each line of a conversation that was read, and what belongs to each response."""

    def __init__(self, session: str, tree: Tree) -> None:
        self._session = session
        self._tree = tree
        tree.on_return(session, self._return)
        self._by_uuid: dict[str, Node] = {}
        self._responses: dict[str, list[Node]] = {}
        self._owner: dict[str, str] = {}
        """Call id -> message id of the response that made the call."""
        self._results: dict[str, list[tuple[Node, str]]] = {}
        """Call id -> its result blocks' lines and ids."""
        self._hooks: dict[str, list[Node]] = {}
        """Call id -> lines with a hook's words on it."""
        self._copied: set[str] = set()
        """Message ids of responses that were copied from another file."""
        self._usage: dict[str, Usage | None] = {}
        """Message id -> usage so far, for the responses that are calls of this file."""

    # ------------------------------------------------------------------ lines

    def add(self, node: Node) -> None:
        """Take in the newest line; a result of a copied response's call is copied, too."""
        self._recall(node)
        self._by_uuid[node.uuid] = node
        if node.message_id is not None:
            self._responses.setdefault(node.message_id, []).append(node)
            self.note_copy(node)
            for call in node.calls:
                self._owner[call] = node.message_id
        elif any(self.owner(call) in self._copied for call in node.results):
            node.inherited = True
        for block in node.blocks:
            if block.kind == "tool_result" and block.call_id:
                self._results.setdefault(block.call_id, []).append((node, block.id))
        if node.about is not None:
            self._hooks.setdefault(node.about, []).append(node)

    def note_copy(self, node: Node) -> None:
        """Remember a copied line's response, for the results that are still to come."""
        if node.inherited and node.message_id is not None:
            self._copied.add(node.message_id)

    def line(self, uuid: str | None) -> Node | None:
        """A line of this session by its own uuid."""
        if uuid is None:
            return None
        found = self._by_uuid.get(uuid)
        if found is None and self._tree.recall(uuid):
            found = self._by_uuid.get(uuid)
        return found

    def here(self, uuid: str | None) -> Node | None:
        """The same, unless it was put away."""
        return self._by_uuid.get(uuid or "")

    def owner(self, call: str) -> str | None:
        """Message id of the response that made a call."""
        found = self._owner.get(call)
        if found is None and self._tree.recall(("call", call)):
            found = self._owner.get(call)
        return found

    def knows(self, call: str) -> bool:
        """Whether the log holds a call, or a result of it."""
        return call in self._results or self.owner(call) is not None

    def results(self, call: str) -> Iterable[tuple[Node, str]]:
        """A call's result blocks: their lines and ids."""
        return self._results.get(call, ())

    def families(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Lines with the rest of their responses, the results of their calls and the hooks' words on those."""
        done: set[str] = set()
        for node in nodes:
            if node.message_id in done:
                continue
            lines = [node]
            if node.message_id is not None:
                done.add(node.message_id)
                lines = self._responses.get(node.message_id, lines)
            yield from lines
            for call in (call for line in lines for call in line.calls):
                yield from (line for line, _ in self._results.get(call, ()))
                yield from self._hooks.get(call, ())

    # -------------------------------------------------------------- responses

    def starts(self, response: str) -> bool:
        """Whether this is the first line of a response."""
        if response in self._usage or (self._tree.recall(("response", response)) and response in self._usage):
            return False
        self._usage[response] = None
        return True

    def usage(self, response: str) -> Usage | None:
        """What the lines of a response have reported so far."""
        return self._usage.get(response)

    def report(self, response: str, usage: Usage | None) -> None:
        self._usage[response] = usage

    # ------------------------------------------------------------------- past

    def put_away(self, here: set[Node], open_responses: Iterable[str]) -> set[Node]:
        """Let go of the lines that are not `here` and that no open response or result belongs to: those that went."""
        # A response goes with all its lines and the results of its calls, or stays with them.
        kept = set(open_responses)
        for node in here:
            kept.update(self._responses_of(node))
        gone = [n for n in self._by_uuid.values() if n not in here and kept.isdisjoint(self._responses_of(n))]
        past = Past(self._session)
        for node in gone:
            del self._by_uuid[node.uuid]
            if (key := node.message_id) is not None:
                past.responses.setdefault(key, []).append(node)
                if key in self._usage:
                    past.usage[key] = self._usage.pop(key)
            for call in node.calls:
                if (owner := self._owner.pop(call, None)) is not None:
                    past.owner[call] = owner
            for call in node.results:
                past.results.setdefault(call, []).extend(r for r in self._results.get(call, ()) if r[0] is node)
            if node.about is not None:
                past.hooks.setdefault(node.about, []).append(node)
        left = set(gone)
        for key in past.responses:
            self._responses[key] = [n for n in self._responses[key] if n not in left]
            if not self._responses[key]:
                del self._responses[key]
        for key in past.results:
            self._results[key] = [r for r in self._results.get(key, ()) if r[0] not in left]
            if not self._results[key]:
                del self._results[key]
        for key in past.hooks:
            self._hooks[key] = [n for n in self._hooks[key] if n not in left]
            if not self._hooks[key]:
                del self._hooks[key]
        self._tree.put_away(left, past)
        return left

    def _responses_of(self, node: Node) -> Iterable[str]:
        """Message ids of the responses that a line is part of or answers."""
        if node.message_id is not None:
            return (node.message_id,)
        calls = node.results if node.about is None else (*node.results, node.about)
        return [owner for call in calls if (owner := self._owner.get(call)) is not None]

    def _recall(self, node: Node) -> None:
        """Bring back what a new line belongs to, if it was put away."""
        if node.message_id is not None and node.message_id not in self._responses:
            self._tree.recall(("response", node.message_id))
        for call in (*node.calls, *node.results):
            if call not in self._owner:
                self._tree.recall(("call", call))

    def _return(self, past: Past) -> None:
        """Lines that were put away are asked for again."""
        self._by_uuid |= {node.uuid: node for node in past.nodes.values() if node.session == self._session}
        self._owner |= past.owner
        self._usage |= past.usage
        for key, nodes in past.responses.items():
            self._responses[key] = [*nodes, *self._responses.get(key, ())]
        for key, results in past.results.items():
            self._results[key] = [*results, *self._results.get(key, ())]
        for key, nodes in past.hooks.items():
            self._hooks[key] = [*nodes, *self._hooks.get(key, ())]
