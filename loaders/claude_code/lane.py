"""One conversation of a Claude Code log: which lines stand in the window of each call.

Lines form a tree by `parentUuid`, but a parent walk alone is wrong: results of parallel calls hang off their own
assistant block. The window of a call is the walk from its first line's parent to the root, plus every line of each
response on it, plus every result of those responses' calls; a compaction boundary is a root, and the messages it
preserved follow its summary. Lines wait until a call (or the end) shows which branch they are on, so that a window only
ever grows at its end, except at a cut or a rewind. Source: formats.md section 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from ctxview.loaders.claude_code.archive import Past
from ctxview.loaders.claude_code.lines import Boundary, Node
from ctxview.loaders.claude_code.tree import Tree
from ctxview.model import AT_END, Cut, CutKind, Edit, Event, Origin, Place, Usage

Key = TypeVar("Key", str, Node)

CLEARED_TEXT = "[Old tool result content cleared]"
CLEARED_ATTACHMENT = "[Old attachment content cleared]"


class Lane:
    """The open window of one session, by lines."""

    def __init__(self, session: str, file: str, tree: Tree) -> None:
        self.session = session
        self.file = file
        self._tree = tree
        tree.on_return(session, self._return)
        self.starts_inside = False
        """What was said before the first line is not in the log, and is still in the window."""
        self.tip: Node | None = None
        """The lane's newest line; what it repeats, if it does."""
        self._last: Node | None = None
        """The lane's newest line that repeats none."""
        self.writing: str | None = None
        """Message id of the response whose lines are being read."""
        self.first_words: str | None = None
        """The person's first message."""
        self._path: list[Node] = []
        self._index: dict[Node, int] = {}
        self._open: dict[Node, int] = {}
        """Lines in the window, each with a number that grows with every arrival."""
        self._arrivals = 0
        self._pending: list[Node] = []
        self._pending_inherited = 0
        """How many of them, from the first on, are known to be copied."""
        self._responses: dict[str, list[Node]] = {}
        self._owner: dict[str, str] = {}
        """Call id -> message id of the response that made the call."""
        self._results: dict[str, list[tuple[Node, str]]] = {}
        """Call id -> its result blocks' lines and ids."""
        self._hooks: dict[str, list[Node]] = {}
        """Call id -> lines with a hook's words on it."""
        self._copied: set[str] = set()
        """Message ids of responses that were copied from another file."""
        self._standing: Counter[Node] = Counter()
        """Lines on the path, and those that a compaction on it preserved: for how many reasons each."""
        self._on_path: Counter[str] = Counter()
        """Message id -> for how many reasons lines of that response do."""
        self._preserved: dict[Node, list[Node]] = {}
        """Line on the path -> the older lines that a compaction put after it."""
        self._thinking: dict[Node, None] = {}
        """Lines in the window with thinking from after the person's last message."""
        self._old_thinking: dict[Node, None] = {}
        """The same from before it."""
        self._unlogged: dict[Node, None] = {}
        """Lines in the window with thinking whose text was not logged."""
        self._lacks_summary = False
        """A compaction's summary is in the window, and was not logged."""
        self._by_uuid: dict[str, Node] = {}
        self._anchors: dict[str, tuple[str, ...]] = {}
        """Uuid of a compaction's summary -> uuids of the older lines that stay right after it."""
        self._moved: dict[str, str] = {}
        """The same, from each older line to its newest anchor."""
        self._usage: dict[str, Usage | None] = {}
        """Message id -> usage so far, for the responses that are calls of this file."""
        self._human_waiting = False
        self._seen_roots: set[str] = set()
        self._inside_root: str | None = None
        """The root above which something was said that is not in the log."""

    # ------------------------------------------------------------------ lines

    def add(self, node: Node) -> Iterator[Event]:
        """Take in the lane's next line. A new root and a microcompaction settle the window as it stood before them."""
        if node.parent is None and node.above is None and self._last is not None:
            yield from self.advance(self._last)
        self.tip = self._last = node
        self._recall(node)
        self._by_uuid[node.uuid] = node
        if node.blocks:
            self._pending.append(node)
        if node.message_id is not None:
            self._responses.setdefault(node.message_id, []).append(node)
            if node.inherited:
                self._copied.add(node.message_id)
            for call in node.calls:
                self._owner[call] = node.message_id
        elif any(self._is_copied(call) for call in node.results):
            node.inherited = True
        if node.human and self.first_words is None:
            self.first_words = next((b.text for b in node.blocks if b.kind == "user"), None)
        for block in node.blocks:
            if block.kind == "tool_result" and block.call_id:
                self._results.setdefault(block.call_id, []).append((node, block.id))
        if node.about is not None:
            self._hooks.setdefault(node.about, []).append(node)
        anchor = self._by_uuid.get(self._moved.get(node.uuid, ""))
        if anchor is not None and anchor in self._preserved:  # it names a line that comes after it
            self._preserved[anchor].append(node)
            self._stand(node, 1)
        if node.boundary is not None:
            self._preserve(node.boundary)
        if node.cleared or node.cleared_lines:
            yield from self._microcompact(node)

    def repeat(self, original: Node) -> None:
        """The lane's next line is `original` again: what follows hangs below that one, and is no more of a response
        that was being written."""
        self.tip = original
        self.writing = None

    def _is_copied(self, call: str) -> bool:
        return self._owner_of(call) in self._copied

    def _owner_of(self, call: str) -> str | None:
        """Message id of the response that made a call."""
        found = self._owner.get(call)
        if found is None and self._tree.recall(("call", call)):
            found = self._owner.get(call)
        return found

    def _preserve(self, boundary: Boundary) -> None:
        """Remember which older lines stay, on the line they are to follow: it is read after the boundary."""
        uuids = boundary.preserved or self._between(boundary.head, boundary.tail)
        if boundary.anchor is not None and uuids:
            self._anchors[boundary.anchor] = uuids
            self._moved |= dict.fromkeys(uuids, boundary.anchor)
            line = self._by_uuid.get(boundary.anchor)
            if line is not None and line in self._standing:
                self._keep_preserved(line)

    def _between(self, head: str | None, tail: str | None) -> tuple[str, ...]:
        """The lines from `tail` up to `head`, oldest first; the tail alone when the head is not above it."""
        node = self._line(tail)
        found: list[str] = []
        while node is not None:
            found.append(node.uuid)
            if node.uuid == head:
                return tuple(reversed(found))
            node = self._tree.parent(node)
        return tuple(found[:1])

    def _microcompact(self, node: Node) -> Iterator[Event]:
        """Old results and attachments keep their text in the log, but later calls were sent a placeholder."""
        yield from self.advance(node)
        cleared = [found for call in node.cleared for found in self._results.get(call, ())]
        attachments = [found for found in map(self._line, node.cleared_lines) if found is not None]
        cleared += [(found, block) for found in attachments for block in found.ids]
        edits = []
        for line, block in cleared:
            if line not in self._open or block in line.placeholders:
                continue
            line.placeholders = (*line.placeholders, block)
            edits.append(
                Edit(
                    session=self.session,
                    action="replace",
                    block=block,
                    rule="microcompact",
                    form="placeholder",
                    text=_placeholder(line),
                    reason=f"the client cleared old {'attachments' if line.type == 'attachment' else 'tool results'}",
                    evidence={"tokens_saved": node.saved},
                )
            )
        origin = Origin(self.file, node.line, node.uuid)
        yield Cut(self.session, node.uuid, "clear", origin, trigger="microcompact", edits=tuple(edits))

    # ----------------------------------------------------------------- window

    def advance(self, tip: Node | None) -> Iterator[Event]:
        """Make the window that of a call whose first line hangs below `tip`."""
        fresh, joint = self._walk(tip)
        left = self._path[joint + 1 :]
        doubtful = self._part(left)
        del self._path[joint + 1 :]
        self._path += fresh
        for i, node in enumerate(fresh, joint + 1):
            self._index[node] = i
            self._stand(node, 1)
            self._keep_preserved(node)
        leaving = self._leaving(self._open if joint < 0 else doubtful) if left else []
        is_new_root = joint < 0 and bool(fresh) and fresh[0].uuid not in self._seen_roots
        is_compaction = is_new_root and any(n.boundary is not None or n.summary for n in fresh)
        if is_new_root and not self._seen_roots and self.starts_inside:
            self._inside_root = fresh[0].uuid
        if leaving or is_compaction or (joint < 0 and self._open and fresh):
            yield from self._leave(leaving, fresh, joint, is_compaction, is_new_root)
        if is_new_root:
            self._seen_roots.add(fresh[0].uuid)
        if joint < 0 or any(n.summary for n in fresh):
            self._lacks_summary = bool(fresh) and not any(n.summary for n in fresh) and any(n.boundary for n in fresh)
        yield from self._enter(fresh)
        if leaving and joint < 0 and self._tree.is_large:
            self._put_away()

    def _stand(self, node: Node, reasons: int) -> None:
        """A line has so many reasons more to stand in the window."""
        _add(self._standing, node, reasons)
        if node.message_id is not None:
            _add(self._on_path, node.message_id, reasons)

    def _keep_preserved(self, anchor: Node) -> None:
        """A line on the path: what a compaction put after it stands, too. Some that it names were never logged."""
        self._let_go_preserved(anchor)
        if lines := self._preserved_by(anchor):
            self._preserved[anchor] = lines
            for line in lines:
                self._stand(line, 1)

    def _let_go_preserved(self, anchor: Node) -> list[Node]:
        lines = self._preserved.pop(anchor, [])
        for line in lines:
            self._stand(line, -1)
        return lines

    def _part(self, left: list[Node]) -> Iterable[Node]:
        """Lines leave the path: they, and those that may have stood in the window by them alone."""
        lines = list(left)
        for node in left:
            self._stand(node, -1)
            lines += self._let_go_preserved(node)
        return dict.fromkeys([*lines, *self._families(lines)])

    def _leaving(self, doubtful: Iterable[Node]) -> list[Node]:
        """Those of the lines that leave the window, in the order of their arrival."""
        gone = [n for n in doubtful if n in self._open and n not in self._standing and not self._belongs(n)]
        return sorted(gone, key=self._open.__getitem__)

    def _walk(self, tip: Node | None) -> tuple[list[Node], int]:
        """Lines from `tip` up that are not on the path yet, oldest first, and where they join it (-1: a new root)."""
        fresh: list[Node] = []
        seen: set[Node] = set()
        node = tip
        while node is not None and node not in seen:  # in a cycle, what was found is the branch
            seen.add(node)
            at = self._index.get(node)
            if at is not None and at < len(self._path) and self._path[at] is node and not self._displaced(node):
                return fresh[::-1], at
            anchor = self._line(self._moved.get(node.uuid))
            if anchor is not None and anchor not in seen:
                node = anchor  # a compaction moved this line below its summary
                continue
            fresh.append(node)
            node = self._tree.parent(node)
        return fresh[::-1], -1

    def _line(self, uuid: str | None) -> Node | None:
        """A line of this session by its own uuid."""
        if uuid is None:
            return None
        found = self._by_uuid.get(uuid)
        if found is None and self._tree.recall(uuid):
            found = self._by_uuid.get(uuid)
        return found

    def _displaced(self, node: Node) -> bool:
        """Whether a compaction whose summary has been read moved this line."""
        return self._line(self._moved.get(node.uuid)) is not None

    def _preserved_by(self, node: Node) -> list[Node]:
        """Lines a compaction kept after `node`; some that it names were never logged."""
        return [n for n in map(self._line, self._anchors.get(node.uuid, ())) if n is not None]

    def _belongs(self, node: Node) -> bool:
        """Whether a line off the walk is part of a response on it, a result for one, or a hook's words on its call."""
        if node.message_id is not None:
            return node.message_id in self._on_path
        calls = node.results if node.about is None else (node.about,)
        return any(self._owner_of(call) in self._on_path for call in calls)

    def _leave(
        self, leaving: list[Node], fresh: list[Node], joint: int, is_compaction: bool, is_new_root: bool
    ) -> Iterator[Event]:
        kind: CutKind = "compact" if is_compaction else "clear" if is_new_root or not self._path else "rewind"
        # Where the person turned back: the first line of the branch that has not been sent before.
        at = next((n for n in fresh if n.ids and not n.arrived), (fresh or self._path or leaving)[-1])
        boundary: Boundary | None = None
        if joint < 0 and fresh:
            self.starts_inside = fresh[0].uuid == self._inside_root and not is_compaction
            if is_new_root:
                at = fresh[0]
            if is_compaction:
                at = next((n for n in fresh if n.boundary is not None), at)
                boundary = at.boundary
        reason = _REASONS[kind]
        evidence = {"boundary": boundary.metadata} if boundary and boundary.metadata else {}
        edits: list[Edit] = []
        for node in leaving:
            del self._open[node]
            for group in (self._thinking, self._old_thinking, self._unlogged):
                group.pop(node, None)
            edits.extend(Edit(self.session, "drop", block, kind, reason, evidence=evidence) for block in node.ids)
        yield Cut(
            self.session,
            at.uuid,
            kind,
            Origin(self.file, at.line, at.uuid),
            trigger=boundary.trigger if boundary else None,
            before=boundary.before if boundary else None,
            after=boundary.after if boundary else None,
            edits=tuple(edits),
        )

    def _enter(self, fresh: list[Node]) -> Iterator[Event]:
        """Bring in the branch's lines: those that waited, and those that come back after a rewind."""
        on_branch = set(fresh)
        preserved = list(self._families(p for n in fresh for p in self._preserved_by(n)))
        summaries = [n for n in fresh if n.summary] if preserved else []
        for index, node in enumerate(summaries):
            yield from self._arrive(node, index)
        waiting, self._pending, self._pending_inherited = self._pending, [], 0
        back = self._families(node for node in fresh if node.arrived)
        candidates = dict.fromkeys([*preserved, *back, *waiting])
        named = set(preserved)
        chosen = []
        for node in candidates:
            if node in self._open:
                continue
            if node in on_branch or node in named or self._belongs(node):
                chosen.append(node)
            elif not node.arrived:
                yield from self._abandon(node)
        for node in self._grouped(chosen):
            yield from self._arrive(node)

    def _families(self, nodes: Iterable[Node]) -> Iterator[Node]:
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

    def _abandon(self, node: Node) -> Iterator[Event]:
        """A line that the next call does not build on: history, and in no window unless its branch comes back."""
        node.arrived = True
        for block in node.blocks:
            yield replace(
                block, enters=False, inherited=node.inherited, note=block.note or "on a branch that was abandoned"
            )
        node.blocks = ()

    def _grouped(self, nodes: list[Node]) -> Iterable[Node]:
        """File order, with all lines of a response together: a result may stand between two of them."""
        responses: dict[str, list[Node]] = {}
        for node in nodes:
            if node.message_id is not None:
                responses.setdefault(node.message_id, []).append(node)
        for node in nodes:
            if node.message_id is None:
                yield node
            else:
                yield from sorted(responses.pop(node.message_id, ()), key=lambda line: line.line)

    def _arrive(self, node: Node, index: int | None = None) -> Iterator[Event]:
        """Bring a line's blocks into the window: at its end, or from the block position `index` on."""
        self._open[node] = self._arrivals
        self._arrivals += 1
        if node.human:
            self._human_waiting = True
            self._old_thinking |= self._thinking
            self._thinking = {}
        if node.thinking and not node.forgotten:
            self._thinking[node] = None
            if node.unlogged:
                self._unlogged[node] = None
        if node.arrived:
            yield from self._return_blocks(node)
            return
        node.arrived = True
        if index is None and not node.inherited:
            yield from node.blocks
        else:
            for i, block in enumerate(node.blocks):
                place = AT_END if index is None else Place("index", index=index + i)
                yield replace(block, inherited=node.inherited, place=place)
        node.blocks = ()

    def _return_blocks(self, node: Node) -> Iterator[Event]:
        """The blocks of a line that was in the window before, as they were sent last."""
        for known in node.ids:
            if node.forgotten and known in node.thinking:
                continue
            again = Edit(self.session, "insert", known, "rewind", "its branch was taken up again")
            if known in node.placeholders:
                again = replace(again, form="placeholder", text=_placeholder(node))
            yield again

    # ------------------------------------------------------------------- past

    def _put_away(self) -> None:
        """Let go of what stands behind a cut: lines in no window that no open response or result belongs to."""
        here = {n for n in (*self._standing, *self._open, *self._pending, self._last, self.tip) if n is not None}
        # A response goes with all its lines and the results of its calls, or stays with them.
        kept = set(self._on_path)
        for node in here:
            kept.update(self._responses_of(node))
        gone = [n for n in self._by_uuid.values() if n not in here and kept.isdisjoint(self._responses_of(n))]
        past = Past(self.session)
        for node in gone:
            del self._by_uuid[node.uuid]
            self._index.pop(node, None)
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
        self._by_uuid |= {node.uuid: node for node in past.nodes.values() if node.session == self.session}
        self._owner |= past.owner
        self._usage |= past.usage
        for key, nodes in past.responses.items():
            self._responses[key] = [*nodes, *self._responses.get(key, ())]
        for key, results in past.results.items():
            self._results[key] = [*results, *self._results.get(key, ())]
        for key, nodes in past.hooks.items():
            self._hooks[key] = [*nodes, *self._hooks.get(key, ())]

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

    # ------------------------------------------------------------------ other

    def inherit(self) -> None:
        """The newest line is a copied response, so all lines that wait were copied with it."""
        for node in self._pending[self._pending_inherited :]:
            node.inherited = True
            if node.message_id is not None:
                self._copied.add(node.message_id)
        self._pending_inherited = len(self._pending)

    def drop_thinking(self, keeps_thinking: bool) -> Iterator[Event]:
        """Before a call: what the model's API does to earlier thinking once the person has spoken again."""
        human, self._human_waiting = self._human_waiting, False
        if keeps_thinking or not human:
            return
        reason = "this model's API leaves out earlier thinking after the next message of the person"
        for node in self._old_thinking:
            node.forgotten = True
            self._unlogged.pop(node, None)
            for block in node.thinking:
                yield Edit(self.session, "drop", block, "thinking-dropped", reason)
        self._old_thinking = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """What the window holds that was never logged."""
        gaps = {"history": self.starts_inside, "thinking": bool(self._unlogged), "summary": self._lacks_summary}
        return ("system", "tools", *(name for name, is_missing in gaps.items() if is_missing))

    def finish(self) -> Iterator[Event]:
        """What stands after the newest line."""
        if self.tip is not None:
            yield from self.advance(self.tip)


def _add(counts: Counter[Key], key: Key, number: int) -> None:
    """Count, and forget what comes to nothing."""
    counts[key] += number
    if not counts[key]:
        del counts[key]


_REASONS: dict[str, str] = {
    "compact": "the client compacted the conversation",
    "clear": "the client started a new conversation in the same log",
    "rewind": "the person went back to an earlier message",
}


def _placeholder(node: Node) -> str:
    """What is sent instead of a line's cleared content."""
    return CLEARED_ATTACHMENT if node.type == "attachment" else CLEARED_TEXT
