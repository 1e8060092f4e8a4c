"""OpenAI's chat completions: requests, answers, and chunks put together again.

It prevents a streamed tool call, whose arguments come in pieces under an index, from showing as many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ctxview.loaders.anthropic_content import Part, parts
from ctxview.loaders.captures.answers import Answer, is_done
from ctxview.loaders.captures.texts import is_from_client
from ctxview.loaders.captures.wire import Message, Reply, Request, digest, part_keys, trimmed
from ctxview.loaders.openai_content import Calls, chat_parts, role_of
from ctxview.loaders.openai_items import tool_part
from ctxview.loaders.shapes import as_dict, as_int, as_list, as_str, as_time, compact_json, kind_of_json, without
from ctxview.loaders.usage import openai_usage
from ctxview.model import Role

_PASSING: Final = ("metadata", "user", "stream_options", "extra_headers", "extra_body")
"""Keys of a body that may differ when a request is sent again."""


def speaks_openai(body: dict[str, Any]) -> bool:
    """True when a body that has `messages` shows marks of chat completions that Anthropic's API would refuse."""
    for message in as_list(body.get("messages"))[:200]:
        if isinstance(message, dict) and (
            message.get("role") in ("tool", "developer", "function") or "tool_calls" in message
        ):
            return True
    return any(isinstance(as_dict(tool).get("function"), dict) for tool in as_list(body.get("tools"))[:5])


def request_of(body: dict[str, Any], tools: list[Any] | None = None) -> Request:
    """A request's body; `tools` where they do not stand in it."""
    calls = Calls()
    messages, problems = [], []
    for index, message in enumerate(as_list(body.get("messages"))):
        role = role_of(message)
        if role is None:
            problems.append(f"message {index} {_fault(message)}")
        messages.append(message_of(role or "user", as_dict(message), calls))
    schemas = as_list(body.get("tools")) or as_list(body.get("functions")) if tools is None else tools
    system = body.get("system")
    return Request(
        model=as_str(body.get("model")),
        tools=tuple(tool_part(schema) for schema in schemas),
        system=tuple(parts("system", system)) if system else (),
        messages=tuple(messages),
        body=digest(compact_json(without(body, *_PASSING))),
        problems=tuple(problems),
    )


def reply_of(answer: Answer, request: Request) -> Reply:
    """What came back for `request`."""
    body = answer.body
    choice = as_dict(next(iter(as_list(body.get("choices"))), None))
    message = as_dict(choice.get("message"))
    made_up = sum(call.startswith("function-") for sent in request.messages for call in sent.calls)
    said = any(message.get(key) for key in ("content", "tool_calls", "function_call", "refusal", "reasoning_content"))
    said = said or bool(message.get("reasoning"))
    return Reply(
        id=as_str(body.get("id")),
        model=as_str(body.get("model")),
        messages=(message_of("assistant", message, Calls(legacy=made_up)),) if said else (),
        usage=openai_usage(body.get("usage"), answer.broken),
        stop_reason=as_str(choice.get("finish_reason")) or None,
        error=answer.error,
        at=as_time(body.get("created")),
        done=is_done(answer, bool(message)),
    )


def message_of(role: Role, message: dict[str, Any], calls: Calls) -> Message:
    """One message. Thinking is not compared: most clients do not send it back."""
    found = list(chat_parts(role, message, calls))
    keys = part_keys(role, trimmed(role, found))
    told = [key for key, part in zip(keys, found) if part.kind != "thinking" and not _is_passing(role, part)]
    return Message(role, tuple(found), tuple(keys), digest(role, *told) if told else "")


def completion_of(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The completion that a stream's chunks add up to, first choice only."""
    whole: dict[str, Any] = {"complete": False}
    message: dict[str, Any] = {"role": "assistant"}
    texts: dict[str, list[str]] = {}
    calls: dict[int, tuple[dict[str, Any], list[str]]] = {}
    finish = None
    for chunk in events:
        for key in ("id", "model", "created", "usage", "error"):
            if chunk.get(key):
                whole[key] = chunk[key]
        for choice in as_list(chunk.get("choices")):
            if as_int(as_dict(choice).get("index")):
                continue
            finish = as_dict(choice).get("finish_reason") or finish
            _add(as_dict(as_dict(choice).get("delta")), texts, calls, message)
    for key, pieces in texts.items():
        message[key] = "".join(pieces)
    if calls:
        message["tool_calls"] = [
            {**call, "function": {**as_dict(call.get("function")), "arguments": "".join(pieces)}}
            for _, (call, pieces) in sorted(calls.items())
        ]
    if texts or calls or finish or len(message) > 1:
        whole["choices"] = [{"message": message, "finish_reason": finish}]
    whole["complete"] = finish is not None
    return whole


def _add(
    delta: dict[str, Any],
    texts: dict[str, list[str]],
    calls: dict[int, tuple[dict[str, Any], list[str]]],
    message: dict[str, Any],
) -> None:
    for key in ("content", "reasoning_content", "reasoning", "refusal"):
        if isinstance(delta.get(key), str) and delta[key]:
            texts.setdefault(key, []).append(delta[key])
    for position, item in enumerate(as_list(delta.get("tool_calls"))):
        piece = as_dict(item)
        index = as_int(piece.get("index"))
        call, pieces = calls.setdefault(position if index is None else index, ({}, []))
        if piece.get("id"):
            call["id"] = piece["id"]
        function = as_dict(piece.get("function"))
        if function.get("name"):
            call["function"] = {"name": function["name"]}
        pieces.append(as_str(function.get("arguments")))
    legacy = as_dict(delta.get("function_call"))
    if legacy:
        whole = message.setdefault("function_call", {"name": "", "arguments": ""})
        for key in whole:
            whole[key] += as_str(legacy.get(key))
    for details in as_list(delta.get("reasoning_details")):
        message.setdefault("reasoning_details", []).append(details)


def _is_passing(role: Role, part: Part) -> bool:
    """System text, and what the client adds by itself."""
    return role == "system" or (part.kind == "user" and is_from_client(part.text))


def _fault(message: Any) -> str:
    return "has no role the API knows" if isinstance(message, dict) else f"is {kind_of_json(message)}"
