"""Whether a file's head looks like captured requests."""

from __future__ import annotations

from typing import Final

from ctxview.loaders.outline import Outline

_CHAT_MARKS: Final = ("messages.tool_calls", "messages.tool_call_id", "tools.function", "functions", "response.choices")
_FOREIGN: Final = (
    "uuid", "parentUuid", "sessionId", "payload", "kwargs", "trajectory_format", "traj", "conversations", "eval",
    "trajectory", "schema_version", "contents", "span_kind", "resourceSpans", "runs", "observations",
)  # fmt: skip


def sniff(head: bytes, name: str) -> float:
    """Confidence, by the keys seen. A proxy's log counts whatever API it speaks: the loader names other dialects."""
    seen = Outline(head)
    if seen.any(*_FOREIGN):
        return 0.0
    if seen.any("packets.request", "packets.path"):
        return 0.95
    if seen.any("request.body", "request.headers") and seen.any("request.url", "request.path", "request.method"):
        return 0.9
    if seen.has("request.messages"):
        return 0.4 if seen.any("response.choices", "request.messages.tool_calls", "request.tools.function") else 0.85
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
