"""A trace that has been read: its sessions, files and issues, and a view of each session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from ctxview.annotate import sidecar
from ctxview.errors import UnreadableError, UsageError
from ctxview.model import FileRow, IssueRow, SessionRow
from ctxview.store import Store
from ctxview.window import SessionView


class Trace:
    """What every face opens. Close it, or use it in a `with` statement."""

    def __init__(self, name: str, store: Store, beside: Path | None = None) -> None:
        self.name = name
        self._sidecar = beside
        self.store = store
        self.sessions: tuple[SessionRow, ...] = store.sessions()
        """The main session first."""
        self.files: tuple[FileRow, ...] = store.files()
        self.issues: tuple[IssueRow, ...] = store.issues()
        problem = sidecar.read(beside).problem if beside is not None else ""
        if problem:
            reason = f"pins made by hand are not read: {problem}"
            self.issues += (IssueRow(str(beside), None, None, "warning", reason, None),)
        self._views: dict[str, SessionView] = {}

    def view(self, session_id: str | None = None) -> SessionView:
        """A session by its id, or a unique prefix of that or of what stands behind its last `/`; the main one by
        default. Raises UsageError."""
        session = self.resolve(session_id)
        if session not in self._views:
            view = self.store.view(session)
            if self._sidecar is not None:
                _mark(view, sidecar.read(self._sidecar))
            self._views[session] = view
        return self._views[session]

    def views(self) -> Iterator[SessionView]:
        """Every session, in no order; they are read together and not held, for what goes through all of them."""
        beside = None if self._sidecar is None else sidecar.read(self._sidecar)
        for view in self.store.views():
            if beside is not None:
                _mark(view, beside)
            yield view

    def pin(self, session_id: str | None, block_id: str, pinned: bool | None) -> SessionView:
        """Pin a block by hand, unpin it whatever rule pinned it, or (None) let the rules decide again.

        Kept in the sidecar beside the trace. Raises UsageError when the trace has no place of its own, or the sidecar
        cannot be written.
        """
        if self._sidecar is None:
            raise UsageError(f"{self.name} has no file to keep pins beside", "save it to a file and open that")
        session = self.resolve(session_id)
        mark = None if pinned is None else sidecar.Mark(pinned)
        sidecar.update(self._sidecar, session, block_id, mark)
        self._views.pop(session, None)
        return self.view(session)

    def resolve(self, session_id: str | None) -> str:
        """The full id of a session. Raises UsageError naming what there is."""
        ids = [row.session for row in self.sessions]
        if not ids:
            raise UnreadableError(f"{self.name} holds no session{self.why_empty()}", "`ctxview info` says more")
        if session_id is None:
            return ids[0]
        if session_id in ids:
            return session_id
        matches = [i for i in ids if i.startswith(session_id)]
        if not matches:  # sub-agents are named `parent/own`
            matches = [i for i in ids if i.rpartition("/")[2].startswith(session_id)]
        if len(matches) == 1:
            return matches[0]
        cause = f"is the start of {len(matches)} sessions" if matches else "names no session"
        raise UsageError(f"{session_id!r} {cause} of {self.name}", f"choose from: {_some(matches or ids)}")

    def why_empty(self) -> str:
        """The first thing that is said of the files, behind a colon; empty where nothing is."""
        reason = next((issue.reason for issue in self.issues if issue.reason), "")
        return f": {reason}" if reason else ""

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _mark(view: SessionView, beside: sidecar.Sidecar) -> None:
    """Give a session the pins that were made by hand."""
    marks = beside.marks(view.row.session)
    if marks:
        ids = {b.id: (b.n, b.turn) for b in view.blocks}
        view.facts = replace(view.facts, pins=sidecar.apply(view.facts.pins, marks, ids))


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:8]) + (f", and {len(ids) - 8} more" if len(ids) > 8 else "")
