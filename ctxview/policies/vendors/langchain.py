"""LangChain: `trim_messages`, `ClearToolUsesEdit` (it stops once enough is cleared), `SummarizationMiddleware`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit, Replace
from ctxview.policies.parts import (
    above,
    blocks_of,
    cleared,
    digest_of,
    dropped,
    folded,
    kinds_of,
    parts_of,
    request_groups,
    results,
    suffix_that_fits,
)
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Message, Window

_CLEARED: Final = "[cleared]"
_SUMMARY: Final = "Here is a summary of the conversation to date:\n\n"
_TYPES: Final = {"user": "human", "assistant": "ai", "tool": "tool", "system": "system"}


def _trim(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    keeps_system = params["system"] == "keep"
    messages = window.messages if keeps_system else window.all_messages
    fixed = sum(e.tokens for e in window if keeps_system and e.kind == "system")
    in_tokens = params["by"] == "tokens"
    sizes = [m.tokens if in_tokens else 1 for m in messages]
    room = params["max"] - (fixed if in_tokens else 0)
    start = suffix_that_fits(sizes, room)
    wanted = kinds_of(params, "start_on")
    if wanted:
        while start < len(messages) and _type(messages[start]) not in wanted:
            start += 1
    reason = f"older than the last {params['max']:,} {params['by']}"
    evidence = {"max": params["max"], "kept": len(messages) - start}
    return dropped(blocks_of(messages[:start]), "trimmed", reason, evidence)


def _type(message: Message) -> str:
    if any(e.kind == "tool_result" for e in message.entries):
        return "tool"
    return _TYPES[message.role]


def _clear(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    size = ctx.size(window)
    found = results(window)
    old = found[: max(0, len(found) - params["keep"])]
    excluded = kinds_of(params, "exclude")
    cost = ctx.count(_CLEARED)
    freed = 0
    edits: list[Edit] = []
    for entry in old:
        call = window.by_n.get(entry.item.call)
        if call is None or entry.item.tool in excluded:
            continue
        evidence = {"tokens": size, "trigger": params["trigger"]}
        reason = f"not among the {params['keep']} newest results"
        edits += cleared(window, entry, _CLEARED, "cleared", reason, evidence)
        freed += sum(p.tokens for p in parts_of(window, entry)) - cost
        if params["inputs"]:
            edits.append(Replace(call.n, "truncated", "{}", "input-cleared", reason, evidence))
            freed += call.tokens - ctx.count("{}")
        if params["at_least"] > 0 and freed >= params["at_least"]:
            break
    return edits


def _summarize(window: Window, ctx: Context) -> Sequence[Edit]:
    messages = window.messages
    asked = request_groups(window)
    newest = min((i for i, m in enumerate(messages) if any(e.item.group in asked for e in m.entries)), default=0)
    start = min(newest, max(0, len(messages) - ctx.params["keep"]))
    while 0 < start < len(messages) and _type(messages[start]) == "tool":
        start -= 1  # back to the response whose calls these answer
    gone = blocks_of(messages[:start])
    text = _SUMMARY + digest_of(window, gone)
    evidence = {"tokens": ctx.size(window), "trigger": ctx.params["trigger"]}
    return folded(window, gone, text, "summarized", f"older than the last {ctx.params['keep']} messages", evidence)


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="langchain-trim",
        title="LangChain: trim_messages",
        source="langchain-core 1.8.3 trim_messages(strategy='last')",
        plan=_trim,
        params=(
            Param("max", 6, "how much stays", low=0),
            Param("by", "messages", "what max counts", choices=("messages", "tokens"), type="choice"),
            Param("system", "keep", "include_system", choices=("keep", "drop"), type="choice"),
            Param("start_on", "", "kinds of message that may come first", choices=tuple(_TYPES.values()), type="names"),
        ),
        unsafe=True,
        monotone=True,
        examples=("langchain-trim:max=4000:by=tokens:start_on=human",),
    ),
    Policy(
        name="langchain-clear-tool-uses",
        title="LangChain: clear old tool results until enough is gone",
        source="langchain 1.5 ClearToolUsesEdit: at_least stops the clearing, it is no gate",
        plan=_clear,
        phase="rewrite",
        when=above("trigger"),
        params=(
            Param("trigger", 100_000, "tokens above which it clears", low=0),
            Param("keep", 3, "newest results that stay", low=0),
            Param("at_least", 0, "tokens after which it stops; 0 clears all old ones", low=0),
            Param("exclude", "", "tools whose results stay", type="names"),
            Param("inputs", False, "clear the calls' arguments too", type="flag"),
        ),
        examples=("langchain-clear-tool-uses:trigger=50000:keep=3",),
    ),
    Policy(
        name="langchain-summarize",
        title="LangChain: summarization middleware, with a digest",
        source="langchain 1.5 SummarizationMiddleware(trigger=('tokens', n), keep=('messages', n)); off by default",
        plan=_summarize,
        mode="sticky",
        when=above("trigger"),
        params=(
            Param("trigger", 100_000, "tokens above which it summarizes", low=0),
            Param("keep", 20, "newest messages that stay", low=1),
        ),
        stable_head=True,
        examples=("langchain-summarize:trigger=100000:keep=20",),
    ),
)
