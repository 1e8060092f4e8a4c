"""What is odd about the times in a file, for every loader whose records carry any.

It prevents two mistakes: to reorder a log by its clock, which was set back, kept in another zone or never written, and
to say nothing of it. The order of the file always stands; what the clock says against it is said once per file.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ctxview.loaders.shapes import as_text, instant
from ctxview.loaders.tolerant import count
from ctxview.model import Issue

OWN_TIME: Final = math.inf
"""The slack of a record that is dated by something else than its place: by when a command was typed that the client
writes down once it is done, by what another file says."""
_SHOWN: Final = 3
"""So many values that are no times are shown, each once, ..."""
_SHOWN_CHARS: Final = 40
"""... and so much of each."""


@dataclass(slots=True)
class _Noted:
    """Records of which the same is to be said."""

    first: int = 0
    count: int = 0

    def add(self, line: int) -> None:
        self.first = self.first or line
        self.count += 1


@dataclass(slots=True)
class Clock:
    """The times of one file's records, seen in its order."""

    file: str
    unit: str = "line"
    """What a record of the file is called."""
    numbers: bool = False
    """Whether the format writes times as numbers, too, and not as text only."""
    _last: dict[Hashable, float] = field(default_factory=dict)
    _calls: dict[Hashable, float] = field(default_factory=dict)
    """When tool calls were made whose results are still to come."""
    _back: _Noted = field(default_factory=_Noted)
    _without: _Noted = field(default_factory=_Noted)
    _wrong: _Noted = field(default_factory=_Noted)
    _values: dict[str, int] = field(default_factory=dict)
    """The first values that are no times, with the first line of each."""
    _is_kept: bool = False
    """Whether any record has a time."""

    def see(
        self,
        value: Any,
        line: int,
        thread: Hashable = None,
        *,
        slack: float = 0.0,
        calls: Sequence[str] = (),
        answers: Sequence[str] = (),
    ) -> None:
        """A record's timestamp as logged, None where it has none.

        It is compared with the record above of the same `thread`, for conversations that run side by side take turns
        in a log; one that `answers` tool calls is compared with those `calls` instead, for it may be logged below later
        ones. `slack`: how many seconds it may be dated before that; what has any is nothing to compare others with.
        """
        if value is None or value == "":
            self._without.add(line)
            return
        at = instant(value) if self.numbers or isinstance(value, str) else None
        if at is None:
            self._wrong.add(line)
            if len(self._values) <= _SHOWN:
                text = f'"{value[:_SHOWN_CHARS]}"' if isinstance(value, str) else as_text(value)[:_SHOWN_CHARS]
                self._values.setdefault(text, line)
            return
        self._is_kept = True
        for call in calls:
            self._calls[thread, call] = at
        above = self._last.get(thread)
        if answers:
            made = [then for call in answers if (then := self._calls.pop((thread, call), None)) is not None]
            above = max(made, default=None)
        if above is not None and at < above - slack:
            self._back.add(line)
        if not slack:
            self._last[thread] = at

    def issues(self) -> Iterator[Issue]:
        """What was odd, each kind once; nothing of missing times where no record has one."""
        if self._back.count:
            yield self._issue(self._back, "is", "are", f"dated before the {self.unit} above")
        if self._wrong.count:
            values = [f"{text} on {self.unit} {line}" for text, line in self._values.items()]
            shown = "; ".join(values[:_SHOWN]) + ("; and others" if len(values) > _SHOWN else "")
            yield self._issue(self._wrong, "has", "have", f"no usable timestamp ({shown})")
        if self._without.count and self._is_kept:
            yield self._issue(self._without, "has", "have", "no timestamp")

    def _issue(self, noted: _Noted, verb: str, verbs: str, what: str) -> Issue:
        who = f"a {self.unit} {verb}" if noted.count == 1 else f"{count(noted.count, self.unit)} {verbs}"
        return Issue(self.file, noted.first, None, "info", f"{who} {what}; the order of the file is kept")
