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
    """The named files and the sub-agent files beside them, each once, sessions first."""
    known = {f.path.resolve() for f in files if f.path is not None}
    found = list(files)
    for file in files:
        if file.path is None:
            continue
        for path in _beside(file.path):
            if path.resolve() not in known:
                known.add(path.resolve())
                name = PurePath(file.name).parent / path.relative_to(file.path.parent)
                found.append(SourceFile(name=str(name), path=path))
    return sorted(found, key=_is_sub_agents)


def _beside(path: Path) -> list[Path]:
    """`<session>/subagents/**/*.jsonl` next to `<session>.jsonl`, regular files inside that folder only."""
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
