"""The outcome of a replay: alternate windows as a view like any other, and what they cost and lose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import overload

from ctxview.model import TurnRow
from ctxview.policies.facts import Facts
from ctxview.policies.stack import Stack
from ctxview.replay.details import Firings
from ctxview.replay.guard import BudgetUnsatisfiable
from ctxview.replay.metrics import Metrics, measure
from ctxview.replay.repair import Mended
from ctxview.window import SessionView


class SimulatedTurns(Sequence[TurnRow]):
    """The recorded turns, labelled as simulated when they are read."""

    def __init__(self, turns: Sequence[TurnRow]) -> None:
        self._turns = turns

    def __len__(self) -> int:
        return len(self._turns)

    @overload
    def __getitem__(self, index: int) -> TurnRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TurnRow]: ...
    def __getitem__(self, index: int | slice) -> TurnRow | Sequence[TurnRow]:
        if isinstance(index, slice):
            return [replace(turn, fidelity="simulated") for turn in self._turns[index]]
        return replace(self._turns[index], fidelity="simulated")


@dataclass(frozen=True)
class Replay:
    """What a stack would have made of a session. The recorded answers stay as they are."""

    stack: Stack
    recorded: SessionView
    facts: Facts
    make_view: Callable[[], SessionView]
    sizes: Sequence[int]
    """Tokens of each window as policies count them, from turn 1 to `now`."""
    failures: tuple[BudgetUnsatisfiable, ...] = ()
    firings: Mapping[str, Firings] = field(default_factory=dict)
    """Layer -> the turns on which it changed something in what was sent."""
    mended: Mapping[int, Mended] = field(default_factory=dict)
    """What pairing repair did, by turn, where that changed."""
    volatile: frozenset[int] = frozenset()
    """Content keys of texts that depend on the turn."""

    @property
    def fired(self) -> Mapping[str, int]:
        """Layer -> number of turns on which it changed something in what was sent."""
        return {label: len(turns) for label, turns in self.firings.items()}

    @cached_property
    def view(self) -> SessionView:
        """The alternate session, with the same questions to ask as the recorded one."""
        return self.make_view()

    @cached_property
    def metrics(self) -> Metrics:
        """Costs and losses, turn by turn and in total, with the usual cache factors."""
        return self.measure()

    def measure(self, *, read: float = 0.1, write: float = 1.25) -> Metrics:
        """The same with other factors for tokens read from and written to a prompt cache."""
        return measure(
            self.recorded, self.view, self.facts, failures=self.failures, firings=self.firings,
            mended=self.mended, volatile=self.volatile, read=read, write=write,
            saves_size=all(layer.policy.saves_size for layer in self.stack.layers),
        )  # fmt: skip
