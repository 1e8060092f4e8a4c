"""Denied actions that were asked for again while the window did not hold the denial: it could not have been heeded.

The same action is the same tool with the same arguments. What the recorded session asked for is the evidence; what the
model would have asked for without the loss is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxview.policies.items import Item
from ctxview.replay.presence import PinStay


@dataclass(frozen=True, slots=True)
class DeniedAgain:
    block: str
    """The call."""
    turn: int
    """The turn whose answer asked for it, and whose window lacks the denial."""
    denial: str
    """The block that refused it."""


def denied_again(pins: Iterable[PinStay], items: Sequence[Item], last: int) -> list[DeniedAgain]:
    """By turn, then in order of arrival. A call refused several times counts once, for its newest denial."""
    denials = [pin for pin in pins if pin.pin.kind == "denial" and items[pin.pin.block].call >= 0]
    if not denials:
        return []
    by_action: dict[tuple[str | None, str], list[PinStay]] = {}
    for pin in denials:
        by_action.setdefault(_action(items[items[pin.pin.block].call]), []).append(pin)
    tools = {tool for tool, _ in by_action}
    found = []
    for item in items:
        if item.kind != "tool_call" or item.tool not in tools or item.turn > last:
            continue
        earlier = [p for p in by_action.get(_action(item), ()) if p.start <= item.turn < p.end]
        if earlier and not any(a <= item.turn < b for p in earlier for a, b in p.stood):
            found.append(DeniedAgain(item.id, item.turn, items[earlier[-1].pin.block].id))
    return found


def _action(call: Item) -> tuple[str | None, str]:
    text = call.text()
    try:
        return call.tool, json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return call.tool, text.strip()
