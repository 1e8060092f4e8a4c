"""The records of a file that may be JSON lines, one JSON document, or a document that wraps a list of records.

It prevents each such loader from deciding by the file's name, and from losing count: every record read comes out of
here exactly once, broken ones included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ctxview.loaders.records import Raw, read_document, read_lines
from ctxview.loaders.source import SourceFile
from ctxview.model import Issue, Progress

STEP_BYTES: Final = 1024 * 1024
"""How much input lies between two progress events."""


class Records:
    """The records of one file, to be walked more than once: a document is parsed once, lines are read again."""

    def __init__(self, file: SourceFile, unwrap: Callable[[Any], list[Any] | None]) -> None:
        """`unwrap` gives the list of records that a document holds, or None when it is one record itself."""
        self.file = file
        self._unwrap = unwrap
        self._issues: list[Issue] = []
        self._raw = read_document(file, self._issues.append)
        self.is_document = self._raw is not None or any(issue.severity == "error" for issue in self._issues)
        self.document: Any = self._raw.value if self._raw is not None else None
        """The whole document, for what it says about all its records; None for JSON lines."""

    def walk(self, report: Callable[[Issue], None]) -> Iterator[Raw]:
        """Each record, with its line or its 1-based index in the document."""
        if not self.is_document:
            yield from read_lines(self.file, report)
            return
        for issue in self._issues:
            report(issue)
        if self._raw is None:
            if size := self.file.size:
                yield Raw(1, 0, None, "unreadable", size)
            return
        inner = self._unwrap(self._raw.value)
        if inner is None:
            yield self._raw
            return
        for index, value in enumerate(inner, 1):
            yield Raw(index, 0, value, "ok", self._raw.end * index // len(inner))


class Meter:
    """Progress events, about one per megabyte of one file."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file.name
        self._total = file.size
        self._said = 0

    def at(self, done: int) -> Iterator[Progress]:
        """At most one event: the first past each step."""
        if done - self._said >= STEP_BYTES:
            self._said = done
            yield Progress(self._file, min(done, self._total), self._total)

    def end(self) -> Progress:
        """The file is done."""
        return Progress(self._file, self._total, self._total)
