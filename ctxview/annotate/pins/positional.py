"""Pins: blocks whose absence from a window explains a failure. Here the goal and the system text, by position alone."""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.model import BlockRow, Pin


def find_pins(blocks: Sequence[BlockRow]) -> dict[int, Pin]:
    """Pins of one session, by block number.

    `system`: system text and tool schemas. `goal`: the first message of the person; without one (a sub-agent, a plain
    list of messages) the first user text that the client did not inject.
    """
    pins = {
        b.n: Pin(b.n, "system", "stated", "system text", since=b.turn + 1)
        for b in blocks
        if b.kind in ("system", "tools")
    }
    goal = next((b for b in blocks if b.human), None) or next(
        (b for b in blocks if b.kind == "user" and not b.injected), None
    )
    if goal is not None:
        for b in blocks:
            if b.kind == "user" and b.message == goal.message and b.line == goal.line and b.file == goal.file:
                pins[b.n] = Pin(b.n, "goal", "matched", "first message of the person", since=b.turn + 1)
    return pins
