"""Texts that policies wrote, under negative content keys, beside the session's own."""

from __future__ import annotations

from collections.abc import Callable


class Texts:
    """A text looked up by key: the log's, or one written in this replay."""

    def __init__(self, recorded: Callable[[int], str]) -> None:
        self._recorded = recorded
        self._written: list[str] = []
        self._keys: dict[str, int] = {}

    def __call__(self, content: int) -> str:
        return self._written[-content - 1] if content < 0 else self._recorded(content)

    def keep(self, text: str) -> int:
        """The key of a written text."""
        key = self._keys.get(text)
        if key is None:
            self._written.append(text)
            key = self._keys[text] = -len(self._written)
        return key
