"""The files of a Claude Code trace, in reading order: sub-agents' files lie beside their session's, and follow it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final

from ctxview.loaders.source import SourceFile

_MOST: Final = 2000
"""Sub-agent files taken in beside one session."""


def reading_order(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Sessions first: a sub-agent's file names its parent."""
    return sorted(files, key=_is_sub_agents)


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


def _is_sub_agents(file: SourceFile) -> bool:
    """Whether the file's first line of conversation is a sub-agent's."""
    try:
        head = file.head()
    except OSError:
        return False
    for line in head.split(b"\n")[:50]:
        if b'"isSidechain"' not in line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        return isinstance(value, dict) and value.get("isSidechain") is True and bool(value.get("agentId"))
    return False
