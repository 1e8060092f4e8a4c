"""One line of a Claude Code session as a node: its place in the tree and the blocks it would bring into a window."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ctxview.loaders.anthropic_content import is_reminder, parts
from ctxview.loaders.claude_code.attachments import INFERRED, render
from ctxview.loaders.shapes import as_dict, as_str
from ctxview.model import Block, Kind, Origin, Role

# What the client writes into user lines by itself: echoes of its own commands, their output, interruption marks.
_ECHO: Final = re.compile(
    r"\s*(<(command-name|command-message|local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout"
    r"|bash-stderr|task-notification|user-memory-input)>|\[Request interrupted by user|Caveat: The messages below)"
)

Fingerprint: TypeAlias = tuple[object, ...]


@dataclass(slots=True, eq=False)
class Node:
    """A line with a uuid. Compared by identity: a re-logged line resolves to the node it repeats."""

    uuid: str
    line: int
    type: str
    parent: Node | None = None
    message_id: str | None = None
    blocks: tuple[Block, ...] = ()
    """Emptied once they have arrived, so that no text is held."""
    ids: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    """Ids of its thinking blocks."""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    about: str | None = None
    """Call id that an attachment (a hook's words) belongs to."""
    human: bool = False
    summary: bool = False
    boundary: dict[str, Any] | None = None
    """`compactMetadata`, on a compaction boundary."""
    arrived: bool = False
    inherited: bool = False
    cleared: tuple[str, ...] = field(default=())
    """Call ids whose results a microcompaction boundary cleared."""
    saved: int | None = None
    session: str = ""
    above: str | None = None
    """Uuid of its parent, once that was put away."""


def node_of(value: dict[str, Any], session: str, origin: Origin, *, agent: bool) -> Node:
    """Build the node of a line. `agent`: its session is a sub-agent's, whose prompts no person typed."""
    kind = as_str(value.get("type"))
    uuid = as_str(value.get("uuid")) or f"{origin.file}:{origin.line}"
    node = Node(uuid=uuid, line=origin.line, type=kind)
    if kind == "assistant":
        _assistant(node, value, session, origin)
    elif kind == "user":
        _user(node, value, session, origin, agent)
    elif kind == "attachment":
        _attachment(node, value, session, origin)
    elif kind == "system":
        _system(node, value)
    return node


def _assistant(node: Node, value: dict[str, Any], session: str, origin: Origin) -> None:
    message = as_dict(value.get("message"))
    synthetic = message.get("model") == "<synthetic>"
    if not synthetic:
        node.message_id = as_str(message.get("id")) or as_str(value.get("requestId")) or node.uuid
    _fill(node, "assistant", message, value, session, origin, injected=synthetic)


def _user(node: Node, value: dict[str, Any], session: str, origin: Origin, agent: bool) -> None:
    message = as_dict(value.get("message"))
    node.summary = value.get("isCompactSummary") is True
    meta = value.get("isMeta") is True
    _fill(node, "user", message, value, session, origin, injected=meta, agent=agent)


def _fill(
    node: Node,
    role: Role,
    message: dict[str, Any],
    value: dict[str, Any],
    session: str,
    origin: Origin,
    *,
    injected: bool,
    agent: bool = False,
) -> None:
    """The line's content as blocks."""
    at = as_str(value.get("timestamp")) or None
    said_in = node.message_id or node.uuid
    blocks: list[Block] = []
    for part in parts(role, message.get("content")):
        kind: Kind = part.kind
        put_in = injected
        human = False
        if kind == "user":
            if node.summary:
                kind = "summary"
            elif injected or _ECHO.match(part.text) or is_reminder(part.text):
                kind, put_in = "note", True
            elif part.text or part.note:
                human = not agent
        number = len(blocks)
        blocks.append(
            Block(
                session=session,
                id=node.uuid if not number else f"{node.uuid}.{number}",
                role=role,
                kind=kind,
                text=part.text,
                origin=origin,
                message=said_in,
                tool=part.tool,
                call_id=part.call_id,
                is_error=part.is_error,
                image=part.image,
                signature=part.signature,
                at=at,
                injected=put_in,
                human=human,
                inserted=node.summary,
                note=part.note,
                cwd=as_str(value.get("cwd")) or None,
            )
        )
    _keep(node, blocks)


def _attachment(node: Node, value: dict[str, Any], session: str, origin: Origin) -> None:
    attachment = as_dict(value.get("attachment"))
    node.about = as_str(attachment.get("toolUseID")) or None
    at = as_str(value.get("timestamp")) or None
    if attachment.get("type") == "queued_command":
        prompt = attachment.get("prompt")
        blocks = [
            Block(
                session=session,
                id=node.uuid if not i else f"{node.uuid}.{i}",
                role="user",
                kind=part.kind,
                text=part.text,
                origin=origin,
                message=node.uuid,
                image=part.image,
                at=at,
                human=part.kind == "user",
                note=part.note,
            )
            for i, part in enumerate(parts("user", prompt))
        ]
        _keep(node, blocks)
        return
    text = render(attachment)
    if text is not None:
        _keep(
            node,
            [
                Block(
                    session=session,
                    id=node.uuid,
                    role="user",
                    kind="note",
                    text=text,
                    origin=origin,
                    message=node.uuid,
                    tool=as_str(attachment.get("type")) or None,
                    at=at,
                    injected=True,
                    note=INFERRED,
                )
            ],
        )


def _system(node: Node, value: dict[str, Any]) -> None:
    subtype = value.get("subtype")
    if subtype == "compact_boundary":
        node.boundary = as_dict(value.get("compactMetadata")) or as_dict(value.get("compact_metadata"))
    elif subtype == "microcompact_boundary":
        metadata = as_dict(value.get("microcompactMetadata"))
        ids = metadata.get("compactedToolIds")
        node.cleared = tuple(i for i in ids if isinstance(i, str)) if isinstance(ids, list) else ()
        saved = metadata.get("tokensSaved")
        node.saved = saved if isinstance(saved, int) else None


def _keep(node: Node, blocks: list[Block]) -> None:
    thinking: list[str] = []
    calls: list[str] = []
    results: list[str] = []
    for block in blocks:
        kind = block.kind
        if kind == "thinking":
            thinking.append(block.id)
        elif kind == "tool_call":
            if block.call_id:
                calls.append(block.call_id)
        elif kind == "tool_result":
            if block.call_id:
                results.append(block.call_id)
        elif kind == "user" and not block.injected:
            node.human = True
    node.blocks = tuple(blocks)
    node.ids = tuple([b.id for b in blocks])
    node.thinking, node.calls, node.results = tuple(thinking), tuple(calls), tuple(results)


def fingerprint(node: Node, value: dict[str, Any]) -> Fingerprint | None:
    """What a line still has in common with its copy after a resume wrote it again under a new uuid.

    The provider's ids where there are any; else the timestamp and the content.
    """
    if node.calls:
        return ("call", *node.calls)
    if node.results:
        return ("result", *node.results)
    if not node.blocks:
        return None
    texts = tuple((b.kind, hash(b.text), b.signature) for b in node.blocks)
    if node.message_id is not None:
        return ("response", node.message_id, texts)
    at = as_str(value.get("timestamp"))
    return ("line", node.type, at, texts) if at else None


def describe(metadata: dict[str, Any]) -> str:
    """A boundary's metadata as short text, for evidence."""
    return json.dumps(metadata, ensure_ascii=False, default=str)[:500]
