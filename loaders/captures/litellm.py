"""Completion logs that agents write through LiteLLM (OpenHands' `log_completions`): one file per call.

It prevents the tools of such a call from being shown twice or not at all: what was sent is in `kwargs`, and an agent
that describes its tools in the prompt logs their schemas beside it all the same.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any, Final

from ctxview.loaders.captures import openai_chat, responses
from ctxview.loaders.captures.answers import answer_of
from ctxview.loaders.captures.clients import identifier
from ctxview.loaders.captures.names import LITELLM
from ctxview.loaders.captures.wire import Exchange, Reply, Request
from ctxview.loaders.shapes import as_count, as_dict, as_list, as_str, as_time, dig, instant

_STAMP: Final = re.compile(r"-\d{9,}(\.\d+)?(-[0-9a-f]{1,32})?\Z")
_OPEN_CALL: Final = "<function="
_END_OF_CALL: Final = "</function"


def is_completion(record: dict[str, Any]) -> bool:
    """True for a call as logged: its messages and response among what the agent knows of it."""
    told = isinstance(record.get("messages"), list) or isinstance(record.get("input"), list)
    return told and bool(record.keys() & {"kwargs", "context_window"})


def read_completion(record: dict[str, Any]) -> Exchange:
    """The call that a record is. Never raises."""
    kwargs = as_dict(record.get("kwargs"))
    prompted = "raw_messages" in record or "raw_response" in record
    tools = as_list(kwargs.get("tools"))
    if not tools and not prompted:
        tools = as_list(record.get("tools"))
    request, reply = _call(record, as_str(kwargs.get("model")) or as_str(record.get("model")), tools, prompted)
    metadata = as_dict(dig(kwargs, "extra_body", "metadata")) or as_dict(kwargs.get("metadata"))
    return Exchange(
        dialect=LITELLM,
        request=request,
        reply=reply if "response" in record else None,
        at=as_time(record.get("timestamp")),
        client=_client(metadata),
        session=identifier(metadata.get("session_id")),
        limit=as_count(record.get("context_window")) or None,
    )


def time_of(record: dict[str, Any]) -> float:
    """When the call was made, in seconds since 1970; 0 where the log does not say."""
    return instant(record.get("timestamp")) or 0.0


def _call(record: dict[str, Any], model: str, tools: list[Any], prompted: bool) -> tuple[Request, Reply]:
    if not isinstance(record.get("messages"), list):
        request = responses.request_of({**record, "model": model, "tools": tools})
        return request, responses.reply_of(answer_of(record.get("response"), "output", responses.response_of))
    request = openai_chat.request_of({"messages": record["messages"], "model": model}, tools)
    answer = answer_of(_response(record, prompted), "choices", openai_chat.completion_of)
    return request, openai_chat.reply_of(answer, request)


def folder_of(file: str) -> str:
    """What tells apart the runs in several folders."""
    return str(PurePath(file).parent)


def name_of(file: str) -> str:
    """A name for the session that a folder of calls makes, from one of its files."""
    folder = PurePath(file).parent.name
    return folder or _STAMP.sub("", PurePath(file).stem)


def _client(metadata: dict[str, Any]) -> str | None:
    for tag in as_list(metadata.get("tags")):
        name, _, version = as_str(tag).partition(":")
        if name == "openhands_version" and version:
            return f"openhands {version[:20]}"
    return None


def _response(record: dict[str, Any], prompted: bool) -> Any:
    """The answer as the model gave it, where the agent keeps it beside the one it read out of it.

    Without tool calling the model stops before the end of a call, and the agent sends it back with that end.
    """
    raw = record.get("raw_response")
    choice = as_dict(next(iter(as_list(as_dict(raw).get("choices"))), None))
    message = as_dict(choice.get("message"))
    text = message.get("content")
    if not prompted or not isinstance(text, str) or _OPEN_CALL not in text or message.get("tool_calls"):
        return record.get("response")
    if _END_OF_CALL not in text[text.rindex(_OPEN_CALL) :]:
        text = f"{text.rstrip()}\n{_END_OF_CALL}>"
    usage = as_dict(raw).get("usage") or dig(record, "response", "usage")
    return {**as_dict(raw), "usage": usage, "choices": [{**choice, "message": {**message, "content": text}}]}
