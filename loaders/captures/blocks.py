"""The blocks of a captured request, and of its response, with ids made from content.

It prevents an answer and its copy in the next request from being two blocks: the same part gets the same id in both,
whatever happened to cache markers, signatures or surrounding whitespace on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from ctxview.loaders.anthropic_content import NOT_RECORDED, Part, is_continuation, is_reminder, parts
from ctxview.loaders.shapes import as_dict, as_list, as_str, compact_json, kind_of_json, without
from ctxview.model import Block, Origin, Role

BILLING_HEADER: Final = "x-anthropic-billing-header"
"""How a system block starts that changes with every request and instructs nobody."""

_CLIENT_TEXTS: Final = (
    "<system-reminder>",
    "[Request interrupted by user",
    "Base directory for this skill:",
    "Caveat: The messages below",
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
)
"""How user text starts that the client wrote."""


@dataclass(slots=True)
class Numbering:
    """Ids given so far in one list of blocks: the second block of the same content gets `-2`."""

    seen: Counter[str] = field(default_factory=Counter)
    tools: dict[str, str] = field(default_factory=dict)
    """Tool name by call id, as met in the list."""

    def give(self, base: str) -> str:
        """`base`, or `base-n` for its n-th use."""
        self.seen[base] += 1
        return base if self.seen[base] == 1 else f"{base}-{self.seen[base]}"


@dataclass(frozen=True, slots=True)
class Labels:
    """What the thread knows about texts in its requests."""

    summaries: frozenset[str] = frozenset()
    """User texts that carry the summary of a compacted conversation."""
    instruction: str | None = None
    """The text with which the client asked for that summary."""


def digest(*words: str | None) -> str:
    """A short stable hash."""
    return blake2b("\x1f".join(word or "" for word in words).encode("utf-8", "replace"), digest_size=8).hexdigest()


def message_parts(role: str, content: Any) -> list[Part]:
    """Parts of a message, alike for a response and for its copy in a later request."""
    found = list(parts(role, content))
    if role == "assistant":
        return [replace(part, text=part.text.strip()) if part.kind == "assistant" else part for part in found]
    return found


def part_keys(role: str, found: list[Part]) -> list[str]:
    """What identifies each part of a message, by content."""
    keys = []
    for index, part in enumerate(found):
        text = part.text
        if part.kind == "thinking" and not text:  # nothing of its own: it is the one before that answer or call
            after = next((later for later in found[index + 1 :] if later.kind != "thinking"), None)
            text = f"before {digest(after.kind, after.call_id, after.text)}" if after is not None else ""
        image = f"{part.image.bytes} {part.image.width} {part.image.height}" if part.image is not None else None
        tool = part.tool if part.kind == "tool_call" else None
        keys.append(digest(role, part.kind, tool, part.call_id, text, image))
    return keys


def wire_role(message: Any) -> Role:
    """The role a message was sent with; user when it is none the API knows."""
    role = as_dict(message).get("role")
    return role if role in ("assistant", "system") else "user"


def request_blocks(
    session: str, body: dict[str, Any], origin: Origin, at: str | None, labels: Labels, problems: list[str]
) -> tuple[list[Block], Numbering]:
    """Tools, then system, then messages: a request's window, in the order the provider reads it."""
    numbering = Numbering()
    blocks = list(_tools(session, body, origin, at, numbering))
    blocks += _system(session, body, origin, at, numbering)
    for index, message in enumerate(as_list(body.get("messages"))):
        if not isinstance(message, dict):
            problems.append(f"message {index} is {kind_of_json(message)}")
        blocks += message_blocks(session, message, origin, at, numbering, labels)
    return blocks, numbering


def message_blocks(
    session: str, message: Any, origin: Origin, at: str | None, numbering: Numbering, labels: Labels
) -> Iterator[Block]:
    """The blocks of one wire message; their common key is the first one's id."""
    role = wire_role(message)
    found = message_parts(role, as_dict(message).get("content"))
    ids = [numbering.give(key) for key in part_keys(role, found)]
    typed = False
    for id_, part in zip(ids, found):
        if part.kind == "tool_call" and part.call_id and part.tool:
            numbering.tools[part.call_id] = part.tool
        block = Block(
            session=session,
            id=id_,
            role=role,
            kind=part.kind,
            text=part.text,
            origin=origin,
            message=ids[0],
            tool=part.tool if part.kind != "tool_result" else numbering.tools.get(part.call_id or ""),
            call_id=part.call_id,
            is_error=part.is_error,
            image=part.image,
            signature=part.signature,
            at=at,
            inserted=part.kind == "summary",
            note=part.note,
        )
        if role == "system":
            block = replace(block, kind="note", injected=True)
        elif part.kind == "user":
            block = _user_text(block, labels, typed)
            typed = typed or block.human
        yield block


def _user_text(block: Block, labels: Labels, typed: bool) -> Block:
    text = block.text
    if is_continuation(text) or text in labels.summaries:
        return replace(block, kind="summary", inserted=True)
    if is_reminder(text):
        return replace(block, kind="note", injected=True)
    if text == labels.instruction or text.lstrip().startswith(_CLIENT_TEXTS):
        return replace(block, injected=True)
    return replace(block, human=not typed and bool(text.strip()))


def _tools(session: str, body: dict[str, Any], origin: Origin, at: str | None, numbering: Numbering) -> Iterator[Block]:
    for schema in as_list(body.get("tools")):
        tool = as_dict(schema)
        text = compact_json(without(tool, "cache_control") if tool else schema)
        name = as_str(tool.get("name")) or as_str(tool.get("type")) or None
        yield Block(
            session, numbering.give(digest("system", "tools", name, text)), "system", "tools", text, origin,
            message="tools", tool=name, at=at, note=None if name else "tool without a name",
        )  # fmt: skip


def _system(
    session: str, body: dict[str, Any], origin: Origin, at: str | None, numbering: Numbering
) -> Iterator[Block]:
    system = body.get("system")
    if system is None or system == []:
        return
    for part in parts("system", system):
        note = "per-request billing header" if part.text.startswith(BILLING_HEADER) else part.note
        yield Block(
            session, numbering.give(digest("system", part.kind, part.text)), "system", "system", part.text, origin,
            message="system", at=at, note=note,
        )  # fmt: skip


def thinking_missing(blocks: list[Block]) -> tuple[str, ...]:
    """What a window lacks although its request was captured: thinking that the API keeps to itself."""
    return ("thinking",) if any(b.kind == "thinking" and b.note == NOT_RECORDED for b in blocks) else ()
