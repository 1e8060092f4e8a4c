"""OpenAI's Responses API: requests, answers, and events put together again.

It prevents a request that names a predecessor from passing for a whole window: its input is only what is new.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ctxview.loaders.anthropic_content import Part, parts
from ctxview.loaders.captures.answers import Answer, cause_of
from ctxview.loaders.captures.texts import is_from_client
from ctxview.loaders.captures.wire import Message, Reply, Request, digest, part_keys
from ctxview.loaders.openai_items import Item, item_of, tool_part
from ctxview.loaders.shapes import as_dict, as_int, as_list, as_str, as_time, compact_json, dig, kind_of_json, without
from ctxview.loaders.usage import openai_usage

NO_ANSWER: Final = "no answer asked for"
"""The stop reason of a request that only warms up the provider (`generate: false`)."""

_PASSING: Final = ("metadata", "client_metadata", "user", "prompt_cache_key", "safety_identifier", "stream_options")
"""Keys of a body that may differ when a request is sent again."""
_ENDS: Final = ("response.completed", "response.done", "response.failed", "response.incomplete")


def request_of(body: dict[str, Any]) -> Request:
    """A request's body. Instructions and tools count for this call only; they are not taken over by the next one."""
    given = body.get("input")
    items = [given] if isinstance(given, str) else as_list(given)
    instructions = body.get("instructions")
    previous = as_str(body.get("previous_response_id")) or conversation_of(body)
    template = isinstance(body.get("prompt"), dict)
    problems = [f"item {index} is {kind_of_json(item)}" for index, item in enumerate(items) if _is_odd(item)]
    if not isinstance(given, (str, list)) and given is not None:
        problems.append(f"the input is {kind_of_json(given)}")
    return Request(
        model=as_str(body.get("model")),
        tools=tuple(tool_part(schema) for schema in as_list(body.get("tools"))),
        system=tuple(_system(instructions)),
        messages=tuple(message_of(item_of(item)) for item in items),
        body=digest(compact_json(without(body, *_PASSING))),
        previous=previous or None,
        missing=("system",) if template and not instructions else (),
        edits=", ".join(as_str(dig(edit, "type")) for edit in as_list(body.get("context_management")))[:300],
        problems=tuple(problems),
    )


def reply_of(answer: Answer, asked: bool = True) -> Reply:
    """What came back; `asked` is False for a request that only warms up the provider."""
    body = answer.body
    status = as_str(body.get("status"))
    cut_off = as_str(dig(body, "incomplete_details", "reason"))
    error = answer.error
    if error is None and status in ("failed", "cancelled"):
        error = cause_of(body) if body.get("error") else status
    unfinished = status in ("in_progress", "queued")
    if error is None and unfinished:
        error = "the response broke off"
    return Reply(
        id=as_str(body.get("id")),
        model=as_str(body.get("model")),
        messages=tuple(message_of(item_of(item)) for item in as_list(body.get("output"))),
        usage=openai_usage(body.get("usage"), answer.broken or unfinished),
        stop_reason=None if unfinished else NO_ANSWER if not asked else cut_off or status or None,
        error=error,
        at=as_time(body.get("created_at")),
        done=error is None and bool(body),
        keeps=conversation_of(body) or None,
    )


def conversation_of(body: dict[str, Any]) -> str:
    """Id of the conversation that the provider keeps."""
    return as_str(body.get("conversation")) or as_str(dig(body, "conversation", "id"))


def message_of(item: Item) -> Message:
    """One item. Reasoning, instructions and what the client adds by itself are not compared between requests."""
    keys = part_keys(item.role, item.parts)
    if item.sealed:
        keys = [digest(item.role, part.kind, "sealed", part.text, item.sealed) for part in item.parts]
    told = [key for key, part in zip(keys, item.parts) if not _is_passing(item, part)]
    return Message(
        role=item.role,
        parts=item.parts,
        keys=tuple(keys),
        mark=digest(item.role, *told) if told else "",
        joins=item.role == "assistant" and not item.compaction,
        item=item.id,
        refers=item.refers,
        compaction=item.compaction,
    )


@dataclass(slots=True)
class _Stream:
    """A response under construction."""

    whole: dict[str, Any] = field(default_factory=dict)
    items: dict[int, dict[str, Any]] = field(default_factory=dict)
    pieces: dict[int, list[str]] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    ended: bool = False


def response_of(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The response that a stream's events add up to; items come one by one, and some clients' last event lacks them."""
    stream = _Stream()
    for event in events:
        _take(stream, event)
    for index, pieces in stream.pieces.items():
        if index not in stream.done:
            _fill(stream.items.setdefault(index, {}), "".join(pieces))
    items = [stream.items[index] for index in sorted(stream.items)]
    if len(items) > len(as_list(stream.whole.get("output"))):
        stream.whole["output"] = items
    return {**stream.whole, "complete": stream.ended}


def _take(stream: _Stream, event: dict[str, Any]) -> None:
    kind = as_str(event.get("type"))
    index = as_int(event.get("output_index")) or 0
    if isinstance(event.get("response"), dict):
        stream.whole.update({key: value for key, value in event["response"].items() if value not in (None, [], {})})
        stream.ended = stream.ended or kind in _ENDS
    elif kind in ("response.output_item.added", "response.output_item.done"):
        stream.items[index] = dict(as_dict(event.get("item")))
        if kind.endswith("done"):
            stream.done.add(index)
    elif kind.endswith(("output_text.delta", "arguments.delta", "input.delta")):
        stream.pieces.setdefault(index, []).append(as_str(event.get("delta")))
    elif kind == "error":
        stream.whole["error"] = event.get("error") or without(event, "type", "sequence_number")
    elif event.get("object") == "response":
        stream.whole.update(event)
        stream.ended = True


def _fill(item: dict[str, Any], text: str) -> None:
    """What an item that never ended had so far."""
    kind = item.setdefault("type", "message")
    if kind == "message":
        item.setdefault("role", "assistant")
        item["content"] = [{"type": "output_text", "text": text}]
    elif kind == "custom_tool_call":
        item["input"] = text
    else:
        item["arguments"] = text


def _system(instructions: Any) -> Iterable[Part]:
    if isinstance(instructions, list):
        return [Part("system", part.text, note=part.note) for item in instructions for part in item_of(item).parts]
    return parts("system", instructions) if instructions else ()


def _is_passing(item: Item, part: Part) -> bool:
    if item.role == "system" or part.kind in ("thinking", "note"):
        return True
    return part.kind == "user" and is_from_client(part.text)


def _is_odd(item: Any) -> bool:
    return not isinstance(item, (dict, str))
