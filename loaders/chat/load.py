"""Chat message files as events: the window of an answer is everything that stands before it.

It prevents a file without requests from pretending to more than it knows: windows are reconstructed, and each call
says whether system prompt and tools were stored at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from ctxview.loaders.anthropic_content import parts
from ctxview.loaders.chat.conversations import (
    Conversation,
    conversation,
    is_conversation,
    is_message,
    task_name,
    unwrap,
)
from ctxview.loaders.chat.messages import message_blocks
from ctxview.loaders.clock import Clock
from ctxview.loaders.documents import Meter, Records
from ctxview.loaders.openai_content import Calls, role_of
from ctxview.loaders.records import Raw
from ctxview.loaders.shapes import (
    as_dict,
    as_list,
    as_str,
    as_time,
    compact_json,
    dig,
    kind_of_json,
    title_of,
    without,
)
from ctxview.loaders.source import Source, SourceFile
from ctxview.loaders.taken import Taken
from ctxview.loaders.usage import any_usage
from ctxview.model import Block, Call, CallEnd, Event, Issue, Origin, Record, SessionStart

FORMAT: Final = "chat"


def load(source: Source) -> Iterator[Event]:
    """Every conversation in the files, in order."""
    taken = Taken()
    for file in source.files:
        yield from _File(file, taken).events()


class _File:
    """One file's records: messages of one conversation, or conversations."""

    def __init__(self, file: SourceFile, taken: Taken) -> None:
        self._file = file
        self._taken = taken
        self._stem = PurePath(file.name).stem or "chat"
        self._records = Records(file, unwrap)
        document = self._records.document
        self._whole = conversation(document) if is_conversation(document) else Conversation([])
        self._ticks = bool(as_list(dig(document, "ticks"))) and unwrap(document) is dig(document, "ticks")
        self._clock = Clock(file.name, "record" if self._records.is_document else "line", numbers=True)
        self._telling: _Telling | None = None

    def events(self) -> Iterator[Event]:
        meter = Meter(self._file)
        issues: list[Issue] = []
        count = 0
        for raw in self._records.walk(issues.append):
            yield from issues
            issues.clear()
            if raw.status == "ok":
                count += 1
                yield from self._record(raw, count)
            elif raw.status == "unreadable":
                yield Record(self._file.name, raw.line, "unreadable", "unreadable")
            yield from meter.at(raw.end)
        yield from issues
        if self._telling is not None:
            yield from self._telling.finish()
        yield from self._clock.issues()
        if self._ticks and count:
            reason = "a voice run: it holds audio ticks and no messages, so it has no windows to show"
            yield Issue(self._file.name, None, None, "info", reason)
        yield meter.end()

    def _record(self, raw: Raw, count: int) -> Iterator[Event]:
        file, value = self._file.name, raw.value
        if self._ticks:
            yield Record(file, raw.line, "known", "tick")
        elif is_conversation(value):
            yield Record(file, raw.line, "window", "conversation")
            yield from self._conversation(raw, count)
        elif is_message(value) and (role_of(value) is not None or self._telling is not None):
            if self._telling is None:
                session = self._taken.take(self._whole.id or self._stem)
                self._telling = _Telling(session, file, self._stem, self._whole, self._clock)
                yield from self._telling.start(Origin(file, raw.line), raw.byte)
            yield from self._telling.record(raw)
        else:
            reason = f"a record that is no chat message ({kind_of_json(value)})"
            yield Record(file, raw.line, "unknown", "not a message")
            yield Issue(file, raw.line, raw.byte, "warning", reason)

    def _conversation(self, raw: Raw, count: int) -> Iterator[Event]:
        stored = conversation(raw.value)
        fallback = self._stem if self._records.is_document and raw.value is self._records.document else None
        name = stored.id or fallback or f"{self._stem}-{task_name(raw.value) or count}"
        telling = _Telling(self._taken.take(name), self._file.name, self._stem, stored, self._clock)
        yield from telling.start(Origin(self._file.name, raw.line), raw.byte)
        for index, message in enumerate(stored.messages):
            origin = Origin(self._file.name, raw.line, f"messages[{index}]")
            yield from telling.message(message, origin, raw.byte)
        yield from telling.finish()


class _Telling:
    """One conversation being told, message by message."""

    def __init__(self, session: str, file: str, stem: str, stored: Conversation, clock: Clock) -> None:
        self._session, self._file, self._stem, self._stored, self._clock = session, file, stem, stored, clock
        self._calls = Calls()
        self._ids: set[str] = set()
        self._count = 0
        self._has_system = stored.system is not None
        self._started = SessionStart(session, FORMAT, client=stored.client)
        self._titled = False
        self._people = 0
        self._last = Origin(file, 1)

    def start(self, origin: Origin, byte: int) -> Iterator[Event]:
        """The session, and what stands beside its messages."""
        yield self._started
        for number, schema in enumerate(self._stored.tools, 1):
            tool = as_dict(schema)
            inner = as_dict(tool.get("function")) or tool
            text = compact_json(without(tool, "cache_control") if tool else schema)
            name = as_str(inner.get("name")) or None
            yield Block(
                self._session, f"tool.{number}", "system", "tools", text, origin, message="tools", tool=name,
                note=None if name else "tool without a name",
            )  # fmt: skip
        if self._stored.system is not None:
            for number, part in enumerate(parts("system", self._stored.system), 1):
                yield Block(
                    self._session, f"system.{number}", "system", "system", part.text, origin, message="system",
                    note=part.note,
                )  # fmt: skip

    def record(self, raw: Raw) -> Iterator[Event]:
        """A message that is a record of its own."""
        role = role_of(raw.value)
        named = as_str(as_dict(raw.value).get("role"))[:40]
        if role is not None:
            yield Record(self._file, raw.line, "window", role)
        elif named == "exit":
            yield Record(self._file, raw.line, "known", "exit")
        else:
            yield Record(self._file, raw.line, "unknown", f"role {named}" if named else "no role")
        own = as_str(raw.value.get("id"))[:120] or None
        yield from self.message(raw.value, Origin(self._file, raw.line, own), raw.byte)

    def message(self, value: Any, origin: Origin, byte: int) -> Iterator[Event]:
        """A message of the conversation; an answer comes as call, blocks and end."""
        self._count += 1
        self._last = origin
        role = role_of(value)
        if role is None:
            if as_dict(value).get("role") != "exit":
                reason = f"message {self._count} has no role that is sent to a model and was left out"
                yield Issue(self._file, origin.line, byte, "warning", reason, self._session)
            return
        if role != "system":  # what stands at the head has no moment of its own
            self._clock.see(value.get("timestamp"), origin.line, self._session)
        call = None
        if role == "assistant" and not self._stored.pending:
            call = self._call(value, origin)
            yield call
        environment = self._stored.environment and self._people > 0
        self._people += role == "user"
        self._has_system = self._has_system or role == "system"
        key = str(self._count)
        for block in message_blocks(self._session, key, role, value, origin, self._calls, environment):
            yield block
            if block.human and not self._titled:
                yield from self._title(block.text)
            if block.note and not block.text and block.kind not in ("thinking", "image"):
                reason = f"message {self._count}: {block.note}"
                yield Issue(self._file, origin.line, byte, "info", reason, self._session)
        if call is not None:
            yield _end(self._session, call.id, value)

    def finish(self) -> Iterator[Event]:
        """The call of a request that waits for its answer."""
        if self._stored.pending:
            id_ = f"{self._stem}:request"
            yield Call(self._session, id_, self._last, model=self._stored.model, client=self._stored.client, exact=True)

    def _title(self, text: str) -> Iterator[Event]:
        title = title_of(text)
        if title is not None:
            self._titled = True
            yield SessionStart(self._session, FORMAT, client=self._stored.client, title=title)

    def _call(self, message: dict[str, Any], origin: Origin) -> Call:
        response = as_dict(dig(message, "extra", "response"))
        id_ = as_str(response.get("id")) or as_str(message.get("id")) or f"{self._stem}:{origin.line}"
        if id_ in self._ids:
            id_ += f":{self._count}"
        self._ids.add(id_)
        missing = ("system",) if not self._has_system else ()
        return Call(
            session=self._session,
            id=id_,
            origin=origin,
            model=as_str(response.get("model")) or as_str(message.get("model")) or self._stored.model,
            client=self._stored.client,
            at=as_time(message.get("timestamp")) or as_time(response.get("created")),
            missing=missing if self._stored.tools else (*missing, "tools"),
        )


def _end(session: str, call: str, message: dict[str, Any]) -> CallEnd:
    response = as_dict(dig(message, "extra", "response"))
    usage = any_usage(response.get("usage")) or any_usage(message.get("usage"))
    choice = as_dict(next(iter(as_list(response.get("choices"))), None))
    stop = as_str(choice.get("finish_reason")) or as_str(message.get("stop_reason"))
    return CallEnd(session, call, usage=usage, stop_reason=stop or as_str(message.get("finish_reason")) or None)
