"""Texts that policies wrote, under negative content keys, beside the session's own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Final

from ctxview.policies.edits import Aging, Later, Numbered

_REMEMBERED: Final = 256
"""Texts of the log that are kept at hand: a policy that looks at texts looks at the same ones turn after turn."""

_TURN: Final = 1 << 40
"""Keys of a text that depends on the turn are this far apart: more than there are written texts."""


class Texts:
    """A text looked up by key: the log's, or one that a policy wrote."""

    def __init__(self, recorded: Callable[[int], str]) -> None:
        self._recorded = lru_cache(maxsize=_REMEMBERED)(recorded)
        self._written: list[str | Later | Aging | tuple[Callable[[int], str], int]] = []
        self._keys: dict[Hashable, int] = {}
        self._series: dict[str, dict[int, int]] = {}
        """The keys of texts that differ by a number alone, by their wording and that number."""
        self._sizes: dict[tuple[int, Callable[[str], int]], int] = {}

    def __call__(self, content: int) -> str:
        if content >= 0:
            return self._recorded(content)
        turn, written = divmod(-content, _TURN)
        text = self._written[written - 1]
        if isinstance(text, str):
            return text
        if isinstance(text, Aging):
            return text.make(turn or None)
        return text.make() if isinstance(text, Later) else text[0](text[1])

    def aged(self, content: int, turn: int) -> int:
        """The key of a written text as it reads at a turn: the same key for texts that do not depend on it."""
        is_aging = -_TURN < content < 0 and isinstance(self._written[-content - 1], Aging)
        return content - turn * _TURN if is_aging else content

    def keep(self, text: str | Later | Aging) -> int:
        """The key of a written text, or of one that is written whenever somebody reads it."""
        name = text if isinstance(text, str) else text.name
        key = self._keys.get(name)
        if key is None:
            self._written.append(text)
            key = self._keys[name] = -len(self._written)
        return key

    def numbered(self, insert: Numbered, numbers: Sequence[int]) -> list[int]:
        """The keys of texts that are written whenever somebody reads them."""
        series, written, make = self._series.setdefault(insert.wording, {}), self._written, insert.text
        for number in numbers:
            if number not in series:
                written.append((make, number))
                series[number] = -len(written)
        return [series[number] for number in numbers]

    def size(self, content: int, count: Callable[[str], int]) -> int:
        """Tokens of a written text, counted once."""
        found = self._sizes.get((content, count))
        if found is None:
            found = self._sizes[content, count] = count(self(content))
        return found
