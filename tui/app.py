"""The application: paints first, reads the trace in a thread, and hands frozen results to the main screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.events import Resize
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from ctxview.errors import CtxviewError
from ctxview.focus import Focus
from ctxview.tui import reports
from ctxview.tui.cells import shown
from ctxview.tui.commands import Places
from ctxview.tui.contract import OpenTrace, TraceLike
from ctxview.tui.facts import Scene, make_scene
from ctxview.tui.main_screen import MainScreen
from ctxview.tui.overlays import SMALLEST, ReportScreen, TooSmall
from ctxview.tui.palette import DARK, LIGHT, themes

_PROGRESS_SECONDS = 0.05
"""Shortest time between two drawings of the progress bar."""


class CtxviewApp(App[None]):
    """Shows one trace."""

    CSS_PATH = "ctxview.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Places}
    COMMAND_PALETTE_BINDING = "colon"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", show=False),
        Binding("t", "toggle_theme", "light or dark", show=False),
    ]

    class Progressed(Message):
        """So many bytes of a file were read."""

        def __init__(self, file: str, done: int, total: int) -> None:
            self.file, self.done, self.total = file, done, total
            super().__init__()

    class Opened(Message):
        """The trace was read."""

        def __init__(self, trace: TraceLike) -> None:
            self.trace = trace
            super().__init__()

    class SceneRead(Message):
        """A session was read."""

        def __init__(self, trace: TraceLike, scene: Scene, focus: Focus) -> None:
            self.trace, self.scene, self.focus = trace, scene, focus
            super().__init__()

    class SessionSummed(Message):
        """The session list knows more of a session."""

        def __init__(self, session: str, summed: reports.SessionSum) -> None:
            self.session, self.summed = session, summed
            super().__init__()

    def __init__(self, open_trace: OpenTrace, title: str, focus: Focus) -> None:
        super().__init__()
        self.title = shown(title, 200)
        self.trace_title = title
        self.first_focus = focus
        self.trace: TraceLike | None = None
        self.sums: dict[str, reports.SessionSum] = {}
        self._open_trace = open_trace
        self._progress_at = 0.0
        for theme in themes():
            self.register_theme(theme)
        self.theme = DARK

    def get_default_screen(self) -> Screen[None]:
        self.main = MainScreen(self.trace_title)
        return self.main

    def on_ready(self) -> None:
        self._read_trace()

    # ------------------------------------------------------------------- workers

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_trace(self) -> None:
        trace = self._open_trace(self._progress)
        self.post_message(self.Opened(trace))
        if trace.sessions:
            scene = make_scene(trace.view(self.first_focus.session))
            self.post_message(self.SceneRead(trace, scene, self.first_focus))

    def _progress(self, file: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._progress_at >= _PROGRESS_SECONDS or done >= total:
            self._progress_at = now
            self.post_message(self.Progressed(file, done, total))

    def read_session(self, session: str, focus: Focus) -> None:
        """Read a session and show it when it is there."""
        if self.trace is not None:
            self.main.say(f"reading session {shown(session, 40)}", "dim")
            self._read_session(self.trace, session, focus)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_session(self, trace: TraceLike, session: str, focus: Focus) -> None:
        self.post_message(self.SceneRead(trace, make_scene(trace.view(session)), focus))

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def sum_sessions(self) -> None:
        """Read what the session list shows of each session, one after another."""
        for row in self.trace.sessions if self.trace else ():
            if row.session not in self.sums:
                summed = reports.sum_up(self.trace.view(row.session)) if self.trace else None
                if summed is not None:
                    self.post_message(self.SessionSummed(row.session, summed))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is not WorkerState.ERROR or error is None:
            return
        if isinstance(error, CtxviewError):
            cause, fix, code = error.cause, error.fix, error.exit_code
        else:
            cause = f"{type(error).__name__}: {error}"
            fix, code = "this is a bug in ctxview: please report it with the output of `ctxview info`", 1
        if self.main.scene is None:
            self._return_code = code
            self.main.show_error(cause, fix)
        else:
            self.main.say(shown(cause, 200), "bad")

    # ------------------------------------------------------------- their results

    def on_ctxview_app_progressed(self, message: Progressed) -> None:
        if self.trace is None:
            self.main.show_progress(message.file, message.done, message.total)

    def on_ctxview_app_opened(self, message: Opened) -> None:
        self.trace = self.main.trace = message.trace
        if not message.trace.sessions:
            self.main.show_empty("No session was found in this trace.")

    def on_ctxview_app_scene_read(self, message: SceneRead) -> None:
        self.sums[message.scene.view.row.session] = reports.sum_up(message.scene.view)
        self.main.show_scene(message.trace, message.scene, message.focus)

    def on_ctxview_app_session_summed(self, message: SessionSummed) -> None:
        self.sums[message.session] = message.summed
        top = self.screen
        if isinstance(top, ReportScreen) and top.key == "S" and self.trace is not None:
            top.load(reports.sessions(self.trace, self.sums, self.main.place))

    # ------------------------------------------------------------------- screens

    def on_resize(self, event: Resize) -> None:
        small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        if small and not isinstance(self.screen, TooSmall):
            self.push_screen(TooSmall())
        elif not small and isinstance(self.screen, TooSmall):
            self.pop_screen()

    def on_unmount(self) -> None:
        if self.trace is not None:
            self.trace.close()

    def action_toggle_theme(self) -> None:
        self.use_theme(not self.current_theme.dark)

    def use_theme(self, dark: bool) -> None:
        self.theme = DARK if dark else LIGHT
        for screen in self.screen_stack:
            screen.refresh(layout=False)
            for widget in screen.query("*"):
                widget.refresh()
