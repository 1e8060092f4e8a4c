"""One block in full: its facts, then its text, wrapped and literal. Beside the list, or on a screen of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ctxview.annotate import Pairing
from ctxview.tui.block_list import Gone, GoneMany, Row, Unlogged, unlogged_words
from ctxview.tui.cells import fit, row, shown, shown_lines, wrap
from ctxview.tui.facts import Scene, block_facts, cut_words, state_words
from ctxview.tui.palette import Words, brush
from ctxview.window.view import WindowBlock

PANE_CHARS: Final = 20_000
"""Text laid out beside the list; it must keep up with a held key."""
SCREEN_CHARS: Final = 2_000_000
"""Text laid out on a screen of its own."""
_LABEL: Final = 9


class DetailPane(ScrollView, can_focus=False, inherit_bindings=False):
    """Facts and text of one row of the list."""

    ALLOW_SELECT = False

    scene: Scene | None = None
    turn: int = 1
    item: Row | None = None
    pairing: Pairing | None = None
    chars: int = PANE_CHARS
    _lines: Sequence[Words] = ()

    def show(self, scene: Scene, turn: int, item: Row | None, pairing: Pairing | None = None) -> None:
        """Show a row as it stands at `turn`; `pairing` is that turn's, where the caller has it."""
        fresh = scene is not self.scene or item != self.item
        self.scene, self.turn, self.item, self.pairing = scene, turn, item, pairing
        self._lay_out()
        if fresh:
            self.scroll_to(y=0, animate=False, immediate=True)

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width - 2
        if self.scene is None or width < 4:
            return
        self._lines = detail_lines(self.scene, self.turn, self.item, width, self.chars, self.pairing)
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.scrollable_content_region.width, self.visual_style.rich_style, brush(self)
        index = y + self.scroll_offset.y
        if index >= len(self._lines):
            return Strip.blank(width, base)
        parts = [(text, paint(ink)) for text, ink in self._lines[index]]
        return row([(" ", paint("text")), *parts], width, base)


def detail_lines(
    scene: Scene, turn: int, item: Row | None, width: int, chars: int, pairing: Pairing | None = None
) -> list[Words]:
    """Everything about a row of the list, as lines of at most `width` cells."""
    if item is None:
        return [[("nothing in this window", "dim")]]
    if isinstance(item, Unlogged):
        return _about_unlogged(scene, turn, item, width)
    if isinstance(item, GoneMany):
        why = cut_words(item.cut) if item.cut else "no cut in the log says why"
        lines: list[Words] = [[(f"✂ {item.blocks:,} blocks left before turn {turn:,}", "cut")]]
        facts: list[tuple[str, Words]] = [("tokens", [(f"{item.tokens:,} counted", "text")]), ("cut", [(why, "text")])]
        return lines + _facts(facts, width) + [[], [("x lists them with their texts", "dim")]]
    view, gone = scene.view, isinstance(item, Gone)
    span = item.span if isinstance(item, Gone) else item
    if gone or pairing is None:
        pairing = view.pairing(turn - 1 if gone else turn)
    standing: WindowBlock = view.stand(span, pairing, turn - 1 if gone else turn)
    states = ("absent", *standing.states) if gone else standing.states
    block = standing.block
    head: Words = [*state_words(states), (f" · {block.kind}", "text"), (f" · {span.tokens:,} tokens", "text")]
    if gone:
        head.append((f" · left before turn {turn:,}", "cut"))
    text = view.text(span.content)
    lines = [_cut(head, width), *_facts(block_facts(view, standing), width), [("─" * width, "rule")]]
    for raw in shown_lines(text[:chars]):
        lines += [[(line, "text")] for line in wrap(raw, width)]
    if len(text) > chars:
        lines.append([(fit(f"… {len(text) - chars:,} more characters; y copies all", width), "warn")])
    return lines


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
    facts: list[tuple[str, Words]] = [
        ("tokens", [("unknown" if item.tokens is None else f"{item.tokens:,}", "text")]),
        ("recorded", [("unknown" if sizes.recorded is None else f"{sizes.recorded:,}", "text")]),
        ("counted", [(f"{sizes.counted:,} × factor {scene.view.factor(turn):.3f}", "text")]),
        ("missing", [(shown(", ".join(item.missing)) or "the log does not say what", "text")]),
    ]
    words = (
        f"{unlogged_words(item).capitalize()}. Unlogged is what the provider counted minus what the log's own blocks "
        "come to. It is never shared out among blocks."
    )
    lines: list[Words] = [[("∅ unlogged", "unlogged")], *_facts(facts, width), [("─" * width, "rule")]]
    return lines + [[(line, "dim")] for line in wrap(words, width)]
