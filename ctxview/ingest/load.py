"""Reads the files of a trace into a store: detects formats, feeds sessions, accounts for every record, audits."""

from __future__ import annotations

import sys
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from ctxview.audit import audit_view
from ctxview.errors import UnreadableError
from ctxview.ingest.contents import Contents
from ctxview.ingest.sessions import Session
from ctxview.ingest.trace import Trace
from ctxview.loaders import detect, explain_unknown
from ctxview.loaders.discover import discover
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.model import FileRow, Issue, IssueRow, Progress, Record, SessionStart
from ctxview.store import Store
from ctxview.tokens import Counter

ProgressCall: TypeAlias = Callable[[str, int, int], None]
"""File, bytes done, bytes in all. Called from the thread that reads."""

STDIN = "-"


@dataclass(slots=True)
class _File:
    """The dispositions of one file's records."""

    file: SourceFile
    format: str | None
    counts: Tally[str] = field(default_factory=Tally)
    known: Tally[str] = field(default_factory=Tally)
    unknown: Tally[str] = field(default_factory=Tally)

    def see(self, record: Record) -> None:
        self.counts[record.disposition] += 1
        if record.disposition == "known":
            self.known[record.type] += 1
        elif record.disposition == "unknown":
            self.unknown[record.type] += 1

    def row(self) -> FileRow:
        return FileRow(
            path=self.file.name,
            format=self.format,
            bytes=self.file.size,
            records=self.counts.total(),
            window=self.counts["window"],
            duplicates=self.counts["duplicate"],
            known=dict(sorted(self.known.items())),
            unknown=dict(sorted(self.unknown.items())),
            unreadable=self.counts["unreadable"],
        )


def open_trace(paths: Sequence[str], progress: ProgressCall | None = None, *, store: Store | None = None) -> Trace:
    """Read the files, directories or `-` (standard input) named by `paths` as one trace.

    What cannot be read becomes an issue and the rest still loads; a transcript without a conversation gives a trace
    without sessions. Raises UnreadableError, naming each cause, when nothing could be read as a transcript.
    """
    ingest = _Ingest(store or Store.memory(), progress)
    files, issues = _sources(paths)
    ingest.issues += issues
    for loader, group in ingest.detect(files):
        ingest.read(loader, Source(tuple(group)))
    ingest.finish()
    if not ingest.read_anything:
        ingest.store.close()
        raise _nothing_read(paths, ingest)
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    return Trace("<stdin>" if name == STDIN else name, ingest.store)


def _sources(paths: Sequence[str]) -> tuple[list[SourceFile], list[Issue]]:
    files: list[SourceFile] = []
    issues: list[Issue] = []
    for path in paths:
        if path == STDIN:
            files.append(SourceFile(name="<stdin>", data=sys.stdin.buffer.read()))
            continue
        found, wrong = discover([Path(path)])
        files += found
        issues += wrong
    return files, issues


def _nothing_read(paths: Sequence[str], ingest: _Ingest) -> UnreadableError:
    causes = [f"{i.file}{f', line {i.line}' if i.line else ''}: {i.reason}" for i in ingest.issues[:5]]
    cause = "; ".join(causes) or f"{', '.join(paths)}: no transcript in it"
    return UnreadableError(
        f"nothing could be read as a transcript: {cause}", "`ctxview formats` lists what is understood"
    )


class _Ingest:
    """The state of one reading."""

    def __init__(self, store: Store, progress: ProgressCall | None) -> None:
        self.store = store
        self.issues: list[Issue] = []
        self._progress = progress
        self._counter = Counter()
        self._count_name = lru_cache(maxsize=4096)(self._counter.count)
        self._contents = Contents(store, self._counter)
        self._sessions: dict[str, Session] = {}
        self._files: dict[str, _File] = {}

    @property
    def read_anything(self) -> bool:
        """Whether any record of any file was readable, be it one without a window."""
        return any(f.counts.total() > f.counts["unreadable"] for f in self._files.values())

    def detect(self, files: Sequence[SourceFile]) -> Iterator[tuple[Loader, list[SourceFile]]]:
        """Group the files by loader, in order of first sight; say of the others what they look like."""
        groups: dict[str, tuple[Loader, list[SourceFile]]] = {}
        for file in files:
            try:
                loader = detect(file)
            except OSError as error:
                self.issues.append(Issue(file.name, None, None, "error", f"cannot be read: {error.strerror or error}"))
                continue
            self._files[file.name] = _File(file, loader.name if loader else None)
            if loader is None:
                reason = f"not a transcript that ctxview knows: {explain_unknown(file)}"
                self.issues.append(Issue(file.name, None, None, "error", reason))
            else:
                groups.setdefault(loader.name, (loader, []))[1].append(file)
        yield from groups.values()

    def read(self, loader: Loader, source: Source) -> None:
        """Feed all events of one loader to their sessions."""
        for file in source.files:
            self._tell(file.name, 0, file.size)
        for event in loader.load(source):
            match event:
                case Record():
                    self._file(event.file, loader).see(event)
                case Issue():
                    self.issues.append(event)
                case Progress():
                    self._tell(event.file, event.done, event.total)
                case SessionStart():
                    if event.session in self._sessions:
                        self._sessions[event.session].feed(event)
                    else:
                        self._sessions[event.session] = Session(event, self.store, self._contents)
                case _:
                    self._sessions[event.session].feed(event)
                    if self._contents.is_full:
                        self._settle()

    def _file(self, name: str, loader: Loader) -> _File:
        """The tally of a file; a loader may take in files that lie beside the named ones."""
        if name not in self._files:
            self._files[name] = _File(SourceFile(name=name, path=Path(name)), loader.name)
        return self._files[name]

    def _settle(self) -> None:
        self._contents.settle()
        for session in self._sessions.values():
            session.settle(self._count_name)

    def finish(self) -> None:
        self._settle()
        for session in self._sessions.values():
            session.finish(self._count_name)
        rows = [session.row for session in self._sessions.values()]
        self.store.add_sessions(sorted(rows, key=lambda row: row.parent is not None))
        self.store.add_files(file.row() for file in self._files.values())
        self.store.add_issues(IssueRow(i.file, i.line, i.byte, i.severity, i.reason, i.session) for i in self.issues)
        self._audit()
        self.store.finish()

    def _audit(self) -> None:
        for session in self._sessions:
            found = audit_view(self.store.view(session))
            self.store.add_audit(session, found.stretches)
            self.store.add_cuts(session, found.cuts)
            self.store.add_edits(session, found.edits)

    def _tell(self, file: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(file, done, total)
