"""One chat message as the blocks of a conversation.

It prevents what a harness wrote from passing for what a person typed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ctxview.loaders.anthropic_content import is_continuation, is_reminder
from ctxview.loaders.openai_content import ENVIRONMENT_TEXTS, Calls, chat_parts
from ctxview.loaders.shapes import as_time
from ctxview.model import Block, Origin, Role


def message_blocks(
    session: str, key: str, role: Role, message: dict[str, Any], origin: Origin, calls: Calls, environment: bool = False
) -> Iterator[Block]:
    """The blocks of one message; `environment` says that its user text comes from the harness."""
    found = list(chat_parts(role, message, calls))
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
