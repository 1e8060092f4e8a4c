"""What a reader can set about pins: which kinds are looked for, further phrases, further marks of a denial."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ctxview.model import PinKind

PRIORITY: Final[Mapping[PinKind, int]] = {
    "user": 100,
    "system": 90,
    "goal": 80,
    "denial": 70,
    "constraint": 60,
    "approval": 50,
    "decision": 40,
    "preference": 30,
    "plan": 20,
    "workflow": 20,
    "question": 10,
}
"""What survives longer when pins are capped. What a person pinned by hand comes first."""

OFF_BY_DEFAULT: Final[frozenset[PinKind]] = frozenset()
"""Kinds whose rules are right less than nine times in ten; a `ctxview.toml` can switch them on."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that make a sentence of the person a pin of `kind`."""

    kind: PinKind
    pattern: re.Pattern[str]
    text: str
    """As it was written in the configuration, for the rule's name."""


@dataclass(frozen=True, slots=True)
class PinRules:
    off: frozenset[PinKind] = OFF_BY_DEFAULT
    phrases: tuple[Phrase, ...] = ()
    """Looked for in what the person typed, sentence by sentence, before the rules of the package."""
    denial_markers: tuple[str, ...] = ()
    """A tool result that starts with one of these is a denial, next to `DENIED by policy:`."""

    def has(self, kind: PinKind) -> bool:
        return kind not in self.off


DEFAULT: Final = PinRules()
