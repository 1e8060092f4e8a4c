"""The files of a Claude Code trace, in reading order: the older session first, sub-agents' files after all sessions.

A resumed session starts with a copy of another one. Whatever the order in which files are named, the first to be read
is the one whose responses are its own, so it must be the original.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ctxview.loaders.shapes import as_str
from ctxview.loaders.source import SourceFile


def reading_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sessions first, for a sub-agent's file names its parent; then by the time of their first line."""
    return sorted(files, key=_rank)


def _rank(file: SourceFile) -> tuple[bool, str]:
    """(whether it is a sub-agent's, when it starts), by the file's first line of conversation."""
    try:
        head = file.head()
    except OSError:
        return False, ""
    for line in head.split(b"\n")[:50]:
        if b'"isSidechain"' not in line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value.get("isSidechain") is True and bool(value.get("agentId")), as_str(value.get("timestamp"))
    return False, ""
