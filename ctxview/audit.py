"""How well the rebuilt windows agree with what the provider counted.

Nobody outside the provider can count its tokens, and the system prompt and tool schemas are often not logged. So the
recorded size of a turn is fitted as factor x counted + constant: one factor per session and model, one constant per
stretch. A good fit over many turns says that what was rebuilt grows and shrinks as the real window did; what does not
fit is shown, never hidden.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from statistics import median
from typing import Final

from ctxview.model import CutRow, EditRow, Stretch, TurnRow
from ctxview.reconstruct import find_unexplained
from ctxview.window import SessionView

LEAST_TURNS: Final = 4
"""Fewer turns than this fit any line: they stay uncalibrated."""
LEAST_GROWTH: Final = 200
"""Counted tokens by which a stretch must grow to say anything about the factor."""
STEP_TOKENS: Final = 2_000
STEP_SHARE: Final = 0.02
"""A step is a jump of what was never logged by more than both."""
TURNS_PER_STEP: Final = 20
_AROUND: Final = 5
"""Turns on either side that tell a step from a single odd turn."""
_LOW, _HIGH, _EDGE = 0.5, 2.5, 0.001
_MOST_POINTS: Final = 600
"""Turns looked at while searching for the factor; more change nothing but the time it takes."""


@dataclass(frozen=True, slots=True)
class Audit:
    stretches: tuple[Stretch, ...]
    cuts: tuple[CutRow, ...]
    """Falls that nothing in the log explains, numbered after the session's own cuts."""
    edits: tuple[EditRow, ...]
    """Doubts about the tool results of such windows, numbered after the session's own edits."""


@dataclass(frozen=True, slots=True)
class _Point:
    turn: int
    counted: int
    recorded: int


def audit_view(view: SessionView) -> Audit:
    """Fit a session's stretches, and find the falls of its recorded size that nothing explains."""
    counted = {t: view.counted(t) for t in range(1, view.now)}
    stretches = fit(view.turns, view.cuts, {t: size + view.framing_series[t] for t, size in counted.items()})
    falls = find_unexplained(view.turns, view.cuts, counted.__getitem__)
    cuts: list[CutRow] = []
    edits: list[EditRow] = []
    for turn, before, after in falls:
        number = len(view.cuts) + len(cuts)
        call = view.turns[turn - 1]
        doubtful = [w for w in view.window(turn) if w.block.kind == "tool_result" and w.entered < turn]
        cuts.append(
            CutRow(
                number,
                turn,
                "unexplained",
                None,
                before,
                after,
                0,
                len(view.spans_at(turn)),
                None,
                call.file,
                call.line,
            )
        )
        edits += [
            EditRow(
                n=len(view.edits) + len(edits) + i,
                turn=turn,
                layer="recorded",
                rule="unexplained",
                reason="may no longer be in the window: its recorded size fell with nothing in the log to explain it",
                block=w.block.n,
                action="tag",
                at=None,
                covers=(),
                evidence={"before": before, "after": after},
                cut=number,
            )
            for i, w in enumerate(doubtful)
        ]
    return Audit(tuple(stretches), tuple(cuts), tuple(edits))


def fit(turns: Sequence[TurnRow], cuts: Sequence[CutRow], counted: Mapping[int, int]) -> list[Stretch]:
    """Fit the session's stretches. `counted`: turn -> counted tokens of its rebuilt window, framing included.

    A stretch ends at a cut, a microcompaction, and where the model or the client's version changes.
    """
    stretches = _split(turns, cuts, counted)
    fitted: list[Stretch] = []
    for model in dict.fromkeys(model for model, _ in stretches):
        own = [points for m, points in stretches if m == model and len(points) >= LEAST_TURNS]
        if not any(_grows(points) for points in own):
            continue
        factor = _factor(own)
        for _ in range(3):
            factor = _factor([s for points in own for s in _segments(points, factor)])
        if not _LOW + _EDGE < factor < _HIGH - _EDGE:
            continue  # the search ran into its end: no believable factor fits, so these turns stay uncalibrated
        fitted += [_stretch(points, factor, model) for points in own]
    return sorted(fitted, key=lambda s: s.start)


def _split(
    turns: Sequence[TurnRow], cuts: Sequence[CutRow], counted: Mapping[int, int]
) -> list[tuple[str | None, list[_Point]]]:
    ends = {c.turn for c in cuts}
    found: list[tuple[str | None, list[_Point]]] = []
    key: tuple[str | None, str | None] | None = None
    broken = True
    for turn in turns:
        broken = broken or turn.turn in ends or (turn.model, turn.client) != key
        if turn.recorded is None:
            continue
        if broken:
            found.append((turn.model, []))
            key, broken = (turn.model, turn.client), False
        found[-1][1].append(_Point(turn.turn, counted[turn.turn], turn.recorded))
    return found


def _factor(groups: Sequence[Sequence[_Point]]) -> float:
    """The factor with the least sum of absolute errors, each group having a constant of its own.

    Groups without growth say nothing about it.
    """
    telling = [g for g in groups if len(g) >= 2 and _grows(g)] or list(groups)
    step = max(1, sum(map(len, telling)) // _MOST_POINTS)
    telling = [g[::step] if len(g) > 2 * step else list(g) for g in telling]
    low, high = _LOW, _HIGH
    for _ in range(40):  # the error is convex in the factor: thirds narrow it down
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if _misfit(telling, a) <= _misfit(telling, b):
            high = b
        else:
            low = a
    return round((low + high) / 2, 4)


def _grows(points: Sequence[_Point]) -> bool:
    return max(p.counted for p in points) - min(p.counted for p in points) >= LEAST_GROWTH


def _misfit(groups: Sequence[Sequence[_Point]], factor: float) -> float:
    total = 0.0
    for group in groups:
        rest = [p.recorded - factor * p.counted for p in group]
        middle = median(rest)
        total += sum(abs(r - middle) for r in rest)
    return total


def _segments(points: Sequence[_Point], factor: float) -> list[list[_Point]]:
    """The stretch between its steps."""
    starts = _steps(points, factor)
    return [list(points[a:b]) for a, b in zip([0, *starts], [*starts, len(points)])]


def _steps(points: Sequence[_Point], factor: float) -> list[int]:
    """Indexes at which something unlogged came or went, the largest first until one per 20 turns are used up.

    A jump is told by the medians of a few turns on either side, within the segment; so a step changes only the jumps
    near it, and each is looked at again when its turn comes.
    """
    rest = [p.recorded - factor * p.counted for p in points]
    starts: list[int] = []

    def jump(i: int) -> float:
        at = bisect_left(starts, i)
        low = starts[at - 1] if at else 0
        high = starts[at] if at < len(starts) else len(points)
        return abs(median(rest[i : min(high, i + _AROUND)]) - median(rest[max(low, i - _AROUND) : i]))

    waiting = [(-size, i) for i in range(1, len(points)) if (size := jump(i)) > _least(points[i])]
    heapify(waiting)
    while waiting and len(starts) < len(points) // TURNS_PER_STEP:
        size, i = heappop(waiting)
        now = 0.0 if i in starts else jump(i)
        if now <= _least(points[i]):
            continue
        if now < -size:  # a step nearby took part of it: it may still come, after larger ones
            heappush(waiting, (-now, i))
            continue
        starts.insert(bisect_left(starts, i), i)
        for near in range(max(1, i - _AROUND), min(len(points), i + _AROUND)):
            if near not in starts and (size := jump(near)) > _least(points[near]):
                heappush(waiting, (-size, near))
    return starts


def _least(point: _Point) -> float:
    return max(STEP_TOKENS, STEP_SHARE * point.recorded)


def _stretch(points: Sequence[_Point], factor: float, model: str | None) -> Stretch:
    errors: list[float] = []
    constants: list[int] = []
    for segment in _segments(points, factor):
        constant = round(median(p.recorded - factor * p.counted for p in segment))
        constants.append(constant)
        errors += [abs(factor * p.counted + constant - p.recorded) / p.recorded for p in segment if p.recorded]
    errors.sort()
    return Stretch(
        start=points[0].turn,
        end=points[-1].turn,
        factor=factor,
        constant=constants[0],
        steps=tuple(points[i].turn for i in _steps(points, factor)),
        median_error=round(median(errors), 5) if errors else 0.0,
        p95_error=round(_quantile(errors, 0.95), 5),
        model=model,
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of sorted numbers, between neighbours by linear interpolation; 0 for none."""
    if not ordered:
        return 0.0
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
