"""Turn groups, and three strategies on them, equal Microsoft Agent Framework's."""

from __future__ import annotations

import logging
import random
from typing import Any

from ctxview.policies.window import Window
from ctxview.replay.prepared import prepared

from .transcripts import CASES, Said, needed, numbers, script_of, transcript, window


def messages(said: list[Said]) -> list[Any]:
    af = needed("agent_framework")
    logging.getLogger("agent_framework").setLevel(logging.ERROR)
    made: list[Any] = []
    for number, one in enumerate(said):
        name = f"m{number}"
        if one.kind in ("system", "user"):
            made.append(af.Message(role=one.kind, contents=[one.text], message_id=name))
        elif one.kind == "answer":
            made.append(af.Message(role="assistant", contents=[one.text], message_id=name))
        elif one.kind == "calls":
            calls = [
                af.Content.from_function_call(call_id=i, name=t, arguments={"path": f}) for i, t, f in one.calls
            ]
            made.append(af.Message(role="assistant", contents=calls, message_id=name))
        else:
            result = af.Content.from_function_result(call_id=one.call_id, result=one.text)
            made.append(af.Message(role="tool", contents=[result], message_id=name))
    return made


def kept(theirs: list[Any]) -> list[int]:
    names = [one.message_id or "" for one in theirs]
    return [int(name[1:]) if name[1:].isdecimal() and name.startswith("m") else -1 for name in names]


def test_turn_groups_are_theirs() -> None:
    compaction = needed("agent_framework._compaction")
    for seed in range(CASES):
        said = transcript(seed)
        view = script_of(said).view()
        shared = prepared(view)
        deltas = shared.base(view, "history").deltas.values()
        entries = [entry for delta in deltas for entry, _ in delta.values() if entry]
        groups = Window(sorted(entries, key=lambda e: e.pos)).groups
        ours = [sorted({int(e.item.row.message.removeprefix("message-")) for e in g.entries}) for g in groups]
        spans = compaction.group_messages(messages(said))
        theirs = [list(range(s["start_index"], s["end_index"] + 1)) for s in spans]
        assert ours == theirs, seed


async def test_sliding_window_is_theirs() -> None:
    compaction = needed("agent_framework._compaction")
    for seed in range(CASES):
        said = transcript(seed)
        keep = random.Random(seed).randint(1, 6)
        view, _ = window(said, f"af-sliding-window:keep={keep}")
        strategy = compaction.SlidingWindowStrategy(keep_last_groups=keep)
        theirs = await compaction.apply_compaction(messages(said), strategy=strategy)
        assert numbers(view) == kept(theirs), seed


async def test_truncation_is_theirs() -> None:
    compaction = needed("agent_framework._compaction")
    for seed in range(CASES):
        said = transcript(seed)
        chance = random.Random(seed)
        most = chance.randint(2, 14)
        target = chance.randint(1, most)
        first = chance.random() < 0.5
        options = f"max={most}:compact_to={target}:first_user={'yes' if first else 'no'}"
        view, _ = window(said, f"af-truncation:{options}")
        strategy = compaction.TruncationStrategy(max_n=most, compact_to=target, preserve_first_user_group=first)
        theirs = await compaction.apply_compaction(messages(said), strategy=strategy)
        assert numbers(view) == kept(theirs), (seed, options)


async def test_tool_result_compaction_writes_the_same_summaries() -> None:
    compaction = needed("agent_framework._compaction")
    for seed in range(CASES):
        said = transcript(seed)
        keep = random.Random(seed).randint(1, 3)
        view, _ = window(said, f"af-tool-result:keep={keep}")
        strategy = compaction.ToolResultCompactionStrategy(keep_last_tool_call_groups=keep)
        theirs = await compaction.apply_compaction(messages(said), strategy=strategy)
        ours = [view.text(w.span.content) for w in view.window(view.last) if w.block.kind == "summary"]
        summaries = [one.text for one in theirs if (one.text or "").startswith("[Tool results: ")]
        assert ours == summaries, (seed, keep)
        assert [n for n in numbers(view) if n >= 0] == [n for n in kept(theirs) if n >= 0], (seed, keep)
