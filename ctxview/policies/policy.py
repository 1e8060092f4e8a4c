"""The record that a policy is, the parameters it declares, and what it is given besides a window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

from ctxview.model import Pin
from ctxview.policies.edits import Edit
from ctxview.policies.facts import Facts, pins_at
from ctxview.policies.items import Entry
from ctxview.policies.step import Step
from ctxview.policies.window import Window

Phase: TypeAlias = Literal["rewrite", "select", "insert", "limit", "point"]
PHASES: Final[tuple[Phase, ...]] = ("rewrite", "select", "insert", "limit", "point")
"""Between the recorded phase before them and pairing repair and guard after them. Limits of components hold for what
was put in too; what points to other blocks has to know which of them are left."""
Mode: TypeAlias = Literal["recompute", "sticky"]
Value: TypeAlias = int | float | str | bool | None
Params: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter, with everything that a panel or an error message needs."""

    name: str
    default: Value
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    type: Literal["int", "float", "text", "choice", "names", "flag"] = "int"
    """`names` is a list of words, joined by `+`, of `choices` where there are any; `flag` is yes or no."""
    has_none: bool = False
    """Whether an int or float may be `none` although that is not the default."""

    @property
    def may_be_none(self) -> bool:
        return self.type in ("int", "float") and (self.default is None or self.has_none)

    @property
    def range(self) -> str:
        """What may be given, in words."""
        if self.type == "choice":
            return " | ".join(self.choices)
        if self.type == "flag":
            return "yes | no"
        if self.type == "names":
            return f"{' | '.join(self.choices)}, joined by +" if self.choices else "words joined by +"
        if self.type == "text":
            return "any text, percent-encoded"
        low = "" if self.low is None else f"{self.low:g}"
        high = "" if self.high is None else f"{self.high:g}"
        words = f"{low}..{high}" if high else f"{low} or more" if low else "any number"
        return f"{words}, or none" if self.may_be_none else words


@dataclass(slots=True)
class Context:
    """What a policy is given besides its window. Nothing in it lies after `turn`."""

    turn: int
    params: Params
    facts: Facts
    count: Callable[[str], int]
    overhead: int = 0
    """Tokens of the latest earlier call that were sent and never logged."""
    limit: int | None = None
    """The model's context size, as far as it is known by then. Steps are not told."""
    is_now: bool = False
    """True for what stands after the newest call, which has not been sent."""
    text_of: Callable[[int], str] = str
    """The verbatim text of a block that had arrived by `turn`, by its number."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """For what is costly and depends on blocks alone: the same for every turn."""

    def pins(self, entry: Entry) -> list[Pin]:
        """The pins of an entry that hold, the strongest first."""
        return pins_at(self.facts, entry.n, self.turn)

    def is_pinned(self, entry: Entry, kinds: Sequence[str] | None = None) -> bool:
        return any(kinds is None or p.kind in kinds for p in self.pins(entry))

    def known_pins(self, kinds: Sequence[str]) -> list[Pin]:
        """All pins that hold at this turn, in the window or not, by block."""
        return [p for p in self.facts.all_pins() if p.kind in kinds and p.since <= self.turn < p.until]

    def once(self, key: tuple[Any, ...], make: Callable[[], str]) -> tuple[str, int]:
        """A text that depends on blocks alone, and its tokens, made at the first asking."""
        found: tuple[str, int] | None = self.memo.get(key)
        if found is None:
            text = make()
            found = self.memo[key] = (text, self.count(text))
        return found

    def size(self, window: Window) -> int:
        """The tokens that policies count: what the window counts, plus the unlogged rest of the latest earlier call."""
        return window.tokens + self.overhead


class Plan(Protocol):
    """What a policy would do to one window. Pure: the same window and context give the same edits."""

    def __call__(self, window: Window, ctx: Context) -> Sequence[Edit]: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy under its name. Flags are promises that property tests keep."""

    name: str
    title: str
    source: str
    """Where its semantics and defaults come from."""
    plan: Plan
    params: tuple[Param, ...] = ()
    phase: Phase = "select"
    mode: Mode = "recompute"
    step: Callable[[Params], Step] | None = None
    when: Callable[[int, Context], bool] | None = None
    """The trigger, given the tokens that policies count. While it says no, nothing else is evaluated."""
    sees: Callable[[Window, Context], int | None] | None = None
    """For a plan that has a size trigger of its own: the tokens that it saw; None where its parameters set none."""
    unsafe: bool = False
    """Shown as it is: no pairing repair and no guard, so that the break is seen."""
    may_grow: bool = False
    saves_size: bool = True
    """False for what is about truth or memory: it is needed in a small window too."""
    reorders: bool = False
    idempotent: bool = False
    monotone: bool = False
    """What it dropped stays dropped."""
    stable_head: bool = False
    """Between two firings the earlier window is a prefix of the later one."""
    budget: Callable[[Params], int | None] | None = None
    """The size that windows under it must keep to."""
    counts: Literal["window", "memory"] = "window"
    """What the budget is held against: all that is sent, unlogged parts too; or the conversation's logged blocks alone,
    without system text and tool schemas."""
    check: Callable[[Params], str | None] | None = None
    """What is wrong with parameters that contradict each other; None when nothing is."""
    examples: tuple[str, ...] = field(default=())

    def param(self, name: str) -> Param | None:
        return next((p for p in self.params if p.name == name), None)

    def defaults(self) -> dict[str, Any]:
        return {p.name: p.default for p in self.params}
