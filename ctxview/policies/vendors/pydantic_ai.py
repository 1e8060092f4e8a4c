"""pydantic-ai-harness: an oversized answer is clamped to its head and tail. (Its file-read dedup is `supersede`.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit, Replace
from ctxview.policies.parts import head_and_tail
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window


def _clamp(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    edits: list[Edit] = []
    for entry in window:
        if entry.kind != "assistant" or entry.tokens <= params["over"] or entry.form != "verbatim":
            continue
        text = entry.text()

        def marker(removed: int, whole: int = len(text)) -> str:
            return f"[clamped: removed {removed} of {whole} characters]"

        shorter = head_and_tail(text, params["head"], params["tail"], marker)
        if len(shorter) < len(text):
            evidence = {"tokens": entry.tokens, "over": params["over"]}
            reason = f"{entry.tokens:,} tokens in one answer"
            edits.append(Replace(entry.n, "truncated", shorter, "clamped", reason, evidence))
    return edits


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="pydantic-clamp",
        title="pydantic-ai: clamp an oversized answer",
        source="pydantic-ai-harness 0.62.0 ClampOversizedMessages; its threshold has no default, 50,000 is its example",
        plan=_clamp,
        phase="rewrite",
        params=(
            Param("over", 50_000, "tokens of one answer above which it is clamped", low=1),
            Param("head", 2_000, "characters that stay at its start", low=0),
            Param("tail", 2_000, "characters that stay at its end", low=0),
        ),
        idempotent=True,
        monotone=True,
        stable_head=True,
        examples=("pydantic-clamp:over=50000",),
    ),
)
