"""pin-goal and both AutoGen policies equal autogen-core's contexts, the number in the marker included."""

from __future__ import annotations

import random
from typing import Any

from .transcripts import CASES, Said, needed, numbers, transcript, window


def messages(said: list[Said]) -> list[Any]:
    """One of theirs per message of ours: the number stands in `source` or in the call ids."""
    m, core = needed("autogen_core.models"), needed("autogen_core")
    made: list[Any] = []
    for number, one in enumerate(said):
        if one.kind == "user":
            made.append(m.UserMessage(content=one.text, source=str(number)))
        elif one.kind == "answer":
            made.append(m.AssistantMessage(content=one.text, source=str(number)))
        elif one.kind == "calls":
            calls = [core.FunctionCall(id=i, name=t, arguments="{}") for i, t, _ in one.calls]
            made.append(m.AssistantMessage(content=calls, source=str(number)))
        else:
            result = m.FunctionExecutionResult(content=one.text, call_id=one.call_id, name="t", is_error=False)
            made.append(m.FunctionExecutionResultMessage(content=[result]))
    return made


def kept(everyone: list[Any], theirs: list[Any]) -> list[int]:
    where = {id(one): i for i, one in enumerate(everyone)}
    return [where.get(id(one), -1) for one in theirs]


async def test_pin_goal_equals_head_and_tail_with_a_head_of_one() -> None:
    context = needed("autogen_core.model_context").HeadAndTailChatCompletionContext
    for seed in range(CASES):
        said = transcript(seed, tools=False, system=False)
        n = random.Random(seed).randint(1, 9)
        view, _ = window(said, f"pin-goal:n={n}:marker=Skipped%20%7Bn%7D%20messages.")
        everyone = messages(said)
        theirs = await context(head_size=1, tail_size=n, initial_messages=everyone).get_messages()
        assert numbers(view) == kept(everyone, theirs), seed
        markers = [m.content for m in theirs if m.content.startswith("Skipped")]
        ours = [view.text(w.span.content) for w in view.window(view.last) if w.block.kind == "note"]
        assert ours == markers, seed


async def test_head_and_tail_equals_theirs_with_tools_too() -> None:
    context = needed("autogen_core.model_context").HeadAndTailChatCompletionContext
    for seed in range(CASES):
        said = transcript(seed, system=False)
        chance = random.Random(seed)
        head, tail = chance.randint(1, 4), chance.randint(1, 6)
        view, _ = window(said, f"autogen-head-and-tail:head={head}:tail={tail}")
        everyone = messages(said)
        theirs = await context(head_size=head, tail_size=tail, initial_messages=everyone).get_messages()
        assert numbers(view) == kept(everyone, theirs), (seed, head, tail)


async def test_buffered_equals_theirs() -> None:
    context = needed("autogen_core.model_context").BufferedChatCompletionContext
    for seed in range(CASES):
        said = transcript(seed, system=False)
        n = random.Random(seed).randint(1, 8)
        view, _ = window(said, f"autogen-buffered:n={n}")
        everyone = messages(said)
        theirs = await context(buffer_size=n, initial_messages=everyone).get_messages()
        assert numbers(view) == kept(everyone, theirs), (seed, n)
