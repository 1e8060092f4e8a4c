"""Lines that a resume wrote again, in the same file or in another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.ingest import open_trace
from ctxview.loaders.claude_code import tree

from .sessions import SONNET, Line, Writer, call, copied, cuts, opened, result, text, thinking, windows

IDE = text("<ide_opened_file>The user opened the file /x in the IDE.</ide_opened_file>")


def in_parts(line: Line) -> list[Line]:
    """A message's parts as lines of their own, each below the one before."""
    lines = []
    parent = line["parentUuid"]
    for number, part in enumerate(line["message"]["content"]):
        uuid = f"{line['uuid']}-{number}"
        lines.append({**line, "uuid": uuid, "parentUuid": parent, "message": {**line["message"], "content": [part]}})
        parent = uuid
    return lines


@pytest.mark.parametrize("many", [tree.MANY, 0])
def test_a_message_that_a_resume_writes_in_parts_is_the_same_message(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MANY", many)
    w = Writer()
    first = [
        w.user("u1", None),
        w.answer("a1", "u1"),
        w.user("u2", "a1", [IDE, text("Do it.")]),
        w.answer("a2", "u2", [thinking("why")], of="m2"),
        w.answer("a3", "a2", [text("Done.")], of="m2"),
    ]
    one, two, three, *rest = copied(first)
    parts = in_parts(three)
    rest[0]["parentUuid"] = parts[-1]["uuid"]
    lines = [*first, one, two, *parts, *rest, w.user("u4", "ca3"), w.answer("a4", "u4")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert windows(trace)[2] == ["u1", "a1", "u2", "u2.1", "a2", "a3", "u4"]
        assert cuts(trace) == []
        assert trace.files[0].duplicates == 6
        assert trace.view().user_turns == 3


def test_parts_that_a_resume_joins_are_the_same_message(tmp_path: Path) -> None:
    w = Writer()
    one, two = in_parts(w.user("u1", None, [IDE, text("Do it.")]))
    joined = {**one, "uuid": "c1", "message": {"role": "user", "content": [IDE, text("Do it.")]}}
    lines = [one, two, w.answer("a1", "u1-1"), joined, w.user("u2", "c1"), w.answer("a2", "u2")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert windows(trace)[1] == ["u1-0", "u1-1", "u2"]


def test_the_same_words_twice_in_one_moment_are_two_messages(tmp_path: Path) -> None:
    """A resume can date all that it writes by its own moment."""
    w = Writer()
    words = text("[Request interrupted by user]")
    lines = [w.user("u1", None, [words]), w.user("u2", "u1", "Go on."), w.user("u3", "u2", [words])]
    lines = [{**x, "timestamp": lines[0]["timestamp"]} for x in lines]
    with opened(tmp_path / "s.jsonl", [*lines, w.answer("a1", "u3")]) as trace:
        assert windows(trace)[0] == ["u1", "u2", "u3"]


@pytest.mark.parametrize("redated", [False, True])
def test_a_boundary_written_again_is_no_second_compaction(redated: bool, tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1"),
        w.boundary("b", "a1", preTokens=155_000),
        w.user("s1", "b", isCompactSummary=True),
        w.user("u2", "s1"),
        w.answer("a2", "u2"),
        w.user("u3", "a2"),
        w.answer("a3", "u3"),
    ]
    again = copied(lines[2:])
    if redated:
        again[0]["timestamp"] = "2026-03-02T00:00:00.000Z"
    with opened(tmp_path / "s.jsonl", [*lines, *again]) as trace:
        assert windows(trace)[-1] == ["s1", "u2", "a2", "u3", "a3"]
        assert cuts(trace) == [(2, "compact")]


def test_equal_thinking_twice_in_a_response_stays_two_blocks_while_a_sub_agent_writes(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.user("x1", None, isSidechain=True),
        w.answer("a1", "u1", [thinking()], of="m1"),
        w.answer("x2", "x1", isSidechain=True),
        w.answer("a2", "a1", [thinking()], of="m1"),
        w.answer("a3", "a2", [text("Done.")], of="m1"),
        w.user("u4", "a3"),
        w.answer("a4", "u4"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert windows(trace, "s")[1] == ["u1", "a1", "a2", "a3", "u4"]


def forked(tmp_path: Path, lines: list[Line], own: list[Line]) -> list[str]:
    """Two files: a session, and one that begins with a copy of its first lines."""
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    copy = [{**x, "sessionId": "fork"} for x in copied(lines, "f")]
    for path, values in zip(paths, ([*lines], [*copy, *own]), strict=True):
        path.write_text("".join(json.dumps(x) + "\n" for x in values))
    return [str(path) for path in paths]


def test_equal_thinking_twice_in_a_copied_response_stays_two_blocks(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [thinking()], of="m1"),
        w.answer("a2", "a1", [thinking()], of="m1"),
        w.answer("a3", "a2", [text("Done.")], of="m1"),
    ]
    own = Writer("fork")
    paths = forked(tmp_path, lines, [own.user("f4", "fa3"), own.answer("f5", "f4")])
    with open_trace(paths, cache=False) as trace:
        assert windows(trace, "fork")[-2] == ["fu1", "fa1", "fa2", "fa3", "f4"]


def test_thinking_of_the_running_tool_loop_stays_when_its_history_was_copied(tmp_path: Path) -> None:
    """A model that drops thinking at the next message of the person drops only what was thought before it."""
    w = Writer(model=SONNET)
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [thinking("T1")], of="m1"),
        w.answer("a2", "a1", [text("x")], of="m1"),
        w.user("u2", "a2"),
        w.answer("a3", "u2", [thinking("T2")], of="m2"),
        w.answer("a4", "a3", [call("t1")], of="m2"),
        w.user("r1", "a4", [result("t1")]),
    ]
    paths = forked(tmp_path, lines, [Writer("fork", SONNET).answer("f1", "fr1")])
    with open_trace(paths, cache=False) as trace:
        assert windows(trace, "fork")[-2] == ["fu1", "fa2", "fu2", "fa3", "fa4", "fr1"]
