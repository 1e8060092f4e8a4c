"""The first reading of a rollout: which sessions it holds, and what can only be known from further on.

A child's file may begin with a copy of its parent's conversation, usage included; only where the child's own first turn
stands tells the copy from its own calls. An event may repeat an item, or be all there is; only the items of the whole
session tell. So each file is read twice, and only numbers are kept in between.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from ctxview.loaders.codex.items import Item, item_of
from ctxview.loaders.codex.kinds import LINE_TYPES, MIRRORS
from ctxview.loaders.codex.thinking import Thinking
from ctxview.loaders.codex.usage import Meter, totals_of
from ctxview.loaders.records import Raw, read_lines
from ctxview.loaders.shapes import as_dict, as_str, instant
from ctxview.loaders.source import SourceFile
from ctxview.model import Issue

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID7: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME_CHARS: Final = 13
"""The part of a UUID of version 7 that is its time."""
_INSTRUCTIONS: Final = 400
"""Characters by which the person's instructions are known again in a message."""


@dataclass(slots=True)
class Plan:
    """One session of one file."""

    thread: str
    """The log's own id of the session; of the file, where the log has none."""
    named: bool
    """Whether the log gave the id."""
    meta: dict[str, Any] = field(default_factory=dict)
    parents: list[str] = field(default_factory=list)
    """Threads this one says it comes from, the most particular first."""
    start: int = 0
    """Number of its first record."""
    own_from: int = 0
    """Number of the first record that is the session's own; those before are a copy of its parent's."""
    roles: set[str] = field(default_factory=set)
    """Whose words stand in items: `user`, `assistant`, and `reasoning` for any item of a response."""
    after: dict[int, int] = field(default_factory=dict)
    """Number of a compaction's record -> size of the window after it, as the log tells: by the next call's prompt, or,
    where more has come in before that, by the client's estimate."""
    thinking: dict[int, int] = field(default_factory=dict)
    """Number of a reasoning item's record -> its tokens, from the usage of its response."""
    repeats_instructions: bool = False
    """Whether the session's `instructions` come again as a message."""
    copy_from: int = 0
    """Number of the first record that can be a copy."""
    numbers: array[int] = field(default_factory=lambda: array("q"))
    """Numbers of the records below."""
    prints: array[int] = field(default_factory=lambda: array("q"))
    """Fingerprints of items and usage reports."""
    times: array[float] = field(default_factory=lambda: array("d"))
    answers: array[int] = field(default_factory=lambda: array("b"))
    """Whether they are a response's: 1 for an item, 2 for its usage, 0 for what is none."""
    own_turn: int | None = None
    """Number of the record that says that a turn of the session's own begins."""


@dataclass(slots=True)
class Survey:
    """One file's sessions, by the number of the record at which each begins."""

    plans: dict[int, Plan] = field(default_factory=dict)
    spawned: dict[str, str] = field(default_factory=dict)
    """Thread -> `call_id` of the call that started it."""


def survey(file: SourceFile) -> Survey:
    """Read a file once; what is wrong with it is said at the second reading."""
    surveyor = _Surveyor(file)
    ignored: list[Issue] = []
    for number, raw in enumerate(read_lines(file, ignored.append)):
        ignored.clear()
        if raw.status == "ok" and isinstance(raw.value, dict):
            surveyor.see(number, raw)
    surveyor.end()
    return surveyor.found


def thread_in_name(name: str) -> str:
    """The session's id that a rollout's file name ends with, else the name itself."""
    stem = PurePath(name).stem
    found = _UUID.findall(stem.lower())
    return found[-1] if found else stem


def unwrap(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A line's type and its payload, of either layout: bare lines are items, or the head of the session."""
    kind = as_str(value.get("type"))
    if kind in LINE_TYPES or "payload" in value:
        return kind, as_dict(value.get("payload"))
    if value.get("record_type") is not None:
        return "session_state", value
    if kind:
        return "response_item", value
    return ("session_meta" if "id" in value and "timestamp" in value else ""), value


def parents_of(meta: dict[str, Any]) -> list[str]:
    """The threads a session's head names as its origin."""
    subagent = as_dict(as_dict(meta.get("source")).get("subagent"))
    names = (
        as_dict(subagent.get("thread_spawn")).get("parent_thread_id"),
        meta.get("parent_thread_id"),
        meta.get("forked_from_id"),
    )
    own = as_str(meta.get("id"))
    return list(dict.fromkeys(name for name in map(as_str, names) if name and name != own))


def instructions_of(meta: dict[str, Any]) -> tuple[str, bool]:
    """The stored system prompt, and whether it is the older key, which may hold the person's instructions only."""
    for key in ("base_instructions", "instructions"):
        value = meta.get(key)
        text = as_str(value) or as_str(as_dict(value).get("text"))
        if text.strip():
            return text, key == "instructions"
    return "", False


class _Surveyor:
    def __init__(self, file: SourceFile) -> None:
        self.found = Survey()
        self._file = file
        self._plan: Plan | None = None
        self._ancestors: set[str] = set()
        self._compacted: int | None = None
        self._meter = Meter()
        self._thinking = Thinking()

    def see(self, number: int, raw: Raw) -> None:
        kind, payload = unwrap(raw.value)
        if kind == "session_meta":
            self._meta(number, payload)
            return
        plan = self._plan
        if plan is None:
            plan = self._open(number, thread_in_name(self._file.name), named=False, meta={})
        at = seconds(raw.value.get("timestamp"))
        if kind == "response_item":
            self._item(plan, number, payload, at)
        elif kind == "compacted":
            self._compacted = number
            plan.thinking |= self._thinking.end()
        elif kind == "event_msg":
            self._event(plan, number, payload, at)
        elif kind == "turn_context":
            self._turn(plan, number, payload)

    def end(self) -> None:
        """The file, or a session of it, has ended."""
        if self._plan is not None:
            self._plan.thinking |= self._thinking.end()

    def _meta(self, number: int, meta: dict[str, Any]) -> None:
        plan, thread = self._plan, as_str(meta.get("id"))
        if plan is not None and not plan.named and not plan.prints and thread:
            plan.thread, plan.named = thread, True
            plan.meta, plan.parents = meta, parents_of(meta)
            self._ancestors = set(plan.parents)
        elif plan is not None and thread in self._ancestors and plan.own_turn is None:
            self._ancestors.update(parents_of(meta))
            plan.copy_from = number + 1
        elif plan is not None and thread and thread != plan.thread and not plan.prints:
            # the head of a copy: older versions do not say in their own which thread they were forked from
            plan.parents.append(thread)
            self._ancestors.update((thread, *parents_of(meta)))
            plan.copy_from = number + 1
        elif plan is None or (thread and thread != plan.thread):
            self._open(number, thread or thread_in_name(self._file.name), named=bool(thread), meta=meta)

    def _open(self, number: int, thread: str, *, named: bool, meta: dict[str, Any]) -> Plan:
        self.end()
        plan = Plan(thread, named, meta, parents_of(meta), start=number, own_from=number, copy_from=number)
        self._plan = self.found.plans[number] = plan
        self._ancestors = set(plan.parents)
        self._compacted, self._meter, self._thinking = None, Meter(), Thinking()
        return plan

    def _item(self, plan: Plan, number: int, payload: dict[str, Any], at: float) -> None:
        item = item_of(payload)
        if item is None:
            return
        plan.numbers.append(number)
        plan.prints.append(item.key)
        plan.times.append(at)
        plan.answers.append(item.is_output)
        plan.thinking |= self._thinking.item(number, item)
        if item.tag in ("user", "agent"):
            self._compacted = None
        self._roles(plan, item)
        text, older = instructions_of(plan.meta)
        if older and not plan.repeats_instructions and item.tag in ("context", "user"):
            plan.repeats_instructions = text.strip()[:_INSTRUCTIONS] in item.text

    def _roles(self, plan: Plan, item: Item) -> None:
        if item.tag == "user":
            plan.roles.add("user")
        elif item.is_output:
            plan.roles.add("reasoning")
            if any(part.kind == "assistant" for part in item.parts):
                plan.roles.add("assistant")

    def _event(self, plan: Plan, number: int, payload: dict[str, Any], at: float) -> None:
        kind = payload.get("type")
        if kind == "token_count":
            totals = totals_of(payload)
            if totals is not None:
                plan.numbers.append(number)
                plan.prints.append(hash(totals))
                plan.times.append(at)
                plan.answers.append(2)
            report = self._meter.read(payload)
            size = report.usage.prompt if report.usage is not None else report.estimate
            if self._compacted is not None and size and size <= (report.limit or size):
                plan.after[self._compacted] = size
            if report.usage is not None:
                self._compacted = None
                plan.thinking |= self._thinking.usage(report.usage.reasoning or 0)
        elif MIRRORS.get(as_str(kind)) == "user":
            self._compacted = None
        elif kind in ("task_started", "turn_started"):
            self._turn(plan, number, payload)
        elif kind in ("sub_agent_activity", "collab_agent_spawn_end"):
            child = as_str(payload.get("agent_thread_id")) or as_str(payload.get("new_thread_id"))
            call = as_str(payload.get("event_id")) or as_str(payload.get("call_id"))
            if child and payload.get("kind", "started") == "started":
                self.found.spawned.setdefault(child, call)

    def _turn(self, plan: Plan, number: int, payload: dict[str, Any]) -> None:
        """Whether a turn that begins here is the session's own, and not one of the copied conversation."""
        if plan.own_turn is not None or not plan.parents:
            return
        turn = as_str(payload.get("turn_id"))
        if _UUID7.fullmatch(turn) and _UUID7.fullmatch(plan.thread):
            own = turn[:_TIME_CHARS] >= plan.thread[:_TIME_CHARS]
        else:
            born, began = seconds(plan.meta.get("timestamp")), seconds(payload.get("started_at"))
            own = 0 < born <= began + 1
        if own:
            plan.own_turn = number


def seconds(value: Any) -> float:
    """A timestamp as seconds since 1970; 0 when it is none."""
    return instant(value) or 0.0
