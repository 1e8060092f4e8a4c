"""Where conversations stand in a chat file: a bare list, an object, one per line, or a benchmark's result list.

It prevents each of these shapes from becoming a loader of its own: all of them are conversations of messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ctxview.loaders.shapes import as_dict, as_list, as_str

ID_KEYS: Final = ("session_id", "conversation_id", "id", "instance_id")
"""Keys by which an object names its conversation, the surest first."""
REQUEST_KEYS: Final = (
    "tools", "functions", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "stream",
    "stream_options", "tool_choice", "function_call", "stop", "response_format", "parallel_tool_calls",
    "reasoning_effort", "reasoning", "thinking", "n", "seed", "store", "frequency_penalty", "presence_penalty",
    "repetition_penalty", "logit_bias", "logprobs", "top_logprobs", "service_tier", "verbosity", "modalities",
    "prediction", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "web_search_options",
    "enable_thinking", "chat_template_kwargs", "extra_body",
)  # fmt: skip
"""Keys of a request's body that say how to answer: a conversation that was only saved has none of them."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation as stored."""

    messages: list[Any]
    system: Any = None
    """A system prompt that stands beside the messages."""
    tools: list[Any] = field(default_factory=list)
    model: str | None = None
    id: str | None = None
    client: str | None = None
    pending: bool = False
    """A request that waits for its answer: its messages are one window."""
    environment: bool = False
    """After the first one, user messages are the harness's answers."""


def unwrap(document: Any) -> list[Any] | None:
    """The records of a document: a list's items, or an object's messages."""
    if isinstance(document, list):
        return document
    for key in ("messages", "traj", "ticks"):
        if isinstance(document, dict) and isinstance(document.get(key), list) and document[key]:
            return as_list(document[key])
    return None


def is_message(value: Any) -> bool:
    """True for one chat message on its own."""
    return isinstance(value, dict) and "role" in value and "messages" not in value and "traj" not in value


def is_conversation(value: Any) -> bool:
    """True for an object that holds a list of messages."""
    return isinstance(value, dict) and (isinstance(value.get("messages"), list) or isinstance(value.get("traj"), list))


def conversation(value: dict[str, Any]) -> Conversation:
    """An object's conversation."""
    traj = value.get("traj")
    messages = traj if isinstance(traj, list) else as_list(value.get("messages"))
    mini = as_str(value.get("trajectory_format")).startswith("mini-swe-agent")
    model = as_str(value.get("model")) or None
    return Conversation(
        messages=messages,
        system=value.get("system"),
        tools=as_list(value.get("tools")) or as_list(value.get("functions")),
        model=model,
        id=_name(value),
        client=_mini_version(value) if mini else None,
        pending=model is not None and "response" not in value and _waits(value, messages),
        environment=mini,
    )


def _waits(value: dict[str, Any], messages: list[Any]) -> bool:
    """Whether messages under a model's name are a request's: none that ends with an answer waits for one, and where
    nothing asks for an answer in a certain way, those before it were saved with it."""
    roles = [as_dict(message).get("role") for message in messages]
    if not roles or roles[-1] == "assistant":
        return False
    return any(key in value for key in REQUEST_KEYS) or "assistant" not in roles


def _mini_version(value: dict[str, Any]) -> str:
    version = as_str(as_dict(value.get("info")).get("mini_version"))[:20]
    return f"mini-swe-agent {version}".strip()


def _name(value: dict[str, Any]) -> str | None:
    for key in ID_KEYS:
        if isinstance(value.get(key), str) and value[key].strip():
            return as_str(value[key])[:120]
    return None


def task_name(value: dict[str, Any]) -> str | None:
    """A benchmark task's number and trial, to tell a file's conversations apart."""
    numbers = (value.get(key) for key in ("task_id", "trial"))
    words = [str(number)[:60] for number in numbers if isinstance(number, (str, int)) and not isinstance(number, bool)]
    return "-".join(words) or None
