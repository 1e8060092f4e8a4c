"""What the overlays say, as lines: each report is a pure function of a session and a turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len

from ctxview.audit import LEAST_TURNS
from ctxview.focus import Focus
from ctxview.model import KINDS, BlockRow, CutRow, SessionRow, SpanRow
from ctxview.tui.cells import fit, right, shown, wrap_at
from ctxview.tui.contract import TraceLike
from ctxview.tui.facts import (
    Scene,
    audit_words,
    blocks_words,
    count,
    cut_before,
    cut_words,
    doubts_of,
    dropped_by,
    label,
    line_of,
    number_words,
    turn_words,
    turns_of,
    why_left,
)
from ctxview.tui.keys import KEYS
from ctxview.tui.palette import GLYPHS, Words, kind_ink
from ctxview.window.view import SessionView

_BAR: Final = 24
"""Cells of a full bar."""
_CHARS: Final = 300
"""Characters of a text that one line of a report looks at."""


@dataclass(frozen=True, slots=True)
class ReportLine:
    words: Words
    goto: Focus | None = None
    """Where Enter goes; None for a line that leads nowhere."""
    choice: int | None = None
    """Which of an overlay's choices the line is; None for a line that is none."""
    hang: int | None = None
    """Cells before what goes on in a further row where the line is too long; None cuts it short."""

    @property
    def leads(self) -> bool:
        """Whether the cursor can rest here."""
        return self.goto is not None or self.choice is not None


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    lines: Sequence[ReportLine]
    at: int = 0
    """The line the cursor starts on."""


def _plain(text: str = "", ink: str = "text") -> ReportLine:
    return ReportLine([(text, ink)], hang=0)


def _pair(name: str, value: str, ink: str = "text") -> ReportLine:
    return ReportLine([(fit(name, 12), "dim"), (value, ink)], hang=12)


def rows_of(line: ReportLine, width: int) -> list[ReportLine]:
    """A line as rows of at most `width` cells; only the first leads anywhere."""
    text = "".join(text for text, _ in line.words)
    if line.hang is None or cell_len(text) <= width:
        return [line]
    rows: list[ReportLine] = []
    start, room = 0, width
    while start < len(text):
        _, stop = wrap_at(text[start:], room)[0]
        words = _part(line.words, start, start + stop)
        rows.append(replace(line, words=words) if not rows else ReportLine([(" " * line.hang, "text"), *words]))
        start += stop
        start += start < len(text) and text[start] == " "
        room = max(2, width - line.hang)
    return rows


def _part(words: Words, start: int, stop: int) -> Words:
    """The words between two characters of a line."""
    found: Words = []
    at = 0
    for text, ink in words:
        piece = text[max(0, start - at) : max(0, stop - at)]
        if piece:
            found.append((piece, ink))
        at += len(text)
    return found


# ------------------------------------------------------------------------------------------------------- one cut


def loss(scene: Scene, focus: Focus, turn: int) -> Report:
    """What the cut at or before `turn` dropped and kept."""
    view = scene.view
    cut = cut_before(view, turn)
    if cut is None:
        return Report("No cut yet", [_plain(f"Nothing was cut up to {turn_words(view, turn)}.", "dim")])
    gone = dropped_by(view, cut)
    lines = [_pair("tokens", _sizes(view, cut))]
    lost = sum(s.tokens for s in gone)
    if cut.dropped is None:
        lines.append(_pair("dropped", "unknown: it took what the log does not hold", "cut"))
    else:
        lines.append(_pair("dropped", f"{blocks_words(cut.dropped)} · {lost:,} tokens counted", "cut"))
    if cut.dropped not in (None, len(gone)):
        lines.append(_pair("", f"{len(gone):,} of them stayed away; the rest came back or was replaced", "dim"))
    unsent = sum(s.start == s.end for s in gone)
    if unsent:
        lines.append(_pair("", f"{unsent:,} came after the last call and never stood in a window", "dim"))
    kept = [s for s in view.spans_at(cut.turn) if s.start < cut.turn]
    standing = f"{sum(s.tokens for s in kept):,} tokens counted"
    is_all = len(kept) == cut.kept
    lines.append(_pair("kept", blocks_words(cut.kept) + (f" · {standing}" if is_all else ""), "good"))
    if not is_all:
        words = f"{len(kept):,} as the window before had them, {standing}; the rest came after its call or changed form"
        lines.append(_pair("", words, "dim"))
    summary = "unknown" if cut.summary_tokens is None else f"{cut.summary_tokens:,} tokens counted"
    lines.append(_pair("summary", summary))
    lines.append(_pair("origin", f"{shown(cut.file)}:{cut.line}", "dim"))
    by_kind: dict[str, list[SpanRow]] = {}
    for span in gone:
        by_kind.setdefault(view.blocks[span.block].kind, []).append(span)
    lines += [_plain(), _plain("dropped, by kind", "dim")]
    for kind in (k for k in KINDS if k in by_kind):
        spans = by_kind[kind]
        tokens = sum(s.tokens for s in spans)
        lines.append(_bar(kind, tokens, lost, blocks_words(len(spans))))
    for span in sorted(kept, key=lambda s: s.pos):
        if len(lines) > 40 or len(kept) > 20:
            break
        if span is kept[0]:
            lines += [_plain(), _plain("kept", "dim")]
        lines.append(_block_line(scene, span, cut.turn, focus))
    lines += [_plain(), _plain("dropped, in window order; Enter shows the turn before with the block", "dim")]
    at = len(lines)
    lines += [_block_line(scene, span, max(1, cut.turn - 1), focus) for span in gone]
    return Report(f"✂ Cut before turn {cut.turn:,}: {cut_words(cut)}", lines, at)


def _sizes(view: SessionView, cut: CutRow) -> str:
    """The sizes before and after a cut, and where each is from."""
    before, after = view.cut_sizes(cut)
    words = f"{number_words(before)} → {number_words(after)}"
    if view.base is not None:
        return f"{words}, simulated"
    if cut.kind == "unexplained":
        return f"{words}, as the turns around it were recorded; the log names no cut"
    stated = [name for name, size in (("before", cut.before), ("after", cut.after)) if size is not None]
    known = [name for name, size in (("before", before), ("after", after)) if size is not None]
    recorded = [name for name in known if name not in stated]
    sources = [f"{' and '.join(stated)} as the log states it"] if stated else []
    sources += [f"{' and '.join(recorded)} as the turn beside it was recorded"] if recorded else []
    return ", ".join([words, *sources])


def _block_line(scene: Scene, span: SpanRow, turn: int, focus: Focus) -> ReportLine:
    view = scene.view
    block = view.blocks[span.block]
    pin = view.pins.get(block.n)
    kind, ink = label(view, block)
    words: Words = [
        ("◆ " if pin else "  ", "pinned"),
        (right(count(block, span.tokens), 8), "text"),
        (f"  {fit(kind, 14)}  ", ink or kind_ink(block.kind)),
    ]
    if pin:
        words.append((f"pinned {pin.kind} · ", "pinned"))
    return ReportLine(words + line_of(view, block, span, _CHARS), replace(focus, turn=turn, block=block.id))


# ------------------------------------------------------------------------------------------------------ one block


def life(scene: Scene, focus: Focus, block: BlockRow) -> Report:
    """The spans of a block, one line each, with what ended them."""
    view = scene.view
    spans = view.life(block.n)
    arrived = f"turn {block.turn:,}" if block.turn else "before turn 1"
    lines = [_pair("arrived", arrived), _pair("id", shown(block.id)), _plain()]
    at = len(lines)
    width = max((len(turns_of(s, view.now)) for s in spans), default=0)
    for index, span in enumerate(spans):
        words: Words = [
            (fit(turns_of(span, view.now), width + 2), "accent"),
            (fit(span.form, 12), "text" if span.form == "verbatim" else "cleared"),
            (right(count(block, span.tokens), 8), "text"),
            (" tokens", "dim"),
        ]
        if span.end <= view.now:
            after = spans[index + 1] if index + 1 < len(spans) else None
            stays = after is not None and after.start == span.end
            words.append(("   then in another form: " if stays else "   then left: ", "dim"))
            words.append((_end_of(view, span), "warn" if stays else "cut"))
        lines.append(ReportLine(words, replace(focus, turn=max(1, span.start), block=block.id), hang=4))
    if not spans:
        lines.append(_plain("It never stood in a window.", "dim"))
    lines += [_pair("? doubtful", f"from turn {turn:,}: {why}", "doubtful") for turn, why in doubts_of(view, block.n)]
    return Report(f"Life of {label(view, block)[0]} {shown(block.id, 30)}", lines, at)


def _end_of(view: SessionView, span: SpanRow) -> str:
    reason = view.edits[span.ended_by].reason if span.ended_by is not None else ""
    return " · ".join(part for part in (why_left(view, span), shown(reason, 100)) if part)


# ----------------------------------------------------------------------------------------------------- one window


def budget(scene: Scene, turn: int) -> Report:
    """What fills the window by kind, how its size is known, and what the audit says."""
    view = scene.view
    sizes, parts = view.tokens(turn), view.by_kind(turn)
    size = view.size(turn)
    counted = "estimated" if scene.estimated else "counted"
    fitted = view.stretch(min(turn, view.last))
    known = number_words
    whole = max(1, sum(max(0, v or 0) for v in parts.values()))
    lines = [
        _bar(kind, tokens, whole) for kind, tokens in sorted(parts.items(), key=lambda p: -(p[1] or 0)) if tokens
    ]
    if parts.get("unlogged") is None:
        why = "no call was made yet" if view.turn(turn) is None else "the log has no usage for this turn"
        lines.append(_pair("unlogged", f"unknown: {why}", "dim"))
    lines.append(_plain())
    lines.append(_pair("recorded", f"{known(sizes.recorded)}   as the provider counted it"))
    lines.append(_pair(counted, f"{sizes.counted:,}   over the blocks in the log"))
    times = "counted" if fitted is None else "factor × counted"
    lines.append(_pair("calibrated", f"{known(sizes.calibrated)}   {'no factor' if fitted is None else times}"))
    lines.append(_pair("unlogged", f"{known(sizes.unlogged)}   {_unlogged_words(view, times)}"))
    limit = known(sizes.limit)
    if sizes.limit is not None:
        lacks = view.lacks_unlogged(turn)
        limit += "   (share unknown: without the unlogged part)" if lacks else f"   ({size / sizes.limit:.1%} used)"
    lines.append(_pair("limit", limit))
    full = _over_since(scene, turn)
    if full is not None:
        lines.append(_pair("", f"above 90 % since turn {full:,}", "bad"))
    if view.peak:
        lines.append(_pair("peak", f"{view.peak[1]:,}   at turn {view.peak[0]:,}"))
    lines.append(_plain())
    if fitted is None:
        lines.append(_pair("audit", f"none: {_why_unfitted(view, turn)}", "dim"))
    else:
        words = audit_words(fitted.factor, fitted.constant, fitted.median_error)
        lines.append(_pair("audit", f"{words}   factor, constant, median error"))
        lines.append(_pair("", f"turns {fitted.start:,} to {fitted.end:,} · p95 error {fitted.p95_error:.1%}", "dim"))
        if fitted.steps:
            steps = ", ".join(f"{s:,}" for s in fitted.steps[:12])
            lines.append(_pair("", f"unlogged content changed at turn {steps}", "dim"))
    return Report(f"Budget {'at ' if view.turn(turn) else ''}{turn_words(view, turn)}: {size:,} tokens", lines)


def _unlogged_words(view: SessionView, counted: str) -> str:
    return f"recorded − {counted}" if view.base is None else "taken from the recorded window"


def _why_unfitted(view: SessionView, turn: int) -> str:
    """Why no factor of recorded to counted tokens is known for a turn."""
    if all(call.recorded is None for call in view.turns):
        return "the log records no usage"
    call = view.turn(min(turn, view.last))
    if call is None or call.recorded is None:
        return "the log records no usage for this turn"
    cuts = sorted({c.turn for c in (view.base or view).cuts})
    first = max((t for t in cuts if t <= call.turn), default=1)
    end = min((t for t in cuts if t > call.turn), default=view.now)
    if end - first < LEAST_TURNS:
        return f"usage is recorded, but a fit takes {LEAST_TURNS} turns between two cuts; here {_turns(end - first)}"
    return "usage is recorded, but no factor fits: too few turns of one model, or windows that hardly grow"


def _turns(count: int) -> str:
    return "it is 1" if count == 1 else f"there are {count:,}"


def _over_since(scene: Scene, turn: int) -> int | None:
    limit = scene.view.limit
    if not limit or scene.sizes[turn] < 0.9 * limit:
        return None
    first = turn
    while first > 1 and scene.sizes[first - 1] >= 0.9 * limit:
        first -= 1
    return first


def _bar(kind: str, tokens: int | None, whole: int, more: str = "") -> ReportLine:
    share = max(0, tokens or 0) / whole if whole else 0.0
    eighths = round(share * _BAR * 8)
    bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
    if tokens and not bar:
        bar = "▏"
    return ReportLine(
        [
            (fit(kind, 12), kind_ink(kind)),
            (right(f"{tokens or 0:,}", 10), "text"),
            (f"{share:>5.0%}  ", "dim"),
            (fit(bar, _BAR + 1), kind_ink(kind)),
            (more, "dim"),
        ]
    )


# ----------------------------------------------------------------------------------------------------- the trace


@dataclass(frozen=True, slots=True)
class SessionSum:
    """What the session list says of a session once it was read."""

    turns: int
    peak: int | None
    cuts: int


def sum_up(view: SessionView) -> SessionSum:
    return SessionSum(view.last, view.peak[1] if view.peak else None, len(view.cuts))


def sessions(trace: TraceLike, sums: Mapping[str, SessionSum], focus: Focus) -> Report:
    """All sessions, sub-agents below the session that started them."""
    lines = [
        ReportLine([(f"{'turns':>7}{'peak':>11}{'cuts':>6}   {fit('agent', 16)}", "dim"), ("session", "dim")])
    ]  # fmt: skip
    at = 1
    for depth, row in _tree(trace.sessions):
        known = sums.get(row.session)
        turns, peak, cuts = ("…", "…", "…") if known is None else (
            f"{known.turns:,}", "unknown" if known.peak is None else f"{known.peak:,}", f"{known.cuts:,}",
        )  # fmt: skip
        here = row.session == focus.session
        if here:
            at = len(lines)
        branch = "  " * max(0, depth - 1) + ("└ " if depth else "")
        title = shown(row.title or "", 120)
        words: Words = [
            (f"{turns:>7}{peak:>11}{cuts:>6}   ", "text"),
            (fit(shown(row.agent or "", 40), 16), "kind-tool"),
            (branch, "dim"),
            (title or shown(row.session, 80), "accent" if here else "text"),
        ]
        if title:
            words.append((f"  {shown(row.session, 80)}", "dim"))
        lines.append(ReportLine(words, Focus(session=row.session)))
    return Report(f"Sessions of this trace: {len(trace.sessions):,}", lines, at)


def _tree(rows: Sequence[SessionRow]) -> Iterable[tuple[int, SessionRow]]:
    """Depth first; a session whose parent is not here is a root, and no circle of parents is followed."""
    ids = {r.session for r in rows}
    children: dict[str | None, list[SessionRow]] = {}
    for row in rows:
        children.setdefault(row.parent if row.parent in ids else None, []).append(row)
    seen: set[str] = set()
    waiting = [(0, row) for row in reversed(children.get(None, []))]
    while waiting:
        depth, row = waiting.pop()
        if row.session not in seen:
            seen.add(row.session)
            yield depth, row
            waiting += [(depth + 1, child) for child in reversed(children.get(row.session, []))]
    yield from ((0, row) for row in rows if row.session not in seen)


def load_report(trace: TraceLike) -> Report:
    """The files, what became of each of their records, and every issue with its line."""
    lines: list[ReportLine] = []
    for file in trace.files:
        form = shown(file.format or "no format", 40)
        lines.append(ReportLine([(shown(file.path, 200), "accent"), (f"   {form}", "text")]))
        known, unknown = sum(file.known.values()), sum(file.unknown.values())
        lines.append(
            _plain(
                f"  {file.bytes:,} bytes · {file.records:,} records: {file.window:,} in windows, "
                f"{file.duplicates:,} duplicate, {known:,} known and not shown, {unknown:,} unknown, "
                f"{file.unreadable:,} unreadable",
                "dim",
            )
        )
        lines += [
            _plain(f"  unknown: {n:,} × {shown(name, 80)}", "warn") for name, n in sorted(file.unknown.items())
        ]  # fmt: skip
    lines += [_plain(), _plain(f"issues: {len(trace.issues):,}" if trace.issues else "no issues", "dim")]
    for issue in trace.issues:
        where = shown(issue.file, 80) if issue.line is None else f"{shown(issue.file, 80)}:{issue.line}"
        ink = {"error": "bad", "warning": "warn"}.get(issue.severity, "text")
        reason = shown(issue.reason, 400)
        lines.append(ReportLine([(f"{issue.severity:<8}", ink), (f"{where}  ", "accent"), (reason, "text")], hang=8))
    return Report("Load report", lines)


def key_help() -> Report:
    """All keys, in groups."""
    lines: list[ReportLine] = []
    groups = dict.fromkeys(k.group for k in KEYS)
    for group in groups:
        lines += [_plain()] if lines else []
        lines.append(_plain(group, "accent"))
        lines += [ReportLine([(f"  {fit(k.shown, 10)}", "text"), (k.says, "dim")])
                  for k in KEYS if k.group == group and k.shown]
    lines += [_plain(), _plain("Glyphs", "accent")]
    for glyph_state, says in _STATES:
        lines.append(ReportLine([(f"  {fit(_glyph(glyph_state), 14)}", glyph_state), (says, "dim")]))
    lines.append(_plain("  + entered at this turn   - left   ~ changed its form   ~ before a number: estimated", "dim"))
    lines.append(_plain("  → a call   ← its result   ✗ a result that is an error   ⏎ a line break in the text", "dim"))
    return Report("Keys", lines)


_STATES: Final = (
    ("pinned", "the goal, system text: what a failure is explained by when it is gone"),
    ("rolling", "in the window until something cuts it"),
    ("superseded", "a newer version of the same thing stands in the window"),
    ("stale", "what it shows has changed since"),
    ("cleared", "stands as a placeholder"),
    ("doubtful", "may no longer be in the window: the recorded size fell with nothing logged"),
    ("orphan", "a call without its result, or a result without its call"),
    ("duplicate", "a second copy of one call or result"),
    ("injected", "put there by the client, not typed or answered"),
    ("inherited", "copied from another session"),
    ("ledger", "a noted value"),
    ("cut", "left with a cut"),
    ("absent", "not in this window"),
)


def _glyph(state: str) -> str:
    return f"{GLYPHS[state]} {state}"
