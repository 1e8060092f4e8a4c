"""Reads the files of a trace into a store: detects formats, feeds sessions, accounts for every record, audits."""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ctxview.audit import Doubtful, fit, unexplained_cut
from ctxview.errors import UnreadableError
from ctxview.ingest.contents import Contents
from ctxview.ingest.inputs import Inputs, ProgressCall, sidecar_of
from ctxview.ingest.sessions import Finished, Session
from ctxview.ingest.settings import Settings, settings_for
from ctxview.ingest.trace import Trace
from ctxview.loaders.registry import detect, explain_unknown
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.loaders.taken import Taken
from ctxview.model import FileRow, Issue, IssueRow, Progress, Record, SessionEvent, SessionStart
from ctxview.quiet import no_collection
from ctxview.reconstruct import find_unexplained
from ctxview.store import Store


@dataclass(slots=True)
class _File:
    """The dispositions of one file's records."""

    file: SourceFile
    format: str | None
    size: int = 0
    """Bytes when it was found: it may change while it is read."""
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
            bytes=self.size,
            records=self.counts.total(),
            window=self.counts["window"],
            duplicates=self.counts["duplicate"],
            known=dict(sorted(self.known.items())),
            unknown=dict(sorted(self.unknown.items())),
            unreadable=self.counts["unreadable"],
        )


def read_inputs(
    inputs: Inputs,
    store: Store,
    progress: ProgressCall | None = None,
    *,
    exact: bool = True,
    settings: Settings | None = None,
) -> Trace:
    """Read the files into `store`, which the trace then owns. `exact` False counts nothing: all sizes are estimates.

    What cannot be read becomes an issue and the rest still loads; a transcript without a conversation gives a trace
    without sessions. Raises UnreadableError, naming each cause, when nothing could be read as a transcript.
    """
    settings = settings or settings_for(inputs)
    store.set_meta("stale_after", json.dumps(dict(settings.resources.stale_after)))
    store.set_meta("note_rules", settings.notes.to_json())
    ingest = _Ingest(store, inputs.size, progress, exact, settings)
    ingest.issues += [*inputs.issues, *settings.issues]
    try:
        with no_collection(), store.bulk():
            for loader, group in ingest.detect(inputs.files):
                ingest.read(loader, Source(tuple(group)))
            if not ingest.read_anything:
                raise _nothing_read(inputs, ingest)
            ingest.finish()
    except BaseException:
        store.close()
        raise
    finally:
        ingest.close()
    return Trace(inputs.name, store, sidecar_of(inputs))


def _nothing_read(inputs: Inputs, ingest: _Ingest) -> UnreadableError:
    causes = [f"{i.file}{f', line {i.line}' if i.line else ''}: {i.reason}" for i in ingest.issues[:5]]
    cause = "; ".join(causes) or f"{inputs.name}: no transcript in it"
    return UnreadableError(
        f"nothing could be read as a transcript: {cause}", "`ctxview formats` lists what is understood"
    )


def _shortened(read: _File) -> Issue | None:
    """What to say of a file that lost its end under the reader. One that was removed stays readable while it is open,
    and is said to be gone by whoever opens it later."""
    size, path = read.file.size, read.file.path
    if size >= read.size or path is None or not path.exists():
        return None
    reason = f"it became shorter while it was read ({read.size:,} bytes, then {size:,}): some of it is not shown"
    return Issue(read.file.name, None, None, "error", reason)


class _Ingest:
    """The state of one reading."""

    def __init__(self, store: Store, size: int, progress: ProgressCall | None, exact: bool, settings: Settings) -> None:
        self._settings = settings
        self.store = store
        self.issues: list[Issue] = []
        self._progress = progress
        self._contents = Contents(store, size, exact=exact)
        self._sessions: dict[str, Session] = {}
        """By the name that each has in this trace."""
        self._here: dict[str, Session] = {}
        """Those of the loader that is being read, by its own id of them: two loaders may use one id."""
        self._parents: dict[str, str] = {}
        """A session's parent, by their names."""
        self._names = Taken()
        self._stirred: dict[str, Session] = {}
        """Those that may have something to write: of many sessions, few go on at the same time."""
        self._files: dict[str, _File] = {}

    @property
    def read_anything(self) -> bool:
        """Whether any record of any file was readable, be it one without a window."""
        return any(f.counts.total() > f.counts["unreadable"] for f in self._files.values())

    def detect(self, files: Sequence[SourceFile]) -> Iterator[tuple[Loader, list[SourceFile]]]:
        """Group the files by loader, in order of first sight; say of the others what they look like."""
        groups: dict[str, tuple[Loader, list[SourceFile]]] = {}
        for file in files:
            size = file.size
            try:
                loader = detect(file)
            except OSError as error:
                self.issues.append(Issue(file.name, None, None, "error", f"cannot be read: {error.strerror or error}"))
                continue
            self._files[file.name] = _File(file, loader.name if loader else None, size)
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
            if isinstance(event, Record):
                self._file(event.file, loader).see(event)
            elif isinstance(event, Issue):
                self.issues.append(self._told(event))
            elif isinstance(event, Progress):
                self._tell(event.file, event.done, event.total)
            else:
                self._feed(event)
                if self._contents.pump():
                    self._settle()
        self.issues += filter(None, (_shortened(self._files[file.name]) for file in source.files))
        for session in self._here.values():
            if parent := self._here.get(session.start.parent or ""):
                self._parents[session.name] = parent.name
        self._here = {}

    def _feed(self, event: SessionEvent) -> None:
        session = self._here.get(event.session)
        if session is not None:
            session.feed(event)
            self._stirred[session.name] = session
        elif isinstance(event, SessionStart):
            name = self._names.take(event.session)
            session = Session(name, event, self.store, self._contents, self._settings)
            self._here[event.session] = self._sessions[name] = session
        else:
            raise LookupError(f"an event of session {event.session!r} came before its start")

    def _told(self, issue: Issue) -> Issue:
        session = self._here.get(issue.session or "")
        return issue if session is None else replace(issue, session=session.name)

    def _file(self, name: str, loader: Loader) -> _File:
        """The tally of a file, or of a part of one that a loader names apart."""
        if name not in self._files:
            self._files[name] = _File(SourceFile(name=name, data=b""), loader.name)
        return self._files[name]

    def _settle(self) -> None:
        with self.store.together():
            for session in self._stirred.values():
                session.settle()
        self._stirred = {name: session for name, session in self._stirred.items() if session.is_waiting}

    def close(self) -> None:
        self._contents.close()

    def finish(self) -> None:
        self._contents.settle()
        finished: list[Finished] = []
        with self.store.together():
            for name in list(self._sessions):
                finished.append(self._sessions.pop(name).finish())
        rows = [replace(f.row, parent=self._parents.get(f.session, f.row.parent)) for f in finished]
        self.store.add_sessions(sorted(rows, key=lambda row: row.parent is not None))
        self.store.add_files(file.row() for file in self._files.values())
        self.store.add_issues(IssueRow(i.file, i.line, i.byte, i.severity, i.reason, i.session) for i in self.issues)
        with self.store.together():
            for session in finished:
                self._audit(session)
        self.store.finish()

    def _audit(self, done: Finished) -> None:
        if not done.course.has_usage:
            return
        self.store.add_audit(done.session, fit(done.course, done.cuts))
        cuts, edits = len(done.cuts), done.edits
        for fall in find_unexplained(done.course, done.cuts):
            there = Doubtful(*self.store.standing_at(done.session, fall.turn))
            cut, doubts = unexplained_cut(fall, cuts, edits, there)
            self.store.add_cuts(done.session, [cut])
            self.store.add_edits(done.session, doubts)
            cuts, edits = cuts + 1, edits + len(doubts)

    def _tell(self, file: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(file, done, total)
