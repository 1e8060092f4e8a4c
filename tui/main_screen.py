"""The main screen. Its one reactive `Focus` says what is shown: a key makes another focus, and one place draws it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.screen import Screen

from ctxview.errors import UsageError
from ctxview.focus import Focus
from ctxview.tui import reports
from ctxview.tui.block_list import BlockList, GoneMany, Unlogged, block_of
from ctxview.tui.cells import shown
from ctxview.tui.contract import TraceLike
from ctxview.tui.detail import DetailPane
from ctxview.tui.facts import Scene, breadcrumbs, status
from ctxview.tui.keys import bindings
from ctxview.tui.lines import Breadcrumb, KeyLine, Status, issues_words
from ctxview.tui.overlays import DetailScreen, ReportScreen, block_text
from ctxview.tui.palette import Words
from ctxview.tui.strip import Timeline

if TYPE_CHECKING:
    from ctxview.tui.app import CtxviewApp

_ZOOMS: Final = ("zoom-detail", "", "zoom-list", "zoom-full")
"""Style classes from much room for the detail to none."""
_HISTORY: Final = 200


class MainScreen(Screen[None]):
    """Breadcrumb, timeline, window list, detail, status, keys."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - Textual declares it so

    place: reactive[Focus] = reactive(Focus(), repaint=False, init=False)
    """What is shown. `turn` is never None once a session is shown."""

    def __init__(self, title: str, trace: TraceLike, scene: Scene, focus: Focus) -> None:
        super().__init__()
        self.trace_title = title
        self.trace = trace
        self.scene = scene
        self._first = focus
        self._message: Words = []
        self._past: list[Focus] = []
        self._past_at = 0
        self._zoom = 1

    # ------------------------------------------------------------------ layout

    def compose(self) -> ComposeResult:
        yield Breadcrumb(id="breadcrumb")
        yield Timeline(id="timeline")
        with Horizontal(id="panes"):
            yield BlockList(id="blocks")
            yield DetailPane(id="detail")
        yield Status(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self._breadcrumb = self.query_one(Breadcrumb)
        self._timeline = self.query_one(Timeline)
        self._blocks = self.query_one(BlockList)
        self._detail = self.query_one(DetailPane)
        self._status = self.query_one(Status)
        self.show_scene(self.scene, self._first)

    @property
    def ctxview(self) -> CtxviewApp:
        return cast("CtxviewApp", self.app)

    # ------------------------------------------------------------------ a session

    def show_scene(self, scene: Scene, focus: Focus) -> None:
        """Show a session at a focus; what the focus names and the session lacks is said in the status line."""
        view = scene.view
        if scene is not self.scene and scene.empty:
            self.say("this session has no turns and no blocks", "warn")
            return
        self.scene = scene
        self._message = []
        if scene.trouble is not None:
            self._message = [("! ", "bad"), (f"{scene.trouble.what}, turn {scene.trouble.turn:,}", "text")]
        turn = view.resolve_turn(None)
        block = None
        try:
            turn = view.resolve_turn(focus.turn)
            block = view.block(focus.block).id if focus.block else None
        except UsageError as error:
            self._message = [(shown(error.cause, 120), "warn")]
        self._blocks.focus()
        focus = replace(focus, session=view.row.session, turn=turn, block=block)
        if focus == self.place:
            self._draw(focus)
        else:
            self.place = focus

    def watch_place(self, old: Focus, new: Focus) -> None:
        if (old.session, old.turn) == (new.session, new.turn) and self._blocks.scene is self.scene:
            self._draw_detail()
        else:
            self._draw(new)

    def _draw(self, focus: Focus) -> None:
        scene, turn = self.scene, focus.turn
        if turn is None:
            return
        number = scene.view.block(focus.block).n if focus.block else None
        self._blocks.show(scene, turn, number)
        self._timeline.show(scene, turn)
        many = len(self.trace.sessions) > 1
        self._breadcrumb.show(breadcrumbs(self.trace_title, scene, turn, many), issues_words(self.trace))
        self._draw_status()
        self._draw_detail()

    def _draw_status(self) -> None:
        if self.place.turn is not None:
            self._status.show(status(self.scene, self.place.turn), self._message)

    def _draw_detail(self) -> None:
        if self.place.turn is not None and self._detail.display:
            self._detail.show(self.scene, self.place.turn, self._blocks.current, self._blocks.pairing)

    def say(self, text: str, ink: str = "text") -> None:
        """A word in the status line, until the turn changes."""
        self._message = [(text, ink)]
        self._draw_status()

    # ------------------------------------------------------------------- moving

    def jump(self, turn: int, block: str | None = None, *, remember: bool = True) -> None:
        """Go to a turn of this session, and to a block; without one, stay on the block."""
        if self.place.turn is None:
            return
        turn = max(1, min(turn, self.scene.view.now))
        focus = replace(self.place, turn=turn, block=block or self._here())
        if focus == self.place:
            return
        if remember:
            self._remember()
        if turn != self.place.turn:
            self._message = []
        self.place = focus

    def _here(self) -> str | None:
        """Id of the block under the cursor."""
        current = self._blocks.current
        number = block_of(current) if current is not None else None
        return None if number is None else self.scene.view.blocks[number].id

    def _remember(self) -> None:
        self._past[self._past_at :] = [self.place]
        self._past = self._past[-_HISTORY:]
        self._past_at = len(self._past)

    def goto(self, focus: Focus) -> None:
        """Go to any focus of this trace."""
        if focus.session is not None and focus.session != self.place.session:
            self.open_session(focus.session, focus)
        elif focus.turn is not None:
            self.jump(focus.turn, focus.block)

    def open_session(self, session: str, focus: Focus | None = None, *, remember: bool = True) -> None:
        """Read another session in a worker and show it."""
        if session == self.place.session:
            return
        if remember:
            self._remember()
        self.ctxview.read_session(session, focus or Focus(session=session))

    def on_block_list_moved(self) -> None:
        self.place = replace(self.place, block=self._here())

    def on_block_list_opened(self) -> None:
        self.action_detail()

    def on_timeline_picked(self, message: Timeline.Picked) -> None:
        self.jump(message.turn)

    # ------------------------------------------------------------------ the keys

    def action_block(self, by: int) -> None:
        self._blocks.step(by)

    def action_page(self, by: int) -> None:
        self._blocks.step(by * max(1, self._blocks.size.height - 1))

    def action_first_block(self) -> None:
        self._blocks.cursor = 0

    def action_last_block(self) -> None:
        self._blocks.step(len(self._blocks.rows))

    def action_turn(self, by: int) -> None:
        if self.place.turn is not None:
            self.jump(self.place.turn + by, remember=False)

    def action_first_turn(self) -> None:
        self.jump(1)

    def action_last_turn(self) -> None:
        self.jump(self.scene.view.last or self.scene.view.now)

    def action_cut(self, by: int) -> None:
        if self.place.turn is None:
            return
        now, turns = self.place.turn, sorted({c.turn for c in self.scene.view.cuts})
        ahead = [t for t in turns if t > now] if by > 0 else [t for t in reversed(turns) if t < now]
        if ahead:
            self.jump(ahead[0])
        else:
            self.say(f"no {'later' if by > 0 else 'earlier'} cut", "warn")

    def action_change(self, by: int) -> None:
        if self.place.turn is None:
            return
        current = self._blocks.current
        number = block_of(current) if current is not None else None
        if number is None:
            self.say("this row is no block", "warn")
            return
        view, now = self.scene.view, self.place.turn
        turns = {t for s in view.life(number) if s.start < s.end for t in (max(1, s.start), s.end)}
        ahead = sorted(t for t in turns if (now < t <= view.now if by > 0 else t < now))
        if ahead:
            self.jump(ahead[0] if by > 0 else ahead[-1], view.blocks[number].id)
        else:
            self.say(f"no {'later' if by > 0 else 'earlier'} change of this block", "warn")

    def action_trouble(self) -> None:
        trouble = self.scene.trouble
        if trouble is None:
            self.say("nothing went wrong that can be told without checks", "good")
            return
        block = None if trouble.block is None else self.scene.view.blocks[trouble.block].id
        self.jump(trouble.turn, block)
        self.say(f"! {trouble.what}, turn {trouble.turn:,}", "bad")

    def action_history(self, by: int) -> None:
        if by < 0 and self._past_at == len(self._past) and self._past and self._past[-1] != self.place:
            self._past.append(self.place)  # so that the way forward leads back here
        to = self._past_at + by
        if not 0 <= to < len(self._past):
            self.say("no earlier place" if by < 0 else "no later place", "warn")
            return
        self._past_at = to
        focus = self._past[to]
        if focus.session != self.place.session and focus.session is not None:
            self.open_session(focus.session, focus, remember=False)
        else:
            self._message = []
            self.place = focus

    def action_detail(self) -> None:
        current = self._blocks.current
        if current is None or self.place.turn is None:
            return
        if isinstance(current, GoneMany):
            self.action_loss()
        else:
            self.app.push_screen(DetailScreen(self.scene, self.place.turn, current))

    def action_copy(self) -> None:
        current = self._blocks.current
        if current is None or isinstance(current, GoneMany | Unlogged):
            self.say("this row has no text of its own", "warn")
            return
        text = block_text(self.scene, current)
        self.app.copy_to_clipboard(text)
        self.say(f"copied {len(text):,} characters", "good")

    def action_permalink(self) -> None:
        command = shown(replace(self.place, block=self._here()).command(self.trace_title))
        self.app.copy_to_clipboard(command)
        self.say(f"copied: {command}", "good")

    def action_zoom(self, by: int) -> None:
        narrow = self.has_class("-narrow")
        zoom = (3 if by > 0 else 1) if narrow else max(0, min(len(_ZOOMS) - 1, self._zoom + by))
        for name in filter(None, _ZOOMS):
            self.set_class(name == _ZOOMS[zoom], name)
        self._zoom = zoom
        self.call_after_refresh(self._draw_detail)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_detail)

    # ---------------------------------------------------------------- the overlays

    def _report(self, report: reports.Report, key: str) -> None:
        self.app.push_screen(ReportScreen(report, key), self._chosen)

    def _chosen(self, focus: Focus | None) -> None:
        if focus is not None:
            self.goto(focus)

    def action_loss(self) -> None:
        if self.place.turn is not None:
            self._report(reports.loss(self.scene, self.place, self.place.turn), "x")

    def action_budget(self) -> None:
        if self.place.turn is not None:
            self._report(reports.budget(self.scene, self.place.turn), "b")

    def action_life(self) -> None:
        current = self._blocks.current
        number = block_of(current) if current is not None else None
        if number is None:
            self.say("this row is no block", "warn")
            return
        self._report(reports.life(self.scene, self.place, self.scene.view.blocks[number]), "v")

    def action_sessions(self) -> None:
        self._report(reports.sessions(self.trace, self.ctxview.sums, self.place), "S")
        self.ctxview.sum_sessions()

    def action_report(self) -> None:
        self._report(reports.load_report(self.trace), "e")

    def action_help(self) -> None:
        self._report(reports.key_help(), "question_mark")
