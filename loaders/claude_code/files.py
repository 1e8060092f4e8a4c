"""The files of a Claude Code trace, in reading order: the older session first, sub-agents' files after all sessions.

A resumed session starts with a copy of another one. Whatever the order in which files are named, the first to be read
is the one whose responses are its own, so it must be the original.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from ctxview.loaders.shapes import as_str
from ctxview.loaders.source import SourceFile

_MOST: Final = 2000
"""Sub-agent files taken in beside one session."""


def reading_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sessions first, for a sub-agent's file names its parent; then by the time of their first line."""
    return sorted(files, key=_rank)


def beside(file: SourceFile) -> list[SourceFile]:
    """The files of a session's sub-agents: `<session>/subagents/**/*.jsonl` next to `<session>.jsonl`."""
    if file.path is None:
        return []
    folder = PurePath(file.name).parent
    return [SourceFile(str(folder / p.relative_to(file.path.parent)), p) for p in _beside(file.path)]


def _beside(path: Path) -> list[Path]:
    """Regular files inside that folder only, whatever links say."""
    folder = path.with_suffix("") / "subagents"
    try:
        if not folder.is_dir():
            return []
        inside = folder.resolve()
        paths = sorted(folder.rglob("*.jsonl"))[:_MOST]
        return [p for p in paths if p.is_file() and inside in p.resolve().parents]
    except OSError:
        return []


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
