"""What every sample needs: stable ids, a clock that is no clock, token counts, and one way to write JSON.

It prevents the two ways in which a generated file changes without anyone changing it: ids and times drawn from the
machine, and JSON written in a different order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from ctxview.tokens import Counter

Json: TypeAlias = dict[str, Any]

ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""The characters of the provider's ids: letters and digits that cannot be mistaken for one another."""

_COUNTER: Final = Counter("o200k_base")


def tokens(*texts: str) -> int:
    """Tokens of the texts together, counted one by one, as ctxview counts blocks."""
    total = sum(_COUNTER.count_many(texts))
    if _COUNTER.estimated:
        raise SystemExit(f"samples need exact counts: {_COUNTER.reason}")
    return total


def arguments_text(name: str, arguments: Json) -> str:
    """A tool call as text: its name and its arguments as JSON."""
    return name + json.dumps(arguments, ensure_ascii=False)


def dump(record: Json) -> str:
    """One record as one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def lines(records: Iterable[Json]) -> str:
    return "".join(dump(record) + "\n" for record in records)


@dataclass(slots=True)
class Ids:
    """Ids that look like the provider's and depend only on the sample's name and on how many came before."""

    sample: str
    _made: dict[str, int] = field(default_factory=dict)

    def _digest(self, kind: str) -> bytes:
        self._made[kind] = self._made.get(kind, 0) + 1
        return hashlib.sha256(f"{self.sample}/{kind}/{self._made[kind]}".encode()).digest()

    def short(self, kind: str, prefix: str, length: int = 24) -> str:
        return prefix + "".join(ALPHABET[byte % len(ALPHABET)] for byte in self._digest(kind)[:length])

    def uuid(self, kind: str = "uuid") -> str:
        text = self._digest(kind).hex()
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"


@dataclass(slots=True)
class Clock:
    """Moves by seconds that vary but are always the same ones."""

    now: datetime
    _ticks: int = 0

    @classmethod
    def at(cls, day: str) -> Clock:
        """`day` as `2026-03-04T09:12:00`."""
        return cls(datetime.fromisoformat(day).replace(tzinfo=UTC))

    def tick(self, least: int = 2, spread: int = 9) -> str:
        """The next moment, as the logs write it."""
        self._ticks += 1
        step = hashlib.sha256(str(self._ticks).encode()).digest()
        self.now += timedelta(seconds=least + step[0] % spread, milliseconds=int.from_bytes(step[1:3], "big") % 1000)
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"
