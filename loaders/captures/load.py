"""Captured Messages requests as events: each request is the exact window of its call.

It walks a log twice: once to see which conversations it holds and which of them is the main one, and once to tell
them call by call. So a log is never held in memory, and the main session always comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from ctxview.loaders.captures.blocks import Labels, message_blocks, request_blocks, thinking_missing
from ctxview.loaders.captures.exchanges import Exchange, Other, Reply, read, unwrap
from ctxview.loaders.captures.threads import Step, Thread, Threads
from ctxview.loaders.documents import Meter, Records
from ctxview.loaders.records import Raw
from ctxview.loaders.shapes import as_dict, as_list, as_str, compact_json, dig
from ctxview.loaders.source import Source
from ctxview.loaders.usage import anthropic_usage
from ctxview.model import Call, CallEnd, CutKind, Event, Issue, Origin, Record, SessionStart, Snapshot

FORMAT: Final = "anthropic-requests"
_DETAIL_CHARS: Final = 300
_END: Final = object()
"""Stands for the end of the plan."""


def load(source: Source) -> Iterator[Event]:
    """Every call of every conversation in a capture, in log order, main conversation first."""
    logs = [Records(file, unwrap) for file in source.files]
    threads = Threads()
    plan: list[list[Step | None]] = []
    clients: dict[int, str] = {}
    for number, log in enumerate(logs):
        steps: list[Step | None] = []
        for raw in log.walk(lambda issue: None):
            exchange = read(raw.value) if raw.status == "ok" else None
            step = threads.place(exchange, number) if isinstance(exchange, Exchange) else None
            if step is not None and isinstance(exchange, Exchange) and exchange.client:
                clients.setdefault(step.thread.number, exchange.client)
            steps.append(step)
        plan.append(steps)
    names = _names(threads.all, logs)
    for thread, main in _main_first(threads.all):
        parent = thread.parent or (main if main is not thread else None)
        yield SessionStart(
            session=names[thread.number],
            format=FORMAT,
            parent=names[parent.number] if parent is not None else None,
            parent_call=thread.parent_call,
            agent=thread.agent,
            client=clients.get(thread.number),
            title=thread.title,
        )
    teller = _Teller(names)
    for log, steps in zip(logs, plan):
        yield from teller.tell(log, steps)


def _group(thread: Thread) -> str:
    return f"session {thread.session}" if thread.session else f"file {thread.file}"


def _main_first(threads: list[Thread]) -> Iterator[tuple[Thread, Thread]]:
    """Each thread with the main one of its group; the groups in log order, the main one at the head of its group."""
    groups: dict[str, list[Thread]] = {}
    named = {thread.file: thread for thread in reversed(threads) if thread.session}
    for thread in threads:
        owner = thread if thread.session else named.get(thread.file, thread)
        groups.setdefault(_group(owner), []).append(thread)
    for group in groups.values():
        own = [thread for thread in group if thread.parent is None] or group
        main = max(own, key=lambda thread: (thread.count, thread.size, -thread.number))
        yield main, main
        yield from ((thread, main) for thread in group if thread is not main)


def _names(threads: list[Thread], logs: list[Records]) -> dict[int, str]:
    """Session id by thread number: the client's own id, or the file's stem; side threads add their number."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for thread, main in _main_first(threads):
        document = as_dict(logs[main.file].document)
        base = main.session or as_str(document.get("session"))[:80] or PurePath(logs[main.file].file.name).stem or "log"
        name = base if thread is main else f"{base}-{thread.number}"
        while name in taken:
            name += "-again"
        taken.add(name)
        names[thread.number] = name
    return names


@dataclass(slots=True)
class _Told:
    """What has been told of one session."""

    summaries: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    last_call: str = ""
    last_prompt: int | None = None
    warned: bool = False


class _Teller:
    """The second walk: events of each record, by the plan made in the first."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names
        self._told: dict[int, _Told] = {}

    def tell(self, log: Records, steps: list[Step | None]) -> Iterator[Event]:
        file, meter = log.file.name, Meter(log.file)
        issues: list[Issue] = []
        dialects: set[str] = set()
        planned = iter(steps)
        for raw in log.walk(issues.append):
            yield from issues
            issues.clear()
            step = next(planned, _END)
            if step is _END:  # written since the first walk: a later look at the file will tell it
                return
            if raw.status == "ok":
                yield from self._record(file, raw, step if isinstance(step, Step) else None, dialects)
            elif raw.status == "unreadable":
                yield Record(file, raw.line, "unreadable", "unreadable")
            yield from meter.at(raw.end)
        yield from issues
        yield meter.end()

    def _record(self, file: str, raw: Raw, step: Step | None, dialects: set[str]) -> Iterator[Event]:
        exchange = read(raw.value)
        if isinstance(exchange, Other):
            yield Record(file, raw.line, "known" if exchange.known else "unknown", exchange.type)
            if exchange.dialect and exchange.dialect not in dialects:
                dialects.add(exchange.dialect)
                reason = f"requests of another API ({exchange.dialect}) are not shown"
                yield Issue(file, raw.line, raw.byte, "info", reason)
        elif step is None or step.known:
            yield Record(file, raw.line, "duplicate" if step is not None else "unknown", "messages")
        else:
            yield Record(file, raw.line, "duplicate" if step.repeats else "window", "messages")
            yield from self._call(file, raw, step, exchange)

    def _call(self, file: str, raw: Raw, step: Step, exchange: Exchange) -> Iterator[Event]:
        session = self._names[step.thread.number]
        told = self._told.setdefault(step.thread.number, _Told())
        origin = Origin(file, raw.line, exchange.id)
        if step.summary is not None:
            told.summaries.add(step.summary)
        problems: list[str] = []
        labels = Labels(frozenset(told.summaries), step.instruction)
        blocks, numbering = request_blocks(session, exchange.body, origin, exchange.at, labels, problems)
        message = exchange.reply.message if exchange.reply is not None else {}
        if not step.repeats:
            for problem in problems:
                yield Issue(file, raw.line, raw.byte, "warning", problem, session)
            cut: CutKind | None = "compact" if step.cut else None
            before = told.last_prompt if step.cut else None
            yield Snapshot(session, tuple(blocks), "captured request", origin, cut=cut, before=before)
            told.last_call = as_str(message.get("id")) or f"{PurePath(file).name}:{raw.line}"
            if told.last_call in told.calls:
                told.last_call += f":{raw.line}:{raw.byte}:{len(told.calls)}"
            told.calls.add(told.last_call)
            yield Call(
                session=session,
                id=told.last_call,
                origin=origin,
                model=as_str(message.get("model")) or as_str(exchange.body.get("model")) or None,
                client=exchange.client,
                at=exchange.at,
                exact=True,
                missing=thinking_missing(blocks),
            )
        if exchange.reply is None:
            return
        answer = {"role": "assistant", "content": message["content"]} if message.get("content") else None
        if answer is not None:
            yield from message_blocks(session, answer, origin, exchange.at, numbering, Labels())
        end = _end_of(session, told.last_call, exchange.reply)
        told.last_prompt = end.usage.prompt if end.usage is not None else None
        yield end
        for reason in _server_edits(exchange, told):
            yield Issue(file, raw.line, raw.byte, "info", reason, session)


def _end_of(session: str, call: str, reply: Reply) -> CallEnd:
    usage = anthropic_usage(reply.message.get("usage"), reply.partial)
    stop = as_str(reply.message.get("stop_reason")) or None
    return CallEnd(session, call, usage=usage, stop_reason=stop, error=reply.error)


def _server_edits(exchange: Exchange, told: _Told) -> Iterator[str]:
    """What the provider was asked to leave out, once per session, and what it says it left out, per call."""
    asked = as_list(dig(exchange.body, "context_management", "edits"))
    if asked and not told.warned:
        told.warned = True
        kinds = ", ".join(as_str(dig(edit, "type")) or "unnamed" for edit in asked)
        yield f"the provider edits these windows before the model sees them ({kinds[:_DETAIL_CHARS]}): it may see less"
    reply: dict[str, Any] = exchange.reply.message if exchange.reply is not None else {}
    for edit in as_list(dig(reply, "context_management", "applied_edits")):
        yield f"the provider edited this window before the model saw it: {compact_json(edit)[:_DETAIL_CHARS]}"
