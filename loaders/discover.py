"""Names on the command line to the files to read, without surprises from the file system.

Prevents reading what was not meant (a link out of the folder, a device), waiting for ever (a FIFO nobody writes to),
walking without end (a link to its own parent), and failing as a whole for one unreadable file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ctxview.loaders.source import SourceFile
from ctxview.model import Issue, Severity
from ctxview.project import FILE, LEDGERS, SIDECAR
from ctxview.text import replace_surrogates

FILE_LIMIT: Final = 20_000
"""Files per call."""
DEPTH_LIMIT: Final = 32
"""Folders below a named one."""
PIPE_LIMIT: Final = 512 * 1024 * 1024
"""Bytes read from a pipe, which are held in memory."""
SAME_ISSUE_LIMIT: Final = 20
"""Issues with one reason before the rest are only counted."""

_NEVER_LOGS: Final = frozenset(
    {".git", ".hg", ".svn", ".venv", ".tox", ".cache", ".mypy_cache", ".pytest_cache", "__pycache__", "node_modules"}
)
"""Folders passed over without a word; other hidden ones are mentioned."""


def discover(paths: Sequence[Path]) -> tuple[list[SourceFile], list[Issue]]:
    """The files that `paths` name, in that order, and what was passed over and why.

    A file is itself; a folder is every file in it that is not hidden, sorted by name, and then its folders in turn;
    what ctxview keeps there beside the traces (settings, pins, ledgers) is passed over without a word.
    Files are called what the user called them; those of a folder by their path inside it, after the folder's own name
    where several paths were named. One file reached twice is listed once. A pipe named outright (`<(command)`,
    `/dev/stdin`) is read at once, up to `PIPE_LIMIT`. Raises nothing.
    """
    search = _Search(alone=len(paths) == 1)
    for path in paths:
        search.add(path)
    return search.files, search.all_issues()


class _Search:
    def __init__(self, *, alone: bool) -> None:
        self.files: list[SourceFile] = []
        self._issues: list[Issue] = []
        self._alone = alone
        self._seen: set[tuple[int, int]] = set()
        self._reasons: dict[str, int] = {}

    def add(self, path: Path) -> None:
        """Add what one named path stands for."""
        name = _name(path)
        try:
            found = path.stat()
        except (OSError, ValueError) as error:
            self.say(name, "error", _no_entry(error))
            return
        mode = found.st_mode
        if stat.S_ISDIR(mode):
            before = len(self.files)
            self._walk(path, "" if self._alone else f"{name}/")
            if len(self.files) == before:
                self.say(name, "warning", "a folder without files to read")
        elif stat.S_ISFIFO(mode) or (stat.S_ISREG(mode) and _is_open_already(path)):
            self._read_pipe(path, name)
        elif stat.S_ISREG(mode):
            self._add_file(path, name, found)
        else:
            self.say(name, "error", f"{_kind(mode)}, which cannot be read as a file")

    def all_issues(self) -> list[Issue]:
        """Every issue, with a count of those that repeated a reason too often."""
        more = [
            Issue("", None, None, "info", f"and {number - SAME_ISSUE_LIMIT:,} more like this: {reason}")
            for reason, number in self._reasons.items()
            if number > SAME_ISSUE_LIMIT
        ]
        return self._issues + more

    def _walk(self, root: Path, prefix: str) -> None:
        real_root = os.path.realpath(root)
        for entry, inside in _entries(root, self):
            name = _name(prefix + inside)
            try:
                if entry.is_symlink() and not self._stays_inside(entry, real_root, name):
                    continue
                found = entry.stat()
            except OSError as error:
                self.say(name, "error", _no_entry(error))
                continue
            if stat.S_ISDIR(found.st_mode):
                continue  # a link to a folder that is walked anyway
            if not stat.S_ISREG(found.st_mode):
                self.say(name, "info", f"{_kind(found.st_mode)} inside a folder: not opened")
                continue
            if len(self.files) >= FILE_LIMIT:
                self.say(name, "warning", f"more than {FILE_LIMIT:,} files: this one and those after it are not read")
                return
            self._add_file(Path(entry.path), name, found)

    def _stays_inside(self, entry: os.DirEntry[str], real_root: str, name: str) -> bool:
        target = os.path.realpath(entry.path)
        try:
            inside = os.path.commonpath([real_root, target]) == real_root
        except ValueError:  # another drive
            inside = False
        if not inside:
            self.say(name, "info", "a link that leaves the folder: not followed")
        return inside

    def _add_file(self, path: Path, name: str, found: os.stat_result) -> None:
        identity = (found.st_dev, found.st_ino)
        if identity in self._seen:
            self.say(name, "info", "a file that is listed already: read once")
        elif not os.access(path, os.R_OK):
            self.say(name, "error", "cannot be read: permission denied")
        else:
            self._seen.add(identity)
            self.files.append(SourceFile(name, path))

    def _read_pipe(self, path: Path, name: str) -> None:
        parts: list[bytes] = []
        size = 0
        try:
            with path.open("rb") as stream:
                while size <= PIPE_LIMIT and (part := stream.read(1024 * 1024)):
                    parts.append(part)
                    size += len(part)
        except OSError as error:
            self.say(name, "error", _no_entry(error))
            return
        if size > PIPE_LIMIT:
            self.say(
                name, "error", f"a pipe with more than {PIPE_LIMIT // 1024 // 1024:,} MiB: save it as a file first"
            )
            return
        self.files.append(SourceFile(name, data=b"".join(parts)))

    def say(self, name: str, severity: Severity, reason: str) -> None:
        """Report something about one name, unless enough was said about others like it."""
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        if self._reasons[reason] <= SAME_ISSUE_LIMIT:
            self._issues.append(Issue(name, None, None, severity, reason))


def _entries(root: Path, search: _Search) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Everything below `root` that is not a folder, with its path inside `root`; links are given, never followed."""
    todo: list[tuple[str, str, int]] = [(str(root), "", 0)]
    while todo:
        folder, inside, depth = todo.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
                deeper_flags = [entry.is_dir(follow_symlinks=False) for entry in entries]
        except OSError as error:
            search.say(_name(inside or folder), "error", _no_entry(error))
            continue
        below: list[tuple[str, str, int]] = []
        for entry, deeper in zip(entries, deeper_flags):
            path = f"{inside}{entry.name}"
            if not deeper:
                if not entry.name.startswith(".") and not _is_own(entry.name):
                    yield entry, path
            elif entry.name in _NEVER_LOGS:
                continue
            elif entry.name.startswith("."):
                search.say(_name(path), "info", "a hidden folder: not read unless it is named")
            elif depth >= DEPTH_LIMIT:
                search.say(_name(path), "warning", f"more than {DEPTH_LIMIT} folders deep: not read")
            else:
                below.append((entry.path, f"{path}/", depth + 1))
        todo.extend(reversed(below))


def _is_own(name: str) -> bool:
    """Whether a file is no trace but what is kept beside one."""
    return name == FILE or name.endswith((SIDECAR, *LEDGERS))


def _is_open_already(path: Path) -> bool:
    """Whether a file is named by its number in this process, redirected: on some systems it can be read only once."""
    return path == Path("/dev/stdin") or path.parent == Path("/dev/fd")


def _name(path: Path | str) -> str:
    """A path as text that can be stored and shown: bytes that are not UTF-8 become U+FFFD."""
    return replace_surrogates(str(path))[0]


def _no_entry(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    cause = error.strerror if isinstance(error, OSError) else None
    return f"cannot be read: {(cause or str(error)).lower()}"


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
