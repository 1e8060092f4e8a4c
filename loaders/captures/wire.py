"""What a captured call says, whichever API it speaks: a request, its answer, and the messages of both.

It prevents threads, ids and windows from being worked out once per API: each dialect's module turns its bodies into
these values, and nothing after it looks at a body again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Literal, TypeAlias

from ctxview.loaders.anthropic_content import Part
from ctxview.model import Role, Usage

Dialect: TypeAlias = Literal["anthropic-requests", "openai-requests", "litellm"]
"""The format that sessions of a dialect are shown under."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request or an answer; of the Responses API, one item."""

    role: Role
    parts: tuple[Part, ...]
    """At least one."""
    keys: tuple[str, ...]
    """What identifies each part, by content; see `part_keys`."""
    mark: str
    """Digest by which requests are compared; empty for what a client re-sends or leaves out as it likes."""
    joins: bool = False
    """It makes one wire message with neighbours of its role that join too."""
    item: str | None = None
    """The provider's id of it, where later requests may refer to it."""
    refers: str | None = None
    """Id of the item that it stands for, and is not itself."""
    compaction: bool = False
    """It carries a compacted conversation."""

    @property
    def calls(self) -> list[str]:
        """Ids of its tool calls."""
        return [part.call_id for part in self.parts if part.kind == "tool_call" and part.call_id]


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent."""

    model: str
    tools: tuple[Part, ...]
    system: tuple[Part, ...]
    """System text that stands beside the messages."""
    messages: tuple[Message, ...]
    body: str
    """Digest of all that makes a repeated request the same."""
    previous: str | None = None
    """Id of the response whose window this one goes on with; None when `messages` are all there is."""
    missing: tuple[str, ...] = ()
    """What the provider added that was never in a log."""
    edits: str = ""
    """What the provider was asked to leave out."""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    id: str = ""
    model: str = ""
    messages: tuple[Message, ...] = ()
    usage: Usage | None = None
    stop_reason: str | None = None
    error: str | None = None
    at: str | None = None
    """When it was made, by the provider's clock."""
    edits: tuple[str, ...] = ()
    """What the provider says it left out."""
    done: bool = False
    """An answer, be it an empty one: the same request again is another call."""
    keeps: str | None = None
    """Another id under which its window can be gone on with (a conversation's)."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call as it was captured."""

    dialect: Dialect
    request: Request
    reply: Reply | None
    """None for a request that waits for its answer (a body on its own)."""
    at: str | None = None
    client: str | None = None
    session: str | None = None
    """The client's own id of the conversation, where headers or metadata give one."""
    parent: str | None = None
    """The client's id of the conversation that started this one."""
    agent: str | None = None
    id: str | None = None
    """The log's own id of the record."""
    limit: int | None = None
    """Context size in tokens, where the log states it."""


@dataclass(frozen=True, slots=True)
class Other:
    """A record that is not such a call."""

    type: str
    known: bool = True
    reason: str | None = None
    """What to say about it to a person, once per file."""


def digest(*words: str | None) -> str:
    """A short stable hash."""
    return blake2b("\x1f".join(word or "" for word in words).encode("utf-8", "replace"), digest_size=8).hexdigest()


def part_keys(role: str, found: Iterable[Part]) -> list[str]:
    """What identifies each part of a message, by content."""
    parts = list(found)
    keys = []
    for index, part in enumerate(parts):
        text = part.text
        if part.kind == "thinking" and not text:  # nothing of its own: it is the one before that answer or call
            after = next((later for later in parts[index + 1 :] if later.kind != "thinking"), None)
            text = f"before {digest(after.kind, after.call_id, after.text)}" if after is not None else ""
        image = f"{part.image.bytes} {part.image.width} {part.image.height}" if part.image is not None else None
        tool = part.tool if part.kind == "tool_call" else None
        keys.append(digest(role, part.kind, tool, part.call_id, text, image))
    return keys


def trimmed(role: str, found: list[Part]) -> list[Part]:
    """The parts with blank edges of an answer's texts gone: clients trim them on the way back."""
    if role != "assistant":
        return found
    return [replace(part, text=part.text.strip()) if part.kind == "assistant" else part for part in found]
