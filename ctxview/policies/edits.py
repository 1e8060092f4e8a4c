"""What a policy answers: edits, each with its rule, its reason and the numbers that speak for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ctxview.model import Form, Kind, Role

Evidence: TypeAlias = Mapping[str, Any]


class Drop(NamedTuple):
    """The block leaves the window."""

    n: int
    rule: str
    reason: str
    evidence: Evidence


class Drops(NamedTuple):
    """Several blocks leave for one reason."""

    ns: Sequence[int]
    rule: str
    reason: str
    evidence: Evidence


class Later(NamedTuple):
    """A text that is made when somebody reads it. Texts of one name are equal."""

    name: Hashable
    make: Callable[[], str]


class Aging(NamedTuple):
    """A text that reads differently on every turn: it breaks a cached prefix there each time."""

    name: Hashable
    make: Callable[[int | None], str]
    """The text at a turn; None for no turn in particular."""


class Replace(NamedTuple):
    """The same block at the same place, with another text."""

    n: int
    form: Form
    text: str | Later | Aging
    rule: str
    reason: str
    evidence: Evidence
    tokens: int | None = None
    """Counted by the engine when None, which needs the text at once."""


class Insert(NamedTuple):
    """A block that nobody sent. `key` names it within its policy: the same key on a later turn is the same block."""

    key: str
    text: str
    where: str
    """`start`, `head` (after the leading system text and tool schemas), `end`, `before` or `after`."""
    ref: int | None
    """Block number, for before and after."""
    role: Role
    kind: Kind
    covers: tuple[int, ...]
    """All blocks it stands for; a step may give `news` alone."""
    rule: str
    reason: str
    evidence: Evidence
    tokens: int | None = None
    news: tuple[int, ...] | None = None
    """The blocks it covers that it did not cover before; None for all. Keeps the record linear."""
    form: Form = "summary"


class Numbered(NamedTuple):
    """An insert whose wording is the same for every number but for the number itself."""

    wording: str
    """Inserts of equal wording have equal texts for equal numbers."""
    text: Callable[[int], str]
    make: Callable[[int, Sequence[int]], Insert]
    """The whole insert, when it stands for blocks (the second argument) that it did not stand for before."""


class Renew(NamedTuple):
    """The insert made before under `key` stands for `news` as well and says so in its number; nothing else is new.

    For steps that have one on every turn: the insert is made when somebody reads it.
    """

    key: str
    number: int
    tokens: int
    news: Sequence[int]
    insert: Numbered


class Move(NamedTuple):
    """The same block at another place."""

    n: int
    where: str
    ref: int | None
    rule: str
    reason: str
    evidence: Evidence


class Tag(NamedTuple):
    """A remark on a block, or on the firing itself (n None). No byte changes."""

    n: int | None
    rule: str
    reason: str
    evidence: Evidence


class Restored(NamedTuple):
    """The block stands again as the input has it."""

    n: int
    rule: str = "restored"
    reason: str = "the policy no longer touches it"


class Fail(NamedTuple):
    """The policy cannot keep to its budget. No byte changes; the replay reports it and goes on."""

    what: str
    """`pins`, or the component that is over its limit."""
    budget: int
    tokens: int
    protected: tuple[int, ...]
    """The blocks that stand in the way."""


Edit: TypeAlias = Drop | Drops | Replace | Insert | Renew | Move | Tag | Restored | Fail
