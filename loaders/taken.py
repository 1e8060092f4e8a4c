"""Names that must differ within a trace: those given out so far, and the next free one like it.

It prevents the search for a free name from starting over each time, which takes for ever when ten thousand want one.
"""

from __future__ import annotations


class Taken:
    """Names given out. None is ever free again."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._tried: dict[str, int] = {}
        """Name -> the highest number that was tried behind it."""

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def take(self, wanted: str, form: str = "{}-{}") -> str:
        """`wanted` if it is free, else with the first number behind it, from 2 on, that makes it so."""
        name, number = wanted, self._tried.get(wanted, 1)
        while name in self._names:
            number += 1
            name = form.format(wanted, number)
        self._tried[wanted] = number
        self._names.add(name)
        return name
