"""Regular expressions that cost nothing until they are needed.

It prevents a hundred rules, of which a session uses a few, from being compiled before the first block is read.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn")
_UPPER: Final = re.compile(r"(\\.)|([A-Z]+)")


class _Lazy:
    """Stands in for a pattern; its first use compiles it."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled when it is first used."""
    return cast(re.Pattern[str], _Lazy(source, int(flags)))


def in_lower_case(source: str) -> re.Pattern[str]:
    """The pattern for a text that is in lower case already, with its own letters in lower case, too: searching without
    regard to case takes many times as long. Compiled when it is first used."""
    return lazy(_UPPER.sub(lambda m: m[1] or m[2].lower(), source))
