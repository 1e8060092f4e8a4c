"""Two windows compared: one column on a narrow screen, two aligned ones on a wide screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from textual.events import Resize

from ctxview.focus import Focus
from ctxview.model import SpanRow
from ctxview.tui.cells import fit, right, shown
from ctxview.tui.facts import Scene, count, label, line_of, turn_words
from ctxview.tui.overlays import ReportScreen
from ctxview.tui.palette import Words, kind_ink
from ctxview.tui.reports import Report, ReportLine
from ctxview.window import Diff, SessionView, diff_windows

WIDE: Final = 120
"""Cells of screen from which on the two windows stand side by side."""
_INKS: Final = {"+": "good", "-": "cut", "~": "warn"}


@dataclass(frozen=True, slots=True)
class Line:
    """Blocks of the two windows that stand at one height."""

    mark: str
    """`+`, `-`, `~`, or a blank for a run of blocks that are the same in both."""
    first: SpanRow | None
    second: SpanRow | None
    blocks: int = 1
    tokens: int = 0
    """Of the run, in the second window."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything about two turns of one session, ready to be drawn at any width."""

    turn_a: int
    turn_b: int
    diff: Diff
    lines: tuple[Line, ...]


def compare(view: SessionView, turn_a: int, turn_b: int) -> Comparison:
    """The windows of two turns. Slow for large windows: call it in a thread."""
    diff = diff_windows(view, turn_a, view, turn_b)
    changed = {w.block.n: before.span for before, w in diff.changed}
    added = {w.block.n for w in diff.added}
    lines = [(w.span.pos, Line("-", w.span, None)) for w in diff.removed]
    for span in view.spans_at(turn_b):
        if span.block in added:
            line = Line("+", None, span)
        elif span.block in changed:
            line = Line("~", changed[span.block], span)
        else:
            line = Line(" ", span, span, 1, span.tokens)
        lines.append((span.pos, line))
    lines.sort(key=lambda pair: pair[0])
    return Comparison(turn_a, turn_b, diff, tuple(_folded([line for _, line in lines])))


def _folded(lines: Sequence[Line]) -> list[Line]:
    """Neighbours that are the same in both windows become one line."""
    found: list[Line] = []
    for line in lines:
        if line.mark == " " and found and found[-1].mark == " ":
            last = found[-1]
            found[-1] = replace(last, blocks=last.blocks + 1, tokens=last.tokens + line.tokens)
        else:
            found.append(line)
    return found


def compare_report(scene: Scene, made: Comparison, focus: Focus, screen: int) -> Report:
    """A comparison for a screen of so many cells: border, cursor and scroll bar take four of them."""
    diff, wide, width = made.diff, screen >= WIDE, screen - 4
    delta = diff.tokens_b - diff.tokens_a
    first, second = turn_words(scene.view, made.turn_a), turn_words(scene.view, made.turn_b)
    title = f"{first.capitalize()} → {second}: {diff.tokens_a:,} → {diff.tokens_b:,} tokens, Δ {delta:+,}"
    added, removed = sum(w.span.tokens for w in diff.added), sum(w.span.tokens for w in diff.removed)
    grown = sum(w.span.tokens - before.span.tokens for before, w in diff.changed)
    by = f" by {grown:+,}   " if diff.changed else "   "
    lines = [
        ReportLine([
            ("blocks       ", "dim"), (f"+ {len(diff.added):,}", "good"), (f" of {added:,} tokens   ", "text"),
            (f"- {len(diff.removed):,}", "cut"), (f" of {removed:,}   ", "text"),
            (f"~ {len(diff.changed):,}", "warn"), (by, "text"), ("counted", "dim"),
        ]),
        *_prefix(scene.view, made),
        ReportLine([]),
    ]  # fmt: skip
    column = (width - 3) // 2
    if wide:
        heads = (f"{first} · {diff.tokens_a:,} tokens",
                 f"{second} · {diff.tokens_b:,} tokens · Δ {delta:+,}")  # fmt: skip
        lines.append(ReportLine([(fit(heads[0], column), "accent"), (" │ ", "rule"), (heads[1], "accent")]))
    at = len(lines)
    first_change = next((i for i, line in enumerate(made.lines) if line.mark != " "), 0)
    for line in made.lines:
        goto = _goto(made, line, scene, focus)
        if wide:
            words = [*_side(scene, line, line.first, column), (" │ ", "rule"), *_side(scene, line, line.second, column)]
        else:
            words = _side(scene, line, line.second or line.first, width)
        lines.append(ReportLine(words, goto))
    if not made.lines:
        lines.append(ReportLine([("Both windows are empty.", "dim")]))
    return Report(title, lines, at + first_change)


def _prefix(view: SessionView, made: Comparison) -> list[ReportLine]:
    prefix = made.diff.prefix
    share = "" if prefix.share is None else f" ({prefix.share:.1%} of {turn_words(view, made.turn_b)})"
    lines = [ReportLine([("shared head  ", "dim"), (f"{prefix.shared_tokens:,} tokens counted{share}", "text")])]
    broken = prefix.breaks_at
    if broken is None:
        return [*lines, ReportLine([("breaks at    ", "dim"), ("nothing", "good")])]
    name = f"block {broken.index + 1:,}, {label(view, broken.block)[0]}"
    return [*lines, ReportLine([("breaks at    ", "dim"), (name, "warn"), (f"  {shown(broken.block.id, 40)}", "dim")])]


def _goto(made: Comparison, line: Line, scene: Scene, focus: Focus) -> Focus | None:
    span, turn = (line.second, made.turn_b) if line.second is not None else (line.first, made.turn_a)
    return None if span is None else replace(focus, turn=turn, block=scene.view.blocks[span.block].id)


def _side(scene: Scene, line: Line, span: SpanRow | None, width: int) -> Words:
    """One window's part of a line, in exactly `width` cells."""
    if span is None:
        return [(" " * width, "text")]
    if line.mark == " ":
        words = f"  {'…':>8}  {line.blocks:,} block{'' if line.blocks == 1 else 's'} the same · {line.tokens:,} tokens"
        return [(fit(words, width), "dim")]
    view = scene.view
    block = view.blocks[span.block]
    kind, ink = label(view, block)
    name = 14 if width >= 60 else 10
    head: Words = [
        (f"{line.mark} ", _INKS[line.mark]),
        (right(count(block, span.tokens), 8), "text"),
        (f"  {fit(kind, name)}  ", ink or kind_ink(block.kind)),
    ]
    room = width - 14 - name
    text = "".join(t for t, _ in line_of(view, block, span, max(1, room)))
    return [*head, (fit(text, room), "dim" if line.mark == "-" else "text")]


class CompareScreen(ReportScreen):
    """A comparison; another width draws it anew."""

    def __init__(self, scene: Scene, made: Comparison, focus: Focus, width: int) -> None:
        super().__init__(compare_report(scene, made, focus, width), "d")
        self._scene, self._made, self._focus = scene, made, focus

    def on_resize(self, event: Resize) -> None:
        self.load(compare_report(self._scene, self._made, self._focus, event.size.width))
        super().on_resize(event)
