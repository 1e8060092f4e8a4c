"""OpenAI chat message content, as neutral parts: requests, responses and stored conversations share this shape.

It prevents a tool's answer from losing its call (legacy `function_call` messages have no ids, so they get some), and
base64 from getting into a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ctxview.images import image_facts
from ctxview.loaders.anthropic_content import NO_CONTENT, NOT_RECORDED, Part, parts, text_kind, url_host
from ctxview.loaders.shapes import as_dict, as_list, as_str, as_text, compact_json, kind_of_json
from ctxview.model import Image, Role

ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
ENVIRONMENT_TEXTS: Final = ("<returncode>", "EXECUTION RESULT of [", "OBSERVATION:\n")
"""How user messages start that a harness without tool calling answers commands with."""

_TEXT_TYPES: Final = ("input_text", "output_text", "summary_text", "reasoning_text")
_BULK_KEYS: Final = ("data", "file_data", "b64_json", "image_url", "result", "url")
_BULK_CHARS: Final = 2000
"""A string under a key that may hold base64 is shown as its length from here on."""


@dataclass(slots=True)
class Calls:
    """The tool calls of one conversation so far."""

    names: dict[str, str] = field(default_factory=dict)
    """Tool name by call id."""
    legacy: int = 0
    open_legacy: str | None = None
    """The made-up id of a `function_call` that waits for its `function` message."""


def role_of(message: Any) -> Role | None:
    """The role a message speaks in; None when it has none that is sent to a model."""
    role = as_dict(message).get("role")
    return ROLES.get(role) if isinstance(role, str) else None


def chat_parts(role: Role, message: dict[str, Any], calls: Calls) -> Iterator[Part]:
    """The parts of one chat message: thinking, content, calls. At least one; never raises."""
    content = message.get("content")
    if role == "tool":
        yield from _tool_answer(message, content, calls)
        return
    extra = list(_thinking(message)) if role == "assistant" else []
    called = list(_calls(message, calls)) if role == "assistant" else []
    refusal = as_str(message.get("refusal"))
    yield from extra
    if content is None or content == "" or content == []:
        if not extra and not called and not refusal:
            yield Part(text_kind(role), note=None if content == "" else NO_CONTENT)
    else:
        yield from content_parts(role, content)
    if refusal:
        yield Part(text_kind(role), refusal, note="refusal")
    yield from called


def content_parts(role: Role, content: Any) -> Iterator[Part]:
    """The parts of a message's content, OpenAI's types of them or Anthropic's."""
    for item in content if isinstance(content, list) else [content]:
        kind = as_str(as_dict(item).get("type"))
        if kind in _TEXT_TYPES:
            yield Part(text_kind(role), as_text(item.get("text")))
        elif kind in ("image_url", "input_image"):
            yield image_part(item)
        elif kind == "refusal":
            yield Part(text_kind(role), as_text(item.get("refusal")), note="refusal")
        elif kind in ("input_audio", "audio", "file", "input_file"):
            yield Part(text_kind(role), compact_json(without_bulk(item)), note=f"{kind} shown as JSON")
        else:
            yield from parts(role, item if isinstance(item, str) or not isinstance(content, list) else [item])


def result_parts(
    content: Any, call_id: str | None, tool: str | None = None, is_error: bool = False, note: str | None = None
) -> Iterator[Part]:
    """A tool's result: its texts joined by newlines, then its images, which carry no call id."""
    texts: list[str] = []
    images: list[Part] = []
    for part in content_parts("tool", content) if content is not None else ():
        if part.kind == "image":
            images.append(part)
        else:
            texts.append(part.text)
            note = note or part.note
    yield Part("tool_result", "\n".join(texts), tool=tool, call_id=call_id, is_error=is_error, note=note)
    yield from images


def image_part(item: dict[str, Any]) -> Part:
    """An image as its facts and a placeholder text."""
    value = item.get("image_url")
    url = as_str(value) or as_str(as_dict(value).get("url"))
    if url[:5].lower() == "data:":
        image = image_facts("", url)
        return Part("image", f"[image {image.media_type or 'data'}]", image=image)
    where = f" from {url_host(url)}" if url else ""
    return Part("image", f"[image{where}]", image=Image("image", None, None, 0), note=NOT_RECORDED)


def without_bulk(value: Any, depth: int = 6) -> Any:
    """`value` with long strings that may be base64 replaced by their length."""
    if isinstance(value, dict) and depth:
        return {
            key: f"[{len(item)} characters]"
            if key in _BULK_KEYS and isinstance(item, str) and len(item) > _BULK_CHARS
            else without_bulk(item, depth - 1)
            for key, item in value.items()
        }
    return [without_bulk(item, depth - 1) for item in value] if isinstance(value, list) and depth else value


def _thinking(message: dict[str, Any]) -> Iterator[Part]:
    for key in ("reasoning_content", "reasoning"):
        text = message.get(key)
        if isinstance(text, str) and text:
            yield Part("thinking", text)
            return
    found = False
    for block in as_list(message.get("thinking_blocks")):
        for part in parts("assistant", [block]):
            if part.kind == "thinking":
                found = True
                yield part
    sealed = sum(len(as_str(as_dict(item).get("data"))) for item in as_list(message.get("reasoning_details")))
    if sealed and not found:
        yield Part("thinking", signature=sealed, note=NOT_RECORDED)


def _calls(message: dict[str, Any], calls: Calls) -> Iterator[Part]:
    for item in as_list(message.get("tool_calls")):
        call = as_dict(item)
        inner = as_dict(call.get("function")) or as_dict(call.get("custom")) or call
        arguments = inner.get("arguments", inner.get("input"))
        note = None if isinstance(item, dict) else f"tool call is {kind_of_json(item)}"
        name, id_ = as_str(inner.get("name")) or None, as_str(call.get("id")) or None
        yield Part("tool_call", as_text(arguments), tool=name, call_id=id_, note=note)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        calls.legacy += 1
        calls.open_legacy = f"function-{calls.legacy}"
        name = as_str(legacy.get("name")) or None
        yield Part("tool_call", as_text(legacy.get("arguments")), tool=name, call_id=calls.open_legacy)


def _tool_answer(message: dict[str, Any], content: Any, calls: Calls) -> Iterator[Part]:
    call_id = as_str(message.get("tool_call_id")) or None
    if call_id is None and message.get("role") == "function":
        call_id, calls.open_legacy = calls.open_legacy, None
    is_error = message.get("is_error") is True or message.get("error") is True
    yield from result_parts(content, call_id, as_str(message.get("name")) or None, is_error)
