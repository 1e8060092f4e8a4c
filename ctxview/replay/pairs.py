"""Orphans in every window of a session: which calls lack a result and which results a call, group by group.

Asks only the groups that changed, so that a session of any length can be looked through.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.model import NEVER
from ctxview.policies.items import Item
from ctxview.window import SessionView


def orphans_by_turn(view: SessionView, items: Sequence[Item]) -> dict[int, frozenset[int]]:
    """Turn -> orphaned blocks of the window that was sent on it, for turns that have any."""
    changes: dict[int, dict[int, float | None]] = {}
    for span in view.spans:
        if span.block < len(items) and span.start < span.end and view.blocks[span.block].call_id is not None:
            if span.end != NEVER:
                changes.setdefault(span.end, {}).setdefault(span.block, None)
            changes.setdefault(max(1, span.start), {})[span.block] = span.pos
    at: dict[int, float] = {}
    members: dict[int, list[Item]] = {}
    for item in items:
        if item.row.kind in ("tool_call", "tool_result"):
            members.setdefault(item.group, []).append(item)
    orphaned: dict[int, frozenset[int]] = {}
    found: dict[int, frozenset[int]] = {}
    for turn in range(1, view.last + 1):
        dirty = set()
        for n, pos in changes.get(turn, {}).items():
            if pos is None:
                at.pop(n, None)
            else:
                at[n] = pos
            dirty.add(items[n].group)
        for group in dirty:
            broken = _orphans(members[group], at)
            if broken:
                orphaned[group] = broken
            else:
                orphaned.pop(group, None)
        if orphaned:
            found[turn] = frozenset().union(*orphaned.values())
    return found


def _orphans(members: Sequence[Item], at: dict[int, float]) -> frozenset[int]:
    answered = set()
    orphans = set()
    for item in members:
        if item.row.kind == "tool_result" and item.n in at:
            if item.call in at and at[item.call] < at[item.n]:
                answered.add(item.call)
            else:
                orphans.add(item.n)
    orphans |= {i.n for i in members if i.row.kind == "tool_call" and i.n in at and i.n not in answered}
    return frozenset(orphans)


def provider_error(view: SessionView, turn: int, orphans: frozenset[int]) -> str:
    """What a provider answers to a window with orphans, for its first one: HTTP 400."""
    for block in view.window(turn):
        row = block.block
        if row.n not in orphans:
            continue
        place = f"messages.{block.position}"
        if row.kind == "tool_result":
            return (
                f"400 invalid_request_error: {place}: unexpected `tool_use_id` found in `tool_result` blocks:"
                f" {row.call_id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous"
                " message."
            )
        return (
            f"400 invalid_request_error: {place}: `tool_use` ids were found without `tool_result` blocks immediately"
            f" after: {row.call_id}. Each `tool_use` block must have a corresponding `tool_result` block in the next"
            " message."
        )
    return "400 invalid_request_error"
