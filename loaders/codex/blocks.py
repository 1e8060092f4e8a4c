"""An item's parts as blocks, and the messages that a client words anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ctxview.loaders.codex.items import NOT_RECORDED, Item, Part
from ctxview.loaders.shapes import title_of
from ctxview.model import Block, Origin

_REQUEST_MARK: Final = "## My request for Codex:"
"""Below the context that an editor puts before the person's words."""


@dataclass(frozen=True, slots=True)
class At:
    """Where a record stands."""

    origin: Origin
    stem: str
    """A name for the record, unique in its session."""
    time: str | None
    number: int
    """Of the record in its file, from 0."""


def block_of(
    session: str,
    part: Part,
    name: str,
    item: Item,
    at: At,
    message: str,
    tool: str | None = None,
    inherited: bool = False,
    unlogged_tokens: int | None = None,
) -> Block:
    """One part of an item as the block `name` of the wire message `message`."""
    return Block(
        session=session,
        id=name,
        role=part.role,
        kind=part.kind,
        text=part.text,
        origin=at.origin,
        message=message,
        tool=part.tool or tool,
        call_id=item.call_id if part.kind in ("tool_call", "tool_result") else None,
        is_error=part.is_error,
        image=part.image,
        signature=part.signature,
        unlogged_tokens=unlogged_tokens,
        at=at.time,
        injected=part.injected,
        inherited=inherited,
        human=part.human,
        note=part.note,
    )


def summary_item(text: str) -> Item:
    """The message that stands for what was compacted."""
    return Item("summary", (Part("summary", "user", text, note=None if text else NOT_RECORDED),))


def not_typed(item: Item) -> Item:
    """A message that the client wrote anew is not one that the person typed now."""
    return replace(item, parts=tuple(replace(part, human=False) for part in item.parts))


def title_in(item: Item) -> str | None:
    """What the person's message can be called."""
    text = next((part.text for part in item.parts if part.human and part.text), "")
    return title_of(text.partition(_REQUEST_MARK)[2] or text)
