"""What the user named, as files: with those that lie beside them, and a stamp by which a change is noticed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxview.loaders import all_loaders
from ctxview.loaders.discover import discover
from ctxview.loaders.source import SourceFile
from ctxview.model import Issue

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of one trace."""

    name: str
    """How the trace is called on screen."""
    files: tuple[SourceFile, ...]
    issues: tuple[Issue, ...]

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(f.size for f in self.files)

    @property
    def is_lasting(self) -> bool:
        """Whether everything can be read again: no pipe, no standard input."""
        return bool(self.files) and all(f.path is not None for f in self.files)

    def stamp(self) -> list[list[str | int]]:
        """Path, size in bytes, time of change in ns and inode of each file. Raises OSError when one is gone."""
        stamps: list[list[str | int]] = []
        for file in self.files:
            if file.path is not None:
                stat = file.path.stat()
                stamps.append([str(file.path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ino])
        return stamps


def find_inputs(paths: Sequence[str]) -> Inputs:
    """Files, folders or `-` (standard input, which is read here). What cannot be found becomes an issue."""
    files: list[SourceFile] = []
    issues: list[Issue] = []
    for path in paths:
        if path == STDIN:
            files.append(SourceFile(name="<stdin>", data=sys.stdin.buffer.read()))
            continue
        found, wrong = discover([Path(path)])
        files += found
        issues += wrong
    known = {f.path.resolve() for f in files if f.path is not None}
    for file in list(files):
        for loader in all_loaders():
            for more in loader.beside(file):
                if more.path is not None and more.path.resolve() not in known:
                    known.add(more.path.resolve())
                    files.append(more)
    name = "<stdin>" if paths[0] == STDIN else paths[0]
    return Inputs(name if len(paths) == 1 else f"{name} and {len(paths) - 1} more", tuple(files), tuple(issues))
