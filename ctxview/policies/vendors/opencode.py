"""opencode's prune: tool outputs beyond the newest 40,000 tokens of them are cleared, when enough would go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.items import Entry
from ctxview.policies.parts import cleared, kinds_of, parts_of, request_groups, results, user_turns
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_CLEARED: Final = "[Old tool result content cleared]"


def _prune(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    spoken = user_turns(window)
    if len(spoken) < params["turns"]:
        return []
    border = window.messages[spoken[-params["turns"]]].entries[0].pos
    excluded = kinds_of(params, "exclude")
    asked = request_groups(window)
    seen = freed = 0
    marked: list[Entry] = []
    cost = ctx.count(_CLEARED)
    for entry in reversed(results(window)):
        if entry.pos >= border or entry.item.tool in excluded or entry.item.group in asked:
            continue
        size = sum(p.tokens for p in parts_of(window, entry))
        seen += size
        if seen > params["protect"] and size > cost:
            marked.append(entry)
            freed += size
    if freed <= params["minimum"]:
        return []
    evidence = {"protect": params["protect"], "freed": freed}
    reason = f"older than the newest {params['protect']:,} tokens of tool output"
    return [edit for e in reversed(marked) for edit in cleared(window, e, _CLEARED, "pruned", reason, evidence)]


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="opencode-prune",
        title="opencode: prune old tool output",
        source="opencode source: protects 2 user turns and 40,000 tokens, prunes when more than 20,000 would go",
        plan=_prune,
        phase="rewrite",
        mode="sticky",
        params=(
            Param("turns", 2, "newest user turns that stay", low=1),
            Param("protect", 40_000, "tokens of the newest tool output before them that stay", low=0),
            Param("minimum", 20_000, "it prunes only when more tokens than this would go", low=0),
            Param("exclude", "skill", "tools whose output stays", type="names"),
        ),
        examples=("opencode-prune",),
    ),
)
