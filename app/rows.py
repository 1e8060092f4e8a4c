"""A window as the rows of a table: plain values, safe to show, made from a view and from nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from ctxview.annotate import Pairing
from ctxview.model import NEVER, EditRow, SpanRow
from ctxview.policies import Stack
from ctxview.replay import Metrics
from ctxview.text import one_line
from ctxview.window import Diff, SessionView, WindowBlock

GLYPHS: Final = {
    "pinned": "◆", "rolling": "●", "superseded": "⇄", "stale": "◌", "absent": "∅", "orphan": "!", "duplicate": "=",
    "cleared": "○", "injected": "»", "inherited": "«", "not-recorded": "∅",
}  # fmt: skip
TEXT_CHARS: Final = 160
_FEW: Final = 8
_NO_PAIRING: Final = Pairing(frozenset(), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Row:
    """One block of a window, or one that has just left it."""

    id: str
    position: int | None
    change: str
    """`+` came in, `-` left, `~` changed form, or nothing."""
    states: str
    """With the kind of its pin."""
    what: str
    tokens: int
    form: str
    against: str
    """What sets it apart from the window compared with."""
    text: str


def columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Rows of one frozen dataclass as columns, for a table."""
    return {f.name: [getattr(row, f.name) for row in rows] for f in fields(rows[0])} if rows else {}


def window_rows(
    view: SessionView, turn: int, diff: Diff | None = None, only: Collection[int] | None = None
) -> list[Row]:
    """The window at `turn` in order, with what left it just before: a few blocks in the place where they had stood,
    many below the window, so that what a large cut left over is seen first.

    `only`: numbers of the blocks to keep. `diff` compares another window, the first one, with this.
    """
    changes = view.changes(turn)
    new = {w.block.id for w in diff.added} if diff else set()
    other = {b.block.id for _, b in diff.changed} if diff else set()
    found: list[tuple[float, WindowBlock]] = [(w.span.pos, w) for w in view.window(turn)]
    left = {n for n, change in changes.items() if change.what == "-"}
    if left:
        before = [s for s in view.spans_at(turn - 1) if s.block in left]
        found += [(s.pos, view.stand(s, _NO_PAIRING, turn - 1)) for s in before]
        if len(before) <= _FEW:
            found.sort(key=lambda item: item[0])
    rows = []
    for _, w in found:
        n = w.block.n
        if only is not None and n not in only:
            continue
        change = changes[n].what if n in changes else ""
        against = "only here" if w.block.id in new else "other form" if w.block.id in other else ""
        rows.append(row_of(view, w, change, against))
    return rows


def row_of(view: SessionView, standing: WindowBlock, change: str = "", against: str = "") -> Row:
    block, span = standing.block, standing.span
    gone = change == "-"
    words = ("absent",) if gone else standing.states
    tool = f" {one_line(block.tool, 40)}" if block.tool else ""
    return Row(
        id=block.id,
        position=None if gone else standing.position,
        change=change,
        states=states_words(words, standing.pin.kind if standing.pin and not gone else None),
        what=f"{block.kind}{tool}{' ✗' if block.is_error else ''}",
        tokens=span.tokens,
        form=span.form,
        against=against,
        text=one_line(view.preview(span).strip(), TEXT_CHARS),
    )


def states_words(states: Sequence[str], pin: str | None) -> str:
    """`◆ pinned: goal ⇄ superseded`: glyph and word, never one without the other."""
    words = (f"{GLYPHS.get(s, '·')} {s}{f': {pin}' if s == 'pinned' and pin else ''}" for s in states)
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Happened:
    """An edit between two windows."""

    action: str
    block: str
    layer: str
    rule: str
    reason: str


def edit_rows(view: SessionView, turn: int) -> list[Happened]:
    """What happened between the window before and the one of `turn`."""
    return [_happened(view, edit) for edit in view.edits_at(turn)]


def _happened(view: SessionView, edit: EditRow) -> Happened:
    block = "" if edit.block is None else view.blocks[edit.block]
    named = "" if isinstance(block, str) else f"{block.kind} · {one_line(block.preview.strip(), 60)}"
    return Happened(edit.action, named, one_line(edit.layer), one_line(edit.rule), one_line(edit.reason, 300))


@dataclass(frozen=True, slots=True)
class Stay:
    """A stretch of turns in which a block stood in one form."""

    turns: str
    form: str
    tokens: int
    ended_by: str
    reason: str


def life_rows(view: SessionView, block: int) -> list[Stay]:
    """A block's whole life, oldest first."""
    rows = []
    for span in view.life(block):
        edit = view.edits[span.ended_by] if span.ended_by is not None and span.end != NEVER else None
        rows.append(
            Stay(
                turns=_turns(span, view.now),
                form=span.form,
                tokens=span.tokens,
                ended_by=one_line(f"{edit.layer}/{edit.rule}") if edit else "",
                reason=one_line(edit.reason, 300) if edit else "" if span.end > view.now else "nothing in the log says",
            )
        )
    return rows


def _turns(span: SpanRow, now: int) -> str:
    if span.start >= span.end:
        return f"before turn {span.start}, never sent"
    first = max(1, span.start)
    if span.end > now:
        return f"{first} to the end"
    return f"{first}" if span.end - 1 <= first else f"{first} to {span.end - 1}"


def fact_rows(view: SessionView, standing: WindowBlock, turn: int) -> Iterator[tuple[str, str]]:
    """What is known of a block at a turn, as name and words."""
    block, pin, change = standing.block, standing.pin, standing.change
    yield "id", one_line(block.id)
    yield "what", " · ".join(w for w in (block.kind, f"role {block.role}", one_line(block.tool or "", 60)) if w)
    yield "tokens", f"{standing.span.tokens:,} {'estimated' if block.estimated else 'counted'}"
    yield "states", states_words(standing.states, pin.kind if pin else None)
    if pin is not None:
        yield "pin", one_line(f"{pin.kind} · {pin.evidence} · {pin.rule}")
    known = view.facts.observation_of(block.n)
    if known is not None and known.key:
        yield "resource", one_line(f"{known.key} · {known.effect}", 200)
    if change is not None:
        by = "" if change.because is None else f" · by {view.blocks[change.because].id}"
        yield change.state, one_line(f"since turn {change.since}{by} · {change.reason}", 300)
    doubt = view.doubt(block.n, turn)
    if doubt:
        yield "doubt", one_line(doubt, 300)
    if block.note:
        yield "note", one_line(block.note, 200)
    yield "from", one_line(f"{block.file}:{block.line}", 200)


@dataclass(frozen=True, slots=True)
class Run:
    """One stack's whole run in numbers, as `ctxview replay` gives them."""

    stack: str
    peak: int
    input: int
    billed: int | None
    saved: int
    cuts: int
    cache_busts: int
    orphans: int
    first_failure: int | None
    lost: str
    regret: int
    acted: str


def run_row(stack: Stack, metrics: Metrics) -> Run:
    t = metrics.totals
    lost = ", ".join(f"{kind} at {turn}" for kind, turn in t.lost.items() if turn is not None)
    acted = "never" if not t.fired else "yes" if t.needed else "yes, though all would have fit"
    return Run(
        one_line(stack.text, 120), t.peak, t.input, t.billed, t.saved, t.cuts, t.cache_busts, t.orphans,
        t.first_failure, lost or "nothing", t.regret, acted,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Missed:
    """A block that a stack dropped and an answer needed."""

    dropped: int
    used: int
    how: str
    what: str
    text: str


def missed_rows(metrics: Metrics) -> list[Missed]:
    rows = []
    for use in metrics.needed_later:
        block = metrics.view.block(use.block)
        what = block.kind + (f" {one_line(block.tool, 40)}" if block.tool else "")
        rows.append(Missed(use.dropped, use.used, one_line(use.how, 80), what, one_line(block.preview.strip(), 120)))
    return rows
