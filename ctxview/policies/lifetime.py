"""`lifetime`: blocks live for a number of turns, or until the person sets the next task.

Tool results that expire leave a line behind, so that their calls keep a result; other blocks go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.parts import cleared, dropped, kinds_of, request_groups, results
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_EXPIRED: Final = "[expired after {ttl} turns]"
_KINDS: Final = ("tool_result", "note", "summary", "image", "thinking", "assistant", "user")


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    if params["scope"] == "global":
        return []
    ttl: int = params["ttl"]
    kinds = [k for k in kinds_of(params, "kinds") if k in _KINDS]
    asked = request_groups(window)
    task = max((e.item.turn for e in window if e.item.row.human), default=0)
    edits: list[Edit] = []
    text = _EXPIRED.format(ttl=ttl)
    cost = ctx.count(text)
    firsts = {e.n for e in results(window)}
    gone = []
    for entry in window:
        age = ctx.turn - 1 - entry.item.turn
        ended = age >= ttl and (params["scope"] == "session" or entry.item.turn < task)
        if not ended or entry.kind not in kinds or entry.item.group in asked or ctx.pins(entry):
            continue
        if entry.kind != "tool_result":
            gone.append(entry)
        elif entry.n in firsts and entry.tokens > cost:
            edits += cleared(window, entry, text, "expired", f"{age:,} turns old", {"age": age, "ttl": ttl})
    return edits + dropped(gone, "expired", f"older than {ttl:,} turns", {"ttl": ttl})


POLICY = Policy(
    name="lifetime",
    title="Blocks with a time to live",
    source="ours, for long sessions",
    plan=plan,
    phase="rewrite",
    params=(
        Param("ttl", 20, "turns that a block lives", low=1),
        Param("scope", "session", "`task`: it also takes a new task of the person; `global`: nothing expires",
              choices=("session", "task", "global"), type="choice"),
        Param("kinds", "tool_result+note", "kinds of blocks that expire; pinned ones never do", type="names"),
    ),
    saves_size=False,
    monotone=True,
    examples=("lifetime:ttl=20", "lifetime:ttl=5:scope=task:kinds=tool_result"),
)  # fmt: skip
