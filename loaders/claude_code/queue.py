"""What the person typed while the model was at work, as far as the log tells what became of it.

A client keeps such words in a queue. When it sends them, most versions log them as a line of the conversation; some
take them off the queue and log nothing more, so that no window can show what the model was told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from ctxview.loaders.shapes import as_str

_MOST: Final = 200
"""Words that wait at once; a hostile log must not make every line be searched for thousands."""
_SENT: Final = frozenset({"user", "attachment"})


class Queue:
    """Show it each line of one file in order, then ask what was never seen sent."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, int] = {}
        """Words in the queue, as JSON has them, the oldest first -> the line that brought them; 0 for the client's."""
        self._left: dict[bytes, int] = {}
        """The person's words that left the queue and were not seen since."""
        self._typed: set[bytes] = set()
        """The person's words of both: what is looked for in lines."""

    def see(self, kind: str, value: dict[str, Any], number: int) -> None:
        if kind == "queue-operation":
            self._operate(as_str(value.get("operation")), as_str(value.get("content")), number)
        elif self._typed and kind in _SENT and not ("toolUseResult" in value or value.get("isCompactSummary")):
            line = _json(value.get("message") or value.get("attachment") or "")
            for words in [words for words in self._typed if words[1:-1] in line]:
                self._typed.discard(words)
                self._waiting.pop(words, None)
                self._left.pop(words, None)

    def _operate(self, operation: str, words: str, number: int) -> None:
        if operation == "enqueue" and words:
            key, is_notice = _json(words), words.lstrip().startswith("<")
            if key not in self._waiting and len(self._waiting) < _MOST:
                self._waiting[key] = 0 if is_notice else number
                if not is_notice:
                    self._typed.add(key)
        elif operation == "popAll":  # back into the input line
            self._waiting.pop(_json(words), None)
            self._typed.discard(_json(words))
        elif operation == "dequeue" and self._waiting:
            self._leave(next(iter(self._waiting)))
        elif operation == "remove":  # the person's words, given to the model while it works
            typed = [words for words, line in self._waiting.items() if line]
            if typed:
                self._leave(typed[-1])

    def _leave(self, words: bytes) -> None:
        line = self._waiting.pop(words)
        if line and len(self._left) < _MOST:
            self._left[words] = line
        elif line:
            self._typed.discard(words)

    def unseen(self) -> Iterator[int]:
        """The lines that brought words which left the queue and stand in no line of the conversation."""
        yield from self._left.values()


def _json(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):  # half of a surrogate pair
        return repr(value).encode("utf-8", "replace")
