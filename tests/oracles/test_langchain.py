"""keep-last-n, langchain-trim, pinned-rolling and langchain-clear-tool-uses equal LangChain's own."""

from __future__ import annotations

import random
from typing import Any

from ctxview.annotate import Facts
from ctxview.model import Pin

from .transcripts import CASES, Said, needed, numbers, transcript, window


def messages(said: list[Said]) -> list[Any]:
    m = needed("langchain_core.messages")
    made: list[Any] = []
    for number, one in enumerate(said):
        name = f"m{number}"
        if one.kind == "system":
            made.append(m.SystemMessage(one.text, id=name))
        elif one.kind == "user":
            made.append(m.HumanMessage(one.text, id=name))
        elif one.kind == "answer":
            made.append(m.AIMessage(one.text, id=name))
        elif one.kind == "calls":
            calls = [{"name": t, "args": {"path": f}, "id": i, "type": "tool_call"} for i, t, f in one.calls]
            made.append(m.AIMessage("", id=name, tool_calls=calls))
        else:
            made.append(m.ToolMessage(one.text, tool_call_id=one.call_id, name=one.tool, id=name))
    return made


def size(one: Any) -> int:
    """Words, as our side counts them: a call's arguments are two."""
    return len(str(one.content).split()) + 2 * len(getattr(one, "tool_calls", ()))


def total(them: list[Any]) -> int:
    return sum(size(one) for one in them)


def kept(them: list[Any]) -> list[int]:
    return [int(one.id[1:]) for one in them]


def test_keep_last_n_equals_trim_messages() -> None:
    trim = needed("langchain_core.messages.utils").trim_messages
    for seed in range(CASES):
        said = transcript(seed)
        n = random.Random(seed).randint(1, 8)
        view, _ = window(said, f"keep-last-n:n={n}:system=drop")
        theirs = trim(messages(said), max_tokens=n, token_counter=len, strategy="last")
        assert numbers(view) == kept(theirs), seed


def test_keep_last_n_tokens_equals_trim_messages() -> None:
    trim = needed("langchain_core.messages.utils").trim_messages
    for seed in range(CASES):
        said = transcript(seed)
        n = random.Random(seed).randint(1, 150)
        view, _ = window(said, f"keep-last-n:n={n}:by=tokens:system=drop")
        theirs = trim(messages(said), max_tokens=n, token_counter=total, strategy="last")
        assert numbers(view) == kept(theirs), (seed, n)


def test_langchain_trim_equals_trim_messages_with_its_options() -> None:
    trim = needed("langchain_core.messages.utils").trim_messages
    for seed in range(CASES):
        said = transcript(seed)
        chance = random.Random(seed)
        n = chance.randint(4, 150)
        start = chance.choice(("", "human", "human+ai"))
        options = f":start_on={start}" if start else ""
        view, _ = window(said, f"langchain-trim:max={n}:by=tokens{options}")
        theirs = trim(
            messages(said), max_tokens=n, token_counter=total, strategy="last", include_system=True,
            start_on=tuple(start.split("+")) if start else None,
        )  # fmt: skip
        assert numbers(view) == kept(theirs), (seed, n, start)


def test_pinned_rolling_equals_pins_and_trim_messages_of_the_rest() -> None:
    trim = needed("langchain_core.messages.utils").trim_messages
    compared = 0
    for seed in range(3 * CASES):
        said = transcript(seed, tools=False, system=False)
        chance = random.Random(seed)
        pinned = [i for i in range(len(said) - 1) if chance.random() < 0.15]
        everyone = messages(said)
        held = total([everyone[i] for i in pinned])
        budget = chance.randint(5, 200)
        rest = [m for i, m in enumerate(everyone) if i not in pinned]
        if held + size(everyone[-1]) > budget:
            continue  # the named error, or the guard that keeps the newest request
        facts = Facts(tuple(Pin(i, "user", "stated", "test", 1, priority=1) for i in pinned))
        view, _ = window(said, f"pinned-rolling:budget={budget}", facts=facts)
        theirs = trim(rest, max_tokens=budget - held, token_counter=total, strategy="last")
        assert numbers(view) == [*pinned, *kept(theirs)], seed
        compared += 1
    assert compared >= CASES


def test_clear_tool_uses_that_stops_equals_clear_tool_uses_edit() -> None:
    edit = needed("langchain.agents.middleware.context_editing").ClearToolUsesEdit
    fired = 0
    for seed in range(CASES):
        said = transcript(seed)
        chance = random.Random(seed)
        trigger, keep = chance.randint(10, 200), chance.randint(0, 4)
        at_least = chance.choice((0, 20, 60))
        excluded = chance.choice((None, "bash"))
        options = f"trigger={trigger}:keep={keep}:at_least={at_least}" + (f":exclude={excluded}" if excluded else "")
        view, _ = window(said, f"langchain-clear-tool-uses:{options}")
        theirs = messages(said)
        before = total(theirs)
        edit(
            trigger=trigger, keep=keep, clear_at_least=at_least, exclude_tools=[excluded] if excluded else (),
        ).apply(theirs, count_tokens=total)  # fmt: skip
        if total(theirs) > before:
            continue  # ours would be a no-op: it would grow
        cleared = [i for i, one in enumerate(theirs) if one.content == "[cleared]"]
        rows = {w.block.message: w for w in view.window(view.last)}
        ours = [i for i in range(len(said)) if rows[f"message-{i}"].span.form == "placeholder"]
        assert ours == cleared, (seed, options)
        fired += bool(cleared)
    assert fired > CASES // 4
