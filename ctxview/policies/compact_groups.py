"""`compact-groups`: compaction by turn group, before the limit, with what must never be lost.

System text, goal, constraints, approvals and denials stay where they stand, whole groups go, a digest stands before the
tail, so that the head keeps its bytes from one compaction to the next. Pins are capped: above their share of the budget
the weakest go first, the oldest of these first, and their going has a rule of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ctxview.policies.digest import KEY, is_digest, tally
from ctxview.policies.edits import Drop, Edit, Insert
from ctxview.policies.facts import PIN_KINDS
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.window import Group, Window

_PINS: Final = "system+goal+constraint+denial+approval+preference+user"
_ALWAYS: Final = ("goal", "system")
"""Pins that no cap evicts."""


def _trigger(tokens: int, ctx: Context) -> bool:
    return tokens > float(ctx.params["max"] * ctx.params["trigger"])


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    groups = [g for g in window.groups if not g.is_fixed]
    pinned, evicted = _pinned(groups, ctx)
    fixed = sum(e.tokens for e in window if e.is_fixed) + ctx.overhead
    target = int(params["max"] * params["trigger"])
    turns = [i for i, g in enumerate(groups) if g.is_turn]
    if not turns:
        return []
    keep = min(params["keep"], len(turns))
    asked = {e.item.group for e in window.request}
    newest = min((i for i, g in enumerate(groups) if g.id in asked), default=len(groups))
    while True:
        start = min(turns[-keep], newest)
        kept = [g for i, g in enumerate(groups) if i >= start or g.id in pinned]
        if keep == 1 or fixed + sum(g.tokens for g in kept) <= target:
            break
        keep -= 1
    gone = {e.n: e for i, g in enumerate(groups) if i < start and g.id not in pinned for e in g.entries}
    if not any(not is_digest(e) for e in gone.values()):
        return []
    evidence: dict[str, Any] = {"tokens": window.tokens + ctx.overhead, "max": params["max"], "kept_groups": keep}
    edits: list[Edit] = []
    for n, entry in gone.items():
        rule = "pin-evicted" if entry.item.group in evicted else "older-digest" if is_digest(entry) else "compacted"
        edits.append(Drop(n, rule, _reason(rule, keep), evidence))
    denials = sum(
        ctx.is_pinned(e, ("denial",)) for i, g in enumerate(groups) if i < start and g.id in pinned for e in g.entries
    )
    text = tally(window, gone).text(denials)
    first = groups[start].first
    edits.append(
        Insert(KEY, text, "before", first.n, "user", "summary", tuple(gone), "digest",
               f"stands for {len(gone):,} blocks", evidence)
    )  # fmt: skip
    return edits


def _reason(rule: str, keep: int) -> str:
    if rule == "pin-evicted":
        return "pinned, but the pins are over their cap and this one is the weakest"
    if rule == "older-digest":
        return "the new digest stands for it too"
    return f"older than the last {keep} turn groups"


def _pinned(groups: Sequence[Group], ctx: Context) -> tuple[set[int], set[int]]:
    """Groups that stay for what they hold, and those that the cap takes from them."""
    kinds = tuple(str(ctx.params["pins"]).split("+"))
    strength: dict[int, int] = {}
    always: set[int] = set()
    for group in groups:
        for entry in group.entries:
            for pin in ctx.pins(entry):
                if pin.kind in kinds:
                    strength[group.id] = max(strength.get(group.id, 0), pin.priority)
                    if pin.kind in _ALWAYS:
                        always.add(group.id)
    cap = int(ctx.params["max"] * ctx.params["pin-cap"])
    sizes = {g.id: g.tokens for g in groups if g.id in strength}
    total = sum(sizes.values())
    evicted: set[int] = set()
    for group_id in sorted(sizes, key=lambda g: (strength[g], g)):
        if total <= cap:
            break
        if group_id not in always:
            evicted.add(group_id)
            total -= sizes[group_id]
    return set(sizes) - evicted, evicted




def _budget(params: Params) -> int | None:
    return int(params["max"])


POLICY = Policy(
    name="compact-groups",
    title="Compaction by turn group",
    source="ours: compaction that loses no goal, constraint or denial",
    plan=plan,
    mode="sticky",
    when=_trigger,
    budget=_budget,
    params=(
        Param("max", 2000, "tokens a window may have", low=100),
        Param("trigger", 0.8, "share of max above which it compacts", low=0.1, high=1.0, type="float"),
        Param("keep", 2, "newest turn groups that stay, fewer when they do not fit", low=1),
        Param("pins", _PINS, "kinds of pins that stay", choices=PIN_KINDS, type="names"),
        Param("pin-cap", 0.5, "share of max that pins may take", low=0.0, high=1.0, type="float"),
    ),
    stable_head=True,
    examples=("compact-groups:max=2000:trigger=0.8:keep=2",),
)
