"""Items of OpenAI's Responses API, as neutral parts: captured requests, responses and rollouts share this shape.

It prevents two silent losses: an item of a type that a client has and this list has not (it is shown as JSON), and
opaque content (encrypted reasoning, remote compaction) from passing for an empty text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ctxview.loaders.anthropic_content import NO_CONTENT, NOT_RECORDED, Part, text_kind
from ctxview.loaders.openai_content import ROLES, content_parts, result_parts, without_bulk
from ctxview.loaders.shapes import as_dict, as_list, as_str, as_text, compact_json, kind_of_json, without
from ctxview.model import Role

COMPACTION_TYPES: Final = ("compaction", "compaction_summary", "context_compaction")
"""Items that carry a compacted conversation; what they say is encrypted."""
_PASSED: Final = ("id", "type", "status", "call_id", "internal_chat_message_metadata_passthrough", "metadata")
"""Keys of an item that the model does not read."""
_ASKED: Final[dict[str, str]] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
    "mcp_approval_request": "arguments",
}
"""Calls that the client answers, and where their arguments stand."""
_SERVED: Final = ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call")
"""Calls that the provider answers itself: no result item follows, so they get no call id."""
_TOOL_NAMES: Final[dict[str, str]] = {"local_shell_call": "local_shell", "shell_call": "shell"}


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an input or an output."""

    role: Role
    parts: tuple[Part, ...]
    """At least one."""
    sealed: str = ""
    """Its encrypted content: what tells apart two items whose text was not recorded."""
    id: str | None = None
    """The provider's id of the item, by which a later request may refer to it."""
    refers: str | None = None
    """The id of the item that an `item_reference` stands for."""
    compaction: bool = False


def item_of(value: Any) -> Item:
    """What one item is. Never raises, whatever it is."""
    if isinstance(value, str):
        return Item("user", (Part("user", value),))
    if not isinstance(value, dict):
        return Item("user", (Part("user", note=f"item is {kind_of_json(value)}"),))
    kind = as_str(value.get("type")) or ("message" if "role" in value else "")
    id_ = as_str(value.get("id")) or None
    sealed = as_str(value.get("encrypted_content"))
    if kind == "message":
        named = value.get("role")
        role = ROLES.get(named, "user") if isinstance(named, str) else "user"
        return Item(role, tuple(_content(role, value.get("content"))), id=id_)
    if kind == "reasoning":
        return Item("assistant", (_reasoning(value, sealed),), sealed, id_)
    if kind in COMPACTION_TYPES:
        text = as_text(value.get("summary")) or as_text(value.get("content"))
        part = Part("summary", text, signature=len(sealed), note=None if text else NOT_RECORDED)
        return Item("assistant", (part,), sealed, id_, compaction=True)
    if kind == "compaction_trigger":
        return Item("user", (Part("note", "[compaction trigger]", note="a marker, not text"),), id=id_)
    if kind == "item_reference":
        return Item("user", (Part("note", note=NOT_RECORDED),), refers=id_)
    if kind == "additional_tools":
        tools = as_list(value.get("tools"))
        return Item("system", tuple(tool_part(tool) for tool in tools) or (Part("note", note=NO_CONTENT),), id=id_)
    if kind == "agent_message":
        return Item("user", tuple(_agent_message(value, sealed)), sealed, id_)
    if kind in _ASKED or kind in _SERVED:
        return Item("assistant", tuple(_call(kind, value)), id=id_)
    if kind.endswith(("_output", "_response")):
        return Item("tool", tuple(_result(kind, value)), id=id_)
    named = value.get("role")
    role = ROLES.get(named, "user") if isinstance(named, str) else "user"
    text = compact_json(without_bulk(without(value, "encrypted_content")))
    return Item(role, (Part(text_kind(role), text, note=f"{kind or 'untyped'} item shown as JSON"),), sealed, id_)


def tool_part(schema: Any) -> Part:
    """One tool's schema, named by itself, its function or its type."""
    tool = as_dict(schema)
    inner = as_dict(tool.get("function")) or tool
    name = as_str(inner.get("name")) or as_str(tool.get("type")) or None
    text = compact_json(without(tool, "cache_control") if tool else schema)
    return Part("tools", text, tool=name, note=None if name else "tool without a name")


def _content(role: Role, content: Any) -> Iterator[Part]:
    if content is None or content == []:
        yield Part(text_kind(role), note=NO_CONTENT)
    else:
        yield from content_parts(role, content)


def _reasoning(value: dict[str, Any], sealed: str) -> Part:
    """Reasoning as its text where one was logged; else its summary, which is not what the model reads."""
    text = _texts(value.get("content"))
    if text:
        return Part("thinking", text, signature=0)
    return Part("thinking", _texts(value.get("summary")), signature=len(sealed), note=NOT_RECORDED)


def _texts(content: Any) -> str:
    found = (as_text(as_dict(item).get("text")) for item in as_list(content))
    return "\n\n".join(text for text in found if text)


def _agent_message(value: dict[str, Any], sealed: str) -> Iterator[Part]:
    """What another agent sent to this one."""
    content = value.get("content")
    texts = [part.text for part in content_parts("user", content)] if content else []
    text = "\n".join(text for text in texts if text)
    yield Part("note", text, signature=0 if text else len(sealed), note=None if text else NOT_RECORDED)


def _call(kind: str, value: dict[str, Any]) -> Iterator[Part]:
    name = as_str(value.get("name")) or _TOOL_NAMES.get(kind) or kind.removesuffix("_call")
    if kind in _ASKED:
        arguments = value.get(_ASKED[kind])
        call_id = as_str(value.get("call_id")) or as_str(value.get("id")) or None
        yield Part("tool_call", as_text(arguments), tool=name, call_id=call_id)
        return
    own = ("name", "server_label", "output", "results", "outputs", "result", "error")
    arguments = value.get("arguments", value.get("action", without(value, *own, *_PASSED)))
    yield Part("tool_call", as_text(without_bulk(arguments)), tool=name, note="run by the provider")
    given = {key: value[key] for key in own[2:] if value.get(key) not in (None, [], "")}
    if given:
        output = given.get("output")
        text = output if isinstance(output, str) and len(given) == 1 else compact_json(without_bulk(given))
        yield Part("tool_result", text, tool=name, note="run by the provider")


def _result(kind: str, value: dict[str, Any]) -> Iterator[Part]:
    call_id = as_str(value.get("call_id")) or as_str(value.get("approval_request_id")) or as_str(value.get("id"))
    output = value.get("output", value.get("content"))
    failed = as_dict(output).get("success") is False or value.get("status") == "failed"
    if isinstance(output, dict):
        inner = output.get("content", output.get("body"))
        if as_dict(output).get("type") == "computer_screenshot":
            output = [{**output, "type": "input_image"}]
        elif isinstance(inner, (str, list)):
            output = inner
    if output is None:
        output = compact_json(without_bulk(without(value, *_PASSED, "execution", "role")))
    elif not isinstance(output, str) and not _is_content(output):
        output = compact_json(without_bulk(output))
    yield from result_parts(output, call_id or None, is_error=failed)


def _is_content(output: Any) -> bool:
    """True for a list of content parts; other lists are a tool's own."""
    kinds = ("input_text", "output_text", "text", "input_image", "input_file")
    return isinstance(output, list) and all(as_dict(item).get("type") in kinds for item in output)
