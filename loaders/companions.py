"""Files that belong to a trace though nobody named them: the logs of a session's sub-agents, beside its own.

It imports no loader, so that a trace's files are known without loading the means to read them.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Final

from ctxview.loaders.source import SourceFile

_MOST: Final = 2000
"""Sub-agent files taken in beside one session."""


def beside(file: SourceFile) -> list[SourceFile]:
    """The files of a Claude Code session's sub-agents: `<session>/subagents/**/*.jsonl` next to `<session>.jsonl`, and
    the `.meta.json` that lies beside each."""
    if file.path is None:
        return []
    folder = PurePath(file.name).parent
    return [SourceFile(str(folder / p.relative_to(file.path.parent)), p) for p in _sub_agents(file.path)]


def _sub_agents(path: Path) -> list[Path]:
    """Regular files inside that folder only, whatever links say."""
    folder = path.with_suffix("") / "subagents"
    try:
        if not folder.is_dir():
            return []
        inside = folder.resolve()
        logs = sorted(folder.rglob("*.jsonl"))[:_MOST]
        paths = [path for log in logs for path in (log, log.with_suffix(".meta.json"))]
        return [p for p in paths if p.is_file() and inside in p.resolve().parents]
    except OSError:
        return []
