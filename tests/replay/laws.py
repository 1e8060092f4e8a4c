"""What must hold for the windows of any stack: one function for each invariant, to be held against one replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from ctxview.policies import Stack, parse_stack
from ctxview.policies.items import Entry
from ctxview.policies.window import newest_request
from ctxview.replay import Replay
from ctxview.replay.prepared import prepared
from ctxview.window import SessionView, WindowBlock

MENDERS = ("recorded", "repair", "guard")


def turns_of(view: SessionView) -> range:
    return range(1, view.now + 1)


def bases(view: SessionView, text: str) -> Iterator[tuple[int, list[Entry]]]:
    """The entries that a stack starts from, turn by turn."""
    deltas = prepared(view).base(view, parse_stack(text).base).deltas
    standing: dict[int, Entry] = {}
    for turn in turns_of(view):
        for n, (entry, _) in deltas.get(turn, {}).items():
            standing.pop(n, None)
            if entry is not None:
                standing[n] = entry
        yield turn, sorted(standing.values(), key=lambda e: e.pos)


class Held:
    """One replay with all that the laws ask of it, each window looked up once."""

    def __init__(self, source: SessionView, done: Replay) -> None:
        self.source = source
        self.done = done
        self.view = done.view
        self.stack: Stack = done.stack
        self.own = len(source.blocks)
        self.turns: list[tuple[int, list[Entry], tuple[WindowBlock, ...]]] = [
            (turn, entries, self.view.window(turn)) for turn, entries in bases(source, done.stack.text)
        ]

    @property
    def shrinks(self) -> bool:
        """Whether the session itself takes something out of its window, or makes it smaller."""
        sizes = ({e.n: e.tokens for e in entries} for _, entries, _ in self.turns)
        return any(later.get(n, -1) < tokens for before, later in pairwise(sizes) for n, tokens in before.items())

    @property
    def policies(self) -> list[str]:
        return [layer.policy.name for layer in self.stack.layers]


def u1_pairing(held: Held) -> None:
    """Every call has its result and every result its call; a batch stands or goes as a whole; no thinking is alone."""
    view = held.view
    for turn, entries, window in held.turns:
        pairing = view.pairing(turn)
        assert not pairing.orphans, turn
        assert not pairing.duplicates, turn
        where = {w.block.n: i for i, w in enumerate(window)}
        said: dict[str, list[Entry]] = {}
        for entry in entries:
            if entry.role == "assistant":
                said.setdefault(entry.item.row.message, []).append(entry)
        answered = {e.item.call for e in entries if e.kind == "tool_result"}
        for members in said.values():
            standing = [e for e in members if e.n in where]
            if turn <= view.last and standing:
                assert {e.kind for e in standing} != {"thinking"}, turn
            whole = [e.n in where for e in members if e.kind == "tool_call" and e.n in answered]
            assert all(whole) or not any(whole), turn


def u1_adjacency(held: Held) -> None:
    """Nothing is put between a call and its result but what stands for something that stood between them, or was there
    before the result came."""
    view = held.view
    covers: dict[int, set[str]] = {}
    for edit in view.edits:
        if edit.action == "insert" and edit.block is not None:
            covers.setdefault(edit.block, set()).update(edit.covers)
    for turn, entries, window in held.turns:
        place = {e.n: i for i, e in enumerate(entries)}
        named = {e.item.id: i for i, e in enumerate(entries)}
        where = {w.block.n: i for i, w in enumerate(window)}
        for entry in entries:
            result, call = entry.n, entry.item.call
            if entry.kind != "tool_result" or result not in where or call not in where:
                continue
            for n in (w.block.n for w in window[where[call] + 1 : where[result]]):
                if n in place:
                    assert place[call] < place[n] < place[result], (turn, n)
                elif view.life(n)[0].start >= view.life(result)[0].start:
                    assert any(place[call] < named.get(c, -1) < place[result] for c in covers[n]), (turn, n)


def u2_accounting(held: Held) -> None:
    """Each block of the base is kept, replaced, moved or gone; for the last three an edit says why."""
    view = held.view
    for turn, entries, window in held.turns:
        standing = {w.block.n: w.span for w in window}
        assert len(standing) == len(window), turn
        for entry in entries:
            span = standing.get(entry.n)
            if span is None:
                life = [s for s in view.life(entry.n) if s.start <= turn]
                assert life, (turn, entry)
                assert life[-1].ended_by is not None, (turn, entry)
                assert view.edits[life[-1].ended_by].action == "drop", (turn, entry)
            elif (span.form, span.content) != (entry.form, entry.content):
                made = [e for e in view.edits_at(span.start) if e.block == entry.n and e.action in ("replace", "move")]
                arrived = max(1, entry.item.row.turn + 1) == span.start
                assert made or arrived, (turn, entry, span)
        assert {n for n in standing if n < held.own} <= {e.n for e in entries}, turn
    for edit in view.edits:
        assert edit.layer
        assert edit.rule
        assert edit.reason
        assert edit.evidence or edit.layer == "recorded", edit


def u2_covers(held: Held) -> None:
    """What was put in says what it stands for: blocks of the session that had arrived by then."""
    view = held.view
    known = {b.id: b.turn for b in view.blocks}
    put_in = {s.block for s in view.spans if s.block >= held.own}
    assert put_in <= {e.block for e in view.edits if e.action in ("insert", "move")}
    for edit in view.edits:
        assert all(known[block] < edit.turn for block in edit.covers), edit


def u3_no_invention(held: Held) -> None:
    """What stands as it was is byte-equal to what arrived."""
    for turn, entries, window in held.turns:
        arrived: Mapping[int, Entry] = {e.n: e for e in entries}
        for w in window:
            if w.block.n < held.own and w.span.form == "verbatim":
                assert w.span.content == arrived[w.block.n].content == w.block.content, (turn, w)


def u6_newest_request(held: Held) -> None:
    """What was asked last is there, and more than system text wherever the session had more."""
    for turn, entries, window in held.turns:
        standing = {w.block.n for w in window}
        calls = {e.n for e in entries if e.kind == "tool_call"}
        answered = {e.item.call for e in entries if e.n in standing and e.kind == "tool_result"}
        for entry in newest_request(entries):
            if entry.item.call < 0 and entry.kind != "tool_result":
                assert entry.n in standing, (turn, entry)
            elif entry.item.call in calls:
                assert entry.item.call in answered, (turn, entry)
        if any(e.role != "system" for e in entries):
            assert any(w.block.role != "system" for w in window), turn


def u7_order(held: Held) -> None:
    """Survivors keep their order, unless a policy says that it reorders."""
    if any(layer.policy.reorders for layer in held.stack.layers):
        return
    for turn, entries, window in held.turns:
        place = {e.n: i for i, e in enumerate(entries)}
        order = [place[w.block.n] for w in window if w.block.n in place]
        assert order == sorted(order), turn


def u8_budget(held: Held) -> None:
    """A budget holds, or a failure of that policy names turn, blocks and sizes; and totals are sums."""
    done, view = held.done, held.view
    for layer in held.stack.layers:
        if layer.budget is None or layer.unsafe:
            continue
        failures = [f for f in done.failures if f.layer.split("#")[0] == layer.policy.name]
        for turn, _, window in held.turns:
            size = done.sizes[turn - 1]
            if layer.policy.counts == "memory":
                size = sum(w.span.tokens for w in window if w.block.kind not in ("system", "tools"))
            if size > layer.budget:
                assert any(f.turn <= turn <= f.until for f in failures), turn
    for failure in done.failures:
        assert failure.protected
        assert failure.tokens > failure.budget
        assert all(block in failure.message for block, _ in failure.protected[:8])
    for turn, _, window in held.turns:
        assert view.counted(turn) == sum(w.span.tokens for w in window), turn


def u9_shrink(held: Held) -> None:
    """No window is larger than what it was made of, unless a policy says that it may grow.

    A sticky layer's digest outlives what it stands for: where the client takes that out of the session afterwards, the
    digest alone may be larger than what is left.
    """
    if any(layer.policy.may_grow or layer.unsafe for layer in held.stack.layers):
        return
    if held.shrinks and any(layer.mode == "sticky" for layer in held.stack.layers):
        return
    for turn, entries, _ in held.turns:
        assert held.view.counted(turn) <= sum(e.tokens for e in entries), turn


def monotone(held: Held) -> None:
    """What the one policy of a stack dropped comes back by guard or repair alone, or by the session itself."""
    view, (name,) = held.view, held.policies
    for block in held.source.blocks:
        for span, later in pairwise(view.life(block.n)):
            edit = view.edits[span.ended_by or 0]
            if edit.layer == name and edit.action == "drop" and later.start >= span.end:
                entered = [e.layer for e in view.edits_at(later.start) if e.block == block.n]
                assert entered in (["guard"], ["repair"]), (block, span, later)


def stable_head(held: Held) -> None:
    """Between two firings an earlier window is the beginning of the later one."""
    view = held.view
    for turn in range(2, view.now):
        if not view.edits_at(turn):
            before, after = [[(w.block.n, w.span.content) for w in view.window(t)] for t in (turn - 1, turn)]
            assert after[: len(before)] == before, turn


SAFE_LAWS = (
    u1_pairing, u1_adjacency, u2_accounting, u2_covers, u3_no_invention, u6_newest_request, u7_order, u8_budget,
    u9_shrink,
)  # fmt: skip
UNSAFE_LAWS = (u2_accounting, u2_covers, u3_no_invention, u7_order)
"""A literal pattern breaks pairing and loses requests, and is shown so; it is accounted for all the same."""
