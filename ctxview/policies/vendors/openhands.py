"""OpenHands: the event condensers of V0 (recent, amortized, masking) and the SDK's summarizing condenser.

An event is a wire message here. V0's are literal and break pairing; the SDK cuts at legal points only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.parts import blocks_of, cleared, digest_of, dropped, folded, request_groups, results
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.window import Message, Window

_MASKED: Final = "<MASKED>"


def _recent(window: Window, ctx: Context) -> Sequence[Edit]:
    first, most = ctx.params["first"], ctx.params["max"]
    messages = window.messages
    tail = max(0, most - min(first, len(messages)))
    gone = messages[first : max(first, len(messages) - tail)]
    return dropped(blocks_of(gone), "forgotten", f"neither first {first} nor newest", {"first": first, "max": most})


def _amortized(window: Window, ctx: Context) -> Sequence[Edit]:
    first, most = ctx.params["first"], ctx.params["max"]
    messages = window.messages
    if len(messages) <= most:
        return []
    tail = most // 2 - min(first, len(messages))
    gone = messages[first : len(messages) - tail] if tail > 0 else messages[first:]
    return dropped(blocks_of(gone), "forgotten", f"more than {most} events: half stay", {"max": most})


def _mask(window: Window, ctx: Context) -> Sequence[Edit]:
    keep = ctx.params["window"]
    messages = window.messages
    inside = {e.n for m in messages[-keep:] for e in m.entries}
    edits: list[Edit] = []
    cost = ctx.count(_MASKED)
    for entry in results(window):
        if entry.n not in inside and entry.tokens > cost:
            edits += cleared(window, entry, _MASKED, "masked", f"before the last {keep} events", {"window": keep})
    return edits


def _condense(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    messages = window.messages
    groups = [g for g in window.groups if not g.is_fixed]
    too_many = len(messages) > params["max"]
    too_large = params["tokens"] is not None and ctx.size(window) > params["tokens"]
    if not (too_many or too_large):
        return []
    tail = len(messages)
    if too_many:
        tail = params["max"] // 2 - params["first"] - 1
    if too_large:
        tail = min(tail, _tail(messages[params["first"] :], ctx.size(window) - params["tokens"] // 2))
    tail = max(1, tail)
    head = messages[: params["first"]]
    last = messages[-tail:]
    kept = {e.item.group for m in (*head, *last) for e in m.entries} | request_groups(window)
    gone = [e for g in groups if g.id not in kept for e in g.entries]
    forgotten = len([m for m in messages if all(e.item.group not in kept for e in m.entries)])
    if forgotten < params["progress"] * len(messages):
        return []
    evidence = {"events": len(messages), "max": params["max"], "tokens": ctx.size(window)}
    return folded(window, gone, digest_of(window, gone), "condensed", "between the first events and the tail", evidence)


def _condense_sees(window: Window, ctx: Context) -> int | None:
    return None if ctx.params["tokens"] is None else ctx.size(window)


def _tail(messages: Sequence[Message], excess: int) -> int:
    """How many of the newest messages can stay when the others have to come to more than `excess` tokens."""
    sizes = accumulate(m.tokens for m in messages)
    return len(messages) - next((i for i, size in enumerate(sizes, 1) if size > excess), len(messages))


def _check(params: Params) -> str | None:
    return None if params["first"] < params["max"] // 2 else f"first={params['first']} is not below half of max"


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="openhands-recent",
        title="OpenHands V0: recent events",
        source="OpenHands V0 RecentEventsCondenser",
        plan=_recent,
        params=(
            Param("first", 1, "first events that stay", low=0),
            Param("max", 10, "events that stay in all", low=1),
        ),
        unsafe=True,
        monotone=True,
        examples=("openhands-recent:first=1:max=10",),
    ),
    Policy(
        name="openhands-amortized",
        title="OpenHands V0: amortized forgetting",
        source="OpenHands V0 AmortizedForgettingCondenser",
        plan=_amortized,
        mode="sticky",
        check=_check,
        params=(
            Param("first", 0, "first events that stay", low=0),
            Param("max", 100, "events above which half are forgotten", low=2),
        ),
        unsafe=True,
        monotone=True,
        stable_head=True,
        examples=("openhands-amortized:max=100",),
    ),
    Policy(
        name="openhands-masking",
        title="OpenHands V0: observation masking",
        source="OpenHands V0 ObservationMaskingCondenser",
        plan=_mask,
        phase="rewrite",
        params=(Param("window", 5, "newest events whose observations stay", low=1),),
        monotone=True,
        examples=("openhands-masking:window=5",),
    ),
    Policy(
        name="openhands-condenser",
        title="OpenHands SDK: summarizing condenser, with a digest",
        source="OpenHands SDK LLMSummarizingCondenser at 611629e; its default agent uses max 80 and first 4",
        plan=_condense,
        sees=_condense_sees,
        mode="sticky",
        check=_check,
        params=(
            Param("max", 240, "events above which it condenses to half", low=4),
            Param("first", 2, "first events that stay", low=0),
            Param("tokens", None, "tokens above which it condenses too", low=1),
            Param("progress", 0.1, "least share of the events that has to go", low=0.0, high=1.0, type="float"),
        ),
        stable_head=True,
        examples=("openhands-condenser:max=80:first=4",),
    ),
)
