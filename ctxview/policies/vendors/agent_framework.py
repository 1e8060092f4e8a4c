"""Microsoft Agent Framework: truncation, sliding window and tool-result compaction, all by whole groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ctxview.policies.edits import Drops, Edit, Insert
from ctxview.policies.parts import dropped, request_groups
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.window import Group, Window, messages_of

_MOST_CHARS: Final = 4096
_CUT: Final = "... [truncated]"


def _conversation(window: Window) -> list[Group]:
    return [g for g in window.groups if not g.is_fixed]


def _measure(group: Group, params: Params) -> int:
    return group.tokens if params["by"] == "tokens" else len(list(messages_of(group.entries)))


def _size(window: Window, params: Params) -> int:
    """The system prompt and the conversation, in what `by` says."""
    fixed = sum(_measure(g, params) for g in window.groups if g.is_fixed and g.first.kind == "system")
    return fixed + sum(_measure(g, params) for g in _conversation(window))


def _truncate_sees(window: Window, ctx: Context) -> int | None:
    return _size(window, ctx.params) if ctx.params["by"] == "tokens" else None


def _truncate(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    groups = _conversation(window)
    size = _size(window, params)
    if size <= params["max"] or not groups:
        return []
    kept = {groups[-1].id}
    first_user = next((g.id for g in groups if g.first.role == "user"), None)
    if params["first_user"] and first_user is not None:
        kept.add(first_user)
    gone = []
    for group in groups:
        if size <= params["compact_to"]:
            break
        if group.id not in kept:
            gone += list(group.entries)
            size -= _measure(group, params)
    reason = f"oldest groups, down to {params['compact_to']:,} {params['by']}"
    return dropped(gone, "truncation", reason, {"max": params["max"], "compact_to": params["compact_to"]})


def _slide(window: Window, ctx: Context) -> Sequence[Edit]:
    keep = ctx.params["keep"]
    gone = [e for g in _conversation(window)[:-keep] for e in g.entries]
    return dropped(gone, "sliding-window", f"older than the last {keep} groups", {"keep": keep})


def _collapse(window: Window, ctx: Context) -> Sequence[Edit]:
    keep = ctx.params["keep"]
    groups = [g for g in window.turn_groups if g.has_calls]
    asked = request_groups(window)
    old = [g for g in (groups[:-keep] if keep else groups) if g.id not in asked]
    edits: list[Edit] = []
    for group in old:
        numbers = tuple(e.n for e in group.entries)
        key = ("tool-results", *((e.n, e.content) for e in group.entries))
        text, size = ctx.once(key, partial(_results, group))
        evidence = {"keep": keep, "blocks": len(numbers)}
        reason = f"older than the last {keep} groups with tool calls"
        edits.append(Drops(numbers, "tool-result", reason, evidence))
        edits.append(
            Insert(f"tools-{group.id}", text, "before", group.first.n, "assistant", "summary", numbers, "tool-summary",
                   reason, evidence, size)
        )  # fmt: skip
    return edits


def _results(group: Group) -> str:
    names = {e.n: e.item.tool for e in group.entries if e.kind == "tool_call"}
    lines = []
    for entry in group.entries:
        if entry.kind == "tool_result":
            name = names.get(entry.item.call) or entry.item.tool
            lines.append((f"{name}: {entry.text()}" if name else entry.text()).strip())
    return _summary("; ".join(lines) or "no results")


def _summary(label: str) -> str:
    text = f"[Tool results: {label}]"
    if len(text) <= _MOST_CHARS:
        return text
    room = _MOST_CHARS - len(f"[Tool results: {_CUT}]")
    return f"[Tool results: {label[:room].rstrip()}{_CUT}]"


def _check(params: Params) -> str | None:
    if params["compact_to"] <= params["max"]:
        return None
    return f"compact_to={params['compact_to']} is above max={params['max']}"


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="af-truncation",
        title="Agent Framework: truncation",
        source="agent-framework-core 1.23.0 TruncationStrategy",
        plan=_truncate,
        sees=_truncate_sees,
        check=_check,
        params=(
            Param("max", 40, "more than this triggers", low=1),
            Param("compact_to", 20, "down to this", low=1),
            Param("by", "messages", "what both count", choices=("messages", "tokens"), type="choice"),
            Param("first_user", False, "preserve the first user message", type="flag"),
        ),
        examples=("af-truncation:max=100000:compact_to=50000:by=tokens:first_user=yes",),
    ),
    Policy(
        name="af-sliding-window",
        title="Agent Framework: sliding window",
        source="agent-framework-core 1.23.0 SlidingWindowStrategy",
        plan=_slide,
        params=(Param("keep", 20, "newest groups that stay", low=1),),
        idempotent=True,
        monotone=True,
        examples=("af-sliding-window:keep=20",),
    ),
    Policy(
        name="af-tool-result",
        title="Agent Framework: collapse old tool calls",
        source="agent-framework-core 1.23.0 ToolResultCompactionStrategy",
        plan=_collapse,
        params=(Param("keep", 1, "newest groups with tool calls that stay whole", low=0),),
        may_grow=True,
        examples=("af-tool-result:keep=1",),
    ),
)
