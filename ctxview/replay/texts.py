"""Texts that policies wrote, under negative content keys, beside the session's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

_REMEMBERED: Final = 256
"""Texts of the log that are kept at hand: a policy that looks at texts looks at the same ones turn after turn."""


class Texts:
    """A text looked up by key: the log's, or one that a policy wrote."""

    def __init__(self, recorded: Callable[[int], str]) -> None:
        self._recorded = lru_cache(maxsize=_REMEMBERED)(recorded)
        self._written: list[str] = []
        self._keys: dict[str, int] = {}
        self._sizes: dict[tuple[int, Callable[[str], int]], int] = {}

    def __call__(self, content: int) -> str:
        return self._written[-content - 1] if content < 0 else self._recorded(content)

    def keep(self, text: str) -> int:
        """The key of a written text."""
        key = self._keys.get(text)
        if key is None:
            self._written.append(text)
            key = self._keys[text] = -len(self._written)
        return key

    def size(self, content: int, count: Callable[[str], int]) -> int:
        """Tokens of a written text, counted once."""
        found = self._sizes.get((content, count))
        if found is None:
            found = self._sizes[content, count] = count(self(content))
        return found
