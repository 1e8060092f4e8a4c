"""Anthropic's server-side context management: old tool results, thinking, and compaction at a trigger.

Documented, not published: the placeholder's words are ours. The gate of `at_least` changes nothing at all unless that
much can go, which is what saves the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit, Replace
from ctxview.policies.items import Entry
from ctxview.policies.parts import (
    above,
    cleared,
    digest_of,
    dropped,
    folded,
    kinds_of,
    parts_of,
    request_groups,
    results,
)
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_CLEARED: Final = "[tool result cleared to save context]"
_EMPTY_INPUT: Final = "{}"


def _clear(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    found = results(window)
    measured = len(found) if params["unit"] == "uses" else ctx.size(window)
    if measured <= params["trigger"]:
        return []
    excluded = kinds_of(params, "exclude")
    old = found[: max(0, len(found) - params["keep"])]
    old = [e for e in old if e.item.tool not in excluded]
    calls = _inputs(window, old, kinds_of(params, "inputs"), ctx)
    cost, empty = ctx.count(_CLEARED), ctx.count(_EMPTY_INPUT)
    freed = sum(sum(p.tokens for p in parts_of(window, e)) - cost for e in old)
    freed += sum(call.tokens - empty for call in calls)
    if not old or (params["at_least"] is not None and freed < params["at_least"]):
        return []
    edits: list[Edit] = []
    evidence = {"trigger": params["trigger"], "measured": measured, "freed": freed}
    reason = f"not among the {params['keep']} newest results"
    for entry in old:
        edits += cleared(window, entry, _CLEARED, "cleared", reason, evidence)
    edits += [Replace(c.n, "truncated", _EMPTY_INPUT, "input-cleared", reason, evidence, empty) for c in calls]
    return edits


def _clear_sees(window: Window, ctx: Context) -> int | None:
    return ctx.size(window) if ctx.params["unit"] == "tokens" else None


def _inputs(window: Window, old: Sequence[Entry], tools: Sequence[str], ctx: Context) -> list[Entry]:
    """The calls of old results whose arguments go too: of all tools, or of those named."""
    calls = [window.by_n[e.item.call] for e in old if e.item.call in window.by_n]
    wanted = [c for c in calls if tools == ("yes",) or (tools != ("no",) and c.item.tool in tools)]
    return [c for c in wanted if c.tokens > ctx.count(_EMPTY_INPUT)]


def _clear_thinking(window: Window, ctx: Context) -> Sequence[Edit]:
    keep = ctx.params["keep"]
    if keep is None:
        return []
    groups = [g for g in window.turn_groups if any(e.kind == "thinking" for e in g.entries)]
    turns = {g.id for g in groups[-keep:]}
    asked = request_groups(window)
    gone: list[Entry] = []
    for group in groups:
        solid = any(e.role == "assistant" and e.kind != "thinking" for e in group.entries)
        if group.id not in turns and group.id not in asked and solid:
            gone += [e for e in group.entries if e.kind == "thinking"]
    return dropped(gone, "thinking-cleared", f"older than the last {keep} turns with thinking", {"keep": keep})


def _compact(window: Window, ctx: Context) -> Sequence[Edit]:
    asked = request_groups(window)
    gone = [e for e in window if not e.is_fixed and e.item.group not in asked]
    size = ctx.size(window)
    stub = ctx.params["stub"]
    text = f"[compaction: a summary of {stub:,} tokens would stand here, in place of] {digest_of(window, gone)}"
    evidence = {"tokens": size, "trigger": ctx.params["trigger"], "stub": stub}
    return folded(window, gone, text, "compacted", "before the compaction", evidence, max(stub, ctx.count(text)))


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="clear-tool-uses",
        title="Anthropic: clear old tool results",
        source="Anthropic clear_tool_uses_20250919, documentation and types of anthropic 2.14.0",
        plan=_clear,
        sees=_clear_sees,
        phase="rewrite",
        params=(
            Param("trigger", 100_000, "input tokens, or tool uses, above which it clears", low=0),
            Param("unit", "tokens", "what the trigger counts", choices=("tokens", "uses"), type="choice"),
            Param("keep", 3, "newest tool results that stay", low=0),
            Param("at_least", None, "gate: clear nothing unless this many tokens would go", low=0),
            Param("exclude", "", "tools whose results stay", type="names"),
            Param(
                "inputs", "no", "clear the calls' arguments too: yes, no, or the tools whose arguments go", type="names"
            ),
        ),
        examples=("clear-tool-uses:trigger=100000:keep=3:at_least=20000",),
    ),
    Policy(
        name="clear-thinking",
        title="Anthropic: clear old thinking",
        source="Anthropic clear_thinking_20251015, documentation",
        plan=_clear_thinking,
        phase="rewrite",
        params=(
            Param(
                "keep",
                1,
                "newest assistant turns with thinking whose thinking stays; none for all",
                low=1,
                has_none=True,
            ),
        ),
        monotone=True,
        examples=("clear-thinking:keep=1",),
    ),
    Policy(
        name="anthropic-compact",
        title="Anthropic: compaction at a trigger",
        source="Anthropic compact_20260112, documentation; the summary is a stub of a given size",
        plan=_compact,
        mode="sticky",
        when=above("trigger"),
        params=(
            Param("trigger", 150_000, "input tokens above which it compacts", low=1),
            Param("stub", 2_000, "size of the summary, which is not simulated", low=1),
        ),
        stable_head=True,
        examples=("anthropic-compact:trigger=150000:stub=2000",),
    ),
)
