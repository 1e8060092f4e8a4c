"""Makes Claude Code sessions of any size whose make-up is that of real ones: about a quarter of the bytes is text that
a model saw, the rest is the client's own copies, progress for the screen and bookkeeping."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = (
    "the window of a call holds what was sent and nothing else so a result that was cleared is gone for the model while "
    "the log still shows it read config value parser queue retry limit token budget session turn block span edit cut "
    "summary goal constraint denial approval resource file path line error warning test module function class return"
).split()


def write_session(path: Path, size: int, seed: int = 7) -> Path:
    """Write a session of about `size` bytes to `path`, the same on every run."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as out:
        written = 0
        for record in _records(rng):
            line = json.dumps(record, separators=(",", ":")) + "\n"
            out.write(line)
            written += len(line)
            if written >= size:
                return path
    return path


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)) + f" {rng.randrange(10**6)}"


def _code(rng: random.Random, lines: int) -> str:
    return "\n".join(
        f"{i}\t    {rng.choice(WORDS)}_{rng.choice(WORDS)} = {rng.randrange(9999)}" for i in range(1, lines)
    )


def _records(rng: random.Random) -> Iterator[dict[str, Any]]:
    """One human message, then rounds of thinking, calls and results, now and then a compaction."""
    parent: str | None = None
    prompt = 20_000
    clock = 0
    for turn in range(10**9):
        base = {
            "isSidechain": False,
            "sessionId": "bench",
            "version": "2.1.0",
            "cwd": "/work/project",
            "userType": "external",
        }

        def line(kind: str, up: str | None, **more: Any) -> tuple[str, dict[str, Any]]:
            nonlocal clock
            clock += 1
            own = str(uuid.UUID(int=rng.getrandbits(128)))
            at = f"2026-01-{1 + clock // 86400 % 28:02d}T{clock // 3600 % 24:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}.000Z"
            return own, {"type": kind, "uuid": own, "parentUuid": up, "timestamp": at, **base, **more}

        if turn % 12 == 0:
            parent, record = line("user", parent, message={"role": "user", "content": _text(rng, 40)})
            yield record
        message_id = f"msg_{turn}"
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": prompt,
            "output_tokens": 90,
        }

        def answer(part: dict[str, Any], up: str | None) -> tuple[str, dict[str, Any]]:
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-6",
                "content": [part],
            }
            return line(
                "assistant", up, message={**message, "stop_reason": "tool_use", "usage": usage}, requestId=f"req_{turn}"
            )

        parent, record = answer({"type": "text", "text": _text(rng, 30)}, parent)
        yield record
        path = f"/work/project/src/module_{rng.randrange(400)}.py"
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": path}}
        parent, record = answer(call, parent)
        yield record
        content = _code(rng, rng.randrange(20, 160))
        for _ in range(3):
            _, progress = line(
                "progress",
                parent,
                data={"type": "hook_progress", "hookEvent": "PostToolUse", "command": _text(rng, 60)},
            )
            yield progress
        result = {"tool_use_id": f"toolu_{turn}", "type": "tool_result", "content": content}
        raw = {"type": "text", "file": {"filePath": path, "content": content, "numLines": 90, "startLine": 1}}
        parent, record = line("user", parent, message={"role": "user", "content": [result]}, toolUseResult=raw)
        yield record
        prompt += 900
        if prompt > 160_000:
            prompt = 25_000
            top, record = line(
                "system", None, subtype="compact_boundary", content="Conversation compacted", logicalParentUuid=parent,
                compactMetadata={"trigger": "auto", "preTokens": 160_000},
            )  # fmt: skip
            yield record
            parent, record = line(
                "user", top, isCompactSummary=True, message={"role": "user", "content": _text(rng, 400)}
            )
            yield record
