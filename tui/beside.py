"""Two stacks compared at one turn: aligned windows, one cursor for both, and why they differ at the block it is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.strip import Strip

from ctxview.annotate import Pairing
from ctxview.focus import Focus
from ctxview.model import EditRow, SpanRow
from ctxview.tui.cells import Part, fit, right, row, shown
from ctxview.tui.compare import WIDE, Line
from ctxview.tui.facts import Scene, count, label, line_of, states_at
from ctxview.tui.line_view import LineView
from ctxview.tui.lines import Title
from ctxview.tui.overlays import MOVES
from ctxview.tui.palette import GLYPHS, Words, brush, kind_ink, telling
from ctxview.tui.stacks import HONEST, StackNote
from ctxview.tui.strip import Timeline
from ctxview.window.diff import Diff, diff_windows
from ctxview.window.view import SessionView

_INKS: Final = {"+": "good", "-": "cut", "~": "warn", " ": "dim"}


def align(base: SessionView, other: SessionView, turn: int) -> tuple[Diff, list[Line]]:
    """Both windows in the order of the second, with what only the first holds at its place."""
    diff = diff_windows(base, turn, other, turn)
    changed = {w.block.id for _, w in diff.changed}
    first, second = base.spans_at(turn), other.spans_at(turn)
    at = {base.blocks[s.block].id: i for i, s in enumerate(first)}
    there = {other.blocks[s.block].id for s in second}
    lines: list[Line] = []
    done = 0

    def only_first(stop: int) -> None:
        nonlocal done
        while done < stop:
            if base.blocks[first[done].block].id not in there:
                lines.append(Line("-", first[done], None))
            done += 1

    for span in second:
        name = other.blocks[span.block].id
        index = at.get(name)
        if index is None:
            lines.append(Line("+", None, span))
            continue
        is_moved = index < done
        only_first(index)
        lines.append(Line("~" if name in changed or is_moved else " ", first[index], span))
        done = max(done, index + 1)
    only_first(len(first))
    return diff, lines


class Reasons:
    """Why a block stands in one window and not, or not so, in the other."""

    def __init__(self, base: SessionView, other: SessionView) -> None:
        self._base, self._other = base, other
        self._edits: dict[str, dict[int, list[EditRow]]] = {}

    def _last(self, view: SessionView, block: int, turn: int) -> EditRow | None:
        known = self._edits.get(view.stack)
        if known is None:
            known = self._edits[view.stack] = {}
            for edit in view.edits:
                if edit.block is not None and edit.action != "tag":
                    known.setdefault(edit.block, []).append(edit)
        return next((e for e in reversed(known.get(block, ())) if e.turn <= turn), None)

    def words(self, line: Line, turn: int) -> Words:
        base, other = self._base, self._other
        if line.mark == " ":
            return [("the same in both windows", "dim")]
        if line.mark == "-" and line.first is not None:
            edit = self._last(other, line.first.block, turn)
            if edit is None:
                return [(f"only in {shown(base.stack, 40)}: put in there, and {shown(other.stack, 40)} starts without "
                         "what the client put in", "text")]  # fmt: skip
            return _why("gone under", other, edit)
        span = line.second
        assert span is not None
        edit = self._last(other, span.block, turn)
        if line.mark == "~" and edit is not None:
            return _why("changed under", other, edit)
        block = other.blocks[span.block]
        is_own = span.block >= len(base.blocks) or base.blocks[span.block].id != block.id
        if is_own and edit is not None:
            return _why("put in by", other, edit)
        earlier = None if is_own else self._last(base, span.block, turn)
        if earlier is not None:
            return _why("gone under" if line.mark == "+" else "changed under", base, earlier)
        return [("no edit says why", "dim")]


def _why(what: str, view: SessionView, edit: EditRow) -> Words:
    why = f"{shown(edit.rule, 60)} · {shown(edit.reason, 200)} · layer {shown(edit.layer, 40)}"
    return [(f"{what} {shown(view.stack, 40)}, turn {edit.turn:,}: {why}", "text")]


class BesideList(LineView, can_focus=True, inherit_bindings=False):
    """The aligned windows."""

    cursor: reactive[int] = reactive(0, repaint=False, init=False)

    def __init__(self, base: SessionView, other: SessionView) -> None:
        super().__init__()
        self._base, self._other = base, other
        self._pairings: Mapping[str, Pairing] = {}
        self.turn = 1
        self.rows: Sequence[Line] = ()

    def show(self, turn: int, rows: Sequence[Line], block: str | None) -> None:
        """Show a turn with the cursor on a block, else on the first difference."""
        self.turn, self.rows = turn, rows
        self._pairings = {view.stack: view.pairing(turn) for view in (self._base, self._other)}
        self.set_height(len(rows))
        found = next((i for i, line in enumerate(rows) if block is not None and self.id_of(line) == block), None)
        if found is None and block is not None:
            found = min(self.cursor, max(0, len(rows) - 1))
        elif found is None:
            found = next((i for i, line in enumerate(rows) if line.mark != " "), 0)
        self.set_reactive(BesideList.cursor, found)
        self.keep_in_sight()
        self.refresh()

    def id_of(self, line: Line) -> str:
        view, span = (self._other, line.second) if line.second is not None else (self._base, line.first)
        assert span is not None
        return view.blocks[span.block].id

    @property
    def current(self) -> Line | None:
        return self.rows[self.cursor] if self.rows else None

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(len(self.rows) - 1, cursor))

    def watch_cursor(self, old: int, new: int) -> None:
        self.keep_in_sight()
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))
        if isinstance(self.screen, BesideScreen):
            self.screen.tell()

    def keep_in_sight(self) -> None:
        top, height = self.scroll_offset.y, self.size.height or 1
        if not top <= self.cursor < top + height:
            to = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=to, animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        self.keep_in_sight()

    def on_click(self, event: Click) -> None:
        index = event.y + self.scroll_offset.y
        if index < len(self.rows):
            self.cursor = index

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.scrollable_content_region.width, self.visual_style.rich_style, brush(self)
        index = y + self.scroll_offset.y
        if index >= len(self.rows):
            return Strip.blank(width, base)
        here = index == self.cursor
        if here:
            base = base + paint("text", "cursor")
        line = self.rows[index]
        if self.app.size.width >= WIDE:
            column = (width - 4) // 2
            words = [*self._side(line, self._base, line.first, column), (" │ ", "rule"),
                     *self._side(line, self._other, line.second, width - 4 - column)]  # fmt: skip
        elif line.second is not None:
            words = self._side(line, self._other, line.second, width - 1)
        else:
            words = self._side(line, self._base, line.first, width - 1)
        parts: list[Part] = [("▌" if here else " ", paint("accent")), *((text, paint(ink)) for text, ink in words)]
        return row(parts, width, base)

    def _side(self, line: Line, view: SessionView, span: SpanRow | None, width: int) -> Words:
        """One window's part of a line, in exactly `width` cells."""
        if span is None:
            return [(" " * width, "text")]
        block = view.blocks[span.block]
        kind, ink = label(view, block)
        state = telling(states_at(view, span, self._pairings[view.stack], self.turn))
        name = 14 if width >= 70 else 12
        head: Words = [
            (f"{line.mark} ", _INKS[line.mark]),
            (f"{GLYPHS[state]} {fit(state, 10)}", state),
            (right(count(block, span.tokens), 7), "text"),
            (f"  {fit(kind, name)} ", ink or kind_ink(block.kind)),
        ]  # fmt: skip
        room = max(1, width - 24 - name)
        text = "".join(t for t, _ in line_of(view, block, span, room))
        return [*head, (fit(text, room), "dim" if line.mark == "-" else "text")]


class BesideScreen(ModalScreen[Focus | None]):
    """One window under two stacks, turn by turn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("l,right", "turn(1)", show=False),
        Binding("h,left", "turn(-1)", show=False),
        Binding("right_square_bracket,n", "difference(1)", show=False),
        Binding("left_square_bracket,N", "difference(-1)", show=False),
        Binding("enter", "choose", show=False),
        Binding("escape,c,q", "close", show=False),
    ]

    def __init__(self, base: Scene, other: Scene, focus: Focus) -> None:
        super().__init__()
        self._base, self._other, self._focus = base, other, focus
        self.turn = focus.turn or 1
        self._reasons = Reasons(base.view, other.view)

    def compose(self) -> ComposeResult:
        keys: Words = []
        for key, does in (("j k", "block"), ("h l", "turn"), ("[ ]", "difference"), ("Enter", "go there"),
                          ("Esc", "close")):  # fmt: skip
            keys += [(key, "accent"), (f" {does}  ", "dim")]
        yield Title([], classes="where")
        yield Timeline(id="timeline")
        yield Title([(f"simulated · {HONEST}", "warn")], classes="honest")
        yield Title([], classes="heads")
        yield BesideList(self._base.view, self._other.view)
        yield StackNote(id="why")
        yield Title(keys, classes="keys")

    def on_mount(self) -> None:
        self.show(self.turn, self._focus.block)

    def on_resize(self, event: Resize) -> None:
        self._heads(event.size.width)

    @property
    def body(self) -> BesideList:
        return self.query_one(BesideList)

    def show(self, turn: int, block: str | None) -> None:
        self.turn = turn
        self.diff, rows = align(self._base.view, self._other.view, turn)
        self.body.show(turn, rows, block)
        view = self._other.view
        where = f"turn {turn:,}/{view.last:,}" if view.turn(turn) else f"now, after turn {view.last:,}"
        diff = self.diff
        names = f" › {shown(self._base.view.stack, 30)} beside {shown(view.stack, 40)}"
        words: Words = [(where, "accent"), (names, "text")]
        words += [(f" · + {len(diff.added):,}", "good"), (f" · - {len(diff.removed):,}", "cut"),
                  (f" · ~ {len(diff.changed):,}", "warn")]  # fmt: skip
        self.query_one(".where", Title).show(words)
        self.query_one(Timeline).show(self._other, turn, None, self._base.sizes)
        self._heads(self.size.width)
        self.tell()

    def _heads(self, width: int) -> None:
        diff = self.diff
        first = f"{shown(self._base.view.stack, 40)} · {diff.tokens_a:,} tokens"
        delta = f"Δ {diff.tokens_b - diff.tokens_a:+,}"
        second = f"{shown(self._other.view.stack, 40)} · {diff.tokens_b:,} tokens · {delta}"
        column = (width - 5) // 2
        words: Words = [(f"{first} → {second}", "accent")]
        if width >= WIDE:
            words = [(fit(first, column), "accent"), (" │ ", "rule"), (second, "accent")]
        self.query_one(".heads", Title).show(words)

    def tell(self) -> None:
        """Why the windows differ at the cursor."""
        line = self.body.current
        self.query_one("#why", StackNote).show(
            self._reasons.words(line, self.turn) if line is not None else [("both windows are empty", "dim")]
        )

    # ------------------------------------------------------------------ the keys

    def action_move(self, by: int) -> None:
        self.body.cursor += by

    def action_page(self, by: int) -> None:
        self.body.cursor += by * max(1, self.body.size.height - 1)

    def action_ends(self, by: int) -> None:
        self.body.cursor = len(self.body.rows) - 1 if by > 0 else 0

    def action_difference(self, by: int) -> None:
        body = self.body
        found = [i for i, line in enumerate(body.rows) if line.mark != " " and (i - body.cursor) * by > 0]
        if found:
            body.cursor = min(found) if by > 0 else max(found)

    def action_turn(self, by: int) -> None:
        turn = max(1, min(self._other.view.now, self.turn + by))
        if turn != self.turn:
            self.show(turn, self._block())

    def on_timeline_picked(self, message: Timeline.Picked) -> None:
        self.show(max(1, min(self._other.view.now, message.turn)), self._block())

    def _block(self) -> str | None:
        line = self.body.current
        return None if line is None else self.body.id_of(line)

    def action_choose(self) -> None:
        line = self.body.current
        stack = self._base.view.stack if line is not None and line.second is None else self._other.view.stack
        self.dismiss(replace(self._focus, turn=self.turn, block=self._block(), stack=stack))

    def action_close(self) -> None:
        self.dismiss(replace(self._focus, turn=self.turn))
