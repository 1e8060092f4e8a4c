"""Finding words in the whole texts of blocks, so that a cut preview never hides a hit.

What a hit is stands here once: the query as it was typed, letter case aside, hits of one text never overlapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ctxview.model import SpanRow


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that holds the query."""

    span: SpanRow
    """The stay with the text that holds it: in the session, the first one with that text."""
    count: int
    """Hits in that text."""

    @property
    def block(self) -> int:
        """`BlockRow.n`."""
        return self.span.block


@dataclass(frozen=True)
class Hits:
    """Where a query was found."""

    query: str
    turn: int | None
    """The window that was searched; None for the whole session."""
    found: tuple[Hit, ...]
    """In window order; of a whole session, in order of arrival, a text in which a block stood later after the first."""

    @cached_property
    def total(self) -> int:
        return sum(hit.count for hit in self.found)

    @cached_property
    def blocks(self) -> frozenset[int]:
        """The blocks that hold it."""
        return frozenset(hit.block for hit in self.found)


class Needle:
    """A query, made ready to be looked for in many texts."""

    def __init__(self, query: str) -> None:
        self.query = query
        self._pattern = re.compile(re.escape(query), re.IGNORECASE)
        self._lower = query.lower() if query.isascii() else None

    def count(self, text: str) -> int:
        """Number of hits in `text`; an empty query has none."""
        if not self.query:
            return 0
        if self._lower is not None and text.isascii():  # twenty times as fast, and the same
            return text.lower().count(self._lower)
        return sum(1 for _ in self._pattern.finditer(text))

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """First and one past the last character of each hit, in order."""
        if self.query:
            for match in self._pattern.finditer(text):
                yield match.span()
