"""Codex rollouts to events: every record of every file, each to the session it belongs to.

A trace may be several files: a session, those of its sub-agents, forks that begin with a copy of it. A copied call is
billed where it was made, and only there. Source: formats.md section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from ctxview.loaders.clock import OWN_TIME, Clock
from ctxview.loaders.codex.blocks import At
from ctxview.loaders.codex.copies import settle_copies
from ctxview.loaders.codex.items import Item, agent_message, is_item, item_of, said
from ctxview.loaders.codex.kinds import CONVERSATION, KNOWN_EVENTS, KNOWN_LINES, MIRRORS
from ctxview.loaders.codex.survey import Plan, Survey, survey, unwrap
from ctxview.loaders.codex.thread import Thread
from ctxview.loaders.documents import Meter
from ctxview.loaders.records import Raw, read_lines
from ctxview.loaders.shapes import as_dict, as_str, as_time, title_of
from ctxview.loaders.source import Source, SourceFile
from ctxview.loaders.taken import Taken
from ctxview.model import Event, Issue, Origin, Record, SessionStart

FORMAT: Final = "codex"
_REPORT_SLACK: Final = 1.0
"""Seconds. Reports are written beside the conversation: real ones are dated up to 0.7 s before the record above."""


def load(source: Source) -> Iterator[Event]:
    """Read every file twice: first for what only its later records tell, then for its events."""
    surveys = [(file, survey(file)) for file in source.files]
    plans = [plan for _, found in surveys for plan in found.plans.values()]
    settle_copies(plans)
    names = _session_names(surveys)
    spawned: dict[str, str] = {}
    for _, found in surveys:
        spawned.update(found.spawned)
    threads = {plan.thread for plan in plans}
    for file, found in surveys:
        starts = {id(plan): _start(plan, names[id(plan)], spawned) for plan in found.plans.values()}
        yield from _Reader(file, found, starts, threads, Clock(file.name)).events()


def _session_names(surveys: list[tuple[SourceFile, Survey]]) -> dict[int, str]:
    """A session id per plan, the thread's own unless another file has it already."""
    taken = Taken()
    names: dict[int, str] = {}
    for file, found in surveys:
        for plan in found.plans.values():
            name = plan.thread if plan.thread not in taken else f"{plan.thread}/{PurePath(file.name).stem}"
            names[id(plan)] = taken.take(name)
    return names


def _start(plan: Plan, session: str, spawned: Mapping[str, str]) -> SessionStart:
    version = as_str(plan.meta.get("cli_version"))
    return SessionStart(
        session=session,
        format=FORMAT,
        parent=plan.parents[0] if plan.parents else None,
        parent_call=spawned.get(plan.thread) or None,
        agent=_agent(plan.meta),
        client=f"{FORMAT} {version}" if version else FORMAT,
        cwd=as_str(plan.meta.get("cwd")) or None,
    )


def _agent(meta: dict[str, Any]) -> str | None:
    """What kind of sub-agent the session is; None for one that a person started."""
    subagent = as_dict(meta.get("source")).get("subagent")
    spawn = as_dict(as_dict(subagent).get("thread_spawn"))
    names = (
        subagent,
        spawn.get("agent_path"),
        spawn.get("agent_role"),
        spawn.get("agent_nickname"),
        as_dict(subagent).get("other"),
        "sub-agent" if subagent else None,
    )
    return next((name for name in names if isinstance(name, str) and name), None)


@dataclass(slots=True)
class _Reader:
    """One file being read for its events."""

    file: SourceFile
    found: Survey
    starts: Mapping[int, SessionStart]
    threads: set[str]
    """Every thread of the trace."""
    clock: Clock
    _thread: Thread | None = None
    _line: int = 0
    _again: int = 0
    """Records before this one on the same line."""
    _agent: tuple[str, str, str] | None = None
    """Kind of record, author and text of the agent's message that came last, if nothing came after it."""

    def events(self) -> Iterator[Event]:
        wrong: list[Issue] = []
        meter = Meter(self.file)
        for number, raw in enumerate(read_lines(self.file, wrong.append)):
            yield from wrong
            wrong.clear()
            if raw.status == "unreadable":
                yield Record(self.file.name, raw.line, "unreadable", "unreadable")
            elif raw.status == "ok" and isinstance(raw.value, dict):
                yield from self._record(number, raw)
            elif raw.status == "ok":
                yield Record(self.file.name, raw.line, "unknown", f"json {type(raw.value).__name__}")
            yield from meter.at(raw.end)
        yield from wrong
        yield from self.clock.issues()
        yield from self._last_words()
        yield meter.end()

    def _record(self, number: int, raw: Raw) -> Iterator[Event]:
        kind, payload = unwrap(raw.value)
        at = self._at(number, raw, payload)
        plan = self.found.plans.get(number)
        if plan is not None:
            self._thread = Thread(plan, self.starts[id(plan)])
            yield from self._thread.begin(at)
        thread = self._thread
        if thread is None:  # the file grew between the two readings
            yield Record(self.file.name, raw.line, "unknown", kind or "no type")
            return
        thread.inherits = number < thread.plan.own_from
        if "payload" in raw.value:  # older layouts have no times
            self._watch_clock(raw, kind, thread)
        if kind == "response_item":
            yield from self._item(thread, payload, at)
        elif kind == "event_msg":
            yield from self._event(thread, payload, at, raw)
        elif kind == "compacted":
            yield self._said(at, "window", kind)
            yield from thread.compacted(payload, at)
        elif kind == "inter_agent_communication":
            item = agent_message(payload)
            if item is None:
                yield self._said(at, "known", kind)
            else:
                yield from self._enter(thread, item, payload, at, kind)
        else:
            yield self._said(at, "known" if kind in KNOWN_LINES else "unknown", kind or "no type")
            if kind == "turn_context":
                thread.turn(payload)

    def _watch_clock(self, raw: Raw, kind: str, thread: Thread) -> None:
        """What was copied keeps the times of its original, or has those of the copy."""
        slack = OWN_TIME if thread.inherits else 0.0 if kind in CONVERSATION else _REPORT_SLACK
        self.clock.see(raw.value.get("timestamp"), raw.line, thread.session, slack=slack)

    def _at(self, number: int, raw: Raw, payload: dict[str, Any]) -> At:
        self._again = self._again + 1 if raw.line == self._line else 0
        self._line = raw.line
        stem = f"{raw.line}+{self._again}" if self._again else str(raw.line)
        at = as_time(raw.value.get("timestamp"))
        time = at if at is not None and at[:4].isdigit() else None
        return At(Origin(self.file.name, raw.line, as_str(payload.get("id")) or None), stem, time, number)

    def _said(self, at: At, disposition: Any, kind: str) -> Record:
        return Record(at.origin.file, at.origin.line, disposition, kind)

    def _item(self, thread: Thread, payload: dict[str, Any], at: At) -> Iterator[Event]:
        kind = as_str(payload.get("type"))
        label = f"response_item/{kind or 'no type'}"
        if not is_item(kind):
            yield self._said(at, "unknown", label)
            return
        item = item_of(payload)
        if item is None:
            yield self._said(at, "known", label)
            return
        yield from self._enter(thread, item, payload, at, label)

    def _enter(self, thread: Thread, item: Item, payload: dict[str, Any], at: At, label: str) -> Iterator[Event]:
        """An item joins the conversation; an agent's message that has two records does so once."""
        text = item.text if item.tag == "agent" else ""
        before, self._agent = self._agent, (label, as_str(payload.get("author")), text) if text else None
        if before and self._agent and before[0] != label and before[1:] == self._agent[1:]:
            self._agent = None
            yield self._said(at, "duplicate", label)
            return
        yield self._said(at, "window", label)
        yield from thread.item(item, at)

    def _event(self, thread: Thread, payload: dict[str, Any], at: At, raw: Raw) -> Iterator[Event]:
        kind = as_str(payload.get("type"))
        label = f"event_msg/{kind or 'no type'}"
        if kind in MIRRORS:
            yield from self._mirror(thread, payload, at, label)
            return
        yield self._said(at, "known" if kind in KNOWN_EVENTS else "unknown", label)
        if kind == "token_count":
            yield from thread.usage(payload, at)
        elif kind in ("task_started", "turn_started"):
            yield from thread.limit(payload)
        elif kind == "thread_rolled_back":
            yield from thread.rolled_back(payload.get("num_turns"), at)
        elif kind in ("error", "stream_error"):
            message = title_of(as_str(payload.get("message"))) or "no text"
            severity = "error" if kind == "error" else "warning"
            reason = f"the client reports an error: {message}"
            yield Issue(self.file.name, raw.line, raw.byte, severity, reason, thread.session)  # type: ignore[arg-type]
            if kind == "error":
                yield from thread.failed(message)

    def _mirror(self, thread: Thread, payload: dict[str, Any], at: At, label: str) -> Iterator[Event]:
        """Words for the screen: the item that holds them too is what was sent, where there is one."""
        role = MIRRORS[as_str(payload.get("type"))]
        item = said(role, as_str(payload.get("message")) or as_str(payload.get("text")))
        if item is None or role in thread.plan.roles:
            yield self._said(at, "known", label)
            return
        yield from self._enter(thread, item, payload, at, label)

    def _last_words(self) -> Iterator[Event]:
        strays = sum(child not in self.threads for child in self.found.spawned)
        if strays:
            what = "the rollout of a sub-agent is" if strays == 1 else f"the rollouts of {strays} sub-agents are"
            yield Issue(self.file.name, None, None, "info", f"{what} not part of this trace")
