"""Claude Code session files to events.

A trace may be several files: a session, its sub-agents' files beside it, forks that copied its history. Each model
response is a call once, in the first file that has it; its copy elsewhere is inherited. Source: formats.md section 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ctxview.compact import CompactMap
from ctxview.loaders.claude_code.attachments import is_known
from ctxview.loaders.claude_code.files import agent_of, reading_order, starting_call
from ctxview.loaders.claude_code.kinds import CONVERSATION, KNOWN_SYSTEM, KNOWN_TYPES
from ctxview.loaders.claude_code.lane import Lane
from ctxview.loaders.claude_code.lanes import FORMAT, Lanes, is_sub_agents
from ctxview.loaders.claude_code.lines import Node, fingerprints, node_of
from ctxview.loaders.claude_code.queue import Queue
from ctxview.loaders.claude_code.thinking import keeps_thinking
from ctxview.loaders.claude_code.titles import Titles
from ctxview.loaders.claude_code.tree import Tree
from ctxview.loaders.claude_code.usage import merge_usage
from ctxview.loaders.clock import OWN_TIME, Clock
from ctxview.loaders.records import read_lines
from ctxview.loaders.shapes import as_count, as_dict, as_list, as_str, title_of
from ctxview.loaders.source import Source, SourceFile
from ctxview.loaders.taken import Taken
from ctxview.loaders.usage import anthropic_usage
from ctxview.model import Call, CallEnd, Event, Issue, Origin, Progress, Record

_STEP: Final = 1 << 20
"""Bytes between two Progress events."""


@dataclass(slots=True)
class _Shared:
    """What the files of one trace share."""

    is_alone: bool
    """Whether there is only one."""
    responses: CompactMap = field(default_factory=CompactMap)
    """Message id -> number of the file whose call it is."""
    first_lines: CompactMap = field(default_factory=lambda: CompactMap(wide=True))
    """(message id, `at` or `said`) -> a number for the timestamp or the blocks of that call's first line."""
    sessions: Taken = field(default_factory=Taken)
    agents: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Agent id -> (session, call id) that started it, by the call's result."""
    calls: dict[str, str] = field(default_factory=dict)
    """Agent id -> id of the call that started it, by its metadata."""
    reported: dict[str, Issue] = field(default_factory=dict)
    """Agent id -> what to say if its file is missing."""


def load(source: Source) -> Iterator[Event]:
    """Read every file of the trace, sessions first and their sub-agents' files after them."""
    logs = [file for file in source.files if agent_of(file) is None]
    shared = _Shared(is_alone=len(logs) < 2)
    for file in source.files:
        if (agent := agent_of(file)) is not None:
            shared.calls[agent] = starting_call(file)
            yield Record(file.name, 1, "known", "agent metadata")
            yield Progress(file.name, file.size, file.size)
    for number, file in enumerate(reading_order(logs)):
        yield from _Reader(file, number, shared).events()
    yield from shared.reported.values()


class _Reader:
    """One file being read."""

    def __init__(self, file: SourceFile, number: int, shared: _Shared) -> None:
        self._file = file
        self._number = number
        self._name = file.name
        self._shared = shared
        self._copied = CompactMap()
        """Message id that another file has, too -> 1 for a copy of that response, 0 for another one."""
        self._tree = Tree()
        self._lanes = Lanes(file.name, self._tree, shared.sessions, shared.agents, shared.calls)
        self._titles = Titles()
        self._queue = Queue()
        self._starts_inside: bool | None = None
        """Whether the file's first line answers one that is not in it; None before that line."""
        self._newest_line = 0
        self._part = 1
        """Which object on its line is being read: several can be glued."""
        self._clock = Clock(file.name)

    def events(self) -> Iterator[Event]:
        found: list[Issue] = []
        reported = 0
        for raw in read_lines(self._file, found.append):
            yield from found
            found.clear()
            self._part = self._part + 1 if raw.line == self._newest_line else 1
            self._newest_line = raw.line
            if raw.status == "unreadable":
                yield Record(self._name, raw.line, "unreadable", "unreadable")
            elif raw.status == "ok":
                yield from self._line(raw.value, raw.line, raw.byte)
            if raw.end - reported >= _STEP:
                reported = raw.end
                yield Progress(self._name, raw.end, self._file.size)
        yield from found
        for lane in self._lanes.all:
            yield from lane.finish()
        yield from self._last_words()
        self._tree.close()
        yield Progress(self._name, self._file.size, self._file.size)

    # ------------------------------------------------------------------ lines

    def _line(self, value: Any, number: int, byte: int) -> Iterator[Event]:
        if not isinstance(value, dict):
            yield Record(self._name, number, "unknown", f"json {type(value).__name__}")
            return
        kind = as_str(value.get("type"))
        self._queue.see(kind, value, number)
        if kind not in CONVERSATION:
            self._titles.see(kind, value)
            yield Record(self._name, number, "known" if kind in KNOWN_TYPES else "unknown", kind or "no type")
            self._link(value, number)
        elif kind == "assistant" and value.get("isApiErrorMessage") is True:
            yield Record(self._name, number, "known", "assistant/api-error")
            parent = self._lanes.parent_of(value)
            main = self._lanes.main.session if self._lanes.main else None
            session = (parent.session if parent else "") or main
            reason = f"the API call failed: {title_of(_text_of(value)) or 'no text'}"
            yield Issue(self._name, number, byte, "error", reason, session)
            self._link(value, number)
        else:
            yield from self._conversation(value, number, byte)

    def _link(self, value: dict[str, Any], number: int) -> None:
        """A line that stands in no window may still be the parent of one that does: its children hang below its own
        parent instead, so that nothing is kept of it but its id."""
        uuid = as_str(value.get("uuid"))
        if not uuid or uuid in self._tree:
            return
        self._look_above(value)
        parent = self._lanes.parent_of(value)
        if parent is not None:
            self._tree.skip(uuid, parent)
            return
        node = Node(uuid=uuid, line=number, type=as_str(value.get("type")))
        self._tree.add(node, ())

    def _look_above(self, value: dict[str, Any]) -> None:
        if self._starts_inside is None and "parentUuid" in value:
            self._starts_inside = isinstance(value["parentUuid"], str) and value["parentUuid"] not in self._tree

    def _conversation(self, value: dict[str, Any], number: int, byte: int) -> Iterator[Event]:
        uuid = as_str(value.get("uuid"))
        known = self._tree.get(uuid)
        if known is not None:
            yield Record(self._name, number, "duplicate", as_str(value.get("type")))
            if known.uuid == uuid and known.type != as_str(value.get("type")):
                reason = f"another kind of line has the uuid {uuid}: only the first one is shown"
                yield Issue(self._name, number, byte, "warning", reason)
            return
        self._look_above(value)
        parent = self._lanes.parent_of(value)
        lane, start = self._lanes.lane_for(value, parent)
        origin = Origin(self._name, number, uuid or None)
        part = f"#{self._part}" if self._part > 1 else ""
        place = f"{self._name}:{number}{part}"
        node = node_of(value, lane.session, origin, place, agent=is_sub_agents(value))
        node.parent = parent
        if parent is None:
            lane.writing = None
        at = as_str(value.get("timestamp"))
        original = self._tree.add(node, fingerprints(node, value), at, lane.writing)
        if original is not None:
            self._lanes.of(original, lane).repeat(original)
            yield Record(self._name, number, "duplicate", node.type)
            return
        if start is not None:
            is_main = lane is self._lanes.main
            lane.starts_inside = is_main and bool(self._starts_inside)
            starts_inside = lane.starts_inside or (is_main and (node.boundary is not None or node.summary))
            yield replace(start, starts_inside=starts_inside)
            if starts_inside:
                reason = "the log starts inside a conversation: what was said before this line is not in the file"
                yield Issue(self._name, number, byte, "warning", reason, lane.session)
            yield from filter(None, [self._lanes.name_sidechain(lane, node)])
            if self._lanes.agent:
                self._shared.reported.pop(self._lanes.agent, None)
        self._lanes.place(node, lane)
        if node.blocks and node.type != "attachment" and node.blocks[0].note is None:
            yield Record(self._name, number, "window", node.type)
        else:
            yield from self._record(value, node, number, byte)
        self._watch_clock(value, node, number)
        self._note_agent(value, node, lane, number)
        if node.message_id is not None:
            yield from self._response(lane, node, value, number)
        yield from lane.add(node)

    def _record(self, value: dict[str, Any], node: Node, number: int, byte: int) -> Iterator[Event]:
        if node.type == "attachment":
            attachment = as_dict(value.get("attachment"))
            label = f"attachment/{as_str(attachment.get('type')) or 'no type'}"
            out = "known" if is_known(attachment) else "unknown"
            yield Record(self._name, number, "window" if node.blocks else out, label)  # type: ignore[arg-type]
        elif node.type == "system":
            subtype = as_str(value.get("subtype"))
            known = subtype in KNOWN_SYSTEM
            yield Record(self._name, number, "known" if known else "unknown", f"system/{subtype or 'no subtype'}")
        else:
            yield Record(self._name, number, "window", node.type)
            if any(b.note == "no content" for b in node.blocks):
                yield Issue(self._name, number, byte, "info", "a message without content: kept as an empty block")

    # -------------------------------------------------------------- responses

    def _response(self, lane: Lane, node: Node, value: dict[str, Any], number: int) -> Iterator[Event]:
        """A line of a model response: its first one makes the call; each may report usage."""
        message = as_dict(value.get("message"))
        key = lane.writing = node.message_id or node.uuid
        if self._is_copied(key, node, value):
            node.inherited = True
            lane.inherit()
            return
        model = as_str(message.get("model")) or None
        if lane.index.starts(key):
            yield from lane.advance(node.parent)
            yield from lane.drop_thinking(keeps_thinking(model))
            version = as_str(value.get("version"))
            yield Call(
                session=lane.session,
                id=key,
                origin=Origin(self._name, number, node.uuid),
                model=model,
                client=f"{FORMAT} {version}" if version else None,
                at=as_str(value.get("timestamp")) or None,
                missing=lane.missing,
            )
        stop = as_str(message.get("stop_reason")) or None
        known = lane.index.usage(key)
        stopped = stop is not None or (known is not None and not known.partial)
        usage = merge_usage(known, anthropic_usage(message.get("usage")), stopped=stopped)
        if usage != known or stop is not None:
            lane.index.report(key, usage)
            yield CallEnd(lane.session, key, usage, stop)

    def _is_copied(self, key: str, node: Node, value: dict[str, Any]) -> bool:
        """Whether a response is another file's. Some servers number their responses, so that the id alone is no proof:
        the first line must have been written at the same moment, or say the same."""
        if self._shared.is_alone:
            return False
        of_file = self._shared.responses.get(key)
        if of_file == self._number:
            return False
        copied = self._copied.get(key)
        if copied is None:
            at = as_str(value.get("timestamp"))
            said = {"at": hash(at) if at else None, "said": hash(fingerprints(node, value))}
            if of_file is None:
                self._shared.responses[key] = self._number
                for name, number in said.items():
                    if number is not None:
                        self._shared.first_lines[key, name] = number
                return False
            known = {name: self._shared.first_lines.get((key, name)) for name in said}
            copied = int(any(number is not None and number == known[name] for name, number in said.items()))
            self._copied[key] = copied
        return bool(copied)

    # ------------------------------------------------------------------ words

    def _note_agent(self, value: dict[str, Any], node: Node, lane: Lane, number: int) -> None:
        """What ties sub-agents to this session: their prompts, and results that name the agent."""
        if node.calls:
            self._lanes.learn_prompts(as_dict(value.get("message")))
        if not node.results:
            return
        result = as_dict(value.get("toolUseResult"))
        agent = as_str(result.get("agentId"))
        if agent:
            self._shared.agents.setdefault(agent, (lane.session, node.results[0]))
            total = as_count(result.get("totalTokens"))
            size = f"; its parent reports {total:,} tokens for it" if total is not None else ""
            reason = f"the file of sub-agent {agent} is missing{size}"
            self._shared.reported.setdefault(agent, Issue(self._name, number, None, "warning", reason, lane.session))

    def _watch_clock(self, value: dict[str, Any], node: Node, number: int) -> None:
        """What the client writes by itself is dated by its occasion: echoes of a command by when that was typed,
        attachments and summaries by when they were made."""
        is_said = node.type in ("user", "assistant") and not all(b.injected or b.inserted for b in node.blocks)
        self._clock.see(
            value.get("timestamp"), number, node.session,
            slack=0.0 if is_said else OWN_TIME, calls=node.calls, answers=node.results,
        )  # fmt: skip

    def _last_words(self) -> Iterator[Event]:
        session = self._lanes.main.session if self._lanes.main else None
        for line in self._queue.unseen():
            reason = "words that were queued here left the queue, and no line shows them sent: windows may lack them"
            yield Issue(self._name, line, None, "warning", reason, session)
        yield from self._clock.issues()
        yield from self._lanes.closing(self._titles.best(self._tree))


def _text_of(value: dict[str, Any]) -> str:
    content = as_dict(value.get("message")).get("content")
    if isinstance(content, str):
        return content
    return " ".join(as_str(as_dict(part).get("text")) for part in as_list(content)).strip()
