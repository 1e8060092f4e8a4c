"""What the terminal interface asks of a trace, so that it needs no loader, store or tokenizer to be shown or tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:  # the first paint waits for what is imported here
    from ctxview.model import FileRow, IssueRow, SessionRow
    from ctxview.window.view import SessionView


class TraceLike(Protocol):
    """A trace that has been read. All rows are frozen."""

    @property
    def name(self) -> str:
        """How the trace is called on screen."""

    @property
    def sessions(self) -> tuple[SessionRow, ...]:
        """The main session first."""

    @property
    def files(self) -> tuple[FileRow, ...]: ...

    @property
    def issues(self) -> tuple[IssueRow, ...]: ...

    def why_empty(self) -> str:
        """Why there is no session, behind a colon; empty where nothing says so."""

    def view(self, session_id: str | None) -> SessionView:
        """A session by id; None is the main one. Called from worker threads, one at a time per trace.

        `SessionView.text` of what it returns is called from the interface's own thread.
        """

    def pin(self, session_id: str | None, block_id: str, pinned: bool | None) -> SessionView:
        """Pin a block by hand, unpin it, or (None) let the rules decide; the session with the new pins.

        Called from worker threads, as `view` is. Raises CtxviewError when that cannot be kept.
        """

    def close(self) -> None:
        """Called once, when the person quits."""


ProgressCall: TypeAlias = Callable[[str, int, int], None]
"""File, bytes done, bytes in all. May be called from any thread and as often as wanted."""

OpenTrace: TypeAlias = Callable[[ProgressCall], TraceLike]
