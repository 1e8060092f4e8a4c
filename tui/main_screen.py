"""The main screen. Its one reactive `Focus` says what is shown: a key makes another focus, and one place draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import reactive
from textual.screen import Screen

from ctxview.errors import UsageError
from ctxview.focus import NOW, Focus
from ctxview.model import SpanRow
from ctxview.tui import reports
from ctxview.tui.block_list import BlockList, GoneMany, Unlogged, block_of
from ctxview.tui.cells import shown
from ctxview.tui.compare import CompareScreen, Comparison, compare
from ctxview.tui.contract import TraceLike
from ctxview.tui.detail import DetailPane, span_of
from ctxview.tui.facts import Scene, Trouble, breadcrumbs, status, turn_words
from ctxview.tui.filters import Filter, FilterScreen, choices
from ctxview.tui.keys import bindings
from ctxview.tui.lines import Breadcrumb, FilterLine, KeyLine, Status, issues_words
from ctxview.tui.overlays import DetailScreen, ReportScreen, block_text
from ctxview.tui.palette import Words
from ctxview.tui.search import Search
from ctxview.tui.stacks import StackNote, Stacks
from ctxview.tui.strip import Timeline

if TYPE_CHECKING:
    from ctxview.ledger import Ledger
    from ctxview.tui.app import CtxviewApp
    from ctxview.tui.ledger_panel import Noted

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
        self._filter = Filter()
        self._mark: Focus | None = None
        self._trouble: Trouble | None = None
        """What `!` told last."""
        self._ledger: tuple[Scene, Ledger, str] | None = None
        """The ledger of a session, and why the file beside the trace could not be read."""
        self.search = Search(self)
        self.stacks = Stacks(self)

    # ------------------------------------------------------------------ layout

    def compose(self) -> ComposeResult:
        # Kept as they are made: when the person quits meanwhile, there is nothing left to ask for.
        self._breadcrumb, self._timeline = Breadcrumb(id="breadcrumb"), Timeline(id="timeline")
        self._stack_note, self._filter_line = StackNote(id="stack"), FilterLine(id="filter")
        self._blocks, self._detail, self._status = BlockList(id="blocks"), DetailPane(id="detail"), Status(id="status")
        self._stack_note.display = self._filter_line.display = False
        yield self._breadcrumb
        yield self._timeline
        yield self._stack_note
        with Horizontal(id="panes"):
            with Vertical(id="list"):
                yield self._filter_line
                yield self._blocks
            yield self._detail
        yield self._status
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        self.stacks.open(self.scene, self._first)

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
        fresh = scene is not self.scene or self._blocks.scene is None
        is_arrival = self.place.session != view.row.session or (focus.turn is None and focus.block is None)
        if fresh:
            self.search.forget(focus.query)
        self.scene = scene
        self._message = _first_words(scene)
        turn = view.resolve_turn(None)
        block = None
        try:
            turn = view.now if focus.turn == NOW else view.resolve_turn(focus.turn)
            block = view.block(focus.block).id if focus.block else None
        except UsageError as error:
            self._message = [(shown(error.cause, 120), "warn")]
        self._blocks.focus()
        focus, named = replace(focus, session=view.row.session, turn=turn, block=block), focus
        if focus == self.place:
            self._draw(focus)
        else:
            self.place = focus
        if fresh and focus.query and is_arrival:
            message = self._message
            keep_turn, keep_block = named.turn is not None, named.block is not None
            self.search.start(focus.query, keep_turn=keep_turn, keep_block=keep_block)
            self._message = message if message and message[0][1] == "warn" else self._message
        elif fresh and focus.query:
            self.search.look_again()

    def finish_scene(self, scene: Scene) -> None:
        """What all turns had to be looked through for is there: draw it, and leave the rest as it stands."""
        said, before, turn = self._message, self.scene, self.place.turn
        if scene.view is not before.view or turn is None:
            return
        self.scene = self._blocks.scene = scene
        if said == _first_words(before):
            self._message = _first_words(scene)
        self._show_timeline(turn)
        self._draw_status()

    def watch_place(self, old: Focus, new: Focus) -> None:
        same = (old.session, old.turn, old.stack) == (new.session, new.turn, new.stack)
        if same and self._blocks.scene is self.scene:
            if new.block in (None, self.here()) or self._blocks.go(self.scene.view.block(new.block).n):
                self._draw_detail()
            else:  # it left here among many, and gets a row of its own
                self._draw(new)
        else:
            self._draw(new)

    def _draw(self, focus: Focus) -> None:
        scene, turn = self.scene, focus.turn
        if turn is None:
            return
        number = scene.view.block(focus.block).n if focus.block else None
        self._blocks.show(scene, turn, number, self._filter or None)
        self._light()
        self._draw_filter()
        self._stack_note.show(self.stacks.words())
        self._show_timeline(turn)
        many = len(self.trace.sessions) > 1
        self._breadcrumb.show(breadcrumbs(self.trace_title, scene, turn, many), issues_words(self.trace))
        self._draw_status()
        self._draw_detail()

    def _show_timeline(self, turn: int) -> None:
        mark = self._mark
        marked = mark.turn if mark is not None and mark.session == self.scene.view.row.session else None
        self._timeline.show(self.scene, turn, marked, self.stacks.beside)

    def _draw_status(self) -> None:
        if self.place.turn is not None:
            self._status.show(status(self.scene, self.place.turn), self._message)

    def _draw_detail(self) -> None:
        if self.place.turn is None:
            return
        current = self._blocks.current
        if self._detail.display:
            self._detail.show(
                self.scene, self.place.turn, current, self._blocks.pairing, self.search.sought(span_of(current))
            )
        if isinstance(self.app.screen, DetailScreen) and current is not None:
            self.app.screen.show(self.scene, self.place.turn, current, self.search.sought(span_of(current)))

    def _light(self) -> None:
        self._blocks.light(self.search.needle, self.search.blocks)

    def _draw_filter(self) -> None:
        words: Words = []
        if self._filter and self.place.turn is not None:
            whole = len(self.scene.view.spans_at(self.place.turn))
            left = sum(isinstance(r, SpanRow) for r in self._blocks.rows)
            words = [(f"{left:,} of {whole:,} blocks", "accent"), (" · ", "dim"), (self._filter.words(), "text"),
                     ("  ", "dim"), ("f", "accent"), (" shows all", "dim")]  # fmt: skip
        self._filter_line.show(words)

    def redraw_notes(self) -> None:
        """Draw what stands over the list anew."""
        self._stack_note.show(self.stacks.words())

    def redraw(self) -> None:
        """Draw what depends on the search anew."""
        self._light()
        self._draw_detail()

    def say(self, text: str, ink: str = "text") -> None:
        """A word in the status line, until the turn changes."""
        self._message = [(text, ink)]
        self._draw_status()
        if isinstance(self.app.screen, DetailScreen):
            self.app.screen.say(self._message)

    # ------------------------------------------------------------------- moving

    def jump(self, turn: int, block: str | None = None, *, remember: bool = True) -> None:
        """Go to a turn of this session, and to a block; without one, stay on the block."""
        if self.place.turn is None:
            return
        turn = max(1, min(turn, self.scene.view.now))
        focus = replace(self.place, turn=turn, block=block or self.here())
        if focus == self.place:
            return
        if remember:
            self._remember()
        if turn != self.place.turn:
            self._message = []
        self.place = focus

    def here(self) -> str | None:
        """Id of the block under the cursor."""
        current = self._blocks.current
        number = block_of(current) if current is not None else None
        return None if number is None else self.scene.view.blocks[number].id

    def block_here(self) -> int | None:
        """`BlockRow.n` of the block under the cursor."""
        current = self._blocks.current
        return block_of(current) if current is not None else None

    def pos_here(self) -> float:
        """Where in the window the cursor is."""
        current = self._blocks.current
        return float("-inf") if current is None else current.pos

    def _remember(self) -> None:
        self._past[self._past_at :] = [self.place]
        self._past = self._past[-_HISTORY:]
        self._past_at = len(self._past)

    def goto(self, focus: Focus) -> None:
        """Go to any focus of this trace."""
        if focus.session is not None and focus.session != self.place.session:
            self.open_session(focus.session, focus)
        elif focus.stack != self.place.stack:
            self._remember()
            self.stacks.use(focus.stack, focus)
        elif focus.turn is not None:
            self.jump(focus.turn, focus.block)

    def open_session(self, session: str, focus: Focus | None = None, *, remember: bool = True) -> None:
        """Read another session in a worker and show it; of those asked for meanwhile only the last."""
        self.ctxview.wanted = session
        if session == self.place.session:
            return
        if remember:
            self._remember()
        self.ctxview.read_session(session, focus or Focus(session=session))

    def on_block_list_moved(self) -> None:
        self.place = replace(self.place, block=self.here())

    def on_block_list_opened(self) -> None:
        self.action_detail()

    def on_timeline_picked(self, message: Timeline.Picked) -> None:
        self.jump(message.turn, remember=not message.moving)

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
        troubles = self.scene.troubles
        if self.scene.late is None:
            self.say("all turns are still being looked through …", "dim")
            return
        if not troubles:
            self.say("nothing wrong: pins, pairs, versions, limit", "good")
            return
        told = self._trouble
        is_next = told is not None and told in troubles and told.turn == self.place.turn
        at = (troubles.index(told) + 1) % len(troubles) if is_next and told is not None else 0
        trouble = self._trouble = troubles[at]
        block = None if trouble.block is None else self.scene.view.blocks[trouble.block].id
        self.jump(trouble.turn, block)
        which = f"{at + 1:,} of {len(troubles):,}, " if len(troubles) > 1 else ""
        self.say(f"! {which}turn {trouble.turn:,}: {trouble.what}", "bad")

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
        elif focus.stack != self.place.stack:
            self.stacks.use(focus.stack, focus)
        else:
            self._message = []
            self.place = replace(focus, query=self.place.query)  # what is looked for is no place

    def action_detail(self) -> None:
        current = self._blocks.current
        if current is None or self.place.turn is None:
            return
        if isinstance(current, GoneMany):
            self.action_loss()
        else:
            sought = self.search.sought(span_of(current))
            self.app.push_screen(DetailScreen(self, self.scene, self.place.turn, current, sought))

    def unfold(self) -> None:
        """Show the block under the cursor in full, where no pane beside the list does."""
        is_on_top = self.app.screen is self
        if is_on_top and not self._detail.display:
            self.action_detail()
            if isinstance(self.app.screen, DetailScreen):
                self.app.screen.first_words = self._message

    def action_copy(self) -> None:
        current = self._blocks.current
        if current is None or isinstance(current, GoneMany | Unlogged):
            self.say("this row has no text of its own", "warn")
            return
        text = block_text(self.scene, current)
        self.app.copy_to_clipboard(text)
        self.say(f"copied {len(text):,} characters", "good")

    def action_permalink(self) -> None:
        command = shown(replace(self.place, block=self.here()).command(*self.ctxview.traces))
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

    def action_mode(self) -> None:
        mode = self._detail.next_mode() if self._detail.display else None
        if mode is not None:
            self.say(f"text {mode}")
        elif not self._detail.display:
            self.say("Enter opens the block; r there changes how its text is shown", "warn")

    def action_numbers(self) -> None:
        self._detail.number_lines()

    # ------------------------------------------------------------------- policies

    def action_policies(self) -> None:
        from ctxview.tui.policies import PolicyScreen

        self.app.push_screen(PolicyScreen(self.stacks))

    def action_beside(self) -> None:
        self.stacks.compare()

    def action_quick(self, number: int) -> None:
        self.stacks.toggle(number)

    def action_undo_stack(self) -> None:
        if not self.stacks.undo():
            self.say("no earlier stack", "warn")

    def action_pin(self) -> None:
        from ctxview.tui.hand_pin import toggle_pin

        toggle_pin(self)

    # ------------------------------------------------------- search, filter, marks

    def action_search(self) -> None:
        self.search.ask()

    def action_hit(self, by: int) -> None:
        self.search.step(by)

    def action_filter(self) -> None:
        if self._filter:
            self.set_filter(Filter())
        elif self.place.turn is not None:
            turn = self.place.turn
            found = choices(self.scene, turn, self._filter)
            self.app.push_screen(FilterScreen(found, self._filter, turn_words(self.scene.view, turn)), self._filtered)

    def _filtered(self, chosen: Filter | None) -> None:
        if chosen is not None:
            self.set_filter(chosen)

    def set_filter(self, chosen: Filter, block: str | None = None) -> None:
        """Show only what passes, an empty filter all; with the cursor on `block`, else on the block it is on."""
        self._filter = chosen
        self._draw(replace(self.place, block=block or self.here()))
        self.place = replace(self.place, block=self.here())

    def action_clear(self) -> None:
        if self._filter:
            self.set_filter(Filter())
        elif self.search.needle is not None:
            self._message = []
            self.search.clear()
            self._draw_status()

    def action_mark(self) -> None:
        here = replace(self.place, block=self.here())
        if self._mark is not None and (self._mark.session, self._mark.turn) == (here.session, here.turn):
            self._mark = None
            words = "the mark is taken away"
        else:
            self._mark = here
            words = f"{turn_words(self.scene.view, here.turn or 0)} is marked: d compares with it, ' comes back"
        self._draw(here)
        self.say(words, "good")

    def action_to_mark(self) -> None:
        if self._mark is None:
            self.say("no turn is marked: m marks one", "warn")
        else:
            self.goto(self._mark)

    def action_compare(self) -> None:
        turn, mark, view = self.place.turn, self._mark, self.scene.view
        if turn is None:
            return
        base = turn - 1
        if mark is not None and mark.session == self.place.session and mark.turn not in (None, turn):
            base = mark.turn or base
        if base < 1:
            self.say("no turn before this one: m marks another one to compare with", "warn")
            return
        self.say(f"comparing {turn_words(view, base)} with {turn_words(view, turn)} …", "dim")
        self.ctxview.compute("overlay", lambda stop: compare(view, base, turn), self._compared)

    def _compared(self, made: Comparison) -> None:
        self._done_waiting()
        if self.app.screen is self and self.place.turn == made.turn_b:
            self.app.push_screen(CompareScreen(self.scene, made, self.place, self.size.width), self.chosen)

    def _done_waiting(self) -> None:
        self._message = []
        self._draw_status()

    # ---------------------------------------------------------------- the overlays

    def _report(self, report: reports.Report, key: str) -> None:
        self.app.push_screen(ReportScreen(report, key), self.chosen)

    def chosen(self, focus: Focus | None) -> None:
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

    def action_ledger(self) -> None:
        turn, scene, known = self.place.turn, self.scene, self._ledger
        if turn is None:
            return

        def make(stop: Callable[[], bool]) -> tuple[Ledger, str, Noted]:
            from ctxview.ledger import ledger_of
            from ctxview.tui.ledger_panel import read_noted

            is_known = known is not None and known[0].view is scene.view
            ledger, trouble = known[1:] if known is not None and is_known else ledger_of(scene.view)
            return ledger, trouble, read_noted(ledger, trouble, turn)

        def show(made: tuple[Ledger, str, Noted]) -> None:
            from ctxview.tui.ledger_panel import ledger_report

            self._ledger = (scene, *made[:2])
            self._done_waiting()
            if self.app.screen is self and self.scene.view is scene.view:
                self._report(ledger_report(scene, made[2], self.place), "L")

        self.say("reading the ledger …", "dim")
        self.ctxview.compute("overlay", make, show)

    def action_sessions(self) -> None:
        self._report(reports.sessions(self.trace, self.ctxview.sums, self.place), "S")
        self.ctxview.sum_sessions()

    def action_report(self) -> None:
        self._report(reports.load_report(self.trace), "e")

    def action_help(self) -> None:
        self._report(reports.key_help(), "question_mark")


def _first_words(scene: Scene) -> Words:
    """What went wrong first, for the status line."""
    if scene.late is None:
        return [("! …", "dim")]
    if scene.trouble is None:
        return []
    return [("! ", "bad"), (f"turn {scene.trouble.turn:,}: {scene.trouble.what}", "text")]
