"""By turn, how many resources a window contradicts itself about."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.replay.presence import running
from ctxview.window import SessionView
from ctxview.window.absence import Stretch, joined
from ctxview.window.contradiction import contradictions


def contradicted(view: SessionView, blocks: int) -> Sequence[int]:
    """By turn, 0 .. now: resources of which two or more differing versions stand, one of them superseded.

    `blocks`: number of the session's own blocks.
    """
    spoiled: dict[str, list[Stretch]] = {}
    for found in contradictions(view, blocks):
        spoiled.setdefault(found.key, []).append((found.start, found.end))
    deltas = [0] * (view.now + 2)
    for stretches in spoiled.values():
        for start, end in joined(stretches, 1, view.now + 1):
            deltas[start] += 1
            deltas[end] -= 1
    return running(deltas)
