"""One chat message, OpenAI's or Anthropic's shape, as neutral parts.

It prevents a tool's answer from losing its call: legacy `function_call` messages have no ids, so they get some.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ctxview.images import image_facts
from ctxview.loaders.anthropic_content import (
    NOT_RECORDED,
    Part,
    is_continuation,
    is_reminder,
    parts,
    text_kind,
    url_host,
)
from ctxview.loaders.shapes import as_dict, as_list, as_str, as_text, as_time, kind_of_json
from ctxview.model import Block, Image, Origin, Role

_ROLES: Final[dict[str, Role]] = {
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

_TEXT_TYPES: Final = ("input_text", "output_text", "summary_text")


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
    return _ROLES.get(role) if isinstance(role, str) else None


def message_blocks(
    session: str, key: str, role: Role, message: dict[str, Any], origin: Origin, calls: Calls, environment: bool = False
) -> Iterator[Block]:
    """The blocks of one message; `environment` says that its user text comes from the harness."""
    found = list(_parts(role, message, calls))
    at = as_time(message.get("timestamp"))
    typed = False
    for number, part in enumerate(found):
        if part.kind == "tool_call" and part.call_id and part.tool:
            calls.names[part.call_id] = part.tool
        block = Block(
            session=session,
            id=key if len(found) == 1 else f"{key}.{number}",
            role=role,
            kind=part.kind,
            text=part.text,
            origin=origin,
            message=key,
            tool=part.tool or (calls.names.get(part.call_id or "") if part.kind == "tool_result" else None),
            call_id=part.call_id,
            is_error=part.is_error,
            image=part.image,
            signature=part.signature,
            at=at,
            inserted=part.kind == "summary",
            note=part.note,
        )
        if part.kind == "user" and role == "user":
            block = _user_text(block, environment, typed)
            typed = typed or block.human
        yield block


def _user_text(block: Block, environment: bool, typed: bool) -> Block:
    if is_continuation(block.text):
        return replace(block, kind="summary", inserted=True)
    if is_reminder(block.text):
        return replace(block, kind="note", injected=True)
    if environment or block.text.startswith(ENVIRONMENT_TEXTS):
        return replace(block, injected=True)
    return replace(block, human=not typed and bool(block.text.strip()))


def _parts(role: Role, message: dict[str, Any], calls: Calls) -> Iterator[Part]:
    content = message.get("content")
    if role == "tool":
        yield from _tool_answer(message, content, calls)
        return
    extra = list(_thinking(message)) if role == "assistant" else []
    called = list(_calls(message, calls)) if role == "assistant" else []
    yield from extra
    if content is None or content == "" or content == []:
        if not extra and not called:
            yield Part(text_kind(role), note=None if content == "" else "no content")
    else:
        yield from _content(role, content)
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        yield Part(text_kind(role), message["refusal"], note="refusal")
    yield from called


def _content(role: Role, content: Any) -> Iterator[Part]:
    for item in content if isinstance(content, list) else [content]:
        kind = as_str(as_dict(item).get("type"))
        if kind in _TEXT_TYPES:
            yield Part(text_kind(role), as_text(item.get("text")))
        elif kind in ("image_url", "input_image"):
            yield _image(item)
        else:
            yield from parts(role, item if isinstance(item, str) or not isinstance(content, list) else [item])


def _image(item: dict[str, Any]) -> Part:
    value = item.get("image_url")
    url = as_str(value) or as_str(as_dict(value).get("url"))
    if url[:5].lower() == "data:":
        image = image_facts("", url)
        return Part("image", f"[image {image.media_type or 'data'}]", image=image)
    where = f" from {url_host(url)}" if url else ""
    return Part("image", f"[image{where}]", image=Image("image", None, None, 0), note=NOT_RECORDED)


def _thinking(message: dict[str, Any]) -> Iterator[Part]:
    for key in ("reasoning_content", "reasoning"):
        text = message.get(key)
        if isinstance(text, str) and text:
            yield Part("thinking", text)
            return
    for block in as_list(message.get("thinking_blocks")):
        yield from (part for part in parts("assistant", [block]) if part.kind == "thinking")


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
    texts: list[str] = []
    images: list[Part] = []
    note = None
    for part in _content("tool", content) if content is not None else ():
        if part.kind == "image":
            images.append(part)
        else:
            texts.append(part.text)
            note = note or part.note
    is_error = message.get("is_error") is True or message.get("error") is True
    tool = as_str(message.get("name")) or None
    yield Part("tool_result", "\n".join(texts), tool=tool, call_id=call_id, is_error=is_error, note=note)
    yield from images
