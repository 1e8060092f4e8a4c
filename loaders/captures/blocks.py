"""The blocks of a captured request, and of its answer, with ids made from content.

It prevents an answer and its copy in the next request from being two blocks: the same part gets the same id in both,
whatever happened to cache markers, signatures or surrounding whitespace on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ctxview.loaders.anthropic_content import NOT_RECORDED, Part
from ctxview.loaders.captures.texts import is_context, is_from_client, is_summary
from ctxview.loaders.captures.wire import Message, Request, digest
from ctxview.model import Block, Kind, Origin, Role


@dataclass(slots=True)
class Numbering:
    """Ids given so far in one list of blocks: the second block of the same content gets `-2`."""

    seen: Counter[str] = field(default_factory=Counter)
    tools: dict[str, str] = field(default_factory=dict)
    """Tool name by call id, as met in the list."""
    run: tuple[Role | None, str] = (None, "")
    """Role and key of the wire message that the list ends with, while others may join it."""

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


@dataclass(slots=True)
class Scribe:
    """Makes the blocks of one call."""

    session: str
    origin: Origin
    at: str | None
    labels: Labels
    numbering: Numbering = field(default_factory=Numbering)

    def window(self, request: Request, messages: Iterable[Message]) -> list[Block]:
        """Tools, then system, then messages: a request's window, in the order the provider reads it."""
        tools, system = request.tools, request.system
        blocks = [self._beside(part, "tools", digest("system", "tools", part.tool, part.text)) for part in tools]
        blocks += [self._beside(part, "system", digest("system", part.kind, part.text)) for part in system]
        blocks += self.messages(messages)
        return blocks

    def messages(self, messages: Iterable[Message]) -> Iterator[Block]:
        """The blocks of wire messages; the common key of each is its first one's id."""
        for message in messages:
            ids = [self.numbering.give(key) for key in message.keys]
            role, key = self.numbering.run
            if not message.joins or message.role != role:
                key = ids[0]
            self.numbering.run = (message.role if message.joins else None, key)
            yield from self._message(message, key, ids)

    def _beside(self, part: Part, kind: Kind, key: str) -> Block:
        id_ = self.numbering.give(key)
        return Block(
            self.session, id_, "system", kind, part.text, self.origin, message=kind, tool=part.tool, at=self.at,
            note=part.note,
        )  # fmt: skip

    def _message(self, message: Message, key: str, ids: list[str]) -> Iterator[Block]:
        typed = False
        names = self.numbering.tools
        for id_, part in zip(ids, message.parts):
            if part.kind == "tool_call" and part.call_id and part.tool:
                names[part.call_id] = part.tool
            block = Block(
                session=self.session,
                id=id_,
                role=message.role,
                kind=part.kind,
                text=part.text,
                origin=self.origin,
                message=key,
                tool=part.tool or (names.get(part.call_id or "") if part.kind == "tool_result" else None),
                call_id=part.call_id,
                is_error=part.is_error,
                image=part.image,
                signature=part.signature,
                at=self.at,
                injected=part.kind == "note",
                inserted=part.kind == "summary",
                note=part.note,
            )
            if part.kind == "user" and message.role == "user":
                block = self._user_text(block, typed)
                typed = typed or block.human
            yield block

    def _user_text(self, block: Block, typed: bool) -> Block:
        text = block.text
        if is_summary(text) or text in self.labels.summaries:
            return replace(block, kind="summary", inserted=True)
        if is_context(text):
            return replace(block, kind="note", injected=True)
        if text == self.labels.instruction or is_from_client(text):
            return replace(block, injected=True)
        return replace(block, human=not typed and bool(text.strip()))


def never_logged(blocks: Iterable[Block]) -> set[str]:
    """What these blocks lack although they were captured: what providers keep to themselves."""
    return {block.kind for block in blocks if block.note == NOT_RECORDED and block.kind in ("thinking", "summary")}
