"""The first screen: painted before anything is read, and the last one when there is nothing to show.

It imports no more than it draws, because the first paint waits for it.
"""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ctxview.tui.cells import shown, shown_path
from ctxview.tui.contract import TraceLike
from ctxview.tui.lines import Breadcrumb, KeyLine, Status, issues_words
from ctxview.tui.notice import Notice
from ctxview.tui.palette import Words
from ctxview.tui.strip import Timeline

_BAR: Final = 40
"""Cells of the progress bar."""


class StartScreen(Screen[None]):
    """Breadcrumb, an empty timeline, and a progress bar, an error or what to do about nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "report", show=False)]

    def __init__(self, title: str) -> None:
        super().__init__()
        self.trace_title = title
        self.trace: TraceLike | None = None

    def compose(self) -> ComposeResult:
        yield Breadcrumb(id="breadcrumb")
        yield Timeline(id="timeline")
        yield Notice(id="notice")
        yield Status(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self.show_progress(self.trace_title, 0, 0)

    def show_progress(self, file: str, done: int, total: int) -> None:
        """The determinate bar, by bytes of all files."""
        filled = _BAR * min(done, total) // total if total else 0
        size = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB" if total else "opening"
        bar: Words = [("━" * filled, "accent"), ("─" * (_BAR - filled), "rule"), (f"  {size}", "dim")]
        what = "read; its windows are being put together" if 0 < total <= done else f"reading {shown_path(file, 50)}"
        self._show([("reading", "dim")], [[(what, "text")], bar])

    def show_error(self, cause: str, fix: str) -> None:
        lines: list[Words] = [[("✗ cannot show this trace", "bad")], [], [(shown(cause, 400), "text")]]
        if fix:
            lines += [[], [(shown(fix, 400), "accent")]]
        self._show([("error", "bad")], [*lines, [], [("q quits", "dim")]], "qt")

    def show_empty(self, what: str) -> None:
        """Say what is missing, and the commands that tell more."""
        lines: list[Words] = [
            [(what, "text")],
            [],
            [("ctxview info", "accent"), (" says what was read", "dim")],
            [("ctxview sample", "accent"), (" opens a bundled example", "dim")],
        ]
        if self.trace is not None:
            lines.append([("e", "accent"), (" shows the load report", "dim")])
        self._show([("nothing to show", "warn")], lines, "qte" if self.trace is not None else "qt")

    def _show(self, aside: Words, lines: list[Words], keys: str = "") -> None:
        """`keys`: the ones that do something here, where the main screen will not come."""
        crumb: Words = [(shown_path(self.trace_title, 60), "text"), (" › ", "dim"), *aside]
        if keys:
            self.query_one(KeyLine).offer(keys)
        self.query_one(Breadcrumb).show([crumb], issues_words(self.trace))
        self.query_one(Notice).show(lines)

    def action_report(self) -> None:
        if self.trace is not None:
            from ctxview.tui import overlays, reports

            self.app.push_screen(overlays.ReportScreen(reports.load_report(self.trace), "e"))
