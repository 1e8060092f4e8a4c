"""`pinned-rolling`: pinned blocks first and never evicted; the rest leaves oldest first while it is too much.

The outcome is the pins followed by the longest run of newest turn groups that fits the rest of the budget. The budget
is for the conversation: system text, tool schemas and what was never logged are not in it. Pins that alone exceed it
are an error that names them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.policies.edits import Edit, Fail, Move
from ctxview.policies.facts import PIN_KINDS
from ctxview.policies.parts import dropped, kinds_of, pinned_groups, suffix_that_fits
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.window import Window


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    budget: int = params["budget"]
    groups = [g for g in window.groups if not g.is_fixed]
    pinned = pinned_groups(groups, ctx, kinds_of(params, "pins"))
    pins = [g for g in groups if g.id in pinned]
    rolling = [g for g in groups if g.id not in pinned]
    held = sum(g.tokens for g in pins)
    start = suffix_that_fits([g.tokens for g in rolling], budget - held)
    edits: list[Edit] = []
    if held > budget:
        edits.append(Fail("pins", budget, held, tuple(e.n for g in pins for e in g.entries)))
    evidence = {"budget": budget, "pinned": held}
    reason = f"oldest, while pins and the rest exceed {budget:,} tokens"
    edits += dropped([e for g in rolling[:start] for e in g.entries], "evicted", reason, evidence)
    if params["order"] == "first" and start < len(rolling):
        before = rolling[start].first
        late = [e for g in pins for e in g.entries if e.pos > before.pos]
        edits += [Move(e.n, "before", before.n, "pinned-first", "pinned blocks come first", evidence) for e in late]
    return edits


def _budget(params: Params) -> int | None:
    return int(params["budget"])


POLICY = Policy(
    name="pinned-rolling",
    title="Pinned and rolling memory",
    source="ours, for long sessions; the rolling part equals langchain-core 1.8 trim_messages(strategy='last')",
    plan=plan,
    budget=_budget,
    counts="memory",
    params=(
        Param("budget", 2048, "tokens of the conversation", low=1),
        Param("pins", "system+goal+constraint+preference+workflow+denial+user", "kinds of pins that stay",
              choices=PIN_KINDS, type="names"),
        Param("order", "first", "pins before everything else, or where they stand", choices=("first", "place"),
              type="choice"),
    ),
    reorders=True,
    idempotent=True,
    examples=("pinned-rolling:budget=1500", "pinned-rolling:budget=1500:order=place"),
)  # fmt: skip
