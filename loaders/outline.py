"""The shape of JSON seen from its first bytes, for detection: which keys stand where, without parsing the whole.

It prevents detection from needing the end of a document: a head that stops in the middle of a string still shows the
keys before it. JSON lines look the same as the elements of a top-level array.
"""

from __future__ import annotations

import re
from typing import Final

# a string that the head's end cuts off runs to that end: else each quote inside it would be tried as a start
_TOKEN: Final = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)|([{}\[\]:,])', re.DOTALL)
_TOKENS: Final = 40_000
_DEPTH: Final = 6
_VALUE_BYTES: Final = 200


class Outline:
    """Keys by path, such as `request.body` or `messages.role` (array steps are left out), and short string values."""

    def __init__(self, head: bytes) -> None:
        self.is_array = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        self.paths: set[str] = set()
        self._values: dict[str, set[str]] = {}
        self._scan(head)

    def has(self, *paths: str) -> bool:
        """True when every one of `paths` was seen."""
        return all(path in self.paths for path in paths)

    def any(self, *paths: str) -> bool:
        """True when at least one of `paths` was seen."""
        return any(path in self.paths for path in paths)

    def values(self, path: str) -> set[str]:
        """The short strings seen as the value at `path`."""
        return self._values.get(path, set())

    def _scan(self, head: bytes) -> None:
        stack: list[tuple[bool, str]] = []  # (is an object, its path)
        key, expects_value, last = "", False, b""
        for number, token in enumerate(_TOKEN.finditer(head)):
            if number > _TOKENS:
                break
            mark = token[2]
            if mark is None:
                if stack and stack[-1][0] and not expects_value:
                    last = token[1]
                elif stack and expects_value and len(stack) <= _DEPTH and len(token[1]) <= _VALUE_BYTES:
                    self._values.setdefault(key, set()).add(token[1].decode("utf-8", "replace"))
            elif mark == b":":
                if not stack or expects_value:
                    continue
                name = last.decode("utf-8", "replace") if len(last) <= _VALUE_BYTES else ""
                key = f"{stack[-1][1]}.{name}" if stack[-1][1] else name
                if len(stack) <= _DEPTH:
                    self.paths.add(key)
                expects_value = True
            elif mark == b",":
                expects_value = bool(stack) and not stack[-1][0]
            elif mark in b"{[":
                path = key if expects_value else ""
                stack.append((mark == b"{", path))
                key, expects_value = path, mark == b"["
            elif stack:
                _, key = stack.pop()
                expects_value = False
