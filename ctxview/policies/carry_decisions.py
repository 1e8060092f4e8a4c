"""`carry-decisions`: a trim whose marker is true. What was decided, laid down or left open in the dropped messages
stands behind it verbatim, each as an item of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.parts import blocks_of, dropped, kinds_of, note
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_MARKER: Final = "[{n} earlier messages dropped; {m} things settled or left open in them follow]"


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    n: int = ctx.params["n"]
    messages = window.messages
    if len(messages) <= n + 1:
        return []
    tail = len(messages) - n
    goal = next((i for i, m in enumerate(messages) if any(ctx.is_pinned(e, ("goal",)) for e in m.entries)), 0)
    gone = [m for i, m in enumerate(messages[:tail]) if i != goal]
    entries = blocks_of(gone)
    kinds = kinds_of(ctx.params, "kinds")
    carried = []
    for entry in entries:
        for index, pin in enumerate(p for p in ctx.pins(entry) if p.kind in kinds):
            carried.append((entry.n, index, pin.kind, pin.quote or entry.item.text()))
    where, ref = ("after", messages[goal].entries[-1].n) if goal < tail else ("head", None)
    numbers = [e.n for e in entries]
    marker = _MARKER.format(n=len(gone), m=len(carried))
    edits = dropped(entries, "between-goal-and-tail", f"neither the goal nor among the last {n:,} messages", {"n": n})
    evidence = {"dropped": len(gone), "carried": len(carried)}
    edits.append(note("marker", marker, where, ref, numbers, "marker", "stands for what was dropped", evidence))
    for block, index, kind, text in carried:
        reason = f"a {kind} of a dropped message, in its own words"
        edits.append(
            note(f"item-{block}-{index}", f"{kind}: {text}", where, ref, (block,), "carried", reason, {"kind": kind})
        )
    return edits


POLICY = Policy(
    name="carry-decisions",
    title="Goal, what was settled, and the last N messages",
    source="ours, against context collapse",
    plan=plan,
    params=(
        Param("n", 6, "how many messages stay besides the goal", low=1),
        Param("kinds", "decision+constraint+preference+question+denial+approval+user", "kinds of pins that are carried",
              type="names"),
    ),
    may_grow=True,
    monotone=True,
    examples=("carry-decisions:n=6",),
)  # fmt: skip
