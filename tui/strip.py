"""The timeline: how full the window was at every turn, where it was cut, and where we are.

A column shows the largest window of its turns, never a mean, so that no spike is lost however many turns there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.events import MouseDown, MouseMove, MouseScrollDown, MouseScrollUp, MouseUp, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ctxview.tui.cells import right
from ctxview.tui.palette import GROUP_OF, KIND_GROUPS, Brush, brush

if TYPE_CHECKING:  # the first paint shows this widget empty and waits for no more than it needs
    from ctxview.tui.facts import Scene

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_KEPT: Final = 6
_AXIS: Final = 6
"""Cells of the scale at the left."""

_Cells: TypeAlias = tuple[tuple[str, str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Column:
    cells: tuple[tuple[str, str, str | None], ...]
    """(character, ink, ink behind it), from the top row down."""
    cut: bool
    trouble: bool


class Timeline(Widget):
    """Four rows of bars over one row of marks."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Timeline { height: 5; }"

    class Picked(Message):
        """A column was clicked, dragged to, or the wheel turned over the strip."""

        def __init__(self, turn: int, moving: bool = False) -> None:
            self.turn = turn
            self.moving = moving
            """More of the same movement follows or came before."""
            super().__init__()

        def can_replace(self, message: Message) -> bool:
            """Of a drag only where it is now counts."""
            return isinstance(message, Timeline.Picked) and message.moving

    scene: Scene | None = None
    turn: int = 1
    mark: int | None = None
    """The turn that was marked."""
    _columns: list[Column] | None = None
    _drawn_for: Size | None = None
    _beside: Sequence[int] | None = None
    """By turn, the sizes of the same windows under the stack this one is compared with."""
    _scale: int = 1
    _still_key: tuple[object, ...] = ()

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self._still_rows: dict[int, list[Segment]] = {}
        self._kept: dict[tuple[int, int, Size], tuple[Scene | None, Sequence[int] | None, list[Column], int]] = {}
        """Drawings of the last scenes: going back to one costs none of it."""

    def show(
        self, scene: Scene, turn: int, mark: int | None = None, beside: Sequence[int] | None = None
    ) -> None:
        """Move the cursor; with another scene or mark, draw everything anew. `beside` are sizes to draw as a line."""
        if beside is not self._beside:
            self._beside, self._columns = beside, None
            self.refresh()
        if scene is not self.scene or mark != self.mark:
            self._columns = self._columns if scene is self.scene else None
            self.scene, self.turn, self.mark = scene, turn, mark
            self.refresh()
        elif turn != self.turn:
            old, self.turn = self._extent(self.turn), turn
            for start, stop in (old, self._extent(turn), (self._width, self._width + 1)):
                self.refresh(Region(_AXIS + start, 0, stop - start, self.size.height))

    def on_resize(self, event: Resize) -> None:
        self._columns = None

    def on_mouse_down(self, event: MouseDown) -> None:
        if self.scene is not None and event.x >= _AXIS:
            self.capture_mouse()
            self._pick(event.x, False)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._pick(event.x, True)

    def on_mouse_up(self, event: MouseUp) -> None:
        self.release_mouse()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        self.post_message(self.Picked(self.turn + 1, True))

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        self.post_message(self.Picked(self.turn - 1, True))

    def _pick(self, x: int, moving: bool) -> None:
        turn = self._turns(max(0, min(x - _AXIS, self._width - 1)))[0]
        if not moving or turn != self.turn:
            self.post_message(self.Picked(turn, moving))

    @property
    def _width(self) -> int:
        return max(1, self.size.width - _AXIS - 1)

    @property
    def _count(self) -> int:
        """Turns on the line. What stands now was not sent yet, so its size leaves out what is never logged: no bar."""
        return max(1, self.scene.view.last) if self.scene else 1

    def _extent(self, turn: int) -> tuple[int, int]:
        """First and one past the last column of a turn."""
        count, width = self._count, self._width
        turn = min(turn, count)
        start = (turn - 1) * width // count
        return start, max(start + 1, turn * width // count)

    def _turns(self, column: int) -> tuple[int, int]:
        """First and one past the last turn of a column."""
        count, width = self._count, self._width  # the inverse of `_extent`
        if count < width:
            turn = ((column + 1) * count - 1) // width + 1
            return turn, turn + 1
        return -(-column * count // width) + 1, -(-(column + 1) * count // width) + 1

    def columns(self) -> list[Column]:
        """All columns; made once per scene and size. A row may be asked for after a resize and before its event."""
        if self._columns is None or self._drawn_for != self.size:
            self._drawn_for = self.size
            if self.scene is not None and not self.scene.is_whole:
                self._columns, self._scale = self._waiting(), 0
                return self._columns
            key = (id(self.scene), id(self._beside), self.size)
            if key not in self._kept:  # what is kept holds its scene and sizes, so that no other can have their ids
                if len(self._kept) >= _KEPT:
                    self._kept.pop(next(iter(self._kept)))
                drawn = self._draw()
                self._kept[key] = (self.scene, self._beside, drawn, self._scale)
            self._columns, self._scale = self._kept[key][2:]
        return self._columns

    def _waiting(self) -> list[Column]:
        """Instead of bars, while the sizes are not known."""
        rows = max(1, self.size.height - 1)
        blank = (" ", "dim", None)
        waiting = (*[blank] * (rows - 1), ("…", "dim", None))
        return [Column(waiting if x == 0 else (blank,) * rows, False, False) for x in range(self._width)]

    def _draw(self) -> list[Column]:
        scene = self.scene
        assert scene is not None
        view, rows = scene.view, max(1, self.size.height - 1)
        peak = max(scene.sizes[1 : self._count + 1], default=0)
        beside = self._beside
        if beside is not None:
            peak = max(peak, *beside[1 : self._count + 1], 0)
        limit = view.limit
        # A limit far above everything would flatten all: then the peak is the scale, and the axis says so.
        self._scale = max(1, limit if limit and peak <= limit <= 4 * peak else peak)
        cuts = {self._extent(c.turn)[0] for c in view.cuts}
        trouble = self._extent(scene.trouble.turn)[0] if scene.trouble else -1
        drawn: dict[int, tuple[tuple[str, str, str | None], ...]] = {}
        columns = []
        for x in range(self._width):
            start, stop = self._turns(x)
            turn = max(range(start, stop), key=scene.sizes.__getitem__)
            if turn not in drawn:
                drawn[turn] = self._bar(turn, rows)
            cells = drawn[turn] if beside is None else self._outlined(drawn[turn], max(beside[start:stop]))
            columns.append(Column(cells, x in cuts, x == trouble))
        return columns

    def _outlined(self, cells: _Cells, size: int) -> _Cells:
        """The cells with a line at the height of another size."""
        rows = len(cells)
        eighths = max(0, min(rows * 8, round(size / self._scale * rows * 8)) - 1)
        y = rows - 1 - eighths // 8
        text, ink, _ = cells[y]
        line = "▁▁▁───▔▔"[eighths % 8]
        drawn = (line, "accent", None) if text == " " else (line, "text", ink)
        return (*cells[:y], drawn, *cells[y + 1 :])

    def _bar(self, turn: int, rows: int) -> tuple[tuple[str, str, str | None], ...]:
        assert self.scene is not None
        sums = dict.fromkeys(KIND_GROUPS, 0)
        for kind, tokens in self.scene.view.by_kind(turn).items():
            sums[GROUP_OF[kind]] += max(0, tokens or 0)
        whole, size = sum(sums.values()), self.scene.sizes[turn]
        share = size / whole / self._scale if whole else 0.0
        tops: list[tuple[int, str]] = []
        total = 0
        for group, tokens in sums.items():
            total += tokens
            tops.append((round(total * share * rows * 8), f"fill-{group}"))
        if size and tops[-1][0] == 0:
            tops[-1] = (1, tops[-1][1])  # something is never shown as nothing
        cells: list[tuple[str, str, str | None]] = []
        for low in range(0, rows * 8, 8):
            above = [(top, ink) for top, ink in tops if top > low]
            if not above:
                cells.append((" ", "dim", None))
            elif above[0][0] >= low + 8:
                cells.append(("█", above[0][1], None))
            else:
                top, ink = above[0]
                behind = next((i for t, i in above[1:] if t >= low + 8), None)
                if behind is None:  # two edges in one cell: the upper one counts, its layer fills
                    top, ink = above[-1]
                cells.append((_EIGHTHS[min(8, top - low)], ink, behind))
        return tuple(reversed(cells))

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.size.width, self.visual_style.rich_style, brush(self)
        if self.scene is None:
            return Strip.blank(width, base)
        start, stop = self._extent(self.turn)
        drawn = self._still(y, base, paint)
        last = y == self.size.height - 1
        if self.turn > self._count:
            end = Segment("▶" if last else " ", base + paint("accent", bold=True))
            return Strip([*_part(drawn, 0, width - 1), end], width)
        lit = self._marks_here(start, stop, base, paint) if last else self._bars_here(y, start, stop, base, paint)
        return Strip([*_part(drawn, 0, _AXIS + start), *lit, *_part(drawn, _AXIS + stop, width)], width)

    def _still(self, y: int, base: Style, paint: Brush) -> list[Segment]:
        """A row without the cursor, which is all that differs from turn to turn."""
        key = (paint, base, self.mark, self.size, id(self.columns()))
        if key != self._still_key:
            self._still_key, self._still_rows = key, {}
        if y not in self._still_rows:
            height = self.size.height
            segments = [Segment(self._axis(y, height), base + paint("dim"))]
            if y == height - 1:
                marked = -1 if self.mark is None else (sum(self._extent(self.mark)) - 1) // 2
                segments += (self._mark_of(x, marked, base, paint) for x in range(self._width))
            else:
                cells = (column.cells[y] for column in self.columns())
                segments += (Segment(text, paint.over(ink, behind)) for text, ink, behind in cells)
            self._still_rows[y] = list(Segment.simplify([*segments, Segment(" ", base)]))
        return self._still_rows[y]

    def _mark_of(self, x: int, marked: int, base: Style, paint: Brush) -> Segment:
        column = self.columns()[x]
        if x == marked:
            return Segment("m", base + paint("warn", bold=True))
        if column.trouble:
            return Segment("!", base + paint("bad", bold=True))
        return Segment("✂", base + paint("cut")) if column.cut else Segment("─", base + paint("rule"))

    def _marks_here(self, start: int, stop: int, base: Style, paint: Brush) -> list[Segment]:
        middle = (start + stop - 1) // 2
        marked = -1 if self.mark is None else (sum(self._extent(self.mark)) - 1) // 2
        found = []
        for x in range(start, stop):
            known = self._mark_of(x, marked, base, paint)
            if x == middle:
                known = Segment("▲", base + paint("accent", bold=True))
            elif known.text == "─":
                known = Segment("━", base + paint("accent"))
            found.append(known)
        return found

    def _bars_here(self, y: int, start: int, stop: int, base: Style, paint: Brush) -> list[Segment]:
        found = []
        for text, ink, behind in (column.cells[y] for column in self.columns()[start:stop]):
            if stop - start > 1:  # a wide turn is lit from behind, so that its layers stay to be seen
                found.append(Segment(text, paint.over(ink, behind) if behind else paint(ink, "cursor")))
            elif text == " ":
                found.append(Segment("│", base + paint("accent")))
            else:
                found.append(Segment(text, paint.over(ink, behind) + paint("accent")))
        return found

    def _axis(self, y: int, height: int) -> str:
        if y == 0:
            return right(short(self._scale) if self._scale else "…", _AXIS - 1) + "┤"
        if y == height - 2:
            return right("0", _AXIS - 1) + "┤"
        return " " * (_AXIS - 1) + ("│" if y < height - 1 else "└")


def _part(segments: Iterable[Segment], start: int, stop: int) -> Iterator[Segment]:
    """The cells from `start` to `stop` of a row in which every character takes one cell."""
    at = 0
    for text, style, _ in segments:
        piece = text[max(0, start - at) : max(0, stop - at)]
        if piece:
            yield Segment(piece, style)
        at += len(text)


def short(tokens: int) -> str:
    """A token count in at most five cells."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= unit:
            value = tokens / unit
            return f"{value:.1f}{name}" if value < 10 and round(value, 1) != round(value) else f"{value:.0f}{name}"
    return str(tokens)
