"""The files of a Claude Code trace, in reading order: the older session first, sub-agents' files after all sessions.

A resumed session starts with a copy of another one. Whatever the order in which files are named, the first to be read
is the one whose responses are its own, so it must be the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cmp_to_key
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

from ctxview.loaders.claude_code.kinds import CONVERSATION
from ctxview.loaders.records import read_document, read_lines
from ctxview.loaders.shapes import as_dict, as_str, instant
from ctxview.loaders.source import SourceFile

_METADATA: Final = re.compile(r"agent-([^/\\]+)\.meta\.json$")


class _Rank(NamedTuple):
    """Of a file, by its first line of conversation."""

    is_agent: bool
    at: float
    is_fork: bool
    """It says so itself."""


def agent_of(file: SourceFile) -> str | None:
    """The id of the sub-agent whose metadata this file holds, beside its log; None for any other file."""
    match = _METADATA.search(file.name)
    return match[1] if match else None


def starting_call(file: SourceFile) -> str:
    """Id of the call that started a sub-agent, by its metadata; empty where they do not say."""
    raw = read_document(file, lambda _: None)
    return as_str(as_dict(raw.value if raw else None).get("toolUseId"))


def reading_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sessions first, for a sub-agent's file names its parent; then by the time of their first line. A copy starts at
    the same time as its original: the original is the one that does not say it was forked, or whose next line after
    what both hold is older, or that has none."""
    if len(files) < 2:
        return list(files)
    ranks = {file: _rank(file) for file in files}

    def order(one: SourceFile, other: SourceFile) -> int:
        if ranks[one] != ranks[other]:
            return -1 if ranks[one] < ranks[other] else 1
        return _age(one, other) if ranks[one].at else 0

    return sorted(files, key=cmp_to_key(order))


def _rank(file: SourceFile) -> _Rank:
    for value in islice(_lines(file), 50):
        if "isSidechain" in value:
            is_agent = value.get("isSidechain") is True and bool(value.get("agentId"))
            return _Rank(is_agent, _time(value), isinstance(value.get("forkedFrom"), dict))
    return _Rank(False, 0.0, False)


def _age(one: SourceFile, other: SourceFile) -> int:
    """Below 0 when `one` is the older of two files that start with the same lines, above 0 when it is the younger."""
    for a, b in zip_longest(_times(one), _times(other), fillvalue=0.0):
        if a != b:
            return -1 if a < b else 1
    return 0


def _times(file: SourceFile) -> Iterator[float]:
    """The times of its lines of conversation."""
    return (_time(value) for value in _lines(file) if value.get("type") in CONVERSATION)


def _time(value: dict[str, Any]) -> float:
    """When a line was written, in seconds since 1970; 0 where it does not say."""
    return instant(as_str(value.get("timestamp"))) or 0.0


def _lines(file: SourceFile) -> Iterator[dict[str, Any]]:
    """Its lines that are objects, however long they are; what is wrong with others is said when they are read."""
    return (raw.value for raw in read_lines(file, lambda _: None) if isinstance(raw.value, dict))
