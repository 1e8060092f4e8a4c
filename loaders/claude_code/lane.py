"""One conversation of a Claude Code log: which lines stand in the window of each call.

The window of a call is the branch that ends at its first line's parent, plus every line of each response on it, plus
every result of those responses' calls. Lines wait until a call (or the end) shows which branch they are on, so that a
window only ever grows at its end, except at a cut or a rewind. Source: formats.md section 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxview.loaders.claude_code.branch import Branch, Step
from ctxview.loaders.claude_code.index import Index
from ctxview.loaders.claude_code.lines import Boundary, Node
from ctxview.loaders.claude_code.thinking import Thinking
from ctxview.loaders.claude_code.tree import Tree
from ctxview.model import AT_END, Cut, CutKind, Edit, Event, Origin, Place

CLEARED_TEXT = "[Old tool result content cleared]"
CLEARED_ATTACHMENT = "[Old attachment content cleared]"


class Lane:
    """The open window of one session, by lines."""

    def __init__(self, session: str, file: str, tree: Tree) -> None:
        self.session = session
        self.file = file
        self._tree = tree
        self.index = Index(session, tree)
        self._branch = Branch(tree, self.index)
        self._thinking = Thinking()
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
        self._open: dict[Node, int] = {}
        """Lines in the window, each with a number that grows with every arrival."""
        self._arrivals = 0
        self._pending: list[Node] = []
        self._pending_inherited = 0
        """How many of them, from the first on, are known to be copied."""
        self._lacks_summary = False
        """A compaction's summary is in the window, and was not logged."""
        self._seen_roots: set[str] = set()
        self._inside_root: str | None = None
        """The root above which something was said that is not in the log."""

    # ------------------------------------------------------------------ lines

    def add(self, node: Node) -> Iterator[Event]:
        """Take in the lane's next line. A new root and a microcompaction settle the window as it stood before them."""
        if node.parent is None and node.above is None and self._last is not None:
            yield from self.advance(self._last)
        self.tip = self._last = node
        self.index.add(node)
        if node.blocks:
            self._pending.append(node)
        if node.human and self.first_words is None:
            self.first_words = next((b.text for b in node.blocks if b.kind == "user"), None)
        self._branch.meet(node)
        if node.boundary is not None:
            self._branch.preserve(node.boundary)
        if node.cleared or node.cleared_lines:
            yield from self._microcompact(node)

    def repeat(self, original: Node) -> None:
        """The lane's next line is `original` again: what follows hangs below that one, and is no more of a response
        that was being written."""
        self.tip = original
        self.writing = None

    def _microcompact(self, node: Node) -> Iterator[Event]:
        """Old results and attachments keep their text in the log, but later calls were sent a placeholder."""
        yield from self.advance(node)
        cleared = [found for call in node.cleared for found in self.index.results(call)]
        attachments = [found for found in map(self.index.line, node.cleared_lines) if found is not None]
        cleared += [(found, block) for found in attachments for block in found.ids]
        unlogged = len(attachments) < len(node.cleared_lines) or not all(map(self.index.knows, node.cleared))
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
        trigger = "microcompact"
        yield Cut(self.session, node.uuid, "clear", origin, trigger, edits=tuple(edits), unlogged=unlogged)

    # ----------------------------------------------------------------- window

    def advance(self, tip: Node | None) -> Iterator[Event]:
        """Make the window that of a call whose first line hangs below `tip`."""
        step = self._branch.turn_to(tip)
        fresh = step.fresh
        leaving = self._leaving(step.parted if step.is_joined else self._open) if step.parted else []
        starts = not step.is_joined and bool(fresh)
        is_new_root = starts and fresh[0].uuid not in self._seen_roots
        is_compaction = is_new_root and any(n.boundary is not None or n.summary for n in fresh)
        if is_new_root and not self._seen_roots and self.starts_inside:
            self._inside_root = fresh[0].uuid
        if leaving or is_compaction or (starts and self._open):
            yield from self._leave(leaving, step, is_compaction, is_new_root)
        if is_new_root:
            self._seen_roots.add(fresh[0].uuid)
        if not step.is_joined or any(n.summary for n in fresh):
            self._lacks_summary = bool(fresh) and not any(n.summary for n in fresh) and any(n.boundary for n in fresh)
        yield from self._enter(fresh)
        if leaving and not step.is_joined and self._tree.is_large:
            self._put_away()

    def _leaving(self, doubtful: Iterable[Node]) -> list[Node]:
        """Those of the lines that leave the window, in the order of their arrival."""
        gone = [n for n in doubtful if n in self._open and not self._branch.holds(n)]
        return sorted(gone, key=self._open.__getitem__)

    def _leave(self, leaving: list[Node], step: Step, is_compaction: bool, is_new_root: bool) -> Iterator[Event]:
        fresh, tip = step.fresh, self._branch.tip
        kind: CutKind = "compact" if is_compaction else "clear" if is_new_root or tip is None else "rewind"
        # Where the person turned back: the first line of the branch that has not been sent before.
        at = next((n for n in fresh if n.ids and not n.arrived), tip or leaving[-1])
        boundary: Boundary | None = None
        if fresh and not step.is_joined:
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
            self._thinking.leave(node)
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
        preserved = list(self.index.families(p for n in fresh for p in self._branch.preserved_by(n)))
        summaries = [n for n in fresh if n.summary] if preserved else []
        for index, node in enumerate(summaries):
            yield from self._arrive(node, index)
        waiting, self._pending, self._pending_inherited = self._pending, [], 0
        back = self.index.families(node for node in fresh if node.arrived)
        candidates = dict.fromkeys([*preserved, *back, *waiting])
        named = set(preserved)
        chosen = []
        for node in candidates:
            if node in self._open:
                continue
            if node in on_branch or node in named or self._branch.belongs(node):
                chosen.append(node)
            elif not node.arrived:
                yield from self._abandon(node)
        for node in self._grouped(chosen):
            yield from self._arrive(node)

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
        self._thinking.arrive(node)
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

    def _put_away(self) -> None:
        """Let go of what stands behind a cut: lines in no window that no open response or result belongs to."""
        here = (*self._branch.lines, *self._open, *self._pending, self._last, self.tip)
        gone = self.index.put_away({n for n in here if n is not None}, self._branch.responses)
        self._branch.forget(gone)

    # ------------------------------------------------------------------ other

    def inherit(self) -> None:
        """The newest line is a copied response, so all lines that wait were copied with it."""
        for node in self._pending[self._pending_inherited :]:
            node.inherited = True
            self.index.note_copy(node)
        self._pending_inherited = len(self._pending)

    def drop_thinking(self, keeps_thinking: bool) -> Iterator[Event]:
        """Before a call: what the model's API does to earlier thinking once the person has spoken again."""
        reason = "this model's API leaves out earlier thinking after the next message of the person"
        for node in self._thinking.drop(keeps_thinking):
            for block in node.thinking:
                yield Edit(self.session, "drop", block, "thinking-dropped", reason)

    @property
    def missing(self) -> tuple[str, ...]:
        """What the window holds that was never logged."""
        gaps = {"history": self.starts_inside, "thinking": self._thinking.is_unlogged, "summary": self._lacks_summary}
        return ("system", "tools", *(name for name, is_missing in gaps.items() if is_missing))

    def finish(self) -> Iterator[Event]:
        """What stands after the newest line."""
        if self.tip is not None:
            yield from self.advance(self.tip)


_REASONS: dict[str, str] = {
    "compact": "the client compacted the conversation",
    "clear": "the client started a new conversation in the same log",
    "rewind": "the person went back to an earlier message",
}


def _placeholder(node: Node) -> str:
    """What is sent instead of a line's cleared content."""
    return CLEARED_ATTACHMENT if node.type == "attachment" else CLEARED_TEXT
