"""One line of a Claude Code session as a node: its place in the tree and the blocks it would bring into a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from ctxview.loaders.anthropic_content import NOT_RECORDED, is_continuation, parts
from ctxview.loaders.claude_code.attachments import INFERRED, render
from ctxview.loaders.claude_code.person import is_typed
from ctxview.loaders.shapes import as_count, as_dict, as_str, compact_json
from ctxview.model import Block, Kind, Origin, Role

Fingerprint: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Boundary:
    """What a compaction boundary says: a few words of its metadata, which may be of any size and depth."""

    metadata: str
    """As JSON, for evidence; empty when there is none."""
    trigger: str | None
    before: int | None
    after: int | None
    anchor: str | None
    """Uuid of the line that the preserved ones follow."""
    preserved: tuple[str, ...]
    """Uuids of the older lines that stay; empty where only the ends of their segment are named."""
    head: str | None
    tail: str | None


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
    unlogged: bool = False
    """Whether the text of some of its thinking was not logged."""
    forgotten: bool = False
    """The model's API left out its thinking."""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    about: str | None = None
    """Call id that an attachment (a hook's words) belongs to."""
    human: bool = False
    summary: bool = False
    boundary: Boundary | None = None
    arrived: bool = False
    inherited: bool = False
    cleared: tuple[str, ...] = ()
    """Call ids whose results a microcompaction boundary cleared."""
    cleared_lines: tuple[str, ...] = ()
    """Uuids of the attachments that it cleared."""
    placeholders: tuple[str, ...] = ()
    """Ids of its blocks in whose place a placeholder is sent."""
    saved: int | None = None
    session: str = ""
    above: str | None = None
    """Uuid of its parent, once that was put away."""


def node_of(value: dict[str, Any], session: str, origin: Origin, place: str, *, agent: bool) -> Node:
    """Build the node of a line. `place`: what to call it when it has no uuid; `agent`: its session is a sub-agent's,
    whose prompts no person typed."""
    kind = as_str(value.get("type"))
    uuid = as_str(value.get("uuid")) or place
    node = Node(uuid=uuid, line=origin.line, type=kind)
    if kind == "assistant":
        _assistant(node, value, session, origin)
    elif kind == "user":
        _user(node, value, session, origin, agent)
    elif kind == "attachment":
        _attachment(node, value, session, origin, agent)
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
    node.summary = value.get("isCompactSummary") is True or _is_printed_summary(value, message.get("content"))
    meta = value.get("isMeta") is True
    _fill(node, "user", message, value, session, origin, injected=meta, agent=agent)


def _is_printed_summary(value: dict[str, Any], content: Any) -> bool:
    """The summary of a compaction, as `stream-json` has it: made by the client, and known by its first words."""
    return value.get("isSynthetic") is True and any(is_continuation(part.text) for part in parts("user", content))


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
            elif injected or not is_typed(part.text, value):
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


def _attachment(node: Node, value: dict[str, Any], session: str, origin: Origin, agent: bool) -> None:
    attachment = as_dict(value.get("attachment"))
    node.about = as_str(attachment.get("toolUseID")) or None
    at = as_str(value.get("timestamp")) or None
    if attachment.get("type") == "queued_command":
        _queued(node, attachment, session, origin, at, agent)
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


def _queued(node: Node, attachment: dict[str, Any], session: str, origin: Origin, at: str | None, agent: bool) -> None:
    """What was typed, or what the client had to say, while the model was at work; nothing when no words are logged."""
    prompt = attachment.get("prompt")
    blocks: list[Block] = []
    for number, part in enumerate(parts("user", prompt) if prompt else ()):
        typed = part.kind == "user" and is_typed(part.text, attachment)
        blocks.append(
            Block(
                session=session,
                id=node.uuid if not number else f"{node.uuid}.{number}",
                role="user",
                kind="note" if part.kind == "user" and not typed else part.kind,
                text=part.text,
                origin=origin,
                message=node.uuid,
                image=part.image,
                at=at,
                injected=part.kind == "user" and not typed,
                human=typed and not agent,
                note=part.note,
            )
        )
    _keep(node, blocks)


def _system(node: Node, value: dict[str, Any]) -> None:
    subtype = value.get("subtype")
    if subtype == "compact_boundary":
        node.boundary = _boundary(as_dict(value.get("compactMetadata")) or as_dict(value.get("compact_metadata")))
    elif subtype == "microcompact_boundary":
        metadata = as_dict(value.get("microcompactMetadata"))
        node.cleared = _strings(metadata.get("compactedToolIds"))
        node.cleared_lines = _strings(metadata.get("clearedAttachmentUUIDs"))
        node.saved = as_count(metadata.get("tokensSaved"))


def _keep(node: Node, blocks: list[Block]) -> None:
    thinking: list[str] = []
    calls: list[str] = []
    results: list[str] = []
    for block in blocks:
        kind = block.kind
        if kind == "thinking":
            thinking.append(block.id)
            node.unlogged = node.unlogged or block.note == NOT_RECORDED
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


def fingerprints(node: Node, value: dict[str, Any]) -> tuple[Fingerprint, ...]:
    """What each block of a line still has in common with its copy after a resume wrote it again under a new uuid: the
    provider's ids where there are any, else the timestamp and the content. A boundary has one, too.

    By block, because a resume may write the parts of one message as lines of their own.
    """
    at = as_str(value.get("timestamp"))
    if node.boundary is not None or node.cleared or node.cleared_lines:
        return ((node.type, as_str(value.get("subtype")), at),) if at else ()
    marks: list[Fingerprint] = []
    for block in node.blocks:
        kind = block.kind
        if block.call_id and kind in ("tool_call", "tool_result"):
            marks.append((kind, block.call_id))
        elif node.message_id is not None:
            marks.append(("response", node.message_id, kind, hash(block.text), block.signature))
        elif at:
            marks.append(("line", node.type, at, kind, hash(block.text), block.signature))
    return tuple(marks)


def _boundary(metadata: dict[str, Any]) -> Boundary:
    messages = as_dict(metadata.get("preservedMessages"))
    segment = as_dict(metadata.get("preservedSegment"))
    preserved = _strings(messages.get("allUuids")) or _strings(messages.get("uuids"))
    return Boundary(
        metadata=compact_json(metadata)[:500] if metadata else "",
        trigger=as_str(metadata.get("trigger")) or None,
        before=as_count(metadata.get("preTokens", metadata.get("pre_tokens"))),
        after=as_count(metadata.get("postTokens", metadata.get("post_tokens"))),
        anchor=as_str((messages if preserved else segment).get("anchorUuid")) or None,
        preserved=preserved,
        head=as_str(segment.get("headUuid")) or None,
        tail=as_str(segment.get("tailUuid")) or None,
    )


def _strings(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()
