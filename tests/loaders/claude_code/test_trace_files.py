"""Several files of one trace: which is whose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.ingest import Trace, open_trace
from ctxview.model import SessionRow

from .sessions import Line, Writer, call, copied, opened, result, windows


def write(path: Path, lines: list[Line]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(x) + "\n" for x in lines))
    return str(path)


def session(trace: Trace, name: str) -> SessionRow:
    return next(row for row in trace.sessions if row.session == name)


def with_agent(folder: Path, prompt: str, *, finished: bool) -> str:
    """A session whose sub-agent has a file of its own."""
    w = Writer("main")
    main = [w.user("u1", None), w.answer("a1", "u1", [call("t1", "Task", prompt="elsewhere")])]
    if finished:
        main += [w.user("r1", "a1", [result("t1")], toolUseResult={"agentId": "g"}), w.answer("a2", "r1")]
    mark: Line = {"isSidechain": True, "agentId": "g"}
    sub = [w.user("g1", None, prompt, **mark), w.answer("g2", "g1", **mark)]
    write(folder / "main" / "subagents" / "agent-g.jsonl", sub)
    return write(folder / "main.jsonl", main)


def test_a_sub_agent_is_known_by_a_first_line_of_any_length(tmp_path: Path) -> None:
    path = with_agent(tmp_path, "words " * 100_000, finished=True)
    with open_trace([path], cache=False) as trace:
        assert (session(trace, "agent-g").parent, session(trace, "agent-g").parent_call) == ("main", "t1")
        assert [turn.call for turn in trace.view("main").turns] == ["msg-a1", "msg-a2"]
        assert not trace.issues


@pytest.mark.parametrize("named", ["main.jsonl", "."])
def test_a_sub_agents_metadata_name_its_call_before_it_has_a_result(named: str, tmp_path: Path) -> None:
    with_agent(tmp_path, "Look around.", finished=False)
    metadata = tmp_path / "main" / "subagents" / "agent-g.meta.json"
    metadata.write_text(json.dumps({"agentType": "Explore", "description": "look", "toolUseId": "t1"}, indent=1))
    with open_trace([str(tmp_path / named)], cache=False) as trace:
        assert (session(trace, "agent-g").parent, session(trace, "agent-g").parent_call) == ("main", "t1")
        assert dict(next(f for f in trace.files if f.path.endswith(".meta.json")).known) == {"agent metadata": 1}
        assert not trace.issues


@pytest.mark.parametrize("continued", [False, True])
@pytest.mark.parametrize("says", [False, True])
def test_a_fork_is_not_taken_for_the_original(continued: bool, says: bool, tmp_path: Path) -> None:
    """Its name sorts first, and both start at the same time; the original may have gone on after the fork."""
    w = Writer("orig")
    first = [w.user("u1", None), w.answer("a1", "u1"), w.user("u2", "a1"), w.answer("a2", "u2")]
    more = [w.user("u3", "a2"), w.answer("a3", "u3")] if continued else []
    fork = [{**x, "sessionId": "fork"} for x in copied(first, "f")]
    if says:
        fork = [{**x, "forkedFrom": {"sessionId": "orig", "messageUuid": x["uuid"][1:]}} for x in fork]
    fork += [{**x, "sessionId": "fork"} for x in (w.user("f3", "fa2"), w.answer("f4", "f3"))]
    write(tmp_path / "b.jsonl", [*first, *more])
    write(tmp_path / "a.jsonl", fork)
    with open_trace([str(tmp_path)], cache=False) as trace:
        assert sum(not turn.inherited for turn in trace.view("orig").turns) == (3 if continued else 2)
        assert sum(not turn.inherited for turn in trace.view("fork").turns) == 1


def test_a_message_id_that_two_sessions_share_by_chance_makes_no_copy(tmp_path: Path) -> None:
    """Some servers number their responses."""
    paths = []
    for name in ("one", "two"):
        w = Writer(name)
        lines = [w.user(f"{name}-u1", None, f"About {name}.")]
        lines += [w.answer(f"{name}-a1", f"{name}-u1", f"Yes, {name}.", of="msg_1")]
        lines += [{**w.answer(f"{name}-a2", f"{name}-a1", [call(f"{name}-t")], of="msg_1")}]
        day = "2026-03-01" if name == "one" else "2026-03-02"
        paths.append(write(tmp_path / f"{name}.jsonl", [{**x, "timestamp": day + x["timestamp"][10:]} for x in lines]))
    with open_trace(paths, cache=False) as trace:
        for name in ("one", "two"):
            assert [turn.call for turn in trace.view(name).turns] == ["msg_1"]
            assert windows(trace, name)[-1] == [f"{name}-u1", f"{name}-a1", f"{name}-a2"]


def test_objects_glued_on_one_line_without_uuids_are_told_apart(tmp_path: Path) -> None:
    one = {"type": "user", "sessionId": "s", "parentUuid": None, "message": {"role": "user", "content": "one"}}
    two = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "two"}}
    with opened(tmp_path / "s.jsonl", [json.dumps(one) + json.dumps(two), Writer().answer("a1", "x")]) as trace:
        view = trace.view()
        assert [row.block.preview for row in view.window(1)] == ["one", "two"]
        assert len({row.block.id for row in view.window(1)}) == 2


def test_the_older_of_two_files_is_told_by_moments_not_by_words(tmp_path: Path) -> None:
    """The fork goes on an hour later, in words of another zone that sort before the original's."""
    w = Writer("orig")
    first = [w.user("u1", None), w.answer("a1", "u1")]
    more = [{**w.user("u2", "a1"), "timestamp": "2026-03-01T05:00:00Z"}, w.answer("a2", "u2")]
    fork = [{**x, "sessionId": "fork"} for x in copied(first, "f")]
    fork += [{**w.user("f2", "fa1"), "timestamp": "2026-03-01T01:00:00-05:00", "sessionId": "fork"}]
    write(tmp_path / "b.jsonl", [*first, *more])
    write(tmp_path / "a.jsonl", fork)
    with open_trace([str(tmp_path)], cache=False) as trace:
        assert [turn.inherited for turn in trace.view("orig").turns] == [False, False]
        assert [turn.inherited for turn in trace.view("fork").turns] == []
