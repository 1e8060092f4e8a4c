"""Where a session's own records begin, when its file starts with a copy of its parent's conversation.

It prevents the parent's calls from being billed again: a copy carries the usage reports along with the words.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from ctxview.loaders.codex.survey import Plan, seconds

_PAUSE: Final = 1.0
"""Seconds. A copy is written at once; what comes after a longer pause is the child's own."""


def settle_copies(plans: list[Plan]) -> None:
    """Find where each session's own records begin, now that all files have been seen."""
    first: dict[str, Plan] = {}
    for plan in plans:
        first.setdefault(plan.thread, plan)
    for plan in plans:
        origin: Plan | None = first[plan.thread]
        if origin is plan:
            origin = next((first[name] for name in plan.parents if name in first), None)
        plan.own_from = _own_from(plan, origin)


def _own_from(plan: Plan, origin: Plan | None) -> int:
    again = origin is not None and origin.thread == plan.thread
    own_turn = None if again else plan.own_turn
    if own_turn is not None:
        end = sum(number < own_turn for number in plan.numbers)
    elif origin is not None:
        end = _ended(plan, *_common(plan, origin))
    else:
        end = _burst(plan) if plan.parents else 0
    begin = sum(number < plan.copy_from for number in plan.numbers)
    if not any(plan.answers[begin:end]):
        return plan.start
    return own_turn if own_turn is not None else plan.numbers[end - 1] + 1


def _common(plan: Plan, origin: Plan) -> tuple[int, set[int]]:
    """How many of a session's records its parent has as well, from the first on; and which of them at the same time."""
    left = Counter(origin.prints)
    dated = Counter(zip(origin.prints, origin.times))
    timely: set[int] = set()
    for index, (number, mark, at) in enumerate(zip(plan.numbers, plan.prints, plan.times)):
        if number < plan.copy_from:
            continue
        if not left[mark]:
            return index, timely
        left[mark] -= 1
        if dated[mark, at]:
            dated[mark, at] -= 1
            timely.add(index)
    return len(plan.numbers), timely


def _ended(plan: Plan, end: int, timely: set[int]) -> int:
    """Where the copy among the first `end` records ends: before what was asked in the parent's words, but later.

    A usage report that the parent has as well is a copy, and so is all above it, however slowly it was written.
    """
    begin = sum(number < plan.copy_from for number in plan.numbers)
    certain = next((index for index in range(end - 1, begin, -1) if plan.answers[index] == 2), begin)
    for index in range(certain + 1, end):
        before, at = plan.times[index - 1], plan.times[index]
        if not plan.answers[index] and index not in timely and before and at - before > _PAUSE:
            return index
    return end


def _burst(plan: Plan) -> int:
    """The same by the clock alone: a copy keeps older times, or is written at once below its parent's head."""
    born = seconds(plan.meta.get("timestamp"))
    before: float | None = None
    old = False
    for index, (number, at) in enumerate(zip(plan.numbers, plan.times)):
        if number < plan.copy_from:
            continue
        if before is None:
            old = 0 < at < born - _PAUSE
            if not old and plan.copy_from == plan.start:
                return 0
        elif at >= born if old else at - before > _PAUSE:
            return index
        before = at
    return len(plan.numbers)
