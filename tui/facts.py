"""What the screen says about a window, as words and numbers: no widget, no colour, so it can be tested alone.

A piece of text is paired with the name of its ink. Numbers come from `SessionView`, never from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

from ctxview.annotate import Pairing
from ctxview.model import NEVER, BlockRow, CutRow, SpanRow
from ctxview.tui.cells import shown, shown_path
from ctxview.tui.palette import GLYPHS, Words, telling
from ctxview.window.absence import READABLE, Absence, absences
from ctxview.window.contradiction import contradictions
from ctxview.window.table import column, pick
from ctxview.window.view import SessionView, WindowBlock

_NAME: Final = 20
"""Characters of a resource's name: with the turn and the size of the window it has to fit 80 columns."""
_ORPHANS: Final = 50
"""Turns at which an orphan may begin that are looked at."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong."""

    turn: int
    """The first window that shows it."""
    what: str
    block: int | None
    """`BlockRow.n` of the block it is about."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One session, read and summed in a worker, ready to be shown."""

    view: SessionView
    troubles: Sequence[Trouble]
    """What went wrong, by turn."""
    estimated: bool
    """True when no count of the session comes from a tokenizer."""
    is_whole: bool = True
    """False while the sizes of all turns and what went wrong are still looked for."""
    late: Sequence[Trouble] | None = None
    """Those of `troubles` that take longest to find, as `find_late` does; None while they are looked for."""

    @property
    def sizes(self) -> Sequence[int]:
        """`SessionView.size` of turns 1 .. now; index 0 is unused."""
        return self.view.sizes

    @property
    def trouble(self) -> Trouble | None:
        """The first thing that went wrong."""
        return self.troubles[0] if self.troubles else None

    @property
    def empty(self) -> bool:
        return not self.view.turns and not self.view.blocks


def make_scene(
    view: SessionView,
    failures: Iterable[Trouble] = (),
    *,
    is_paired: bool = False,
    late: Sequence[Trouble] | None = None,
) -> Scene:
    """Everything slow about a session, so that keys need none of it.

    `is_paired`: no window has an orphan. `late`: what `find_late` finds, where that is known.
    """
    scene = first_scene(view, failures, is_paired=is_paired)
    return searched(scene, find_late(view) if late is None else late)


def first_scene(view: SessionView, failures: Iterable[Trouble] = (), *, is_paired: bool = False) -> Scene:
    """What the first picture of a session needs: `searched` has the rest."""
    view.settle()
    found = [*_lost_pins(view), *(() if is_paired else _orphans(view)), *failures, *_over_limit(view)]
    return Scene(view, tuple(sorted(found, key=lambda t: t.turn)), view.is_estimated)


def searched(scene: Scene, late: Sequence[Trouble]) -> Scene:
    """A first scene with all that went wrong. Where nothing did, it is what the log does not explain, else the largest
    cut."""
    found = (*scene.troubles, *late)
    found = found or tuple(_unexplained(scene.view) or _largest_cut(scene.view))
    return replace(scene, troubles=found, late=late)


# ------------------------------------------------------------------------------------------------ what went wrong


def find_late(view: SessionView) -> tuple[Trouble, ...]:
    """Noted values that what was written lacks, and versions that contradict each other.

    These come last: who edits files has many, and they must not stand before a lost pin. What was written are the
    recorded answers, which no policy changes: under a stack it is not looked for again.
    """
    return (*(_not_written(view) if view.base is None else ()), *find_contradictions(view))


def _not_written(view: SessionView) -> Iterator[Trouble]:
    """Values that were lost at one turn are one trouble."""
    from ctxview.ledger import ledger_of  # the first picture needs none of it

    for turn, found in groupby(ledger_of(view)[0].lost(), key=itemgetter(0)):
        rows = [row for _, row in found]
        what = f"{rows[0].id}'s value was" if len(rows) == 1 else f"{len(rows):,} noted values were"
        yield Trouble(turn, f"{what} not written (L)", rows[0].block)


def find_contradictions(view: SessionView) -> tuple[Trouble, ...]:
    """The turns on which versions of a resource come to stand that differ, by turn; of one resource once a turn."""
    first: dict[tuple[int, str], Trouble] = {}
    until: dict[str, int] = {}
    found = contradictions(view, len((view.base or view).blocks))
    for one in sorted(found, key=lambda c: (c.start, -c.versions)):
        if until.get(one.key, 0) < one.start <= view.last:
            what = f"{one.versions:,} versions of {_resource_words(one.key)} stand"
            first[one.start, one.key] = Trouble(one.start, what, one.block)
        until[one.key] = max(one.end, until.get(one.key, 0))
    return tuple(first.values())


def _resource_words(key: str) -> str:
    """The end of a resource's name, which tells one from another."""
    kind, _, name = key.partition(":")
    name = shown(name.rstrip("/").rpartition("/")[2] if kind == "file" else name or key)
    return name if len(name) <= _NAME else "…" + name[1 - _NAME :]


def _lost_pins(view: SessionView) -> list[Trouble]:
    """Pins that left: those of one kind that left at one turn are one trouble."""
    lost: dict[tuple[int, str], list[Absence]] = {}
    for absence in absences(view, len((view.base or view).blocks)):
        lost.setdefault((absence.turn, absence.pin.kind), []).append(absence)
    return [Trouble(turn, _lost_words(view, gone), gone[0].pin.block) for (turn, _), gone in lost.items()]


def _lost_words(view: SessionView, gone: Sequence[Absence]) -> str:
    first = gone[0]
    what = f"the {first.pin.kind}" if len(gone) == 1 else f"{len(gone):,} pins ({first.pin.kind})"
    life = view.life(first.pin.block)
    before = next((s for s in life if s.end == first.turn and s.start < s.end), None)
    if before is None:
        stood = any(s.start < s.end <= first.turn for s in life)
        return f"the last quote of {what} left the window" if stood else f"{what} never reached the window"
    is_cleared = any(s.start == first.turn and s.form not in READABLE for s in life)
    return f"{what} {'was cleared' if is_cleared else 'left the window'} ({why_left(view, before)})"


def _orphans(view: SessionView) -> list[Trouble]:
    """The turns at which a call or result comes to stand alone, each with the first that does.

    Candidates come from the spans of calls and results alone; `pairing` has the last word on each.
    """
    stays: dict[str, tuple[list[SpanRow], list[SpanRow]]] = {}
    for n in view.irregular:
        block = view.blocks[n]
        sent = [s for s in view.life(n) if s.start < s.end]
        stays.setdefault(block.call_id or "", ([], []))[block.kind == "tool_result"].extend(sent)
    candidates: set[int] = set()
    for calls, results in stays.values():
        edges = {max(1, s.start) for s in (*calls, *results)} | {s.end for s in (*calls, *results)}
        for turn in sorted(edges):
            if turn <= view.last and _stands(calls, turn) != _stands(results, turn):
                candidates.add(turn)
                break
    found: list[Trouble] = []
    known: set[int] = set()
    for turn in sorted(candidates)[:_ORPHANS]:
        orphans = view.pairing(turn).orphans - known
        if orphans:
            known |= orphans
            block = view.blocks[min(orphans)]
            word = "call without result" if block.kind == "tool_call" else "result without call"
            more = f" and {len(orphans) - 1:,} more" if len(orphans) > 1 else ""
            found.append(Trouble(turn, f"orphan {word}: {view.tool_of(block) or block.kind}{more}", block.n))
    return found


def _stands(spans: Iterable[SpanRow], turn: int) -> bool:
    return any(s.start <= turn < s.end for s in spans)


def _over_limit(view: SessionView) -> list[Trouble]:
    limit, sizes = view.limit, view.sizes
    turn = None if limit is None else next((t for t in range(1, view.now) if sizes[t] > limit), None)
    if limit is None or turn is None:
        return []
    return [Trouble(turn, f"the window does not fit: {sizes[turn]:,} tokens, limit {limit:,}", None)]


def _unexplained(view: SessionView) -> list[Trouble]:
    found = []
    for cut in view.cuts:
        if cut.kind == "unexplained":
            before, after = view.cut_sizes(cut)
            what = f"recorded size fell from {number_words(before)} to {number_words(after)} with nothing logged"
            found.append(Trouble(cut.turn, what, None))
    return sorted(found, key=lambda t: t.turn)


def _largest_cut(view: SessionView) -> list[Trouble]:
    cut = max(view.cuts, key=lambda c: c.dropped or 0, default=None)
    if cut is None:
        return []
    left = f"{blocks_words(cut.dropped)} left" if cut.dropped else "no block left, contents were cleared"
    if cut.dropped is None:
        left = "what it took is not in the log"
    return [Trouble(cut.turn, f"largest cut: {left} ({cut_words(cut)})", None)]


def number_words(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def blocks_words(count: int) -> str:
    return f"{count:,} block{'' if count == 1 else 's'}"


def why_left(view: SessionView, span: SpanRow) -> str:
    """Which rule ended a span."""
    if span.ended_by is None:
        return "no edit in the log says why"
    return shown(view.edits[span.ended_by].rule, 60)


def cut_words(cut: CutRow) -> str:
    return cut.kind if cut.trigger is None else f"{cut.kind}, {shown(cut.trigger, 30)}"


def cut_before(view: SessionView, turn: int) -> CutRow | None:
    """The cut that takes effect at `turn`, else the last one before it."""
    return max((c for c in view.cuts if c.turn <= turn), key=lambda c: (c.turn, c.n), default=None)


def dropped_by(view: SessionView, cut: CutRow) -> list[SpanRow]:
    """The spans that the cut ended for good, in window order."""
    after = {s.block for s in view.spans_at(cut.turn)}
    by_cut = {e.n for e in view.edits_at(cut.turn) if e.cut == cut.n}
    before = view.spans_at(cut.turn - 1) if cut.turn > 1 else []
    seen = [s for s in before if s.end == cut.turn and s.ended_by in by_cut and s.block not in after]
    unseen = [
        s for s in view.ended_at(cut.turn) if s.start == s.end and s.ended_by in by_cut and s.block not in after
    ]  # fmt: skip
    return seen + unseen


# ------------------------------------------------------------------------------------------------------ the lines


def breadcrumbs(title: str, scene: Scene, turn: int, many_sessions: bool) -> list[Words]:
    """`file › session › turn 37/112 › recorded · reconstructed · not logged: system, tools`, and ever shorter ones."""
    view, call = scene.view, scene.view.turn(turn)
    gap = (" › ", "dim")
    where = f"turn {turn:,}/{view.last:,}" if call else f"now, after turn {view.last:,}"
    found: list[Words] = []
    for title_chars, name_chars, names in ((60, 48, True), (40, 20, True), (30, 0, True), (24, 0, False)):
        words: Words = [(shown_path(title, title_chars), "text")]
        if many_sessions and name_chars:
            words += [gap, (session_name(view, name_chars), "text")]
        words += [gap, (where, "accent"), gap, (shown(view.stack, 40), "text")]
        if call is None:
            words.append((" · not sent yet" if view.base is None else " · simulated, not sent yet", "dim"))
        else:
            words.append((f" · {call.fidelity}", "good" if call.fidelity == "exact" else "text"))
            if call.missing:
                what = ", ".join(shown(m, 20) for m in call.missing)
                words.append((f" · not logged: {what}" if names else " · partly logged", "dim"))
        found.append(words)
    return found


def turn_words(view: SessionView, turn: int) -> str:
    """Which window is meant; the one after the last turn was never sent, and is no turn."""
    return f"turn {turn:,}" if view.turn(turn) is not None else f"now, after turn {view.last:,}"


def session_name(view: SessionView, limit: int) -> str:
    row = view.row
    return shown(row.title or row.agent or row.session, limit)


def status(scene: Scene, turn: int) -> list[Words]:
    """Pieces of the status line, most telling first, so that a narrow one can leave the last ones out."""
    view, sizes = scene.view, scene.view.tokens(turn)
    counted = "estimated" if scene.estimated else "counted"
    if view.base is not None:
        source = "simulated"
    elif sizes.recorded is not None:
        source = "recorded"
    elif sizes.calibrated is not None:
        source = "calibrated"
    else:
        source = counted
    size = view.size(turn)
    lacks = view.lacks_unlogged(turn)
    first: Words = []
    if sizes.limit and lacks:
        first += [(f"{size:,}", "text"), (f"/{sizes.limit:,}", "dim")]
    elif sizes.limit:
        share = size / sizes.limit
        ink = "bad" if share >= 0.9 else "warn" if share >= 0.75 else "text"
        first += [(f"{size:,}", ink), (f"/{sizes.limit:,} ", "dim"), (f"({share:.0%})", ink)]
    else:
        first += [(f"{size:,}", "text"), ("/limit unknown", "dim")]
    first.append((f" {source}", "text"))
    pieces: list[Words] = [first]
    if source != counted:
        pieces.append([(f"{counted} ", "dim"), (f"{sizes.counted:,}", "text")])
    unlogged = "unknown" if sizes.unlogged is None else f"{sizes.unlogged:,}"
    told: Words = [("unlogged part unknown here", "warn")] if lacks else [("unlogged ", "dim"), (unlogged, "text")]
    if view.base is not None:
        delta = size - view.base.size(turn)
        first += [(" Δ ", "dim"), (f"{delta:+,}", "good" if delta < 0 else "text")]
        pieces.append([("line in the strip: recorded", "dim")])
    pieces.insert(1, told) if lacks else pieces.append(told)
    pieces.append([("policy ", "dim"), (shown(view.stack, 40), "text")])
    fitted = view.stretch(turn)
    if fitted is not None:
        pieces.append([("audit ", "dim"), (audit_words(fitted.factor, fitted.constant, fitted.median_error), "text")])
    return pieces


def audit_words(factor: float, constant: int, median_error: float) -> str:
    return f"×{factor:.3f} {constant:+,} ±{median_error:.1%}"


def label(view: SessionView, block: BlockRow) -> tuple[str, str]:
    """Kind or tool, and the ink of an error: `→ Bash` is a call, `← Bash` its result, `✗ Bash` a failed one."""
    ink = "bad" if block.is_error else ""
    if block.kind == "tool_call":
        return f"→ {shown(block.tool or 'call', 40)}", ink
    if block.kind == "tool_result":
        return f"{'✗' if block.is_error else '←'} {shown(view.tool_of(block) or 'result', 40)}", ink
    return block.kind, ink


def line_of(view: SessionView, block: BlockRow, span: SpanRow, limit: int) -> Words:
    """A block's text on one line, as it stands in this span."""
    words: Words = []
    if span.form not in ("verbatim", block.kind):
        words.append((f"{span.form} · ", "cleared"))
    if block.image:
        words.append((f"[image {shown(block.image, 40)}] ", "dim"))
    if block.note:
        words.append((f"({shown(block.note, 60)}) ", "dim"))
    words.append((shown(view.preview(span).strip(), limit), "text"))
    return words


def count(block: BlockRow, tokens: int) -> str:
    return f"~{tokens:,}" if block.estimated else f"{tokens:,}"


def state_words(states: tuple[str, ...]) -> Words:
    state = telling(states)
    return [(f"{GLYPHS[state]} {state}", state)]


def states_at(view: SessionView, span: SpanRow, pairing: Pairing, turn: int) -> tuple[str, ...]:
    """The states of a block of the window at `turn`, a doubt whether it stood there included."""
    return with_doubt(view, span.block, turn, view.states(span, pairing, turn))


def with_doubt(view: SessionView, block: int, turn: int, states: tuple[str, ...]) -> tuple[str, ...]:
    # what a policy tags is no doubt: its windows are made up as a whole
    return (*states, "doubtful") if view.base is None and view.doubt(block, turn) else states


def doubts_of(view: SessionView, block: int) -> list[tuple[int, str]]:
    """The turns from which a block may no longer be in the recorded window, and why."""
    if view.base is not None:
        return []
    tags = [n for n, action in enumerate(column(view.edits, "action")) if action == "tag"]
    return [(e.turn, shown(e.reason, 300)) for e in pick(view.edits, tags) if e.block == block]


def turns_of(span: SpanRow, now: int) -> str:
    """The turns whose windows held a span, in words."""
    if span.start == span.end:
        return f"before turn {span.start:,}, never sent"
    first = max(1, span.start)
    if span.end == NEVER or span.end > now:
        return f"turn {first:,} to the end"
    last = span.end - 1
    return f"turn {first:,}" if last <= first else f"turns {first:,} to {last:,}"


def block_facts(view: SessionView, standing: WindowBlock, turn: int) -> list[tuple[str, Words]]:
    """All that is known of a block at a turn, as label and value."""
    block, span, pin = standing.block, standing.span, standing.pin
    facts: list[tuple[str, Words]] = []

    def fact(name: str, *values: str | None, ink: str = "text") -> None:
        text = " · ".join(v for v in values if v)
        if text:
            facts.append((name, [(text, ink)]))

    fact("id", shown(block.id))
    fact("kind", block.kind, f"role {block.role}", "error" if block.is_error else None)
    fact("tool", shown(block.tool or ""), f"call {shown(block.call_id)}" if block.call_id else None)
    word = "estimated" if block.estimated else "counted"
    whole = f"{block.tokens:,} verbatim" if span.tokens != block.tokens else None
    fact("tokens", f"{span.tokens:,} {word}", whole, f"{block.chars:,} characters")
    fact("states", *with_doubt(view, block.n, turn, standing.states))
    if view.base is None:
        fact("doubt", shown(view.doubt(block.n, turn) or "", 300), ink="doubtful")
    if pin is not None:
        fact("pin", pin.kind, pin.evidence, shown(pin.rule), ink="pinned")
    known = view.facts.observation_of(block.n)
    if known is not None:
        fact("resource", shown(known.key or ""), known.effect)
    change = standing.change
    if change is not None:
        by = None if change.because is None else f"by {shown(view.blocks[change.because].id)}"
        fact(change.state, f"since turn {change.since:,}", by, shown(change.reason), ink=change.state)
    fact("form", span.form)
    fact("entered", "before turn 1" if standing.entered < 1 else f"turn {standing.entered:,}")
    fact("leaves", "stays to the end" if standing.leaves is None else f"turn {standing.leaves:,}")
    if standing.leaves is not None:
        edit = standing.left_by
        if edit is None:
            fact("left by", "no edit in the log says why", ink="warn")
        else:
            fact("left by", shown(edit.rule), shown(edit.reason), f"layer {shown(edit.layer)}", ink="cut")
    fact("origin", f"{shown(block.file)}:{block.line}", f"id {shown(block.origin_id)}" if block.origin_id else None)
    fact("time", shown(block.at or ""))
    fact("image", shown(block.image or ""))
    fact("note", shown(block.note or ""), ink="warn")
    return facts
