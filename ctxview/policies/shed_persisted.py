"""`shed-persisted`: compaction drops only what already lives elsewhere: in the ledger, in a file that was written, or
behind a path or URL that stays in the window with its call.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.policies.edits import Edit, Replace
from ctxview.policies.items import Entry
from ctxview.policies.parts import above, cleared, request_groups, results
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.supersede import without_content
from ctxview.policies.window import Window


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    excess = ctx.size(window) - int(ctx.params["max"] * ctx.params["target"])
    asked = request_groups(window)
    noted = {n: row for row in ctx.facts.ledger() if row.since <= ctx.turn for n in row.blocks}
    firsts = {e.n for e in results(window)}
    edits: list[Edit] = []
    for entry in window:
        if excess <= 0:
            break
        if entry.item.group in asked or entry.form != "verbatim" or ctx.pins(entry):
            continue
        where = _lives_in(entry, ctx, window)
        if entry.kind == "tool_call" and (entry.n in noted or where):
            place = f"in {where}" if where else "in the ledger"
            text = without_content(entry.text(), f"[persisted {place}]")
            form = "truncated"
        elif entry.n in firsts and where:
            text, form = f"[shed: {where} can be read again]", "pointer"
        else:
            continue
        cost = ctx.count(text)
        if cost >= entry.tokens:
            continue
        reason, evidence = f"lives on in {where or 'the ledger'}", {"tokens": entry.tokens, "where": where or "ledger"}
        if form == "truncated":
            edits.append(Replace(entry.n, "truncated", text, "shed", reason, evidence, cost))
        else:
            edits += cleared(window, entry, text, "shed", reason, evidence, "pointer")
        excess -= entry.tokens - cost
    return edits


def _lives_in(entry: Entry, ctx: Context, window: Window) -> str | None:
    """The file, record or URL that still holds a block's content, as far as the session shows."""
    changed = {c.key for c in ctx.facts.changes(entry.n) if c.since <= ctx.turn}
    for row in ctx.facts.observations(entry.n):
        if row.key is None or row.since > ctx.turn or row.key in changed:
            continue
        if entry.kind == "tool_call" and row.effect == "write":
            return row.key
        if entry.kind == "tool_result" and row.effect == "read" and entry.item.call in window.by_n:
            return row.key
    return None


POLICY = Policy(
    name="shed-persisted",
    title="Drop only what lives elsewhere",
    source="ours, for findings ledgers; Manus: compression must be restorable",
    plan=plan,
    mode="sticky",
    when=above("max", "trigger"),
    params=(
        Param("max", 100_000, "tokens that a window should keep to", low=1),
        Param("trigger", 0.8, "share of max above which it sheds", low=0.0, high=1.0, type="float"),
        Param("target", 0.6, "share of max down to which it sheds, oldest first", low=0.0, high=1.0, type="float"),
    ),
    stable_head=True,
    examples=("shed-persisted:max=100000",),
)
