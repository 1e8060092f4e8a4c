"""supersede leaves the same readings standing as pydantic-ai-harness's DeduplicateFileReads."""

from __future__ import annotations

import random
import warnings
from typing import Any

from ctxview.annotate import Facts
from ctxview.model import Observation, ResourceChange
from ctxview.policies import parse_stack
from ctxview.replay import replay
from tests.replay.sessions import Script, with_facts

from .transcripts import CASES, needed


async def test_supersede_equals_deduplicate_file_reads() -> None:
    m, test = needed("pydantic_ai.messages"), needed("pydantic_ai.models.test")
    compaction = needed("pydantic_ai_harness.compaction")
    warnings.simplefilter("ignore")

    def file_key(call: Any) -> str | None:
        return None if call.tool_name == "send" else call.args_as_dict()["path"]

    for seed in range(CASES):
        chance = random.Random(seed)
        script = Script()
        script.user("goal")
        theirs: list[Any] = [m.ModelRequest(parts=[m.UserPromptPart("goal")])]
        observations: list[Observation] = []
        changes: list[ResourceChange] = []
        newest: dict[str, int] = {}
        count = 0
        for turn in range(1, chance.randint(1, 12) + 1):
            script.call()
            batch = []
            for _ in range(chance.choice((1, 1, 2, 3))):
                count += 1
                tool, key = chance.choice(("read", "write", "send")), f"f{chance.randint(0, 3)}"
                batch.append((f"c{count}", tool, key))
            for call_id, tool, key in batch:
                script.use(call_id, tool, f'{{"path": "{key}"}}')
            for call_id, tool, key in batch:
                script.result(call_id, f"content {call_id}", tool=tool)
                n = script.count - 1
                if tool != "send":
                    observations.append(Observation(n, key, "read", turn, turn + 1, content=call_id))
                    if key in newest:
                        changes.append(ResourceChange(newest[key], key, turn + 1, "superseded", n, "read again"))
                    newest[key] = n
            parts = [m.ToolCallPart(tool, {"path": key}, tool_call_id=i) for i, tool, key in batch]
            theirs.append(m.ModelResponse(parts=parts))
            returns = [m.ToolReturnPart(tool, f"content {i}", tool_call_id=i) for i, tool, _ in batch]
            theirs.append(m.ModelRequest(parts=returns))
        script.call()
        source = with_facts(script.view(), (), observations, changes)
        view = replay(source, parse_stack("supersede")).view
        ours = {
            w.block.call_id
            for w in view.window(view.last)
            if w.block.kind == "tool_result" and w.span.form == "verbatim"
        }
        out = await compaction.compact_now(
            compaction.DeduplicateFileReads(file_key=file_key), theirs, model=test.TestModel()
        )
        standing = {
            p.tool_call_id
            for message in out
            for p in message.parts
            if isinstance(p, m.ToolReturnPart) and p.content != "[superseded file read]"
        }
        assert ours == standing, seed
        assert isinstance(source.facts, Facts)
