"""The values every part of ctxview shares: what loaders say (events) and what the store keeps (rows).

It prevents the mistake of each layer inventing its own idea of a message, a turn or a window. Events are what a
loader yields, in log order, without counting tokens or knowing the store. Rows are what reconstruction makes of
them: integers index into a session, so that storage is linear in blocks and never turns x blocks.
All values are frozen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from ctxview.values import dataclass

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Kind: TypeAlias = Literal[
    "system", "tools", "user", "assistant", "thinking", "tool_call", "tool_result", "summary", "note", "image"
]
KINDS: Final[tuple[Kind, ...]] = (
    "system",
    "tools",
    "user",
    "assistant",
    "thinking",
    "tool_call",
    "tool_result",
    "summary",
    "note",
    "image",
)
Form: TypeAlias = Literal["verbatim", "placeholder", "pointer", "flagged", "summary", "truncated"]
Action: TypeAlias = Literal["drop", "replace", "insert", "move", "tag"]
CutKind: TypeAlias = Literal["compact", "clear", "truncate", "rewind", "unexplained"]
Fidelity: TypeAlias = Literal["exact", "reconstructed", "simulated"]
Severity: TypeAlias = Literal["error", "warning", "info"]
Disposition: TypeAlias = Literal["window", "duplicate", "known", "unknown", "unreadable"]
Where: TypeAlias = Literal["end", "start", "before", "after", "index"]

NEVER: Final = 2**31 - 1
"""The `end` of a span that is still open when the session ends."""


# --------------------------------------------------------------------------------------------- events, from loaders


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the trace something stands."""

    file: str
    """Path as the user named it, or its path inside the directory or archive they named."""
    line: int
    """1-based line of a line-based log; 1-based record index of a JSON document."""
    id: str | None = None
    """The log's own id of the record (a uuid, a message id), where it has one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an insert or a move goes. `ref` is a block id for before/after; `index` counts open blocks from 0."""

    where: Where = "end"
    ref: str | None = None
    index: int = 0


AT_END: Final = Place()
AT_START: Final = Place("start")


@dataclass(frozen=True, slots=True)
class Image:
    """An image block's facts; its pixels stay in the log."""

    media_type: str
    width: int | None
    """Pixels; None when the header could not be read."""
    height: int | None
    bytes: int
    """Decoded size; 0 when only a reference was logged."""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """A conversation with one model context. The first event of its session; a later one with the same id amends it."""

    session: str
    format: str
    """The loader's name."""
    parent: str | None = None
    """Session id of the conversation that started this one as a sub-agent."""
    parent_call: str | None = None
    """`call_id` of the tool call in the parent that started this one."""
    agent: str | None = None
    client: str | None = None
    """Name and version of the program that wrote the log, e.g. `claude-code 2.1.232`."""
    title: str | None = None
    cwd: str | None = None
    limit: int | None = None
    """Context size in tokens, only where the log states it."""
    starts_inside: bool = False
    """The log's first message answers one that is not in it: the conversation began before."""
    joins_roles: bool = False
    """True where the client joins neighbouring blocks of one role into one wire message; otherwise `Block.message`
    alone says which blocks make one message."""


@dataclass(frozen=True, slots=True)
class Block:
    """One part of one message arrives: it joins the history and, unless `enters` is False, the open window.

    `id` is unique in its session and the same on every run over the same bytes.
    """

    session: str
    id: str
    role: Role
    kind: Kind
    text: str
    """What the model would read: the text, a tool call's arguments as JSON, a tool result's text, one tool's schema."""
    origin: Origin
    message: str = ""
    """Blocks in a row with the same value make one wire message; see `SessionStart.joins_roles`."""
    tool: str | None = None
    call_id: str | None = None
    is_error: bool = False
    image: Image | None = None
    signature: int = 0
    """Length in characters of a thinking block's signature: the only trace of text that was not logged."""
    unlogged_tokens: int | None = None
    """Tokens of a block whose text was not logged, where the log counts them; goes before `signature`."""
    at: str | None = None
    """Timestamp as logged (ISO 8601 wherever the log has one)."""
    injected: bool = False
    """Put there by the client (reminders, attachments, hooks), not typed by the person or answered by the model."""
    inherited: bool = False
    """Copied from a parent or a resumed session: in the window, not billed again."""
    human: bool = False
    """Typed by the person: starts a user turn."""
    place: Place = AT_END
    enters: bool = True
    """False: it joins the history but never stood in this window (an abandoned branch, UI-only text)."""
    inserted: bool = False
    """True for what a client's own cut put in (a summary, a marker): not part of the `history` stack."""
    note: str | None = None
    """A word on how far the text can be trusted, e.g. `text not recorded`, `truncated at source`."""
    cwd: str | None = None
    """Where the client's shell stood when this arrived, where the log says so."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model response, in disjoint parts; None where the log does not say."""

    input: int | None = None
    """Uncached prompt tokens."""
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    """All output, thinking included."""
    reasoning: int | None = None
    """The part of `output` that was thinking."""
    partial: bool = False
    """True when the log only has a streaming partial of `output`."""

    @property
    def prompt(self) -> int | None:
        """The window's recorded size, or None when no input counter was logged."""
        if self.input is None and self.cache_read is None and self.cache_write is None:
            return None
        return (self.input or 0) + (self.cache_read or 0) + (self.cache_write or 0)


@dataclass(frozen=True, slots=True)
class Call:
    """A model call: fixes the window of the next turn. Comes at the response's first record, before its blocks."""

    session: str
    id: str
    """The provider's response id where logged; else made from the origin."""
    origin: Origin
    model: str | None = None
    client: str | None = None
    at: str | None = None
    exact: bool = False
    """True when the request itself was captured."""
    missing: tuple[str, ...] = ()
    """Which of system, tools, thinking, summary were never logged for this window."""
    inherited: bool = False
    """A copied call of another session: it shows, and is not billed again."""


@dataclass(frozen=True, slots=True)
class CallEnd:
    """What the response reported. May come more than once per call; the last one stands."""

    session: str
    id: str
    usage: Usage | None = None
    stop_reason: str | None = None
    error: str | None = None

    @property
    def answered(self) -> bool:
        """Whether an answer came: then a failure told before, of an earlier attempt, no longer stands."""
        return self.error is None and (self.usage is not None or self.stop_reason is not None)


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to a window; the log's own are layer `recorded`."""

    session: str
    action: Action
    block: str
    rule: str
    reason: str
    layer: str = "recorded"
    place: Place | None = None
    text: str | None = None
    """The new text, for replace and for an insert in another form than it first had."""
    form: Form = "verbatim"
    covers: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """One batch of edits that the log's client made at once: a compaction, a clear, a rewind."""

    session: str
    id: str
    kind: CutKind
    origin: Origin
    trigger: str | None = None
    """`manual`, `auto`, or what the log says."""
    before: int | None = None
    """Tokens as the log states them; None when it does not."""
    after: int | None = None
    edits: tuple[Edit, ...] = ()
    unlogged: bool = False
    """It took from the window what the log does not hold."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The window becomes exactly these blocks, in this order (a captured request, a replacement history).

    Reconstruction aligns them with what it knows, by content and in order; cache markers must already be gone.
    """

    session: str
    blocks: tuple[Block, ...]
    why: str
    origin: Origin
    cut: CutKind | None = None
    """Set when the log says that this snapshot is a cut; otherwise reconstruction decides."""
    trigger: str | None = None
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The one disposition of one record read. `type` is the log's own type of it, such as `system/api_error`."""

    file: str
    line: int
    disposition: Disposition
    type: str


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong or noteworthy in the trace, for a person."""

    file: str
    line: int | None
    byte: int | None
    """Offset of the record's first byte in the file."""
    severity: Severity
    reason: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a loader is, for a determinate bar."""

    file: str
    done: int
    total: int


SessionEvent: TypeAlias = SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot
Event: TypeAlias = SessionEvent | Record | Issue | Progress


# ------------------------------------------------------------------------------------------- rows, in the store


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session's lasting facts. See `SessionStart` for the fields they share."""

    session: str
    parent: str | None
    parent_call: str | None
    agent: str | None
    format: str
    client: str | None
    title: str | None
    cwd: str | None
    limit: int | None
    joins_roles: bool
    started: str | None
    ended: str | None


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block that arrived. `n` counts the session's blocks from 0, in order of arrival."""

    n: int
    id: str
    message: str
    role: Role
    kind: Kind
    tool: str | None
    call_id: str | None
    is_error: bool
    content: int
    """Key of its verbatim text in the contents table."""
    tokens: int
    """Counted tokens of the verbatim text; see `estimated`."""
    estimated: bool
    """True when `tokens` is an estimate (an image, thinking that was not logged, no vocabulary)."""
    chars: int
    preview: str
    """The first characters of the text, unsafe ones included: pass it through `one_line`."""
    turn: int
    """The turn during which it arrived: 0 before the first call. For a call and its result: the turn that asked."""
    file: str
    line: int
    origin_id: str | None
    at: str | None
    injected: bool
    inherited: bool
    human: bool
    inserted: bool
    note: str | None
    image: str | None
    """`120x100 image/png`, for images."""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """Block `block` stood at order key `pos`, in form `form`, in the windows of turns start .. end-1."""

    block: int
    pos: float
    start: int
    end: int
    """NEVER while open. `start == end`: it arrived and left between two calls, so no call ever saw it."""
    form: Form
    content: int
    tokens: int
    ended_by: int | None
    """Index into the session's edits of what ended it."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One model call. `turn` counts from 1."""

    turn: int
    call: str
    model: str | None
    client: str | None
    at: str | None
    fidelity: Fidelity
    missing: tuple[str, ...]
    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None
    output_partial: bool
    stop_reason: str | None
    error: str | None
    inherited: bool
    file: str
    line: int

    @property
    def recorded(self) -> int | None:
        """The window's size as the provider counted it; None when the log has no usage."""
        return Usage(self.input, self.cache_read, self.cache_write).prompt


@dataclass(frozen=True, slots=True)
class EditRow:
    """A change between two windows: effective from `turn` on."""

    n: int
    turn: int
    layer: str
    rule: str
    reason: str
    block: int | None
    action: Action
    at: str | None
    """The place as text, for insert and move: `start`, `end`, `after:<id>` ..."""
    covers: tuple[str, ...]
    evidence: Mapping[str, Any]
    cut: int | None
    """Index into the session's cuts."""


@dataclass(frozen=True, slots=True)
class CutRow:
    """A cut takes effect at `turn`: the first turn whose window it changed (one past the last when none followed)."""

    n: int
    turn: int
    kind: CutKind
    trigger: str | None
    before: int | None
    after: int | None
    dropped: int | None
    """Blocks that left; None where it took what the log does not hold."""
    kept: int
    """Blocks of the old window that stayed."""
    summary_tokens: int | None
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class IssueRow:
    file: str
    line: int | None
    byte: int | None
    severity: Severity
    reason: str
    session: str | None


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of the trace and what became of its records: the five counts add up to `records`."""

    path: str
    format: str | None
    bytes: int
    records: int
    window: int
    duplicates: int
    known: Mapping[str, int]
    unknown: Mapping[str, int]
    unreadable: int


# ------------------------------------------------------------------------------------------ facts, from annotate

Evidence: TypeAlias = Literal["stated", "matched", "inferred"]
"""In the log or by a person; by a documented rule; a guess that says so."""
PinKind: TypeAlias = Literal[
    "goal", "constraint", "preference", "decision", "denial", "approval", "plan", "workflow", "question", "system",
    "user",
]  # fmt: skip
Effect: TypeAlias = Literal["read", "write", "edit", "ack", "event", "change"]
"""What a call did to a resource: `read` and `write` blocks hold its content (the result of a read, the call of a
write), `edit` changes it without showing it whole, `ack` answers a write or an edit without content, `event` is never
merged, `change` is a note that something outside changed it."""
ResourceState: TypeAlias = Literal["live", "superseded", "stale"]


@dataclass(frozen=True, slots=True)
class Pin:
    """A block whose absence from a window explains a failure."""

    block: int
    """`BlockRow.n`."""
    kind: PinKind
    evidence: Evidence
    rule: str
    """The documented rule that found it, in words."""
    since: int = 1
    """First turn from which the fact is known: the first window its block can stand in."""
    until: int = NEVER
    """First turn from which it holds no longer (a workflow that was finished)."""
    priority: int = 0
    """Higher survives longer when pins are capped."""
    quote: str = ""
    """The words that matched, at most 200 characters, for a screen; empty for the whole block."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one block says of one resource."""

    block: int
    """The block that holds the content, or that acknowledges, edits or notes the change."""
    key: str | None
    """`file:PATH`, `record:TABLE:ID`, `url:URL`; None for an event."""
    effect: Effect
    turn: int
    """The turn whose model call asked for it; its age at turn t is t minus this."""
    since: int
    """First turn whose window can hold it."""
    call: int | None = None
    """Block number of the tool call, where `block` is its result."""
    first: int | None = None
    """First and last line seen, 1-based; None for the whole resource."""
    last: int | None = None
    content: str | None = None
    """Hash of the content seen; None when there is none."""
    evidence: Evidence = "matched"
    rule: str = ""


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """From turn `since` on, the observation in `block` of `key` is in `state`. Staleness by age is not stored: it
    follows from `Observation.turn` and the threshold of its type."""

    block: int
    key: str
    since: int
    state: ResourceState
    because: int | None
    """Block number of what superseded it or made it stale."""
    reason: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of turns over which recorded = factor x counted + constant was fitted."""

    start: int
    end: int
    """Last turn, inclusive."""
    factor: float
    constant: int
    steps: tuple[int, ...]
    """Turns at which the constant was re-based: something unlogged came or went."""
    median_error: float
    """Relative, 0.01 = 1 %."""
    p95_error: float
    model: str | None = None
