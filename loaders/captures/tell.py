"""The second walk over a capture: the events of each record, by the plan made in the first.

It prevents a window that could not be resolved from being shown as a whole one: what it lacks is named, and its
fidelity is not exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, Literal

from ctxview.loaders.anthropic_content import Part
from ctxview.loaders.captures.blocks import Labels, Numbering, Scribe, never_logged
from ctxview.loaders.captures.envelopes import read, time_of
from ctxview.loaders.captures.logs import Log
from ctxview.loaders.captures.names import ANTHROPIC, LITELLM, OPENAI
from ctxview.loaders.captures.past import Link, Past
from ctxview.loaders.captures.steps import Step
from ctxview.loaders.captures.wire import Exchange, Message, Other, Reply, Request
from ctxview.loaders.clock import Clock
from ctxview.loaders.documents import Meter
from ctxview.loaders.records import Raw
from ctxview.model import Call, CallEnd, CutKind, Event, Issue, Origin, Record, Snapshot

HISTORY: Final = "history"
"""What a window lacks whose predecessor was never logged."""
_END: Final = object()
"""Stands for the end of the plan."""
_TYPES: Final = {ANTHROPIC: "messages", OPENAI: "request", LITELLM: "completion"}


@dataclass(slots=True)
class _Told:
    """What has been told of one session."""

    summaries: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    last_call: str = ""
    last_prompt: int | None = None
    warned: bool = False
    tail: _Tail | None = None


@dataclass(slots=True)
class _Tail:
    """A session's last window and what that was answered: what a request that goes on with it only adds to."""

    ids: tuple[str | None, ...]
    """Of the answer."""
    tools: tuple[Part, ...]
    system: tuple[Part, ...]
    numbering: Numbering
    sealed: set[str]
    """What it holds whose text was never logged."""

    def leads_to(self, request: Request, step: Step) -> bool:
        """Whether the window of `request` is this one with something added, and nothing else about it changed."""
        return (
            request.previous is not None
            and request.previous in self.ids
            and not (step.repeats or step.cut)
            and (request.tools, request.system) == (self.tools, self.system)
            and all(message.refers is None for message in request.messages)
        )


class Teller:
    """Tells records, in log order."""

    def __init__(self, names: Mapping[int, str], wanted: Mapping[str, int], referred: set[str]) -> None:
        """`names` of sessions by thread number; what requests go on with, and which items they refer to, by id."""
        self._names = names
        self._told: dict[int, _Told] = {}
        self._past: Past[Message] = Past(wanted)
        self._referred = referred
        self._items: dict[str, Message] = {}

    def tell(self, log: Log, steps: list[Step | None]) -> Iterator[Event]:
        """The events of one file."""
        file, meter = log.file.name, Meter(log.file)
        clock = Clock(file, "record" if log.is_document else "line", numbers=True)
        issues: list[Issue] = []
        said: set[str] = set()
        planned = iter(steps)
        for raw in log.walk(issues.append):
            yield from issues
            issues.clear()
            step = next(planned, _END)
            if step is _END:  # written since the first walk: a later look at the file will tell it
                return
            if raw.status == "ok":
                if isinstance(step, Step) and not step.known:
                    clock.see(time_of(raw.value), raw.line, step.thread.number)
                yield from self._record(file, raw, step if isinstance(step, Step) else None, said)
            elif raw.status == "unreadable":
                yield Record(file, raw.line, "unreadable", "unreadable")
            yield from meter.at(raw.end)
        yield from issues
        yield from clock.issues()
        yield meter.end()

    def _record(self, file: str, raw: Raw, step: Step | None, said: set[str]) -> Iterator[Event]:
        exchange = read(raw.value)
        if isinstance(exchange, Other):
            yield Record(file, raw.line, "known" if exchange.known else "unknown", exchange.type)
            if exchange.reason and exchange.reason not in said:
                said.add(exchange.reason)
                yield Issue(file, raw.line, raw.byte, "info", exchange.reason)
            return
        kind = _TYPES[exchange.dialect]
        if step is None or step.known:
            yield Record(file, raw.line, "duplicate" if step is not None else "unknown", kind)
        else:
            yield Record(file, raw.line, "duplicate" if step.repeats else "window", kind)
            yield from self._call(file, raw, step, exchange)

    def _call(self, file: str, raw: Raw, step: Step, exchange: Exchange) -> Iterator[Event]:
        session = self._names[step.thread.number]
        told = self._told.setdefault(step.thread.number, _Told())
        request, reply = exchange.request, exchange.reply
        if step.summary is not None:
            told.summaries.add(step.summary)
        window = self._past.window(request.previous, request.messages)
        unresolved: list[str] = []
        labels = Labels(frozenset(told.summaries), step.instruction)
        scribe = Scribe(session, Origin(file, raw.line, exchange.id), exchange.at, labels)
        grows = told.tail is not None and told.tail.leads_to(request, step)
        if told.tail is not None and grows:  # so that a long chain costs what it logs, not what its windows hold
            scribe.numbering, sealed = told.tail.numbering, told.tail.sealed
            blocks = list(scribe.messages(request.messages))
        else:
            messages, unresolved = self._resolved(window)
            blocks, sealed = scribe.window(request, messages), set()
        sealed |= never_logged(blocks)
        if not step.repeats:
            for severity, reason in _faults(exchange, window, unresolved, told):
                yield Issue(file, raw.line, raw.byte, severity, reason, session)
            if grows:
                yield from blocks
            else:
                cut: CutKind | None = "compact" if step.cut else None
                before = told.last_prompt if step.cut else None
                yield Snapshot(session, tuple(blocks), "captured request", scribe.origin, cut=cut, before=before)
            told.last_call = (reply.id if reply is not None else "") or f"{PurePath(file).name}:{raw.line}"
            if told.last_call in told.calls:
                told.last_call += f":{raw.line}:{raw.byte}:{len(told.calls)}"
            told.calls.add(told.last_call)
            incomplete = bool(window.lost or unresolved)
            yield Call(
                session=session,
                id=told.last_call,
                origin=scribe.origin,
                model=(reply.model if reply is not None else "") or request.model or None,
                client=exchange.client,
                at=exchange.at,
                exact=not incomplete and not window.pruned,
                missing=(*request.missing, *sorted(sealed, reverse=True), *((HISTORY,) if incomplete else ())),
            )
        told.tail = None
        if reply is not None:
            told.tail = _Tail((reply.id or None, reply.keeps), request.tools, request.system, scribe.numbering, sealed)
            yield from self._reply(scribe, step, told, reply, window, sealed)
            for reason in _server_edits(exchange, told):
                yield Issue(file, raw.line, raw.byte, "info", reason, session)

    def _reply(
        self, scribe: Scribe, step: Step, told: _Told, reply: Reply, window: Link[Message], sealed: set[str]
    ) -> Iterator[Event]:
        cut = next((n for n, message in enumerate(reply.messages) if message.compaction), None)
        self._past.answer(window, reply.messages, [reply.id or None, reply.keeps], cut)
        self._items.update((m.item, m) for m in reply.messages if m.item is not None and m.item in self._referred)
        scribe.labels = Labels()
        said = (message for message in reply.messages if not (message.compaction and step.hands_over))
        for block in scribe.messages(said):
            sealed |= never_logged([block])
            yield block
        told.last_prompt = reply.usage.prompt if reply.usage is not None else None
        yield CallEnd(scribe.session, told.last_call, reply.usage, reply.stop_reason, reply.error)

    def _resolved(self, window: Link[Message]) -> tuple[list[Message], list[str]]:
        """The window's messages, items that stand for others replaced by them; and the ids of those never logged."""
        messages = window.all()
        unresolved: list[str] = []
        if self._referred:
            self._items.update((m.item, m) for m in messages if m.item is not None and m.item in self._referred)
            for index, message in enumerate(messages):
                if message.refers is not None:
                    messages[index] = self._items.get(message.refers, message)
                    if message.refers not in self._items:
                        unresolved.append(message.refers)
        return messages, unresolved


def _faults(
    exchange: Exchange, window: Link[Message], unresolved: list[str], told: _Told
) -> Iterator[tuple[Literal["warning", "info"], str]]:
    """What a person should know of a window, each thing once per session."""
    for problem in exchange.request.problems:
        yield "warning", problem
    if window.lost is not None and window.lost not in told.lost:
        told.lost.add(window.lost)
        yield (
            "warning",
            (
                f"the request goes on with {window.lost[:120]}, which this log does not hold: "
                "what its window held before is not known"
            ),
        )
    for item in unresolved:
        if item not in told.lost:
            told.lost.add(item)
            yield "warning", f"the request refers to the item {item[:120]}, which this log does not hold"
    if window.starts_compacted:
        yield "info", "the provider compacted the conversation by itself: what its window kept is not logged"


def _server_edits(exchange: Exchange, told: _Told) -> Iterator[str]:
    """What the provider was asked to leave out, once per session, and what it says it left out, per call."""
    asked = exchange.request.edits
    if asked and not told.warned:
        told.warned = True
        yield f"the provider edits these windows before the model sees them ({asked}): it may see less"
    for edit in exchange.reply.edits if exchange.reply is not None else ():
        yield f"the provider edited this window before the model saw it: {edit}"
