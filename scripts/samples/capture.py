"""Captured Anthropic Messages requests: what a naive agent loop sent, one request and response a line.

The loop here is the one that breaks in practice: a list of messages that only grows, of which each request takes the
last few. Nothing repairs a result that lost its call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from samples.common import Clock, Ids, Json, arguments_text, tokens

MODEL: Final = "claude-sonnet-4-5-20250929"
FRAMING: Final = 3
"""Tokens that one message costs beyond its text."""


@dataclass(slots=True)
class NaiveLoop:
    sample: str
    clock: Clock
    system: str
    keep: int
    """How many of the last messages a request takes; the system prompt comes on top."""
    factor: float
    """Provider's tokens per counted token."""
    max_tokens: int = 1024
    history: list[Json] = field(default_factory=list)
    records: list[Json] = field(default_factory=list)
    ids: Ids = field(init=False)

    def __post_init__(self) -> None:
        self.ids = Ids(self.sample)

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def turn(self, text: str, *calls: tuple[str, Json, str, bool]) -> None:
        """One model call on the window. `calls` are name, arguments, result, is_error of the tools it asks for.

        The loop appends every result as a message of its own.
        """
        window = self.history[-self.keep :]
        at = self.clock.tick(20, 40)
        asked = [(self.ids.short("tool", "toolu_01", 22), *call) for call in calls]
        content: list[Json] = [{"type": "text", "text": text}] if text else []
        content += [{"type": "tool_use", "id": i, "name": name, "input": given} for i, name, given, _, _ in asked]
        message = {"role": "assistant", "content": content}
        self.records.append(
            {"timestamp": at, "request": self._request(window), "response": self._response(window, content)}
        )
        self.history.append(message)
        for i, _, _, result, failed in asked:
            part: Json = {"type": "tool_result", "tool_use_id": i, "content": result}
            if failed:
                part["is_error"] = True
            self.history.append({"role": "user", "content": [part]})

    def _request(self, window: list[Json]) -> Json:
        return {"model": MODEL, "max_tokens": self.max_tokens, "system": self.system, "messages": list(window)}

    def _response(self, window: list[Json], content: list[Json]) -> Json:
        sent = tokens(self.system) + sum(message_tokens(message) for message in window)
        return {
            "id": self.ids.short("message", "msg_01", 22),
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": content,
            "stop_reason": "tool_use" if content[-1]["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": round(self.factor * sent) + FRAMING * (len(window) + 1),
                "cache_creation_input_tokens": 0,  # prompts this short are not cached
                "cache_read_input_tokens": 0,
                "output_tokens": round(self.factor * message_tokens({"content": content})) + FRAMING,
            },
        }


def message_tokens(message: Json) -> int:
    content: str | list[Json] = message["content"]
    if isinstance(content, str):
        return tokens(content)
    return sum(tokens(part_text(part)) for part in content)


def part_text(part: Json) -> str:
    if part["type"] == "tool_use":
        return arguments_text(part["name"], part["input"])
    text: Any = part.get("text") or part.get("content") or ""
    return str(text)
