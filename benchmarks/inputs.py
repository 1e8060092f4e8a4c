"""Makes Claude Code sessions of any size whose make-up is that of real ones: about a quarter of the bytes is text that
a model saw, the rest is the client's own copies, progress for the screen and bookkeeping."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

WORDS: Final = tuple(
    line.strip()
    for line in """
    the window of a call holds what was sent and nothing else so a result that was cleared is gone for the model
    while the log still shows it read config value parser queue retry limit token budget session turn block span edit
    cut summary goal constraint denial approval resource file path line error warning test module function class return
    """.replace(" ", "\n").splitlines()
    if line.strip()
)
Record: TypeAlias = dict[str, Any]


def write_session(path: Path, size: int, seed: int = 7) -> Path:
    """Write a session of about `size` bytes to `path`, the same on every run."""
    written = 0
    with path.open("w", encoding="utf-8") as out:
        for record in _Session(random.Random(seed)).records():
            line = json.dumps(record, separators=(",", ":")) + "\n"
            out.write(line)
            written += len(line)
            if written >= size:
                break
    return path


class _Session:
    """One human message, then rounds of an answer, a call and its result, now and then a compaction."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._parent: str | None = None
        self._seconds = 0
        self._prompt = 20_000

    def records(self) -> Iterator[Record]:
        turn = 0
        while True:
            if turn % 12 == 0:
                yield self._line("user", message={"role": "user", "content": self._text(40)})
            yield from self._round(turn)
            self._prompt += 900
            if self._prompt > 160_000:
                yield from self._compaction()
            turn += 1

    def _round(self, turn: int) -> Iterator[Record]:
        path = f"/home/dev/project/src/module_{self._rng.randrange(400)}.py"
        content = self._code(self._rng.randrange(20, 160))
        yield self._answer(turn, {"type": "text", "text": self._text(30)})
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": path}}
        yield self._answer(turn, call)
        above = self._parent
        for _ in range(3):
            data = {"type": "hook_progress", "hookEvent": "PostToolUse", "command": self._text(60)}
            yield self._line("progress", data=data)
        self._parent = above
        result = {"tool_use_id": f"toolu_{turn}", "type": "tool_result", "content": content}
        copy = {"type": "text", "file": {"filePath": path, "content": content, "numLines": 90, "startLine": 1}}
        yield self._line("user", message={"role": "user", "content": [result]}, toolUseResult=copy)

    def _answer(self, turn: int, part: Record) -> Record:
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": self._prompt,
            "output_tokens": 90,
        }
        message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "claude-opus-4-6"}
        message |= {"content": [part], "stop_reason": "tool_use", "usage": usage}  # type: ignore[dict-item]
        return self._line("assistant", message=message, requestId=f"req_{turn}")

    def _compaction(self) -> Iterator[Record]:
        self._prompt = 25_000
        last, self._parent = self._parent, None
        metadata = {"trigger": "auto", "preTokens": 160_000}
        yield self._line("system", subtype="compact_boundary", logicalParentUuid=last, compactMetadata=metadata)
        yield self._line("user", isCompactSummary=True, message={"role": "user", "content": self._text(400)})

    def _line(self, kind: str, **more: Any) -> Record:
        self._seconds += 1
        minutes, seconds = divmod(self._seconds, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        own = str(uuid.UUID(int=self._rng.getrandbits(128)))
        record = {
            "type": kind,
            "uuid": own,
            "parentUuid": self._parent,
            "timestamp": f"2026-01-{1 + days % 28:02d}T{hours:02d}:{minutes:02d}:{seconds:02d}.000Z",
            "isSidechain": False,
            "sessionId": "bench",
            "version": "2.1.0",
            "cwd": "/home/dev/project",
            **more,
        }
        self._parent = own
        return record

    def _text(self, words: int) -> str:
        return " ".join(self._rng.choices(WORDS, k=words)) + f" {self._rng.randrange(10**6)}"

    def _code(self, lines: int) -> str:
        pick, number = self._rng.choice, self._rng.randrange
        return "\n".join(f"{i}\t    {pick(WORDS)}_{pick(WORDS)} = {number(9999)}" for i in range(1, lines))
