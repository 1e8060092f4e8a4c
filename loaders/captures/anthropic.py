"""Anthropic's Messages API: its requests, its answers, and its event stream put together again.

It prevents a streamed answer from showing as fragments, and its usage from being read off the first event only: the
prompt counters come with `message_start`, the final ones with `message_delta`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import orjson

from ctxview.loaders.anthropic_content import Part, parts
from ctxview.loaders.captures.answers import Answer, is_done
from ctxview.loaders.captures.wire import Message, Reply, Request, digest, part_keys, trimmed
from ctxview.loaders.shapes import as_dict, as_int, as_list, as_str, compact_json, dig, kind_of_json, without
from ctxview.loaders.usage import anthropic_usage
from ctxview.model import Role

BILLING_HEADER: Final = "x-anthropic-billing-header"
"""How a system block starts that changes with every request and instructs nobody."""

_DETAIL_CHARS: Final = 300


def request_of(body: dict[str, Any]) -> Request:
    """A request's body; its system text and tools stand beside the messages."""
    messages = as_list(body.get("messages"))
    system = _system(body.get("system"))
    said = [part.text for part in system if not part.text.startswith(BILLING_HEADER)]
    asked = as_list(dig(body, "context_management", "edits"))
    return Request(
        model=as_str(body.get("model")),
        tools=tuple(_tool(schema) for schema in as_list(body.get("tools"))),
        system=tuple(system),
        messages=tuple(_message(_role(message), as_dict(message).get("content")) for message in messages),
        body=digest(compact_json({**without(body, "metadata"), "system": said})),
        edits=", ".join(as_str(dig(edit, "type")) or "unnamed" for edit in asked)[:_DETAIL_CHARS],
        problems=tuple(
            f"message {index} is {kind_of_json(message)}"
            for index, message in enumerate(messages)
            if not isinstance(message, dict)
        ),
    )


def reply_of(answer: Answer) -> Reply:
    """What came back for it."""
    message = answer.body
    content = message.get("content")
    applied = as_list(dig(message, "context_management", "applied_edits"))
    return Reply(
        id=as_str(message.get("id")),
        model=as_str(message.get("model")),
        messages=(_message("assistant", content),) if content else (),
        usage=anthropic_usage(message.get("usage"), answer.broken),
        stop_reason=as_str(message.get("stop_reason")) or None,
        error=answer.error,
        edits=tuple(compact_json(edit)[:_DETAIL_CHARS] for edit in applied),
        done=is_done(answer, bool(content)),
    )


def _role(message: Any) -> Role:
    """The role a message was sent with; user when it is none the API knows."""
    role = as_dict(message).get("role")
    return role if role in ("assistant", "system") else "user"


def _message(role: Role, content: Any) -> Message:
    found = trimmed(role, list(parts(role, content)))
    keys = part_keys(role, found)
    mark = digest(role, *keys)
    if role == "system":
        found = [replace(part, kind="note") for part in found]
    return Message(role, tuple(found), tuple(keys), mark)


def _system(system: Any) -> list[Part]:
    if system is None or system == []:
        return []
    note = "per-request billing header"
    return [
        replace(part, note=note) if part.text.startswith(BILLING_HEADER) else part for part in parts("system", system)
    ]


def _tool(schema: Any) -> Part:
    tool = as_dict(schema)
    name = as_str(tool.get("name")) or as_str(tool.get("type")) or None
    text = compact_json(without(tool, "cache_control") if tool else schema)
    return Part("tools", text, tool=name, note=None if name else "tool without a name")


def message_of(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The message the events add up to.

    Its key `complete` is False when the stream broke off before its end, and `error` holds an error event's error.
    """
    message: dict[str, Any] = {"complete": False}
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, list[str]] = {}
    for event in events:
        kind = as_str(event.get("type"))
        index = as_int(event.get("index")) or 0
        if kind == "message_start":
            message.update(as_dict(event.get("message")))
        elif kind == "content_block_start":
            blocks[index] = dict(as_dict(event.get("content_block")))
            pieces[index] = []
        elif kind == "content_block_delta":
            _add(blocks.setdefault(index, {}), pieces.setdefault(index, []), as_dict(event.get("delta")))
        elif kind == "message_delta":
            message.update(as_dict(event.get("delta")))
            message["usage"] = {**as_dict(message.get("usage")), **_stated(event.get("usage"))}
            if "context_management" in event:
                message["context_management"] = event["context_management"]
        elif kind == "message_stop":
            message["complete"] = True
        elif kind == "error":
            message["error"] = event.get("error")
    for index, written in pieces.items():
        if written:
            blocks[index]["input"] = _input("".join(written))
    message["content"] = [blocks[index] for index in sorted(blocks)]
    return message


def _add(block: dict[str, Any], pieces: list[str], delta: dict[str, Any]) -> None:
    kind = as_str(delta.get("type"))
    if kind == "text_delta":
        block.setdefault("type", "text")
        block["text"] = as_str(block.get("text")) + as_str(delta.get("text"))
    elif kind == "thinking_delta":
        block.setdefault("type", "thinking")
        block["thinking"] = as_str(block.get("thinking")) + as_str(delta.get("thinking"))
    elif kind == "signature_delta":
        block["signature"] = as_str(block.get("signature")) + as_str(delta.get("signature"))
    elif kind == "input_json_delta":
        pieces.append(as_str(delta.get("partial_json")))
    elif kind == "compaction_delta":
        block["content"] = as_str(block.get("content")) + as_str(delta.get("content"))


def _input(text: str) -> Any:
    """A tool call's arguments; the text itself when the stream broke off inside them."""
    if not text.strip():
        return {}
    try:
        return orjson.loads(text.encode("utf-8", "replace"))
    except ValueError:
        return text


def _stated(usage: Any) -> dict[str, Any]:
    """Counters that say something: a null or 0 in the closing event does not undo the opening one's prompt."""
    stated = {key: value for key, value in as_dict(usage).items() if value is not None}
    for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
        if stated.get(key) == 0:
            del stated[key]
    return stated
