"""Screens over the main one: a report one can scroll and choose from, and a block in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.strip import Strip

from ctxview.focus import Focus
from ctxview.model import SpanRow
from ctxview.text import safe_text
from ctxview.tui.block_list import Gone, Row, block_of
from ctxview.tui.cells import Part, row
from ctxview.tui.detail import DetailPane, Sought
from ctxview.tui.facts import Scene, turn_words
from ctxview.tui.line_view import LineView
from ctxview.tui.lines import Title
from ctxview.tui.palette import Words, brush
from ctxview.tui.reports import Report, ReportLine, rows_of

if TYPE_CHECKING:
    from ctxview.tui.main_screen import MainScreen


class ReportLines(LineView, can_focus=True, inherit_bindings=False):
    """The lines of a report. The cursor rests on lines that lead somewhere, where there are any."""

    cursor: reactive[int] = reactive(-1, repaint=False, init=False)

    class Chosen(Message):
        """Enter, or a double click, on a line that can be chosen."""

        def __init__(self, goto: Focus | None) -> None:
            self.goto = goto
            super().__init__()

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.lines: list[ReportLine] = []
        """Rows as they are drawn: a long line takes several."""
        self._report = report
        self.load(report)

    def load(self, report: Report) -> None:
        """Show a report; the cursor stays where it is when another one is already up."""
        first, at = not self.lines, self._ordinal(self.cursor)
        self._report = report
        self.lines = [part for line in report.lines for part in self._rows(line)]
        self.set_height(len(self.lines))
        if first:
            at = sum(line.leads for line in report.lines[: report.at])
        leads = [i for i, line in enumerate(self.lines) if line.leads]
        self.set_reactive(ReportLines.cursor, leads[min(at, len(leads) - 1)] if leads else -1)
        self.refresh()

    def _rows(self, line: ReportLine) -> list[ReportLine]:
        width = self.outer_size.width - 2  # the cursor's bar, and a scroll bar that may come
        return rows_of(line, width) if width > 20 else [line]

    def _ordinal(self, row: int) -> int:
        """How many rows that lead somewhere stand above one."""
        return sum(line.leads for line in self.lines[: max(0, row)])

    def on_resize(self) -> None:
        self.load(self._report)
        if isinstance(self.screen, ReportScreen):
            self.screen.fit_to(len(self.lines), self.screen.size.height)

    def step(self, by: int) -> None:
        """Move the cursor by lines that lead somewhere; without any, scroll."""
        leads = [i for i, line in enumerate(self.lines) if line.leads]
        if not leads:
            self.scroll_to(y=self.scroll_offset.y + by, animate=False, immediate=True)
            return
        at = leads.index(self.cursor) if self.cursor in leads else 0
        to = at + by
        self.cursor = leads[max(0, min(len(leads) - 1, to))]
        if to < 0:  # what stands above the first such line must be reachable too
            self.scroll_to(y=self.scroll_offset.y + by, animate=False, immediate=True)

    def watch_cursor(self, old: int, new: int) -> None:
        top, height = self.scroll_offset.y, self.size.height or 1
        if not top <= new < top + height:
            self.scroll_to(y=new if new < top else new - height + 1, animate=False, immediate=True)
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))

    def choose(self) -> None:
        line = self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None
        if line is not None and line.leads:
            self.post_message(self.Chosen(line.goto))

    def on_click(self, event: Click) -> None:
        index = event.y + self.scroll_offset.y
        if index < len(self.lines) and self.lines[index].leads:
            self.cursor = index
            if event.chain == 2:
                self.choose()

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.scrollable_content_region.width, self.visual_style.rich_style, brush(self)
        index = y + self.scroll_offset.y
        if index >= len(self.lines):
            return Strip.blank(width, base)
        here = index == self.cursor
        if here:
            base = base + paint("text", "cursor")
        parts: list[Part] = [("▌" if here else " ", paint("accent"))]
        parts += [(text, paint(ink)) for text, ink in self.lines[index].words]
        return row(parts, width, base)


MOVES: Final[list[BindingType]] = [
    Binding("j,down", "move(1)", show=False),
    Binding("k,up", "move(-1)", show=False),
    Binding("ctrl+d,pagedown", "page(1)", show=False),
    Binding("ctrl+u,pageup", "page(-1)", show=False),
    Binding("home,g", "ends(-1)", show=False),
    Binding("end,G", "ends(1)", show=False),
]


Answer = TypeVar("Answer")


class LinesScreen(ModalScreen[Answer]):
    """An overlay of lines, and the keys that move in them."""

    @property
    def body(self) -> ReportLines:
        return self.query_one(ReportLines)

    def fit_to(self, lines: int, height: int) -> None:
        """As high as its lines need, at most nine tenths of the screen."""
        self.query_one(".overlay").styles.height = min(lines + 5, max(5, height * 9 // 10))  # border, title, keys

    def action_move(self, by: int) -> None:
        self.body.step(by)

    def action_page(self, by: int) -> None:
        self.body.step(by * max(1, self.body.size.height - 1))

    def action_ends(self, by: int) -> None:
        self.body.step(by * len(self.body.lines))


class ReportScreen(LinesScreen[Focus | None]):
    """A report over the main screen. Its own key closes it again, as do Esc and q."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("space", "page(1)", show=False),
        Binding("enter", "choose", show=False),
        Binding("escape,q", "close", show=False),
    ]

    def __init__(self, report: Report, key: str) -> None:
        super().__init__()
        self.report = report
        self.key = key

    def compose(self) -> ComposeResult:
        leads = any(line.leads for line in self.report.lines)
        keys: Words = [("Esc", "accent"), (" close  ", "dim"), ("j k", "accent"), (" move", "dim")]
        if leads:
            keys += [("  ", "dim"), ("Enter", "accent"), (" go there", "dim")]
        with Vertical(classes="overlay"):
            yield Title([(self.report.title, "accent")], classes="title")
            yield ReportLines(self.report)
            yield Title(keys, classes="keys")

    def on_mount(self) -> None:
        self._bindings.bind(self.key, "close", show=False)

    def on_resize(self, event: Resize) -> None:
        self.fit_to(len(self.body.lines), event.size.height)

    def load(self, report: Report) -> None:
        """Show newer lines of the same report."""
        self.report = report
        if self.is_mounted:
            self.body.load(report)
            self.fit_to(len(self.body.lines), self.size.height)

    def action_choose(self) -> None:
        self.body.choose()

    def action_close(self) -> None:
        self.dismiss(None)

    def on_report_lines_chosen(self, message: ReportLines.Chosen) -> None:
        self.dismiss(message.goto)


class DetailScreen(ModalScreen[None]):
    """One block on a screen of its own. Searching from here moves the main screen below, and shows what it shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("space", "page(1)", show=False),
        Binding("h,left", "aside(-1)", show=False),
        Binding("l,right", "aside(1)", show=False),
        Binding("escape,enter,q", "close", show=False),
        Binding("y", "copy", show=False),
        Binding("r", "mode", show=False),
        Binding("number_sign", "numbers", show=False),
        Binding("slash", "search", show=False),
        Binding("n", "hit(1)", show=False),
        Binding("N", "hit(-1)", show=False),
    ]

    def __init__(self, main: MainScreen, scene: Scene, turn: int, item: Row, sought: Sought | None = None) -> None:
        super().__init__()
        self._main = main
        self.scene, self.turn, self.item, self.sought = scene, turn, item, sought
        self.first_words: Words = []
        """What the title says beside the place when it opens."""

    def compose(self) -> ComposeResult:
        pane = DetailPane()
        pane.scene, pane.turn, pane.item, pane.sought = self.scene, self.turn, self.item, self.sought
        yield Title(self._title(self.first_words), classes="title")
        yield pane
        keys: Words = []
        for key, does in (("Esc", "back"), ("j k", "scroll"), ("r", "raw"), ("#", "lines"), ("/", "search"),
                          ("n N", "hit"), ("y", "copy")):  # fmt: skip
            keys += [(key, "accent"), (f" {does}  ", "dim")]
        yield Title(keys, classes="keys")

    def _title(self, more: Words) -> Words:
        view = self.scene.view
        where = f"{turn_words(view, self.turn)}{f'/{view.last:,}' if view.turn(self.turn) else ''} › block"
        return [(where, "accent"), *([(" · ", "dim"), *more] if more else [])]

    @property
    def pane(self) -> DetailPane:
        return self.query_one(DetailPane)

    def say(self, more: Words) -> None:
        """A word beside the title."""
        self.first_words = more
        if self.is_mounted:
            self.query_one(".title", Title).show(self._title(more))

    def show(self, scene: Scene, turn: int, item: Row, sought: Sought | None) -> None:
        """Show another block, or another hit of this one."""
        self.scene, self.turn, self.item, self.sought = scene, turn, item, sought
        if self.is_mounted:
            self.pane.show(scene, turn, item, None, sought)

    def action_move(self, by: int) -> None:
        self.pane.go_to(self.pane.scroll_offset.y + by)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.pane.size.height - 1))

    def action_ends(self, by: int) -> None:
        if by > 0:
            self.pane.to_end()
        else:
            self.pane.go_to(0)

    def action_aside(self, by: int) -> None:
        self.pane.step_aside(by)

    def action_mode(self) -> None:
        mode = self.pane.next_mode()
        if mode is not None:
            self.say([(f"text {mode}", "text")])

    def action_numbers(self) -> None:
        self.pane.number_lines()

    def action_search(self) -> None:
        self._main.search.ask()

    def action_hit(self, by: int) -> None:
        self._main.search.step(by)

    def action_copy(self) -> None:
        if block_of(self.item) is not None:
            text = block_text(self.scene, self.item)
            self.app.copy_to_clipboard(text)
            self.say([(f"copied {len(text):,} characters", "good")])

    def action_close(self) -> None:
        self.dismiss(None)


def block_text(scene: Scene, item: Row) -> str:
    """The text of a row's block as it stands there, with what could act on a terminal escaped."""
    span = item.span if isinstance(item, Gone) else item
    return safe_text(scene.view.text(span.content)) if isinstance(span, SpanRow) else ""
