"""The window as a list: one row per block, of which only the visible ones are ever formatted.

The cursor belongs to a block, not to a row: it stays on its block from turn to turn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias, overload

from textual.events import Click
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from ctxview.annotate import Pairing
from ctxview.model import BlockRow, CutRow, SpanRow
from ctxview.tui.cells import Part, fit, right, row, shown
from ctxview.tui.facts import Scene, count, cut_words, label, line_of, states_at
from ctxview.tui.line_view import LineView
from ctxview.tui.palette import GLYPHS, Brush, Words, brush, kind_ink, telling
from ctxview.tui.text_rows import lit_words
from ctxview.window import Needle
from ctxview.window.table import column, pick
from ctxview.window.view import SessionView

_GONE_ROWS: Final = 12
"""Up to so many blocks that just left are shown as rows of their own; more become one row."""
_NOBODY: Final = Pairing(frozenset(), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Unlogged:
    """What was sent and is not in the log."""

    tokens: int | None
    missing: tuple[str, ...]
    exact: bool = False
    """The request itself was captured, so that nothing of it is missing."""
    pos: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Gone:
    """A block that stood in the window before and no longer does."""

    span: SpanRow

    @property
    def pos(self) -> float:
        return self.span.pos


@dataclass(frozen=True, slots=True)
class GoneMany:
    """Too many such blocks for a row each."""

    blocks: int
    tokens: int
    cut: CutRow | None
    pos: float


Row: TypeAlias = SpanRow | Gone | GoneMany | Unlogged


class Rows(Sequence[Row]):
    """The rows of a window. A block's own is made when it is read: a screen shows few of 20,000."""

    def __init__(self, view: SessionView, items: Sequence[int | Row]) -> None:
        """`items`: rows, or for a block that stands the index of its span."""
        self._view = view
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return Rows(self._view, self._items[index])
        return row_of(self._view, self._items[index])

    @cached_property
    def blocks(self) -> Sequence[int | None]:
        """`block_of` of each row."""
        blocks = column(self._view.spans, "block")
        return [blocks[item] if isinstance(item, int) else block_of(item) for item in self._items]


def row_of(view: SessionView, item: int | Row) -> Row:
    return view.spans[item] if isinstance(item, int) else item


class Keeps(Protocol):
    """What lets some blocks through and others not."""

    def keep(self, view: SessionView, turn: int, spans: Sequence[SpanRow]) -> list[SpanRow]:
        """Those of `spans` that pass, as they stand at `turn`."""

    def takes(self, block: BlockRow, states: Iterable[str]) -> bool: ...


def rows_at(
    view: SessionView, turn: int, block: int | None = None, kept: Keeps | None = None
) -> tuple[Rows, dict[int, str]]:
    """The rows of the window at `turn`, and the change mark of each block that has one.

    `block` gets a row of its own even among many that left. `kept` leaves out what does not pass.
    """
    changes = view.changes(turn)
    standing = view.standing(turn)
    items: list[int | Row] = [*standing] if kept is None else [*kept.keep(view, turn, pick(view.spans, standing))]
    left = {n for n, change in changes.items() if change.what == "-"}
    if kept is not None:
        left = {n for n in left if kept.takes(view.blocks[n], ("absent",))}
    ended = view.ended_at(turn) if left else []
    gone = sorted((s for s in ended if s.block in left and s.start < turn), key=_pos)
    few, many_gone = gone, []
    if len(gone) > _GONE_ROWS:  # a pin that left is never hidden among the others
        few = [s for s in gone if s.block == block or s.block in view.pins]
        many_gone = [s for s in gone if s.block != block and s.block not in view.pins]

    def place(item: int | Row) -> float:
        return row_of(view, item).pos

    for span in few:
        items.insert(bisect_left(items, span.pos, key=place), Gone(span))
    if many_gone:
        cut = next((c for c in view.cuts if c.turn == turn), None)
        many = GoneMany(len(many_gone), sum(s.tokens for s in many_gone), cut, many_gone[0].pos)
        items.insert(bisect_left(items, many.pos, key=place), many)
    marks = {n: change.what for n, change in changes.items()}
    if kept is not None:
        return Rows(view, items), marks
    call, sizes = view.turn(turn), view.tokens(turn)
    missing = call.missing if call else ()
    if sizes.unlogged or (missing and sizes.unlogged is None):
        items.insert(0, Unlogged(sizes.unlogged, missing, call is not None and call.fidelity == "exact"))
    return Rows(view, items), marks


def _pos(row: Row) -> float:
    return row.pos


def block_of(row: Row) -> int | None:
    """The block number of a row that is a block's."""
    if isinstance(row, SpanRow):
        return row.block
    return row.span.block if isinstance(row, Gone) else None


class BlockList(LineView, can_focus=True, inherit_bindings=False):
    """Rows of one window, and a cursor."""

    cursor: reactive[int] = reactive(0, repaint=False, init=False)

    class Moved(Message):
        """The cursor is on another row."""

    class Opened(Message):
        """A row was double-clicked."""

    scene: Scene | None = None
    turn: int = 1
    rows: Rows | tuple[()] = ()
    marks: Mapping[int, str] = MappingProxyType({})
    pairing: Pairing = _NOBODY
    needle: Needle | None = None
    found: frozenset[int] = frozenset()
    """Blocks that hold what was searched for, whether or not their row shows it."""
    _seen: Sequence[list[Part]] = ()
    _seen_as: tuple[object, ...] = ()
    """All that decides what `_seen` shows of these rows."""

    def show(self, scene: Scene, turn: int, block: int | None, kept: Keeps | None = None) -> None:
        """Show a window with the cursor on `block`, or near where it was when it is not there."""
        before = self.rows[self.cursor] if self.rows else None
        drawn, was_at = self._drawn(), self.scroll_offset.y
        self._seen_as = ()
        offset = self.cursor - self.scroll_offset.y
        same = scene is self.scene
        self.scene, self.turn = scene, turn
        self.rows, self.marks = rows_at(scene.view, turn, block, kept)
        self.pairing = scene.view.pairing(turn)
        self.set_height(len(self.rows))
        cursor = self._find(block, before if same else None)
        self.set_reactive(BlockList.cursor, cursor)
        height = self.size.height
        top = cursor - (offset if before is not None and 0 <= offset < height else height // 2)
        self.scroll_to(y=max(0, min(top, len(self.rows) - height)), animate=False, immediate=True)
        if self.scroll_offset.y != was_at:
            self.refresh()
        else:  # from turn to turn most rows stay as they are
            for y, (old, new) in enumerate(zip(drawn, self._drawn())):
                if old != new:
                    self.refresh(Region(0, y, self.size.width, 1))

    def _drawn(self) -> Sequence[list[Part]]:
        """What stands in the rows that can be seen."""
        width, height, top = self.scrollable_content_region.width, self.size.height, self.scroll_offset.y
        paint = brush(self)
        seen_as = (width, paint, top, height, self.cursor, self.needle, self.found)
        if seen_as != self._seen_as:
            self._seen_as = seen_as
            self._seen = [self._parts(top + y, paint, width) for y in range(height)]
        return self._seen

    def light(self, needle: Needle | None, found: frozenset[int]) -> None:
        """Light what was searched for."""
        if (needle, found) != (self.needle, self.found):
            self.needle, self.found = needle, found
            self.refresh()

    def _find(self, block: int | None, before: Row | None) -> int:
        index = self._row_of(block)
        if index is not None:
            return index
        last = max(0, len(self.rows) - 1)
        if before is not None:
            return min(last, bisect_left(self.rows, before.pos, key=_pos))
        if block is not None and self.scene is not None:
            spans = self.scene.view.life(block)
            if spans:
                return min(last, bisect_left(self.rows, spans[-1].pos, key=_pos))
        blocks = self.rows.blocks if self.rows else ()
        return next((i for i, n in enumerate(blocks) if n is not None and self.marks.get(n) == "+"), last)

    def _row_of(self, block: int | None) -> int | None:
        blocks = self.rows.blocks if self.rows else ()
        return blocks.index(block) if block is not None and block in blocks else None

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.rows else None

    def go(self, block: int) -> bool:
        """Put the cursor on a block, and say whether it has a row."""
        index = self._row_of(block)
        if index is not None:
            self.cursor = index
        return index is not None

    def step(self, by: int) -> None:
        if self.rows:
            self.cursor = max(0, min(len(self.rows) - 1, self.cursor + by))

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(len(self.rows) - 1, cursor))

    def watch_cursor(self, old: int, new: int) -> None:
        top, height = self.scroll_offset.y, self.size.height or 1
        if not top <= new < top + height:
            self.scroll_to(y=new if new < top else new - height + 1, animate=False, immediate=True)
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))
        self.post_message(self.Moved())

    def on_click(self, event: Click) -> None:
        index = event.y + self.scroll_offset.y
        if index < len(self.rows):
            self.cursor = index
            if event.chain == 2:
                self.post_message(self.Opened())

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.visual_style.rich_style
        index, paint = y + self.scroll_offset.y, brush(self)
        if index == self.cursor and self.rows:
            base = base + paint("text", "cursor")
        return row(self._parts(index, paint, width), width, base)

    def _parts(self, index: int, paint: Brush, width: int) -> list[Part]:
        """What stands in a row of the list."""
        if self.scene is None or index >= len(self.rows):
            return []
        here = index == self.cursor
        item = self.rows[index]
        number = block_of(item)
        lit = number is not None and number in self.found
        bar: Part = ("/", paint("hit-now" if here else "hit")) if lit else ("▌" if here else " ", paint("accent"))
        if isinstance(item, SpanRow):
            parts = self._block(item, paint, width)
        elif isinstance(item, Gone):
            parts = self._gone(item.span, paint, width)
        elif isinstance(item, GoneMany):
            parts = _gone_many(item, paint, width)
        else:
            parts = _unlogged(item, paint, width)
        return [bar, *parts]

    def _block(self, span: SpanRow, paint: Brush, width: int) -> list[Part]:
        assert self.scene is not None
        view = self.scene.view
        block = view.blocks[span.block]
        mark = self.marks.get(span.block, " ")
        kind, ink = label(view, block)
        parts = _head(
            mark, telling(states_at(view, span, self.pairing, self.turn)), count(block, span.tokens), kind,
            ink or kind_ink(block.kind), paint, width,
        )  # fmt: skip
        words = lit_words(line_of(view, block, span, width), self.needle)
        return parts + [(text, paint(ink)) for text, ink in words]

    def _gone(self, span: SpanRow, paint: Brush, width: int) -> list[Part]:
        assert self.scene is not None
        view = self.scene.view
        block = view.blocks[span.block]
        edit = view.edits[span.ended_by] if span.ended_by is not None else None
        state = "cut" if edit is not None and edit.cut is not None else "absent"
        parts = _head("-", state, count(block, span.tokens), label(view, block)[0], "dim", paint, width)
        pin = view.pins.get(block.n)
        words: Words = [(f"◆ pinned {pin.kind} · ", "pinned")] if pin else []
        words += lit_words([(text, "dim") for text, _ in line_of(view, block, span, width)], self.needle)
        return parts + [(text, paint(ink, italic=ink == "dim")) for text, ink in words]


def _head(mark: str, state: str, tokens: str, kind: str, kind_style: str, paint: Brush, width: int) -> list[Part]:
    """Gutter, glyph, state word, tokens and kind: columns that line up from row to row."""
    mark_ink = {"+": "good", "-": "cut", "~": "warn"}.get(mark, "dim")
    room = kind_room(width)
    return [
        (mark, paint(mark_ink, bold=True)),
        (f" {GLYPHS[state]} {fit(state, 10)}", paint(state)),
        (right(tokens, 8), paint("text" if mark != "-" else "dim")),
        (f"  {fit(kind, room)}  ", paint(kind_style)),
    ]


def kind_room(width: int) -> int:
    """Cells of the kind column in a list of this width."""
    return 18 if width >= 90 else 12


def _gone_many(item: GoneMany, paint: Brush, width: int) -> list[Part]:
    words = "left the window here"
    if item.cut is not None:
        dropped = item.cut.dropped
        all_of_it = "them" if dropped in (None, item.blocks) else f"all {dropped:,} that were dropped"
        words = f"left here: {cut_words(item.cut)} · x shows {all_of_it}"
    state, blocks = "cut" if item.cut else "absent", f"{item.blocks:,} blocks"
    parts = _head("-", state, f"{item.tokens:,}", blocks, "dim", paint, width)
    return [*parts, (words, paint("cut"))]


def _unlogged(item: Unlogged, paint: Brush, width: int) -> list[Part]:
    tokens = "unknown" if item.tokens is None else f"{item.tokens:,}"
    parts = _head(" ", "unlogged", tokens, "unlogged", "kind-unlogged", paint, width)
    return [*parts, (unlogged_words(item), paint("dim"))]


def unlogged_words(item: Unlogged) -> str:
    """What the remainder is, as far as the log tells."""
    if item.tokens is not None and item.tokens < 0:
        return "fewer tokens recorded than counted"
    if item.exact and not item.missing:
        return "recorded beyond the captured text: framing, or another tokenizer"
    names = {"tools": "tool schemas", "system": "system prompt"}
    what = ", ".join(names.get(m, shown(m, 30)) for m in item.missing)
    return f"sent but not in the log: {what}" if what else "sent but not in the log"
