"""Where a project keeps its words about its traces: `ctxview.toml`, and files beside each of them.

Apart from what reads it, so that a trace that was read before opens without loading any rule.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FILE: Final = "ctxview.toml"
SIDECAR: Final = ".ctxview.json"
"""Suffix of the file beside a trace that keeps what a person noted about it."""
LEDGERS: Final = (".ledger.csv", ".ledger.jsonl")
"""Suffixes of a file beside a trace that holds its ledger."""


def find_config(trace: Path | None = None, cwd: Path | None = None, home: Path | None = None) -> Path | None:
    """The project's `ctxview.toml`: beside the trace or above it, up to a repository's root or the home folder, else in
    the current folder."""
    home = home if home is not None else Path.home()
    cwd = cwd if cwd is not None else Path.cwd()
    if trace is not None:
        start = trace.absolute()
        for folder in [start, *start.parents] if start.is_dir() else start.parents:
            if (folder / FILE).is_file():
                return folder / FILE
            if (folder / ".git").exists() or folder == home:
                break
    return cwd / FILE if (cwd / FILE).is_file() else None
