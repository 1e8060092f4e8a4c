"""A streamed Messages response put together again from its server-sent events.

It prevents a streamed answer from showing as fragments, and its usage from being read off the first event only: the
prompt counters come with `message_start`, the final ones with `message_delta`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from ctxview.loaders.shapes import as_dict, as_int, as_str


def events_of_text(text: str) -> Iterator[dict[str, Any]]:
    """The JSON payloads of an event stream's `data:` lines; others are passed over."""
    for line in text.split("\n"):
        payload = line.strip().removeprefix("data:").strip()
        if line.lstrip().startswith("data:") and payload.startswith("{"):
            try:
                value = orjson.loads(payload.encode("utf-8", "replace"))
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def events_of_list(items: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Events logged as a list: bare payloads, or wrapped as `{event, data}` with data parsed or as text."""
    for item in items:
        data = as_dict(item).get("data", item)
        if isinstance(data, str):
            yield from events_of_text("data:" + data)
        elif isinstance(data, dict):
            yield data


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
    for index, parts in pieces.items():
        if parts:
            blocks[index]["input"] = _input("".join(parts))
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
