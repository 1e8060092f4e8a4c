"""Bytes to records, for every line-based or whole-document JSON format, tolerant of real damage.

INTERFACE STUB: being written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ctxview.loaders.source import SourceFile
from ctxview.model import Issue


@dataclass(frozen=True, slots=True)
class Raw:
    """One record: a line of a line-based log (several when objects are glued on one line) or one JSON document."""

    line: int
    """1-based physical line (split on newline bytes only); 1 for a document."""
    byte: int
    """Offset of the line's first byte."""
    value: Any
    """The parsed JSON value; None unless status is `ok`."""
    status: Literal["ok", "unreadable", "pending"]
    """`pending`: an incomplete last line without a newline: not a record, not an error."""
    end: int
    """Offset just past the line, for progress."""


def read_lines(file: SourceFile, report: Callable[[Issue], None]) -> Iterator[Raw]:
    """Yield each record of a JSON-lines file; everything odd is reported with line and byte, nothing aborts."""
    raise NotImplementedError


def read_document(file: SourceFile, report: Callable[[Issue], None]) -> Raw | None:
    """Parse a whole file as one JSON value; None when it is not one."""
    raise NotImplementedError
