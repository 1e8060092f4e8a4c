"""Whether a file's head looks like captured requests, and of which API.

A proxy's log counts whatever it speaks: what it mostly speaks only decides under which name it is read.
"""

from __future__ import annotations

from typing import Final

from ctxview.loaders.captures.names import CALL_STAMP
from ctxview.loaders.outline import Outline

_CHAT_MARKS: Final = ("messages.tool_calls", "messages.tool_call_id", "tools.function", "functions", "response.choices")
_FOREIGN: Final = (
    "uuid", "parentUuid", "sessionId", "payload", "kwargs", "trajectory_format", "traj", "conversations", "eval",
    "trajectory", "schema_version", "contents", "span_kind", "resourceSpans", "runs", "observations",
)  # fmt: skip
_OPENAI_PATHS: Final = ("/responses", "/chat/completions")
_REQUEST_ITEMS: Final = ("input.role", "input.type", "input.content")
_OTHER_API: Final = 0.85
"""Confidence of one API's loader in a log that speaks the other: it would read it all the same, under its name."""


def sniff_anthropic(head: bytes, name: str) -> float:
    """Confidence, by the keys seen."""
    seen = Outline(head)
    if seen.any(*_FOREIGN):
        return 0.0
    if log := _log(seen):
        return _OTHER_API if _speaks_openai(seen) else log
    if seen.has("request.messages"):
        return 0.4 if _pairs_of_chat(seen) else 0.85
    if not seen.has("model", "messages.role") or seen.any(*_CHAT_MARKS):
        return 0.0
    if seen.values("messages.role") & {"tool", "developer", "function"}:
        return 0.0
    anthropic = (
        seen.any("system", "tools.input_schema", "messages.content.tool_use_id", "messages.content.cache_control")
        or any("claude" in model for model in seen.values("model"))
        or seen.values("messages.content.type") & {"tool_use", "tool_result", "thinking"}
    )
    return 0.8 if anthropic else 0.0


def sniff_openai(head: bytes, name: str) -> float:
    """Confidence, by the keys seen. Chat bodies on their own are conversations, and another loader's."""
    seen = Outline(head)
    if seen.any(*_FOREIGN):
        return 0.0
    if log := _log(seen):
        return log if _speaks_openai(seen) else _OTHER_API
    if seen.has("request.messages"):
        return 0.85 if _pairs_of_chat(seen) else 0.4
    if seen.has("request.input", "request.model"):
        return 0.85
    if seen.has("model", "messages.role", "response.choices"):
        return 0.8
    if seen.has("scope", "method", "path", "status", "response") and _has_openai_path(seen, "path"):
        return 0.8
    body = seen.has("model", "input") and seen.any(*_REQUEST_ITEMS, "instructions", "previous_response_id")
    foreign = seen.any("messages", "output", "object", "role", "content") or seen.values("type") - {"response.create"}
    return 0.8 if body and not foreign else 0.0


def sniff_litellm(head: bytes, name: str) -> float:
    """Confidence, by the keys seen. Where the head ends inside the messages, a call's time in the name tells."""
    seen = Outline(head)
    if {path for path in seen.paths if "." not in path} == {"messages"} and seen.has("messages.role"):
        return 0.8 if CALL_STAMP.search(name) and head.lstrip()[:1] == b"{" else 0.0
    logged = seen.any("kwargs", "context_window") and seen.any("messages.role", "input.type", "input.role")
    known = ("uuid", "payload", "trajectory_format", "resourceSpans", "span_kind", "request")
    return 0.95 if logged and not seen.any(*known) else 0.0


def _log(seen: Outline) -> float:
    """A proxy's log, whatever it speaks; 0.0 for anything else."""
    if seen.any("packets.request", "packets.path"):
        return 0.95
    if seen.any("request.body", "request.headers") and seen.any("request.url", "request.path", "request.method"):
        return 0.9
    return 0.0


def _speaks_openai(seen: Outline) -> bool:
    paths = ("packets.path", "packets.request.path", "packets.request.url", "request.path", "request.url")
    if any(_has_openai_path(seen, path) for path in paths):
        return True
    bodies = ("packets.request.body", "request.body")
    return any(seen.any(f"{b}.input", f"{b}.messages.tool_calls", f"{b}.tools.function") for b in bodies)


def _has_openai_path(seen: Outline, key: str) -> bool:
    return any(path.split("?")[0].endswith(_OPENAI_PATHS) for path in seen.values(key))


def _pairs_of_chat(seen: Outline) -> bool:
    return seen.any("response.choices", "request.messages.tool_calls", "request.tools.function")
