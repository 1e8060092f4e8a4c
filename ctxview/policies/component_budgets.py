"""`component-budgets`: a hard limit each for system text, tool schemas, history, what was put in, and tool output.

Over its limit a component is trimmed (oldest first, pins and the newest request last) or rejected: reported with the
blocks that are in it, and left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Drops, Edit, Fail, Replace
from ctxview.policies.items import Entry
from ctxview.policies.parts import kinds_of, request_groups
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

COMPONENTS: Final = ("system", "tools", "history", "retrieved", "output")
_OF_KIND: Final = {"system": "system", "tools": "tools", "tool_result": "output", "summary": "retrieved"}
_CLEARED: Final = "[tool output over its budget: removed]"


def component(entry: Entry) -> str:
    """The component that a block counts towards."""
    if entry.item.row.inserted:
        return "retrieved"
    return _OF_KIND.get(entry.kind, "history")


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    edits: list[Edit] = []
    rejecting = set(kinds_of(ctx.params, "reject"))
    for name in COMPONENTS:
        limit = ctx.params[name]
        if limit is None:
            continue
        entries = [e for e in window if component(e) == name]
        size = sum(e.tokens for e in entries)
        if size <= limit:
            continue
        if name in rejecting or ctx.params["exceed"] == "reject":
            edits.append(Fail(name, limit, size, tuple(e.n for e in entries)))
            continue
        trimmed, left = _trim(name, window, entries, size, limit, ctx)
        edits += trimmed
        if left > limit:
            edits.append(Fail(name, limit, left, tuple(e.n for e in entries)))
    return edits


def _trim(
    name: str, window: Window, entries: Sequence[Entry], size: int, limit: int, ctx: Context
) -> tuple[list[Edit], int]:
    """Edits that bring a component down, and its size after them."""
    asked = request_groups(window)
    reason = f"{name} is over its limit of {limit:,} tokens"
    evidence = {"component": name, "limit": limit, "tokens": size}
    edits: list[Edit] = []
    if name == "system":
        return edits, size  # no part of it can go and leave the rest what it says
    if name == "history":
        gone: list[int] = []
        kept = {g.id for g in window.groups if any(ctx.pins(e) for e in g.entries)} | asked
        for group in window.groups:
            mine = [e for e in group.entries if component(e) == name]
            if size > limit and mine and group.id not in kept:
                gone += [e.n for e in group.entries]
                size -= sum(e.tokens for e in mine)
        return ([Drops(gone, "over-component", reason, evidence)] if gone else []), size
    for entry in entries:
        if size <= limit:
            break
        if entry.item.group in asked or (ctx.pins(entry) and name == "output"):
            continue
        if name == "output":
            cost = ctx.count(_CLEARED)
            if entry.tokens <= cost or entry.form == "placeholder":
                continue
            edits.append(Replace(entry.n, "placeholder", _CLEARED, "over-component", reason, evidence, cost))
            size -= entry.tokens - cost
        else:
            edits.append(Drops([entry.n], "over-component", reason, evidence))
            size -= entry.tokens
    return edits, size


POLICY = Policy(
    name="component-budgets",
    title="A limit for each component",
    source="ours, for long sessions",
    plan=plan,
    phase="limit",
    params=(
        *(Param(name, None, f"most tokens of {name}", low=0) for name in COMPONENTS),
        Param("exceed", "trim", "what happens above a limit", choices=("trim", "reject"), type="choice"),
        Param("reject", "", "components that are rejected rather than trimmed", choices=COMPONENTS, type="names"),
    ),
    examples=("component-budgets:output=20000", "component-budgets:history=8000:output=4000:reject=output"),
)
