"""The application: paints first, reads the trace in a thread, and hands frozen results to its screens."""

from __future__ import annotations

import asyncio
import contextlib
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.events import Resize
from textual.filter import ANSIToTruecolor, LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from ctxview.errors import CtxviewError
from ctxview.focus import Focus
from ctxview.tui.cells import shown
from ctxview.tui.contract import OpenTrace, TraceLike
from ctxview.tui.notice import SMALLEST, TooSmall
from ctxview.tui.palette import DARK, LIGHT, themes
from ctxview.tui.start import StartScreen

if TYPE_CHECKING:  # loaded by the worker, after the first paint
    from ctxview.tui.facts import Scene
    from ctxview.tui.main_screen import MainScreen
    from ctxview.tui.reports import SessionSum

Made = TypeVar("Made")

_PROGRESS_SECONDS = 0.05
"""Shortest time between two drawings of the progress bar."""
_TERMINAL_SECONDS = 2.0
"""How often to look whether the terminal is still there."""
_ENDED = 143
"""The exit code of a program that SIGTERM ended."""


def _places() -> type[Provider]:
    from ctxview.tui.commands import Places

    return Places


class CtxviewApp(App[None]):
    """Shows one trace."""

    CSS_PATH = "ctxview.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_places}
    COMMAND_PALETTE_BINDING = "colon"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", show=False),
        Binding("t", "toggle_theme", "light or dark", show=False),
    ]

    class Progressed(Message):
        """A file is being read; so many bytes of all files were."""

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

        def __init__(self, scene: Scene, summed: SessionSum, focus: Focus) -> None:
            self.scene, self.summed, self.focus = scene, summed, focus
            super().__init__()

    class SceneSearched(Message):
        """All that went wrong in a session that was read is known."""

        def __init__(self, scene: Scene) -> None:
            self.scene = scene
            super().__init__()

    class SessionSummed(Message):
        """The session list knows more of a session."""

        def __init__(self, session: str, summed: SessionSum) -> None:
            self.session, self.summed = session, summed
            super().__init__()

    class Computed(Message):
        """Something slow that a screen asked for is there."""

        def __init__(self, then: Callable[[], None]) -> None:
            self.then = then
            super().__init__()

    def __init__(
        self,
        open_trace: OpenTrace,
        title: str,
        focus: Focus,
        give_up: Callable[[], None] | None = None,
        traces: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.title = shown(title, 200)
        self.trace_title = title
        self.traces = tuple(traces) or (title,)
        """What a command has to name to open the same trace."""
        self.first_focus = focus
        self.trace: TraceLike | None = None
        self.main: MainScreen | None = None
        self.wanted: str | None = None
        """The session that was asked for last; None before one was."""
        self.sums: dict[str, SessionSum] = {}
        self._open_trace = open_trace
        self._give_up = give_up
        self._progress_at = 0.0
        self._bytes: dict[str, tuple[int, int]] = {}
        """Of each file, how many were read and how many there are."""
        self._exit_code = 0
        for theme in themes():
            self.register_theme(theme)
        self.theme = DARK

    def get_default_screen(self) -> Screen[None]:
        self.start = StartScreen(self.trace_title)
        return self.start

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Everything is drawn in 24-bit colours: what replaces the terminal's own would copy each line for nothing."""
        return [filter for filter in super().get_line_filters() if not isinstance(filter, ANSIToTruecolor)]

    def on_load(self) -> None:
        for name in ("SIGTERM", "SIGHUP"):  # so that the terminal and the temporary files are put in order
            with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError):  # not there, or no main thread
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), self.ended)

    def on_ready(self) -> None:
        self._read_trace()
        self._import_screens()
        if not self.is_headless and hasattr(select, "poll") and sys.__stdin__ is not None and sys.__stdin__.isatty():
            self.set_interval(_TERMINAL_SECONDS, self._end_without_terminal)

    def _end_without_terminal(self) -> None:
        """End when the terminal has gone without a signal, as it does where it does not control this process: its
        input would be read for ever, and never hold anything."""
        if sys.__stdin__ is None:
            return
        poll = select.poll()
        poll.register(sys.__stdin__.fileno(), 0)
        if any(flags & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, flags in poll.poll(0)):
            self.ended()

    # ------------------------------------------------------------------- workers

    @work(thread=True, group="import", exit_on_error=False)
    def _import_screens(self) -> None:
        """Load what will be shown while another process still reads the trace."""
        import ctxview.tui.main_screen  # noqa: F401

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_trace(self) -> None:
        trace = self._open_trace(self._progress)
        self.post_message(self.Opened(trace))
        if trace.sessions:
            self._read_scene(trace, self.first_focus.session, self.first_focus)

    def _progress(self, file: str, done: int, total: int) -> None:
        self._bytes[file] = done, total
        done, total = (sum(sizes) for sizes in zip(*self._bytes.values()))
        now = time.monotonic()
        if now - self._progress_at >= _PROGRESS_SECONDS or done >= total:
            self._progress_at = now
            self.post_message(self.Progressed(file, done, total))

    def _read_scene(self, trace: TraceLike, session: str | None, focus: Focus) -> None:
        import ctxview.tui.main_screen  # noqa: F401 - here, so that the interface's own thread need not wait for it
        from ctxview.tui.facts import find_late, first_scene, searched
        from ctxview.tui.reports import sum_up

        view = trace.view(session)
        scene = first_scene(view)
        self.post_message(self.SceneRead(scene, sum_up(view), focus))
        self.post_message(self.SceneSearched(searched(scene, find_late(view))))

    def read_session(self, session: str, focus: Focus) -> None:
        """Read a session and show it when it is there."""
        if self.trace is not None and self.main is not None:
            self.main.say(f"reading session {shown(session, 40)}", "dim")
            self._read_session(self.trace, session, focus)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_session(self, trace: TraceLike, session: str, focus: Focus) -> None:
        self._read_scene(trace, session, focus)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def sum_sessions(self) -> None:
        """Read what the session list shows of each session, one after another."""
        from textual.worker import get_current_worker

        from ctxview.tui.reports import sum_up

        worker, trace = get_current_worker(), self.trace
        for row in trace.sessions if trace else ():
            if worker.is_cancelled or trace is None:
                return
            if row.session not in self.sums:
                self.post_message(self.SessionSummed(row.session, sum_up(trace.view(row.session))))

    def compute(self, group: str, make: Callable[[Callable[[], bool]], Made], then: Callable[[Made], None]) -> None:
        """Run `make(stop)` in a thread, and `then` with what it made. A newer one of the same group replaces it."""
        from textual.worker import get_current_worker

        def work() -> None:
            worker = get_current_worker()
            made = make(lambda: worker.is_cancelled)
            if not worker.is_cancelled:
                self.post_message(self.Computed(lambda: then(made)))

        self.run_worker(work, thread=True, exclusive=True, group=group, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is not WorkerState.ERROR or error is None:
            return
        if isinstance(error, CtxviewError):
            cause, fix, code = error.cause, error.fix, error.exit_code
        else:
            cause = f"{type(error).__name__}: {error}"
            fix, code = "this is a bug in ctxview: please report it with the output of `ctxview info`", 1
        if self.main is None:
            self._exit_code = code
            self.start.show_error(cause, fix)
        else:
            self.main.say(shown(cause, 200), "bad")

    # ------------------------------------------------------------- their results

    def on_ctxview_app_progressed(self, message: Progressed) -> None:
        if self.trace is None:
            self.start.show_progress(message.file, message.done, message.total)

    def on_ctxview_app_opened(self, message: Opened) -> None:
        self.trace = self.start.trace = message.trace
        if not message.trace.sessions:
            self.start.show_empty(shown(f"No session was found in this trace{message.trace.why_empty()}", 300))

    def on_ctxview_app_scene_read(self, message: SceneRead) -> None:
        scene, trace = message.scene, self.trace
        self.sums[scene.view.row.session] = message.summed
        if trace is None:
            return
        if self.main is not None:
            if self.wanted in (None, scene.view.row.session):  # else another one was asked for meanwhile
                self.main.stacks.open(scene, message.focus)
        elif scene.empty:
            self.start.show_empty("This session has no turns and no blocks.")
        else:
            from ctxview.tui.main_screen import MainScreen

            self.main = MainScreen(self.trace_title, trace, scene, message.focus)
            small = isinstance(self.screen, TooSmall)
            if small:
                self.pop_screen()
            self.push_screen(self.main)
            if small:
                self.push_screen(TooSmall())

    def on_ctxview_app_scene_searched(self, message: SceneSearched) -> None:
        if self.main is not None:
            self.main.stacks.complete(message.scene)

    def on_ctxview_app_computed(self, message: Computed) -> None:
        message.then()

    def on_ctxview_app_session_summed(self, message: SessionSummed) -> None:
        from ctxview.tui import overlays, reports

        self.sums[message.session] = message.summed
        top = self.screen
        if isinstance(top, overlays.ReportScreen) and top.key == "S" and self.trace and self.main:
            top.load(reports.sessions(self.trace, self.sums, self.main.place))

    # ------------------------------------------------------------------- screens

    def on_resize(self, event: Resize) -> None:
        small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        if small and not isinstance(self.screen, TooSmall):
            self.push_screen(TooSmall())
        elif not small and isinstance(self.screen, TooSmall):
            self.pop_screen()

    def action_command_palette(self) -> None:
        """Only where it leads somewhere. It has to be the only one, and nothing may stand over `TooSmall`, which goes
        when the terminal grows."""
        if self.main is not None and not isinstance(self.screen, TooSmall):
            super().action_command_palette()

    def on_unmount(self) -> None:
        if self.trace is not None:
            self.trace.close()
        elif self._give_up is not None:
            self._give_up()

    def ended(self) -> None:
        """Somebody ends the process."""
        self.exit(return_code=_ENDED)

    async def action_quit(self) -> None:
        self.exit(return_code=self._exit_code)

    def action_toggle_theme(self) -> None:
        self.use_theme(not self.current_theme.dark)

    def use_theme(self, dark: bool) -> None:
        self.theme = DARK if dark else LIGHT
        for screen in self.screen_stack:
            for widget in screen.query("*"):
                widget.refresh()
