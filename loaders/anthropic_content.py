"""Anthropic message content, as neutral parts: requests, responses and Claude Code's session files share this shape.

It prevents each of those loaders from having its own idea of what a tool result's text is, or where an image's
pixels go: `text` is what the model would read, and base64 never gets into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from ctxview.images import image_facts
from ctxview.loaders.shapes import as_dict, as_str, as_text, compact_json, kind_of_json, without
from ctxview.model import Image, Kind
from ctxview.values import dataclass

NOT_RECORDED: Final = "text not recorded"
NO_CONTENT: Final = "no content"
CONTINUATION: Final = "This session is being continued from a previous conversation"
"""How a client's summary message starts after it compacted a conversation."""

_TEXT_KINDS: Final[dict[str, Kind]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool_result",
}
_REMINDER: Final = ("<system-reminder>", "</system-reminder>")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message. `kind` of plain text follows the role; images inside a tool result come after it."""

    kind: Kind
    text: str = ""
    tool: str | None = None
    call_id: str | None = None
    is_error: bool = False
    image: Image | None = None
    signature: int = 0
    """Length in characters of a thinking part's signature, or of its encrypted data."""
    note: str | None = None
    """How far `text` can be trusted; None when it is what the log holds."""


def text_kind(role: str) -> Kind:
    """The kind of plain text that `role` says; an unknown role speaks as the user does."""
    return _TEXT_KINDS.get(role, "user")


def is_reminder(text: str) -> bool:
    """True when `text` is wholly inside system-reminder tags, the last one closed or cut off: nobody typed it."""
    opening, closing = _REMINDER
    rest = text.strip()
    if not rest.startswith(opening):
        return False
    while rest.startswith(opening):
        _, closed, rest = rest.partition(closing)
        rest = rest.strip() if closed else ""
    return not rest


def is_continuation(text: str) -> bool:
    """True for the summary that a client starts a compacted conversation with."""
    return text.lstrip().startswith(CONTINUATION)


def parts(role: str, content: Any) -> Iterator[Part]:
    """The parts of one message's content, in order. Always at least one; never raises, whatever the content is."""
    if isinstance(content, str):
        yield Part(text_kind(role), content)
    elif content is None:
        yield Part(text_kind(role), note=NO_CONTENT)
    elif isinstance(content, list):
        if not content:
            yield Part(text_kind(role), note=NO_CONTENT)
        for item in content:
            yield from _item(role, item)
    elif isinstance(content, dict):
        yield from _item(role, content)
    else:
        yield Part(text_kind(role), note=f"content is {kind_of_json(content)}")


def without_data(block: dict[str, Any]) -> dict[str, Any]:
    """`block` with base64 data replaced by its length and cache markers gone."""
    copy = without(block, "cache_control")
    source = copy.get("source")
    if isinstance(source, dict) and isinstance(source.get("data"), str) and source.get("type") != "text":
        copy["source"] = {**source, "data": f"[{len(source['data'])} characters]"}
    return copy


def image_part(block: dict[str, Any]) -> Part:
    """An image block as its facts and a placeholder text."""
    source = as_dict(block.get("source"))
    media_type = as_str(source.get("media_type")) or "image"
    data, url = as_str(source.get("data")), as_str(source.get("url"))
    if data:
        return Part("image", f"[image {media_type}]", image=image_facts(media_type, data))
    if url:
        return Part("image", f"[image from {url_host(url)}]", image=Image(media_type, None, None, 0), note=NOT_RECORDED)
    return Part("image", "[image]", image=Image(media_type, None, None, 0), note=NOT_RECORDED)


def url_host(url: str) -> str:
    """The host of a URL, for a placeholder that loads nothing; `elsewhere` when it has none."""
    try:
        return urlsplit(url).hostname or "elsewhere"
    except ValueError:
        return "elsewhere"


def _item(role: str, item: Any) -> Iterator[Part]:
    if isinstance(item, str):
        yield Part(text_kind(role), item)
        return
    if not isinstance(item, dict):
        yield Part(text_kind(role), note=f"content is {kind_of_json(item)}")
        return
    kind = as_str(item.get("type"))
    if kind == "text" and isinstance(item.get("text"), str):
        yield Part(text_kind(role), item["text"])
    elif kind == "text":
        yield Part(text_kind(role), as_text(item.get("text")), note=f"text is {kind_of_json(item.get('text'))}")
    elif kind == "thinking":
        text, signature = as_text(item.get("thinking")), len(as_str(item.get("signature")))
        yield Part("thinking", text, signature=signature, note=None if text.strip() else NOT_RECORDED)
    elif kind == "redacted_thinking":
        yield Part("thinking", signature=len(as_str(item.get("data"))), note=NOT_RECORDED)
    elif kind.endswith("tool_use"):
        name, call_id = as_str(item.get("name")) or None, as_str(item.get("id")) or None
        yield Part("tool_call", compact_json(item.get("input", {})), tool=name, call_id=call_id)
    elif kind.endswith("tool_result"):
        yield from _tool_result(kind, item)
    elif kind == "image":
        yield image_part(item)
    elif kind == "compaction":
        text = as_text(item.get("content"))
        yield Part("summary", text, note=None if text else NOT_RECORDED)
    else:
        yield Part(text_kind(role), compact_json(without_data(item)), note=f"{kind or 'untyped'} block shown as JSON")


def _tool_result(kind: str, item: dict[str, Any]) -> Iterator[Part]:
    """A result's text is its text parts joined by newlines; its images follow it, without a call id."""
    content = item.get("content")
    call_id, is_error = as_str(item.get("tool_use_id")) or None, item.get("is_error") is True
    texts: list[str] = []
    images: list[Part] = []
    note = None if kind == "tool_result" else f"{kind} block"
    for inner in content if isinstance(content, list) else [content]:
        if isinstance(inner, dict) and inner.get("type") == "text" and isinstance(inner.get("text"), str):
            texts.append(inner["text"])
        elif isinstance(inner, dict) and inner.get("type") == "image":
            images.append(image_part(inner))
        elif isinstance(inner, str):
            texts.append(inner)
        elif inner is not None:
            texts.append(compact_json(without_data(inner) if isinstance(inner, dict) else inner))
            note = "parts that are not text are shown as JSON"
    yield Part("tool_result", "\n".join(texts), call_id=call_id, is_error=is_error, note=note)
    yield from images
