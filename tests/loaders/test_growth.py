"""Four times the log takes at most about four times the steps, whatever the log repeats."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ctxview.loaders.claude_code import LOADER as CLAUDE_CODE
from ctxview.loaders.claude_code import tree
from ctxview.loaders.codex import LOADER as CODEX
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.loaders.taken import Taken

_LOADERS = str(Path(sys.modules[Taken.__module__].__file__ or "").parent)
Line = dict[str, Any]


def _user(uuid: str, parent: str | None, content: Any, **more: Any) -> Line:
    said = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": said, **more}


def _answer(uuid: str, parent: str, message: str, *content: Line) -> Line:
    said = {"role": "assistant", "id": message, "model": "claude-opus-4-6", "content": list(content)}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": said}


def _call(id_: str) -> Line:
    return {"type": "tool_use", "id": id_, "name": "Read", "input": {}}


def _result(id_: str) -> list[Line]:
    return [{"type": "tool_result", "tool_use_id": id_, "content": "read"}]


def sidechains_of_one_name(n: int) -> Iterator[Line]:
    yield _user("a", None, "hi")
    for i in range(n):
        yield _user(f"00000000-{i}", None, f"hi {i}", isSidechain=True)


def compactions_that_keep_what_left_before(n: int) -> Iterator[Line]:
    for k in range(n // 5):
        kept = {"anchorUuid": f"s{k}", "uuids": [f"u{max(k - 1, 0)}", f"a{max(k - 2, 0)}"]}
        boundary = {"type": "system", "subtype": "compact_boundary", "uuid": f"b{k}", "parentUuid": None}
        yield boundary | {"compactMetadata": {"preservedMessages": kept}}
        yield _user(f"s{k}", f"b{k}", f"sum {k}", isCompactSummary=True)
        yield _user(f"u{k}", f"s{k}", f"do {k}")
        yield _answer(f"a{k}", f"u{k}", f"m{k}", _call(f"t{k}"))
        yield _user(f"r{k}", f"a{k}", _result(f"t{k}"))


def rewinds_below_a_long_window(n: int) -> Iterator[Line]:
    for i in range(n // 2):
        yield _user(f"u{i}", f"u{i - 1}" if i else None, f"say {i}")
    for i in range(n // 4):
        yield _user(f"w{i}", f"u{n // 2 - 1}", f"again {i}")
        yield _answer(f"y{i}", f"w{i}", f"n{i}", {"type": "text", "text": "ok"})


def one_response_of_many_lines(n: int) -> Iterator[Line]:
    yield _user("r", None, "do")
    for i in range(n // 2):
        yield _answer(f"a{i}", f"a{i - 1}" if i else "r", "m", _call(f"t{i}"))
        yield _user(f"b{i}", f"a{i}", _result(f"t{i}"))


def the_same_words_at_one_moment(n: int) -> Iterator[Line]:
    at = "2026-01-01T00:00:00Z"
    yield _user("u", None, "once", timestamp=at)
    for i in range(n):
        yield _user(f"u{i}", f"u{i - 1}" if i else "u", "again", timestamp=at)


def codex_calls_without_results(n: int) -> Iterator[Line]:
    for i in range(n // 2):
        call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": f"c{i}"}
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"go on {i}"}]}
        yield {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": call}
        yield {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": said}


def codex_rollbacks(n: int) -> Iterator[Line]:
    def said(role: str, text: str) -> Line:
        return {"type": "response_item", "payload": {"type": "message", "role": role, "content": text}}

    for i in range(n // 6):
        call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": f"c{i}"}
        yield from (said("user", f"go on {i}"), said("assistant", f"done {i}"), said("user", f"and {i}"))
        yield from ({"type": "response_item", "payload": call}, said("assistant", f"no {i}"))
        yield {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}


def _steps(loader: Loader, lines: Iterator[Line]) -> int:
    """Lines of the loaders' code that reading takes."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    count = 0

    def see(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "line"
        return see if frame.f_code.co_filename.startswith(_LOADERS) else None

    before = sys.gettrace()
    sys.settrace(see)
    try:
        for _ in loader.load(Source((SourceFile(name="s.jsonl", data=data),))):
            pass
    finally:
        sys.settrace(before)
    assert count > len(data) / 100
    return count


@pytest.mark.parametrize(
    "log",
    [
        sidechains_of_one_name,
        compactions_that_keep_what_left_before,
        rewinds_below_a_long_window,
        one_response_of_many_lines,
        the_same_words_at_one_moment,
        codex_calls_without_results,
        codex_rollbacks,
    ],
)
def test_four_times_the_log_takes_four_times_the_steps(
    log: Callable[[int], Iterator[Line]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MANY", 20)
    loader = CODEX if log.__name__.startswith("codex") else CLAUDE_CODE
    assert _steps(loader, log(600)) <= 4.5 * _steps(loader, log(150))


def test_names_are_numbered_from_two_on_past_those_that_are_taken() -> None:
    taken = Taken()
    assert [taken.take(name) for name in ("a", "a-2", "a", "a", "b")] == ["a", "a-2", "a-3", "a-4", "b"]
    assert "a-3" in taken
    assert "a-5" not in taken
    assert taken.take("b", "{} ({})") == "b (2)"
