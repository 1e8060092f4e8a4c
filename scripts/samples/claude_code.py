"""A Claude Code session as a recent client writes it: one line per content block, linked by parentUuid.

Recorded usage grows with what is in the window (`FACTOR` provider tokens per counted token, plus a constant for the
system prompt and tool schemas, which the log never holds), and each call reads from the cache what the one before it
had sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from samples.common import Clock, Ids, Json, arguments_text, lines, tokens

MODEL: Final = "claude-sonnet-4-5-20250929"
VERSION: Final = "2.1.232"
FACTOR: Final = 1.15

Tool: TypeAlias = tuple[str, Json, str]
"""Name, arguments, and the result's text."""


@dataclass(slots=True)
class ClaudeSession:
    sample: str
    clock: Clock
    cwd: str
    constant: int
    """Tokens of system prompt and tool schemas."""
    shared: int
    """The part of `constant` that an earlier session left in the cache."""
    title: str
    branch: str = "main"
    turns: int = 0
    ids: Ids = field(init=False)
    session: str = field(init=False)
    records: list[Json] = field(init=False)
    _parent: str | None = None
    _counted: int = 0
    _cached: int = 0
    _prompt: str = ""

    def __post_init__(self) -> None:
        self.ids = Ids(self.sample)
        self.session = self.ids.uuid("session")
        self._cached = self.shared
        self.records = [
            {"type": "mode", "mode": "normal", "sessionId": self.session},
            {"type": "ai-title", "aiTitle": self.title, "sessionId": self.session},
        ]

    def user(self, text: str) -> None:
        """The person types."""
        self._prompt = self.ids.uuid("prompt")
        self._counted += tokens(text)
        at = self.clock.tick(20, 60)
        self._line("user", at, promptId=self._prompt, message={"role": "user", "content": text})

    def turn(self, text: str, *calls: Tool, failed: bool = False) -> None:
        """One model call: a text, then the tools it asks for, then their results."""
        self.turns += 1
        blocks: list[Json] = [{"type": "text", "text": text}] if text else []
        asked = [(self.ids.short("tool", "toolu_01", 22), *call) for call in calls]
        blocks += [{"type": "tool_use", "id": i, "name": name, "input": given} for i, name, given, _ in asked]
        answered = sum(
            tokens(b["text"]) if b["type"] == "text" else tokens(arguments_text(b["name"], b["input"])) for b in blocks
        )
        message: Json = {
            "model": MODEL,
            "id": self.ids.short("message", "msg_01", 22),
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": self._usage(answered),
        }
        request = self.ids.short("request", "req_01", 22)
        lines_of_calls: list[str] = []
        for block in blocks:
            self._line("assistant", self.clock.tick(), requestId=request, message={**message, "content": [block]})
            if block["type"] == "tool_use":
                lines_of_calls.append(str(self._parent))
        self._counted += answered
        for (i, name, given, result), source in zip(asked, lines_of_calls, strict=True):
            self._result(i, name, given, result, source, failed)

    def compact(self, summary: str, duration: int) -> None:
        """The client's automatic compaction: a boundary without a parent, and the summary as its child."""
        before, kept = self._window(), tokens(summary)
        at, logical, self._parent = self.clock.tick(60, 5), self._parent, None
        after = round(FACTOR * kept)
        metadata = {
            "trigger": "auto",
            "preTokens": before,
            "postTokens": after,
            "cumulativeDroppedTokens": before - after,
            "durationMs": duration,
        }
        extra = {"logicalParentUuid": logical, "subtype": "compact_boundary", "content": "Conversation compacted"}
        self._line("system", at, **extra, isMeta=False, level="info", compactMetadata=metadata)
        flags = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        self._line("user", at, promptId=self._prompt, message={"role": "user", "content": summary}, **flags)
        self._counted, self._cached = kept, self.shared

    def text(self) -> str:
        return lines(self.records)

    def _window(self) -> int:
        return self.constant + round(FACTOR * self._counted)

    def _usage(self, answered: int) -> Json:
        window = self._window()
        fresh = 4 + self.turns % 5
        written = window - self._cached - fresh
        usage: Json = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self._cached,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": round(FACTOR * answered) + 6,
            "service_tier": "standard",
        }
        self._cached = window - fresh
        return usage

    def _result(self, call: str, name: str, given: Json, result: str, source: str, failed: bool) -> None:
        self._counted += tokens(result)
        part: Json = {"tool_use_id": call, "type": "tool_result", "content": result}
        if name == "Bash" or failed:
            part["is_error"] = failed
        self._parent = source
        self._line(
            "user",
            self.clock.tick(1, 4),
            promptId=self._prompt,
            message={"role": "user", "content": [part]},
            toolUseResult=_raw_result(name, given, result),
            sourceToolAssistantUUID=source,
        )

    def _line(self, kind: str, at: str, **fields: Any) -> None:
        record: Json = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            **fields,
            "uuid": self.ids.uuid(),
            "timestamp": at,
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": self.branch,
        }
        self._parent = record["uuid"]
        self.records.append(record)


def _raw_result(name: str, given: Json, result: str) -> Json:
    """What the client keeps for its own screen beside the text that the model read."""
    if name == "Read":
        content = "\n".join(line.split("\t", 1)[-1] for line in result.split("\n"))
        count = content.count("\n") + 1
        file = {
            "filePath": given["file_path"],
            "content": content,
            "numLines": count,
            "startLine": 1,
            "totalLines": count,
        }
        return {"type": "text", "file": file}
    if name == "Bash":
        return {"stdout": result, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    if name == "Write":
        return {"type": "update", "filePath": given["file_path"], "content": given["content"], "structuredPatch": []}
    if name == "Edit":
        return {
            "filePath": given["file_path"],
            "oldString": given["old_string"],
            "newString": given["new_string"],
            "replaceAll": False,
        }
    return {}


def numbered(text: str) -> str:
    """A file as the Read tool shows it."""
    return "\n".join(f"{n}\t{line}" for n, line in enumerate(text.rstrip("\n").split("\n"), 1))
