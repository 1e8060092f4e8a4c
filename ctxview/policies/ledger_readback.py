"""`ledger-readback`: the rows of the ledger come back at the end of the window, so that they stand beside the draft."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.items import Entry
from ctxview.policies.parts import note
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_TITLE: Final = "[ledger]"
_DRAFTING: Final = re.compile(r"\b(draft|write (the|a|up)|section|report|summar|compose)", re.IGNORECASE)


def is_drafting(window: Window) -> bool:
    """Whether the newest request, or the answer before it, speaks of drafting."""
    last = next((e for e in reversed(window.entries) if e.kind == "assistant"), None)
    near: list[Entry] = [e for e in window.request if e.kind != "tool_result"] + ([last] if last else [])
    return any(_DRAFTING.search(e.text()) for e in near)


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    rows = [row for row in ctx.facts.ledger() if row.since <= ctx.turn]
    most = ctx.params["rows"]
    if most is not None:
        rows = rows[-most:]
    if not rows or (ctx.params["when"] == "draft" and not is_drafting(window)):
        return []
    text = "\n".join([_TITLE, *(f"- {row.line}" for row in rows)])
    covers = [n for row in rows for n in row.blocks]
    reason = f"{len(rows):,} rows of the ledger, before what may be a draft"
    return [note("rows", text, "end", None, covers, "read-back", reason, {"rows": len(rows)})]


POLICY = Policy(
    name="ledger-readback",
    title="Read the ledger back",
    source="ours, for findings ledgers",
    plan=plan,
    phase="insert",
    params=(
        Param("when", "always", "on every turn, or when the request or the answer before it speaks of drafting",
              choices=("always", "draft"), type="choice"),
        Param("rows", None, "newest rows that come back; none for all", low=1),
    ),
    may_grow=True,
    saves_size=False,
    examples=("recorded,ledger-readback", "ledger-readback:when=draft:rows=40"),
)  # fmt: skip
