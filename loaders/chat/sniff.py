"""Whether a file's head looks like plain chat messages."""

from __future__ import annotations

from typing import Final

from ctxview.loaders.chat.conversations import ID_KEYS, REQUEST_KEYS
from ctxview.loaders.outline import Outline

_FOREIGN: Final = (
    "uuid", "parentUuid", "sessionId", "payload", "kwargs", "conversations", "eval", "schema_version", "contents",
    "request", "packets", "span_kind", "resourceSpans", "observations", "parts", "messages.parts", "messages.info",
    "in_context_message_indices", "agents", "message", "kind", "action", "observation", "source",
    "projectHash", "model_responses", "history", "steps", "trajectory", "events", "child_run_ids", "run_type",
    "samples", "$schemaVersion", "record_type", "instructions",
)  # fmt: skip
_PLAIN: Final = frozenset({
    *ID_KEYS, *REQUEST_KEYS, "messages", "model", "system", "metadata", "user", "policy", "keep", "title", "created",
    "created_at", "updated_at", "timestamp",
})  # fmt: skip
"""Top-level keys of an object that is a conversation and nothing more."""
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def sniff(head: bytes, name: str) -> float:
    """Confidence, by the keys seen; low for `messages` among keys of an unknown program."""
    seen = Outline(head)
    if any(mode.startswith("mini-swe-agent") for mode in seen.values("trajectory_format")):
        return 0.95
    if seen.has("info.model_stats") and seen.any("info.config", "info.mini_version", "messages.extra"):
        return 0.9
    if seen.has("task_id") and seen.any("traj", "ticks.agent_chunk"):
        return 0.95
    if seen.has("task_id", "info", "reward") and seen.is_array:
        return 0.8
    if seen.any(*_FOREIGN) or seen.has("session_id", "type"):
        return 0.0
    if seen.has("role", "content"):
        return 0.7 if seen.values("role") & _ROLES else 0.0
    if seen.has("messages.role") and seen.values("messages.role") & _ROLES:
        top = {path for path in seen.paths if "." not in path}
        return 0.65 if top <= _PLAIN else 0.35
    return 0.0
