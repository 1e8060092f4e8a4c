"""What the user named, as files: with those that lie beside them, and a stamp by which a change is noticed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from ctxview.errors import UnreadableError, UsageError
from ctxview.loaders.companions import beside
from ctxview.loaders.discover import PIPE_LIMIT, discover
from ctxview.loaders.source import SourceFile
from ctxview.loaders.taken import Taken
from ctxview.model import Issue
from ctxview.project import SIDECAR, find_config

STDIN = "-"
ProgressCall: TypeAlias = Callable[[str, int, int], None]
"""File, bytes done, bytes in all. Called from the thread that reads."""


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
        """Path, size in bytes, time of change in ns and inode of each file. Raises UnreadableError when one is gone."""
        stamps: list[list[str | int]] = []
        for file in self.files:
            if file.path is not None:
                try:
                    stat = file.path.stat()
                except OSError as error:
                    cause = f"{file.name} cannot be read any more: {error.strerror or error}"
                    raise UnreadableError(cause, "open the trace again, with the files that are there now") from error
                stamps.append([str(file.path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ino])
        return stamps


def find_inputs(paths: Sequence[str]) -> Inputs:
    """Files, folders or `-` (standard input, which is read here). What cannot be found becomes an issue."""
    if not all(paths):
        raise UsageError("an empty name is no trace", "name a file, a folder, or `-` for standard input")
    found, issues = discover([Path(path) for path in paths if path != STDIN])
    piped = [_standard_input()] if STDIN in paths else []
    files = _each_once([*piped, *found] if paths[0] == STDIN else [*found, *piped])
    known = {f.path.resolve() for f in files if f.path is not None}
    for file in list(files):
        for more in beside(file):
            if more.path is not None and more.path.resolve() not in known:
                known.add(more.path.resolve())
                files.append(more)
    files = _named_apart(files)
    name = "<stdin>" if paths[0] == STDIN else paths[0]
    return Inputs(name if len(paths) == 1 else f"{name} and {len(paths) - 1} more", tuple(files), tuple(issues))


def config_of(inputs: Inputs) -> Path | None:
    """The `ctxview.toml` that holds for these files; None when there is none."""
    return find_config(_first_path(inputs))


def sidecar_of(inputs: Inputs) -> Path | None:
    """Where a person's marks on this trace are kept: beside its first file; nowhere for what came through a pipe."""
    first = _first_path(inputs)
    return first.with_name(first.name + SIDECAR) if first is not None else None


def _first_path(inputs: Inputs) -> Path | None:
    return next((f.path for f in inputs.files if f.path is not None), None)


def _standard_input() -> SourceFile:
    data = sys.stdin.buffer.read(PIPE_LIMIT + 1)
    if len(data) > PIPE_LIMIT:
        raise UsageError(f"standard input holds more than {PIPE_LIMIT >> 20} MiB", "save it to a file and name that")
    return SourceFile(name="<stdin>", data=data)


def _named_apart(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Every file under a name of its own: what became of its records is told by it."""
    taken = Taken()
    return [replace(file, name=taken.take(file.name, "{} ({})")) for file in files]


def _each_once(files: Sequence[SourceFile]) -> list[SourceFile]:
    """A file that was named twice, or lies in a folder that was named too, is read once."""
    seen: set[Path] = set()
    kept = []
    for file in files:
        path = None if file.path is None else file.path.resolve()
        if path is None or path not in seen:
            kept.append(file)
        if path is not None:
            seen.add(path)
    return kept
