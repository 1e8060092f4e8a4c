"""Codex CLI's local compaction: system text, the person's recent messages, and a summary; all else goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit, Replace
from ctxview.policies.items import Entry
from ctxview.policies.parts import digest_of, folded, head_and_tail, request_groups
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_PREFIX: Final = "Another language model started to solve this problem and produced a summary of its work:"


def _when(tokens: int, ctx: Context) -> bool:
    window = ctx.params["window"] or ctx.limit
    return window is not None and tokens > window * float(ctx.params["trigger"])


def _compact(window: Window, ctx: Context) -> Sequence[Edit]:
    asked = request_groups(window)
    left = ctx.params["user"]
    kept: set[int] = set()
    cut: Entry | None = None
    for entry in reversed(window.entries):
        if entry.kind != "user" or entry.item.row.injected or entry.item.group in asked:
            continue
        if entry.tokens > left:
            cut = entry if left > 0 else None
            break
        kept.add(entry.n)
        left -= entry.tokens
    if cut is not None:
        kept.add(cut.n)
    gone = [e for e in window if not e.is_fixed and e.item.group not in asked and e.n not in kept]
    text = f"{_PREFIX}\n{digest_of(window, gone)}"
    evidence = {"tokens": ctx.size(window), "user_tokens": ctx.params["user"]}
    edits = folded(window, gone, text, "compacted", "not a recent message of the person", evidence)
    if edits and cut is not None:
        half = 2 * left  # bytes / 4, half before and half after the cut
        shorter = head_and_tail(cut.text(), half, half, lambda gone: f"…{gone // 4} tokens truncated…")
        if ctx.count(shorter) < cut.tokens:
            edits.append(Replace(cut.n, "truncated", shorter, "truncated", "crosses the room for messages", evidence))
    return edits


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="codex-compact",
        title="Codex CLI: compaction, with a digest",
        source="Codex CLI source, local compaction: recent user messages within 20,000 tokens, and a summary",
        plan=_compact,
        mode="sticky",
        when=_when,
        params=(
            Param("trigger", 0.9, "share of the context size above which it compacts", low=0.0, high=1.0, type="float"),
            Param("user", 20_000, "tokens of the person's newest messages that stay", low=0),
            Param("window", None, "context size in tokens; none for the model's", low=1),
        ),
        examples=("codex-compact:trigger=0.9",),
    ),
)
