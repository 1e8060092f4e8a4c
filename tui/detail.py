"""One block in full: its facts, then its text, literal: wrapped, raw or as JSON. Beside the list or on a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual.strip import Strip

from ctxview.annotate import Pairing
from ctxview.model import SpanRow
from ctxview.tui.block_list import Gone, GoneMany, Row, Unlogged, unlogged_words
from ctxview.tui.cells import fit, right, row, shown, wrap
from ctxview.tui.facts import Scene, block_facts, blocks_words, cut_words, state_words, with_doubt
from ctxview.tui.line_view import LineView
from ctxview.tui.palette import Words, brush
from ctxview.tui.text_rows import MODES, Mode, TextRows, pretty
from ctxview.window import Needle
from ctxview.window.view import SessionView, WindowBlock

_LABEL: Final = 9
_STEP: Final = 20
"""Characters a key moves a text that does not wrap."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What to light in a text, and the hit to scroll to."""

    needle: Needle
    at: int | None
    """Where in the text the hit begins that one stands on; None when one stands on none."""


class DetailPane(LineView, can_focus=False, inherit_bindings=False):
    """Facts and text of one row of the list."""

    scene: Scene | None = None
    turn: int = 1
    item: Row | None = None
    pairing: Pairing | None = None
    sought: Sought | None = None
    mode: Mode = "wrapped"
    numbered: bool = False
    """Whether line numbers stand before the text."""
    _head: Sequence[Words] = ()
    _rows: TextRows | None = None
    _column: int = 0
    _gutter: int = 0
    _shows: tuple[object, ...] = ()
    """All that decides what is drawn."""
    _text: tuple[SessionView, int, str] | None = None
    _pretty: tuple[int, str | None] = (-1, None)
    """Content key, and its text as JSON: reading it twice would cost a held key dearly."""

    def show(
        self, scene: Scene, turn: int, item: Row | None, pairing: Pairing | None = None, sought: Sought | None = None
    ) -> None:
        """Show a row as it stands at `turn`; `pairing` is that turn's, where the caller has it."""
        fresh = scene is not self.scene or item != self.item
        found = sought is not None and sought.at is not None and (fresh or sought != self.sought)
        self.scene, self.turn, self.item, self.pairing, self.sought = scene, turn, item, pairing, sought
        if found and self.mode == "JSON":
            self.mode = "wrapped"  # a hit has its place in the text as it was sent
        if fresh:
            self._column = 0
        self._lay_out(again=not fresh)
        if found:
            self.show_hit()
        elif fresh:
            self.go_to(0)

    def on_mount(self) -> None:
        self.call_after_refresh(self.show_hit)

    def on_resize(self) -> None:
        self._lay_out()
        self.show_hit()

    # ------------------------------------------------------------------- layout

    def _lay_out(self, again: bool = False) -> None:
        """`again`: nothing is drawn where it would come out as before, as from turn to turn it mostly does."""
        width = self.scrollable_content_region.width - 2
        if self.scene is None or width < 4:
            return
        head = detail_head(self.scene, self.turn, self.item, width, self.pairing)
        span = span_of(self.item)
        if span is not None:
            span = self.scene.view.as_of(span, self.turn)
        shows = (self.scene, self.item, span, head, self.sought, self.mode, self.numbered, self._column, width)
        if again and shows == self._shows:
            return
        self._shows = shows
        self._head, self._rows = head, None
        if span is not None:
            text = self._read(span.content)
            gutter = len(f"{text.count(chr(10)) + 1:,}") + 1 if self.numbered else 0
            mode, needle = self._mode_for(span, text), self.sought.needle if self.sought else None
            at = self.sought.at if self.sought and mode != "JSON" else None
            made = self._pretty[1] if mode == "JSON" else None
            self._rows = TextRows(text if made is None else made, max(4, width - gutter), mode, needle, at)
            self._gutter = gutter
            self._head = [*self._head, self._rule(mode, width)]
            if self._rows.before:
                self._head = [*self._head, [(fit(f"{self._rows.before:,} characters before …", width), "warn")]]
        self._reach(self.scroll_offset.y)
        self.refresh()

    def _read(self, content: int) -> str:
        """A text; the one that is shown is kept, because it stays from turn to turn."""
        assert self.scene is not None
        if self._text is None or self._text[:2] != (self.scene.view, content):
            self._text = (self.scene.view, content, self.scene.view.text(content))
        return self._text[2]

    def _mode_for(self, span: SpanRow, text: str) -> Mode:
        if self.mode == "JSON":
            if self._pretty[0] != span.content:
                self._pretty = (span.content, pretty(text))
            if self._pretty[1] is None:
                return "wrapped"
        return self.mode

    def _rule(self, mode: Mode, width: int) -> Words:
        words = {"raw": "text, raw: not wrapped", "JSON": "text, indented as JSON", "wrapped": "text"}[mode]
        return [("── ", "rule"), (words, "dim"), (" " + "─" * max(0, width - len(words) - 4), "rule")]

    def _reach(self, top: int) -> None:
        """Lay out what can be seen from `top` on, and say how much there is."""
        height = len(self._head)
        if self._rows is not None:
            self._rows.reach(top + self.size.height * 2 - height)
            height += self._rows.guess + (1 if self._rows.after else 0)
        self.set_height(height)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        self._reach(round(new_value))
        super().watch_scroll_y(old_value, new_value)

    def go_to(self, y: int) -> None:
        """Scroll to a row; also before the scroll bar of a text that just came is there."""
        self.scroll_to(y=max(0, y), animate=False, immediate=True, force=True)

    def to_end(self) -> None:
        if self._rows is not None:
            self._rows.reach(None)
            self._reach(0)
        self.go_to(self.virtual_size.height)

    def show_hit(self) -> None:
        """Scroll to the hit one stands on."""
        at = self._rows.row_of_hit() if self._rows is not None else None
        if at is None or self._rows is None:
            return
        y = len(self._head) + at
        if self._rows.mode == "raw":
            column = self._rows.column_of_hit()
            room = self.size.width - 10
            if not self._column <= column < self._column + room:
                self._column = max(0, column - room // 2)
        self._reach(y)
        top, height = self.scroll_offset.y, self.size.height
        if not top + 1 <= y < top + height - 1:
            self.go_to(y - height // 3)
        self.refresh()

    # ------------------------------------------------------------------ the keys

    def next_mode(self) -> Mode | None:
        """Show the text another way, and say which; None when the row has no text."""
        span = span_of(self.item)
        if span is None or self.scene is None:
            return None
        text = self._read(span.content)
        modes = [m for m in MODES if m != "JSON" or pretty(text) is not None]
        now = self._mode_for(span, text)
        self.mode = modes[(modes.index(now) + 1) % len(modes)]
        self._column = 0
        self._lay_out()
        self.show_hit()
        return self.mode

    def number_lines(self) -> None:
        self.numbered = not self.numbered
        self._lay_out()

    def step_aside(self, by: int) -> None:
        """Move a text that does not wrap."""
        if self._rows is not None and self._rows.mode == "raw":
            self._column = max(0, min(self._column + by * _STEP, self._rows.cells_wide() - _STEP))
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.scrollable_content_region.width, self.visual_style.rich_style, brush(self)
        parts = [(text, paint(ink)) for text, ink in self._words(y + self.scroll_offset.y)]
        return row([(" ", paint("text")), *parts], width, base)

    def _words(self, index: int) -> Words:
        if index < len(self._head):
            return list(self._head[index])
        rows, at = self._rows, index - len(self._head)
        if rows is None:
            return []
        rows.reach(at)
        if at >= len(rows):
            more = f"… {rows.after:,} more characters; y copies all" if at == len(rows) and rows.after else ""
            return [(more, "warn")]
        words = rows.words(at, self._column)
        if self.numbered:
            number = rows.number(at)
            words = [(right("" if number is None else f"{number:,}", self._gutter - 1) + " ", "dim"), *words]
        return words


def span_of(item: Row | None) -> SpanRow | None:
    """The stay whose text a row stands for."""
    if isinstance(item, Gone):
        return item.span
    return item if isinstance(item, SpanRow) else None


def detail_head(scene: Scene, turn: int, item: Row | None, width: int, pairing: Pairing | None = None) -> list[Words]:
    """Everything about a row of the list but its text, as lines of at most `width` cells."""
    if item is None:
        return [[("nothing in this window", "dim")]]
    if isinstance(item, Unlogged):
        return _about_unlogged(scene, turn, item, width)
    if isinstance(item, GoneMany):
        why = cut_words(item.cut) if item.cut else "no cut in the log says why"
        lines: list[Words] = [[(f"✂ {blocks_words(item.blocks)} left before turn {turn:,}", "cut")]]
        facts: list[tuple[str, Words]] = [("tokens", [(f"{item.tokens:,} counted", "text")]), ("cut", [(why, "text")])]
        if item.cut is not None and item.cut.dropped not in (None, item.blocks):
            rest = "others have rows of their own, came after the last call, or came back"
            facts.append(("of", [(f"{item.cut.dropped:,} that the cut dropped: {rest}", "text")]))
        return lines + _facts(facts, width) + [[], [("x lists them with their texts", "dim")]]
    view, gone = scene.view, isinstance(item, Gone)
    span = item.span if isinstance(item, Gone) else item
    if gone or pairing is None:
        pairing = view.pairing(turn - 1 if gone else turn)
    standing: WindowBlock = view.stand(span, pairing, turn - 1 if gone else turn)
    known = with_doubt(view, standing.block.n, turn, standing.states)
    states = ("absent", *known) if gone else known
    head: Words = [*state_words(states), (f" · {standing.block.kind}", "text"), (f" · {span.tokens:,} tokens", "text")]
    if gone:
        head.append((f" · left before turn {turn:,}", "cut"))
    return [_cut(head, width), *_facts(block_facts(view, standing, turn - 1 if gone else turn), width)]


def _cut(words: Words, width: int) -> Words:
    text = "".join(t for t, _ in words)
    return words if len(text) <= width else [(fit(text, width), words[0][1])]


def _facts(facts: list[tuple[str, Words]], width: int) -> list[Words]:
    lines: list[Words] = []
    for name, words in facts:
        for text, ink in words:
            for index, piece in enumerate(wrap(text, width - _LABEL)):
                lines.append([(fit(name if index == 0 else "", _LABEL), "dim"), (piece, ink)])
    return lines


def _about_unlogged(scene: Scene, turn: int, item: Unlogged, width: int) -> list[Words]:
    sizes = scene.view.tokens(turn)
    factor = "" if sizes.calibrated is None else f" × factor {scene.view.factor(turn):.3f}"
    facts: list[tuple[str, Words]] = [
        ("tokens", [("unknown" if item.tokens is None else f"{item.tokens:,}", "text")]),
        ("recorded", [("unknown" if sizes.recorded is None else f"{sizes.recorded:,}", "text")]),
        ("counted", [(f"{sizes.counted:,}{factor}", "text")]),
        ("missing", [(shown(", ".join(item.missing)) or "the log does not say what", "text")]),
    ]
    words = (
        f"{unlogged_words(item).capitalize()}. Unlogged is what the provider counted minus what the log's own blocks "
        "come to. It is never shared out among blocks."
    )
    lines: list[Words] = [[("∅ unlogged", "unlogged")], *_facts(facts, width), [("─" * width, "rule")]]
    return lines + [[(line, "dim")] for line in wrap(words, width)]
