"""How well the rebuilt windows agree with what the provider counted.

Nobody outside the provider can count its tokens, and the system prompt and tool schemas are often not logged. So the
recorded size of a turn is fitted as factor x counted + constant: one factor per session and model, one constant per
stretch. A good fit over many turns says that what was rebuilt grows and shrinks as the real window did; what does not
fit is shown, never hidden.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from statistics import median
from typing import Final, NamedTuple

from ctxview.model import CutRow, EditRow, Stretch
from ctxview.reconstruct import Course, Fall
from ctxview.reconstruct.course import Sender

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
_GOLDEN: Final = (5**0.5 - 1) / 2
_FINE: Final = 1e-5
"""How narrow the search for a factor gets; factors are kept to four places."""
_MOST_POINTS: Final = 600
"""Turns looked at while searching for the factor; more change nothing but the time it takes."""


class _Point(NamedTuple):
    turn: int
    counted: int
    recorded: int


@dataclass(frozen=True, slots=True)
class Doubtful:
    """What stood in the window of a turn whose recorded size fell without a reason."""

    file: str
    line: int
    """Where the log has the call."""
    blocks: int
    results: Sequence[int]
    """Block numbers of the tool results that stood there before."""


def fit(course: Course, cuts: Sequence[CutRow]) -> list[Stretch]:
    """Fit a session's stretches, framing included in what is counted.

    A stretch ends at a cut, a microcompaction, and where the model or the client's version changes.
    """
    stretches = _split(course, cuts)
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


def unexplained_cut(fall: Fall, number: int, first_edit: int, there: Doubtful) -> tuple[CutRow, list[EditRow]]:
    """A fall that nothing in the log explains, as a cut, and a doubt about each tool result that may have left.

    `number` and `first_edit` follow the session's own cuts and edits.
    """
    cut = CutRow(
        n=number,
        turn=fall.turn,
        kind="unexplained",
        trigger=None,
        before=fall.before,
        after=fall.after,
        dropped=0,
        kept=there.blocks,
        summary_tokens=None,
        file=there.file,
        line=there.line,
    )
    edits = [
        EditRow(
            n=n,
            turn=fall.turn,
            layer="recorded",
            rule="unexplained",
            reason="may no longer be in the window: its recorded size fell with nothing in the log to explain it",
            block=block,
            action="tag",
            at=None,
            covers=(),
            evidence={"before": fall.before, "after": fall.after},
            cut=number,
        )
        for n, block in enumerate(there.results, first_edit)
    ]
    return cut, edits


def _split(course: Course, cuts: Sequence[CutRow]) -> list[tuple[str | None, list[_Point]]]:
    ends = {c.turn for c in cuts}
    counted, framing = course.counted(), course.framing()
    found: list[tuple[str | None, list[_Point]]] = []
    key: Sender | None = None
    broken = True
    for turn in range(1, len(course) + 1):
        sender, recorded = course.sender(turn), course.recorded(turn)
        broken = broken or turn in ends or sender != key
        if recorded is None:
            continue
        if broken:
            found.append((sender[0], []))
            key, broken = sender, False
        found[-1][1].append(_Point(turn, counted[turn] + framing[turn], recorded))
    return found


def _factor(groups: Sequence[Sequence[_Point]]) -> float:
    """The factor with the least sum of absolute errors, each group having a constant of its own.

    Groups without growth say nothing about it.
    """
    telling = [g for g in groups if len(g) >= 2 and _grows(g)] or list(groups)
    step = max(1, sum(map(len, telling)) // _MOST_POINTS)
    telling = [g[::step] if len(g) > 2 * step else list(g) for g in telling]
    low, high = _LOW, _HIGH
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = _misfit(telling, a), _misfit(telling, b)
    while high - low > _FINE:  # the error is convex in the factor: each look narrows it down by the golden ratio
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = _misfit(telling, a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = _misfit(telling, b)
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
