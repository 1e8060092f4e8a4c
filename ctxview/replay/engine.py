"""The replay: from the base's changes through every layer to the windows a stack would send.

No model is called: what the session answered stays as it is. Cost goes with changes; a turn on which no trigger is
reached costs its arrivals, or nothing (see `walk`).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from operator import sub
from typing import Any

from ctxview.model import BlockRow
from ctxview.policies.edits import Fail
from ctxview.policies.facts import Facts, pins_at
from ctxview.policies.items import Entry
from ctxview.policies.policy import PHASES, Context
from ctxview.policies.stack import Layer, Stack
from ctxview.policies.window import newest_request
from ctxview.replay.facts import facts_of
from ctxview.replay.guard import Failures, Guard
from ctxview.replay.inserted import Inserted
from ctxview.replay.layer import Runner, Tools
from ctxview.replay.layers import can_sweep, runner
from ctxview.replay.order import Places
from ctxview.replay.prepared import overheads, prepared
from ctxview.replay.record import CutLog, EditLog, Record
from ctxview.replay.repair import Repair
from ctxview.replay.result import Replay, SimulatedTurns
from ctxview.replay.stepped import Stepped
from ctxview.replay.walk import sweep, walk
from ctxview.tokens import Counter
from ctxview.window import SessionView


def replay(
    view: SessionView,
    stack: Stack,
    facts: Facts | None = None,
    *,
    count: Callable[[str], int] | None = None,
    naive: bool = False,
) -> Replay:
    """What `stack` would have made of the recorded session `view`.

    `count` counts tokens of written texts. `naive` plans every layer from scratch on every turn: the same result,
    slowly, for tests.
    """
    known = facts if facts is not None else facts_of(view)
    if stack.is_recorded:
        unlogged = overheads(view)
        sizes = [view.counted(t) + unlogged[t] for t in range(1, view.now + 1)]
        fired: dict[int, int | None] = dict.fromkeys(cut.turn for cut in view.cuts if cut.turn <= view.last)
        return Replay(stack, view, known, lambda: view, sizes, firings={"recorded": fired})
    with _no_collection():
        return _walk(view, stack, known, count or counter(), naive)


def prepare(view: SessionView, stop: Callable[[], bool] = lambda: False) -> None:
    """Make ready what every replay of a session's history shares, and the tokenizer, so that the first one is as quick
    as any other. It ends early when `stop()` turns true."""
    with _no_collection():
        base = prepared(view).base(view, "history")
        steps: Sequence[Callable[[], object]] = (
            lambda: base.touchy,
            lambda: base.pending,
            lambda: base.stretch.messages.sums,
            lambda: base.extents(base.stretch.messages),
            lambda: base.extents(base.stretch.all_messages),
            lambda: facts_of(view),  # indexes of the session's facts, kept with them
            lambda: counter()(""),
        )
        for step in steps:
            if stop():
                return
            step()


def _walk(view: SessionView, stack: Stack, facts: Facts, count: Callable[[str], int], naive: bool) -> Replay:
    shared = prepared(view)
    texts, items = shared.texts, shared.items
    base = shared.base(view, stack.base)
    inserted = Inserted(len(items), view.row.joins_roles, texts)
    layers = sorted(labelled(stack), key=lambda named: PHASES.index(named[1].policy.phase))
    mended = bool(layers) and not any(layer.unsafe for _, layer in layers)
    is_swept = not naive and all(can_sweep(layer) for _, layer in layers)
    arrived = base.ground.opened if is_swept else {}
    record = Record(items, arrived)
    kept = _Budgets(layers, record, facts, inserted)
    tools = Tools(texts, inserted, record.tag, kept.stated, arrived)

    def text_of(n: int) -> str:
        return view.text(view.blocks[n].content)

    memo: dict[Any, Any] = {}
    runners: list[Runner] = []
    contexts: list[Context] = []
    for index, (label, layer) in enumerate(layers):
        runners.append(runner(layer, label, Places(index, len(layers)), tools, naive=naive))
        contexts.append(Context(1, layer.params, facts, count, 0, None, False, text_of, memo))
    mending = None
    if mended:
        repair = Repair(items, shared.groups, base.irregular, record.entry)
        mending = repair, Guard(record.entry, record.standing, record.own, partial(_left, runners))
    if is_swept:
        stepped = [run for run in runners if isinstance(run, Stepped)]
        sizes = sweep(base, list(zip(stepped, contexts, strict=True)), record, shared.overheads, mending)
    else:
        sizes = walk(base, list(zip(runners, contexts)), record, shared.overheads, shared.limits, mending, kept.check)

    def make_view() -> SessionView:
        blocks = [*view.blocks, *inserted.rows]
        return SessionView(
            row=view.row,
            turns=SimulatedTurns(view.turns),
            blocks=blocks,
            spans=record.spans(),
            edits=EditLog(record.edits, blocks),
            cuts=CutLog(record.cuts, stack.text),
            audit=view.audit,
            texts=texts,
            stack=stack.text,
            facts=view.facts,
            base=view,
            totals=[0, *map(sub, sizes, shared.overheads[1:])],
            aged=texts.aged if record.volatile else None,
        )

    for run in runners:
        run.fired.pop(view.now, None)  # that window was never sent
    return Replay(
        stack, view, facts, make_view, sizes, tuple(kept.failures.found),
        {label: run.fired for (label, _), run in zip(layers, runners)}, mending[0].mended if mending else {},
        frozenset(record.volatile),
    )  # fmt: skip


def _left(runners: Sequence[Runner], n: int) -> tuple[int, Entry] | None:
    """The last layer in whose output a block stands, by number, and the entry; None for those that the first took."""
    for number in reversed(range(len(runners))):
        entry = runners[number].left(n)
        if entry is not None:
            return number, entry
    return None


def labelled(stack: Stack) -> list[tuple[str, Layer]]:
    """The layers under names that tell them apart: the second `supersede` is `supersede#2`."""
    found: list[tuple[str, Layer]] = []
    for layer in stack.layers:
        name = layer.policy.name
        count = 1 + sum(other.policy.name == name for _, other in found)
        found.append((name if count == 1 else f"{name}#{count}", layer))
    return found


@lru_cache(maxsize=1)
def counter() -> Callable[[str], int]:
    """The session's tokenizer, for the texts that policies write."""
    return Counter().count


class _Budgets:
    """Holds each layer's budget against what is about to be sent."""

    def __init__(self, layers: list[tuple[str, Layer]], record: Record, facts: Facts, inserted: Inserted) -> None:
        self.failures = Failures()
        self._record = record
        self._facts = facts
        self._inserted = inserted
        self._kept = [
            (label, layer.budget, layer.policy.counts) for label, layer in layers if layer.budget and not layer.unsafe
        ]

    def check(self, turn: int, overhead: int) -> None:
        for label, budget, counts in self._kept:
            size = self._record.tokens + overhead
            if counts == "memory":
                size = sum(e.tokens for e in self._record.standing() if not e.is_fixed)
            if budget is not None and size > budget:
                named = partial(self._protected, turn, overhead if counts == "window" else 0)
                self.failures.add(label, "window", turn, budget, size, named)

    def stated(self, label: str, turn: int, edit: Fail) -> None:
        """A policy says itself that it cannot keep to a limit."""
        names = [(self._name(n), self._tokens(n)) for n in edit.protected]
        self.failures.add(label, edit.what, turn, edit.budget, edit.tokens, lambda: names)

    def _row(self, n: int) -> BlockRow:
        return self._record.row(n, self._inserted.rows)

    def _name(self, n: int) -> str:
        return self._row(n).id

    def _tokens(self, n: int) -> int:
        return self._row(n).tokens

    def _protected(self, turn: int, unlogged: int) -> list[tuple[str, int]]:
        present = self._record.present()
        request = {e.n for e in newest_request(present)}
        found = [
            (e.item.id, e.tokens)
            for e in present
            if e.is_fixed or e.n in request or pins_at(self._facts, e.n, turn)
        ]
        if unlogged > 0:
            found.append(("what was never logged", unlogged))
        return found


@contextmanager
def _no_collection() -> Iterator[None]:
    """Long sessions make many small objects, none of them in cycles: looking for cycles would double the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
