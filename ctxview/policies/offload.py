"""`offload`: a large result stays outside. A handle and its first lines enter; the agent can read the part it needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.items import Entry
from ctxview.policies.parts import cleared, results
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

HANDLE: Final = "[offloaded: {tokens} tokens, {lines} lines, kept as {id}; read the part you need]"


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    limit: int = ctx.params["over"]
    edits: list[Edit] = []
    for entry in results(window):
        if entry.tokens <= limit:
            continue
        lines = ctx.params["lines"]
        text, size = ctx.once(("offload", entry.n, entry.content, lines), partial(_pointer, entry, lines))
        if size < entry.tokens:
            reason = f"{entry.tokens:,} tokens, more than {limit:,}"
            evidence = {"tokens": entry.tokens, "over": limit}
            edits += cleared(window, entry, text, "offloaded", reason, evidence, "pointer")
    return edits


def _pointer(entry: Entry, most: int) -> str:
    lines = entry.text().splitlines()
    handle = HANDLE.format(tokens=entry.tokens, lines=len(lines), id=entry.item.id)
    return "\n".join([*(line[:400] for line in lines[:most]), handle])


POLICY = Policy(
    name="offload",
    title="Large results stay outside",
    source="ours; langchain deepagents 0.x writes results over 20,000 tokens to files",
    plan=plan,
    phase="rewrite",
    params=(
        Param("over", 2000, "tokens above which a result stays outside", low=1),
        Param("lines", 5, "first lines that enter", low=0),
    ),
    idempotent=True,
    monotone=True,
    stable_head=True,
    examples=("offload:over=2000:lines=5",),
)
