"""The facts of a recorded session as policies ask for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from ctxview.ledger import find_rows
from ctxview.model import Observation, Pin, ResourceChange
from ctxview.policies.facts import LedgerRow
from ctxview.window import SessionView


class ViewFacts:
    """Looks up what `annotate` and the ledger found. Ledger rows are read when a policy first asks for them."""

    def __init__(self, view: SessionView, rows: Sequence[LedgerRow] | None = None) -> None:
        self._view = view
        self._rows = rows
        self._pins = view.facts.by_block
        self._observed = view.facts.resources.by_block
        self._stale_after = view.facts.stale_after

    def pins(self, n: int) -> Sequence[Pin]:
        return self._pins.get(n, ())

    def all_pins(self) -> Sequence[Pin]:
        return self._view.facts.pins

    def observations(self, n: int) -> Sequence[Observation]:
        return self._observed.get(n, ())

    def observing(self) -> Collection[int]:
        return self._observed.keys()

    def changes(self, n: int) -> Sequence[ResourceChange]:
        return self._changes.get(n, ())

    def ledger(self) -> Sequence[LedgerRow]:
        return self._found if self._rows is None else self._rows

    @cached_property
    def _changes(self) -> dict[int, list[ResourceChange]]:
        found: dict[int, list[ResourceChange]] = {}
        for change in self._view.facts.changes:
            found.setdefault(change.block, []).append(change)
        return found

    @cached_property
    def _found(self) -> tuple[LedgerRow, ...]:
        rows = []
        for row in find_rows(self._view):
            if row.noted_at is None:
                continue
            blocks = (row.block,) if row.block is not None else ()
            rows.append(LedgerRow(row.finding, row.value, row.source, row.noted_at + 1, blocks))
        return tuple(sorted(rows, key=lambda row: row.since))


def facts_of(view: SessionView) -> ViewFacts:
    return ViewFacts(view)
