"""autogen-core: buffered, and head and tail. Literal: parallel results lose their calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.parts import blocks_of, dropped, note
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Message, Window


def _is_result(message: Message) -> bool:
    return any(e.kind == "tool_result" for e in message.entries)


def _is_calls(message: Message) -> bool:
    return message.role == "assistant" and all(e.kind in ("tool_call", "thinking") for e in message.entries)


def _buffer(window: Window, ctx: Context) -> Sequence[Edit]:
    n = ctx.params["n"]
    messages = window.messages
    kept = messages[-n:]
    if kept and _is_result(kept[0]):
        kept = kept[1:]
    gone = messages[: len(messages) - len(kept)]
    return dropped(blocks_of(gone), "buffered", f"older than the last {n} messages", {"n": n})


def _head_and_tail(window: Window, ctx: Context) -> Sequence[Edit]:
    head, tail = ctx.params["head"], ctx.params["tail"]
    messages = window.messages
    skipped = len(messages) - head - tail
    if skipped <= 0:
        return []
    first, last = messages[:head], messages[-tail:]
    if first and _is_calls(first[-1]):
        first = first[:-1]
    if last and _is_result(last[0]):
        last = last[1:]
    gone = blocks_of(messages[len(first) : len(messages) - len(last)])
    where, ref = ("after", first[-1].entries[-1].n) if first else ("head", None)
    evidence = {"head": head, "tail": tail}
    edits = dropped(gone, "skipped", "between head and tail", evidence)
    numbers = [e.n for e in gone]
    edits.append(note("skipped", f"Skipped {skipped} messages.", where, ref, numbers, "marker", "a marker", evidence))
    return edits


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="autogen-buffered",
        title="AutoGen: buffered",
        source="autogen-core 0.7.5 BufferedChatCompletionContext",
        plan=_buffer,
        params=(Param("n", 10, "newest messages that stay; a leading result goes", low=1),),
        unsafe=True,
        monotone=True,
        examples=("autogen-buffered:n=10",),
    ),
    Policy(
        name="autogen-head-and-tail",
        title="AutoGen: head and tail",
        source="autogen-core 0.7.5 HeadAndTailChatCompletionContext",
        plan=_head_and_tail,
        params=(
            Param("head", 1, "first messages that stay", low=1),
            Param("tail", 6, "newest messages that stay", low=1),
        ),
        unsafe=True,
        may_grow=True,
        monotone=True,
        examples=("autogen-head-and-tail:head=1:tail=6",),
    ),
)
