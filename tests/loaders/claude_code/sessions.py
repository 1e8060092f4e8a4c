"""Writes Claude Code sessions line by line, and reads back what stood in their windows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxview.ingest import Trace, open_trace

Line = dict[str, Any]
OPUS, SONNET = "claude-opus-4-6", "claude-sonnet-4-5"


class Writer:
    """Makes lines, each a second after the one before."""

    def __init__(self, session: str = "s", model: str = OPUS) -> None:
        self._session = session
        self._model = model
        self._count = 0

    def line(self, kind: str, uuid: str, parent: str | None, **more: Any) -> Line:
        self._count += 1
        at = f"2026-03-01T00:{self._count // 60:02}:{self._count % 60:02}.000Z"
        base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": self._session, "isSidechain": False}
        return {**base, "timestamp": at, "version": "2.1.50", **more}

    def user(self, uuid: str, parent: str | None, content: Any = None, **more: Any) -> Line:
        message = {"role": "user", "content": f"user {uuid}" if content is None else content}
        return self.line("user", uuid, parent, message=message, **more)

    def answer(
        self,
        uuid: str,
        parent: str | None,
        content: Any = None,
        *,
        of: str | None = None,
        usage: dict[str, int] | None = None,
        **more: Any,
    ) -> Line:
        """A line of a response; `of`: its message id."""
        message: Line = {"role": "assistant", "id": of or f"msg-{uuid}", "model": self._model}
        message |= {"content": f"assistant {uuid}" if content is None else content}
        message |= {"usage": usage} if usage else {}
        return self.line("assistant", uuid, parent, message=message, **more)

    def boundary(self, uuid: str, below: str | None = None, **metadata: Any) -> Line:
        more = {"subtype": "compact_boundary", "logicalParentUuid": below}
        return self.line("system", uuid, None, compactMetadata={"trigger": "auto", **metadata}, **more)

    def microcompact(self, uuid: str, parent: str, **metadata: Any) -> Line:
        return self.line("system", uuid, parent, subtype="microcompact_boundary", microcompactMetadata=metadata)

    def attachment(self, uuid: str, parent: str, **attachment: Any) -> Line:
        return self.line("attachment", uuid, parent, attachment=attachment)


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def thinking(words: str = "", signature: str = "x" * 50) -> Line:
    return {"type": "thinking", "thinking": words, "signature": signature}


def call(name: str, tool: str = "Bash", **arguments: Any) -> Line:
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments or {"command": f"run {name}"}}


def result(name: str, content: str = "") -> Line:
    return {"type": "tool_result", "tool_use_id": name, "content": content or f"result of {name}"}


def copied(lines: Sequence[Line], mark: str = "c") -> list[Line]:
    """The lines as a resume writes them again: under new uuids, with the old timestamps."""
    names = {line["uuid"]: f"{mark}{line['uuid']}" for line in lines}
    return [{**x, "uuid": names[x["uuid"]], "parentUuid": names.get(x["parentUuid"], x["parentUuid"])} for x in lines]


def opened(path: Path, lines: Sequence[Line | str]) -> Trace:
    """The trace of one file with these lines; a string is a line as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    return open_trace([str(path)], cache=False)


def windows(trace: Trace, session: str | None = None) -> list[list[str]]:
    """The block ids of every window, the one after the newest line included."""
    view = trace.view(session)
    return [[row.block.id for row in view.window(turn)] for turn in range(1, view.now + 1)]


def cuts(trace: Trace, session: str | None = None) -> list[tuple[int, str]]:
    """(turn, kind) of every cut."""
    return [(cut.turn, cut.kind) for cut in trace.view(session).cuts]
