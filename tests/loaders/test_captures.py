"""Captured requests: each request is one exact window, and each conversation one session."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.loaders.captures import LOADER, threads
from ctxview.loaders.source import Source, SourceFile
from ctxview.model import Block, Call, CallEnd, Event, Issue, Progress, Record, SessionStart, Snapshot, Usage

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "anthropic-proxy"
SYSTEM = [{"type": "text", "text": "You are an agent."}]
TOOLS = [{"name": "Read", "input_schema": {"type": "object"}}, {"name": "Task", "input_schema": {"type": "object"}}]

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")


def load(data: Any, name: str = "log.jsonl") -> list[Event]:
    """Events of a document, of a list of lines, or of bytes."""
    if isinstance(data, list):
        data = b"".join(json.dumps(line).encode() + b"\n" for line in data)
    elif not isinstance(data, bytes):
        data = json.dumps(data, indent=1).encode()
    return list(LOADER.load(Source((SourceFile(name, data=data),))))


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def text(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": t} for t in texts]}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "claude-opus-9", "system": SYSTEM, "tools": TOOLS, "messages": list(messages), **more}


def answer(id_: str, *content: Any, tokens: int = 100) -> dict[str, Any]:
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
    usage = {"input_tokens": tokens, "output_tokens": 5}
    return {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "usage": usage,
        "stop_reason": "end_turn",
    }


def pair(request: dict[str, Any], response: Any) -> dict[str, Any]:
    return {"request": request, "response": response}


def http(request: dict[str, Any], response: Any, path: str = "/v1/messages?beta=true") -> dict[str, Any]:
    sent = {"method": "POST", "path": path, "headers": {"User-Agent": "claude-cli/9.1 (x)"}, "body": request}
    return {"timestamp": "2026-01-01T00:00:00Z", "request_id": "r1", "turn": 1, "request": sent, "response": response}


def ids(snapshot: Snapshot) -> list[str]:
    return [block.id for block in snapshot.blocks]


def test_pending_request_is_one_exact_call_without_an_end() -> None:
    """W11: the window is the whole list of messages, orphans included, and nothing came back."""
    events = load((CASES / "W11.json").read_bytes(), "W11.json")
    (window,) = of(Snapshot, events)
    (call,) = of(Call, events)
    assert [block.kind for block in window.blocks] == [
        "user", "tool_result", "tool_call", "tool_result", "tool_call", "user",
    ]  # fmt: skip
    calls = {b.call_id for b in window.blocks if b.kind == "tool_call"}
    results = {b.call_id for b in window.blocks if b.kind == "tool_result"}
    assert (calls - results, results - calls) == ({"call_D"}, {"call_B"})
    assert call.exact
    assert not of(CallEnd, events)


def test_image_is_facts_and_not_text() -> None:
    """T23: the picture's size is known, and its base64 is nowhere."""
    (window,) = of(Snapshot, load((CASES / "T23.json").read_bytes(), "T23.json"))
    (image,) = [block for block in window.blocks if block.kind == "image"]
    assert (image.image.width, image.image.height, image.image.media_type) == (120, 100, "image/png")
    assert all(len(block.text) < 100 for block in window.blocks)


def test_cleared_result_stays_in_one_session() -> None:
    """W12: a result that was replaced by a placeholder does not start another conversation."""
    events = load((CASES / "W12.cleared.jsonl").read_bytes(), "W12.cleared.jsonl")
    first, second = of(Snapshot, events)
    results = [next(b for b in s.blocks if b.kind == "tool_result") for s in (first, second)]
    assert len(of(SessionStart, events)) == 1
    assert results[0].call_id == results[1].call_id == "t1"
    assert results[1].text == "[Old tool result content cleared]"
    assert [end.usage.prompt for end in of(CallEnd, events)] == [160, 120]


def test_answer_and_its_copy_have_one_id() -> None:
    """A response's block is the same block in the next request, whatever happened to markers and whitespace."""
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"f": "a"}}
    thinking = {"type": "thinking", "thinking": "", "signature": "s"}
    copied = {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "", "signature": ""}, {"type": "text", "text": "Reading."},
        {**call, "cache_control": {"type": "ephemeral"}},
    ]}  # fmt: skip
    done = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A"}]}
    events = load([
        pair(body(text("user", "go")), answer("m1", thinking, "Reading.\n", call)),
        pair(body({"role": "user", "content": "go"}, copied, done), answer("m2", "Done.")),
    ])  # fmt: skip
    first, second = of(Snapshot, events)
    answered = [block.id for block in of(Block, events)][:3]
    assert ids(second) == [*ids(first), *answered, ids(second)[-1]]
    assert second.blocks[-1].tool == "Read"
    assert [block.message for block in second.blocks[-4:-1]] == [answered[0]] * 3


def test_order_of_events_and_of_blocks() -> None:
    """Snapshot, Call, blocks, CallEnd; tools, system, messages."""
    events = load([pair(body(text("user", "go")), answer("m1", "Done."))])
    names = [type(event).__name__ for event in events]
    assert names == ["SessionStart", "Record", "Snapshot", "Call", "Block", "CallEnd", "Progress"]
    (window,) = of(Snapshot, events)
    assert [block.message for block in window.blocks][:3] == ["tools", "tools", "system"]
    assert [block.kind for block in window.blocks] == ["tools", "tools", "system", "user"]


def test_reminders_and_system_messages_are_notes() -> None:
    """What the client put in is injected; only the first typed text of a message starts a user turn."""
    user = text("user", "<system-reminder>x</system-reminder>", "Fix it.", "And that.")
    (window,) = of(Snapshot, load([pair(body(user, {"role": "system", "content": "agents: a"}), answer("m", "ok"))]))
    marks = [(b.kind, b.injected, b.human) for b in window.blocks if b.kind not in ("tools", "system")]
    assert marks == [("note", True, False), ("user", False, True), ("user", False, False), ("note", True, False)]


SSE = [
    {"type": "message_start", "message": {"id": "msg_s", "role": "assistant", "model": "claude-opus-9", "content": [],
     "usage": {"input_tokens": 7, "cache_read_input_tokens": 90, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "abc"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hel"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "lo"}},
    {"type": "content_block_start", "index": 2,
     "content_block": {"type": "tool_use", "id": "t", "name": "Read", "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"f\":"}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"input_tokens": 0, "output_tokens": 42}},
    {"type": "message_stop"},
]  # fmt: skip


def stream(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def trace(response: Any) -> dict[str, Any]:
    sent = {"timestamp": 1_700_000_000.5, "method": "POST", "url": "https://api.example/v1/messages", "headers": {},
            "body": body(text("user", "go"))}  # fmt: skip
    return {"request": sent, "response": response, "logged_at": "2023-11-14T22:13:25Z"}


@pytest.mark.parametrize(
    "response",
    [
        {"status_code": 200, "headers": {}, "body_raw": stream(SSE)},
        {"status_code": 200, "headers": {}, "body": stream(SSE).replace("\n", "\r\n")},
        {"status_code": 200, "headers": {}, "events": [{"event": e["type"], "data": e} for e in SSE]},
    ],
)
def test_streamed_answer_is_put_together(response: Any) -> None:
    """Text, thinking, arguments and both halves of the usage come out of an event stream."""
    events = load([trace(response)])
    assert [(b.kind, b.text, b.signature) for b in of(Block, events)] == [
        ("thinking", "Hm", 3), ("assistant", "Hello", 0), ("tool_call", '{"f":1}', 0),
    ]  # fmt: skip
    (end,) = of(CallEnd, events)
    assert end == CallEnd(events[0].session, "msg_s", Usage(7, 90, None, 42), "tool_use")  # type: ignore[union-attr]
    assert of(Call, events)[0].at == "2023-11-14T22:13:20.500Z"


def test_broken_stream_is_partial() -> None:
    """A stream without its end is an error, and its output counter is a partial one."""
    (end,) = of(CallEnd, load([trace({"status_code": 200, "headers": {}, "body_raw": stream(SSE[:7])})]))
    assert end.usage is not None
    assert end.usage.partial
    assert end.error == "the response broke off"


def test_failed_call_still_fixes_a_window() -> None:
    """An HTTP error or no response is a call with an error and without usage."""
    failed = {
        "status": 529,
        "headers": {},
        "body": {"type": "error", "error": {"type": "overloaded", "message": "busy"}},
    }
    events = load([http(body(text("user", "go")), failed), http(body(text("user", "go on")), None)])
    assert [(end.usage, end.error) for end in of(CallEnd, events)] == [
        (None, "HTTP 529: overloaded: busy"), (None, "no response logged"),
    ]  # fmt: skip
    assert len(of(Snapshot, events)) == 2


def test_retry_of_an_unanswered_request_is_the_same_call() -> None:
    """The second attempt is a duplicate record whose answer ends the first attempt's call."""
    request = body(text("user", "go"))
    events = load([http(request, None), http(request, {"status": 200, "body": answer("m1", "ok")})])
    assert [record.disposition for record in of(Record, events)] == ["window", "duplicate"]
    assert len(of(Call, events)) == len(of(Snapshot, events)) == 1
    assert [end.error for end in of(CallEnd, events)] == ["no response logged", None]
    assert {end.id for end in of(CallEnd, events)} == {of(Call, events)[0].id}


def test_same_body_after_an_answer_is_another_call() -> None:
    """Asking the same again is a call of its own; the same response logged twice is not."""
    request = body(text("user", "go"))
    events = load(
        [pair(request, answer("m1", "a")), pair(request, answer("m2", "b")), pair(request, answer("m2", "b"))]
    )
    assert [record.disposition for record in of(Record, events)] == ["window", "window", "duplicate"]
    assert len(of(Call, events)) == 2
    assert len(of(SessionStart, events)) == 1


def test_side_calls_and_sub_agents_are_sessions_of_their_own() -> None:
    """Main comes first though a title call was logged first; a sub-agent knows the call that started it."""
    task = {
        "type": "tool_use",
        "id": "t9",
        "name": "Task",
        "input": {"prompt": "Look around.", "subagent_type": "scout"},
    }
    title = {"model": "claude-haiku-9", "system": "Make a title.", "messages": [text("user", "Fix it.")]}
    sub = body(text("user", "Look around."), system="You are a scout.")
    done = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9", "content": "Seen."}]}
    events = load([
        pair(title, answer("m0", "Fixing")),
        pair(body(text("user", "Fix it.")), answer("m1", task)),
        pair(sub, answer("s1", "one")),
        pair({**sub, "messages": [*sub["messages"], text("assistant", "one"), text("user", "more")]},
             answer("s2", "two")),
        pair({**sub, "messages": [*sub["messages"], text("assistant", "one"), text("user", "more"),
              text("assistant", "two"), text("user", "still")]}, answer("s3", "three")),
        pair(body(text("user", "Fix it."), {"role": "assistant", "content": [task]}, done), answer("m2", "Fixed.")),
    ])  # fmt: skip
    main, first, second = of(SessionStart, events)
    assert main.session == "log"
    assert (main.title, main.parent) == ("Fix it.", None)
    assert (first.parent, first.parent_call) == ("log", None)
    assert (second.parent, second.parent_call, second.agent) == ("log", "t9", "scout")
    assert Counter(call.session for call in of(Call, events)) == {main.session: 2, first.session: 1, second.session: 3}


def test_interleaved_twins_keep_apart() -> None:
    """Two conversations with the same start go on with their own answers."""

    def step(*said: str) -> dict[str, Any]:
        return body(text("user", "go"), *(text("assistant" if i % 2 == 0 else "user", t) for i, t in enumerate(said)))

    events = load([
        pair(step(), answer("a1", "A")), pair(step("A", "x"), answer("a2", "AA")),
        pair(step(), answer("b1", "B")), pair(step("B", "y"), answer("b2", "BB")),
        pair(step("A", "x", "AA", "x2"), answer("a3", "AAA")), pair(step("B", "y", "BB", "y2"), answer("b3", "BBB")),
    ])  # fmt: skip
    sessions: dict[str, list[str]] = {}
    for call in of(Call, events):
        sessions.setdefault(call.session, []).append(call.id)
    assert sorted(sessions.values()) == [["a1", "a2", "a3"], ["b1", "b2", "b3"]]


def using(id_: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tool call and its result, as messages."""
    call = {"type": "tool_use", "id": id_, "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": id_, "content": id_}
    return {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}


def calls_by_session(events: list[Event]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for call in of(Call, events):
        found.setdefault(call.session, []).append(call.id)
    return found


@pytest.mark.parametrize("runs", [2, 3, 60])
def test_runs_of_one_request_in_lockstep_are_sessions_of_their_own(runs: int) -> None:
    """Each goes on with its own answer, though all of them sent the same first request one after the other."""
    said = [text("user", "Do it.")]
    rounds = [
        [(run, body(*said, *(m for n in range(number) for m in using(f"c{run}-{n}")))) for run in range(runs)]
        for number in range(3)
    ]
    events = load([
        pair(request, answer(f"m{run}-{number}", using(f"c{run}-{number}")[0]["content"][0]))
        for number, requests in enumerate(rounds)
        for run, request in requests
    ])  # fmt: skip
    wanted = [[f"m{run}-{number}" for number in range(3)] for run in range(runs)]
    assert sorted(calls_by_session(events).values()) == sorted(wanted)


def test_runs_that_only_talk_keep_apart() -> None:
    """Without tool calls the words of the answer tell whose turn it is, whichever run goes on first."""

    def sent(*said: str) -> dict[str, Any]:
        return body(text("user", "go"), *(text("assistant" if i % 2 == 0 else "user", t) for i, t in enumerate(said)))

    events = load([
        pair(sent(), answer("a1", "A")), pair(sent(), answer("b1", "B")),
        pair(sent("B", "y"), answer("b2", "OK")), pair(sent("B", "y", "OK", "y2"), answer("b3", "OK")),
        pair(sent("A", "x"), answer("a2", "OK")), pair(sent("A", "x", "OK", "x2"), answer("a3", "OK")),
        pair(sent("B", "y", "OK", "y2", "OK", "y3"), answer("b4", "OK")),
    ])  # fmt: skip
    assert sorted(calls_by_session(events).values()) == [["a1", "a2", "a3"], ["b1", "b2", "b3", "b4"]]


def test_asking_again_and_going_back_stay_in_one_session() -> None:
    """A person who has an answer made anew, or words a question anew, is still in the same conversation."""
    go, a, b = text("user", "go"), text("assistant", "A"), text("assistant", "B")
    events = load([
        pair(body(go), answer("m1", "A")), pair(body(go), answer("m2", "B")),
        pair(body(go, b, text("user", "one")), answer("m3", "C")),
        pair(body(go, b, text("user", "two")), answer("m4", "D")),
    ])  # fmt: skip
    assert list(calls_by_session(events).values()) == [["m1", "m2", "m3", "m4"]]
    back = load([
        pair(body(go), answer("m1", "A")),
        pair(body(go, a, text("user", "one")), answer("m2", "B")),
        pair(body(go, a, text("user", "two")), answer("m3", "C")),
        pair(body(go, a, text("user", "one"), b, text("user", "on")), answer("m4", "D")),
    ])  # fmt: skip
    assert list(calls_by_session(back).values()) == [["m1", "m2", "m4"], ["m3"]]


def test_sub_agent_of_the_second_run_is_its_child() -> None:
    """A call moves to the session of its own run with what it started."""
    task = {"type": "tool_use", "id": "t9", "name": "Task", "input": {"prompt": "Look around."}}
    go, done = text("user", "go"), {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9"}]}
    events = load([
        pair(body(go), answer("a1", using("c1")[0]["content"][0])),
        pair(body(go), answer("b1", task)),
        pair(body(text("user", "Look around."), system="You are a scout."), answer("s1", "Seen.")),
        pair(body(go, *using("c1")), answer("a2", "A")),
        pair(body(go, {"role": "assistant", "content": [task]}, done), answer("b2", "B")),
    ])  # fmt: skip
    sessions = calls_by_session(events)
    of_call = {call: session for session, calls in sessions.items() for call in calls}
    assert sorted(sessions.values()) == [["a1", "a2"], ["b1", "b2"], ["s1"]]
    parents = {start.session: start.parent for start in of(SessionStart, events)}
    assert parents[of_call["s1"]] == of_call["b1"]


@pytest.mark.parametrize("count", [400])
def test_runs_of_one_request_cost_the_same_each(count: int) -> None:
    """A log of many runs that start alike compares each call with a bounded number of them."""
    compared = []
    threads.score, score = lambda *a, **k: compared.append(1) or score(*a, **k), threads.score
    try:
        load([
            pair(body(text("user", "Do it."), *(m for n in range(number) for m in using(f"c{run}-{n}"))),
                 answer(f"m{run}-{number}", using(f"c{run}-{number}")[0]["content"][0]))
            for run in range(count)
            for number in range(2)
        ])  # fmt: skip
    finally:
        threads.score = score
    assert len(compared) <= 2 * count * 60


def test_sliding_window_stays_one_session() -> None:
    """A client that sends only its newest messages, without tools to tell by, still holds one conversation."""
    said = [text("user" if n % 2 == 0 else "assistant", f"line {n}") for n in range(12)]
    requests = [body(*said[max(0, n - 3) : n], tools=[]) for n in range(1, 12, 2)]
    events = load([pair(request, answer(f"m{n}", f"line {2 * n + 1}")) for n, request in enumerate(requests)])
    assert len(of(SessionStart, events)) == 1
    assert len(of(Snapshot, events)) == 6


@pytest.mark.parametrize("opening", ["This session is being continued from a previous conversation. {}", "Notes: {}"])
def test_compaction_goes_on_with_its_thread(opening: str) -> None:
    """A fresh window that carries the summary is a cut of the same session, not a new one."""
    summary = "The user wants the tests moved; " * 10
    old = [text("user", "Move the tests."), text("assistant", "On it."), text("user", "Go on.")]
    asks = {"role": "user", "content": [*old[2]["content"], {"type": "text", "text": "Summarise all of it."}]}
    fresh = [text("user", opening.format(summary))]
    events = load([
        pair(body(*old[:1]), answer("m1", "On it.")),
        pair(body(*old), answer("m2", "Moving.", tokens=500)),
        pair(body(*old[:2], asks), answer("m3", f"<analysis>a</analysis><summary>{summary}</summary>", tokens=540)),
        pair(body(*fresh), answer("m4", "Next.")),
        pair(body(*fresh, text("assistant", "Next."), text("user", "Yes.")), answer("m5", "Done.")),
    ])  # fmt: skip
    assert len(of(SessionStart, events)) == 1
    windows = of(Snapshot, events)
    assert [window.cut for window in windows] == [None, None, None, "compact", None]
    assert windows[3].before == 540
    kinds = [[(b.kind, b.inserted, b.human) for b in window.blocks if b.kind == "summary"] for window in windows]
    assert kinds == [[], [], [], [("summary", True, False)], [("summary", True, False)]]
    asked = windows[2].blocks[-1]
    assert (asked.text, asked.injected, asked.human) == ("Summarise all of it.", True, False)


@pytest.mark.parametrize(
    ("answered", "carried"),
    [
        ("<analysis>All that was d[cut]", "[cut]"),
        ("Tests: moved.", "Tests: moved."),
        ("Moved the tests. " * 20, "Moved the tests.  " * 20 + "Go on."),
    ],
)
def test_request_for_a_summary_is_the_clients(answered: str, carried: str) -> None:
    """Be the summary tagged, a few words, or one that the client adds to; a log may hold only the head of it."""
    opening = f"This session is being continued from a previous conversation. {carried}"
    before = [text("user", "go"), text("assistant", "OK")]
    events = load([
        pair(body(*before[:1]), answer("m1", "OK")),
        pair(body(*before, text("user", "Summarise.")), answer("m2", answered)),
        pair(body(text("user", opening)), answer("m3", "Next.")),
    ])  # fmt: skip
    windows = of(Snapshot, events)
    assert windows[2].cut == "compact"
    assert (windows[1].blocks[-1].text, windows[1].blocks[-1].injected) == ("Summarise.", True)


def test_what_a_person_said_before_an_unlogged_summary_is_theirs() -> None:
    """Only the request whose answer carries the summary asked for it."""
    opening = "This session is being continued from a previous conversation. " + "The tests were moved. " * 20
    events = load([
        pair(body(text("user", "go")), answer("m1", "OK")),
        pair(body(text("user", "go"), text("assistant", "OK"), text("user", "more")), answer("m2", "fine")),
        pair(body(text("user", opening)), answer("m3", "Next.")),
    ])  # fmt: skip
    windows = of(Snapshot, events)
    assert windows[2].cut == "compact"
    assert [(block.text, block.human) for block in windows[1].blocks if block.injected] == []
    assert (windows[1].blocks[-1].text, windows[1].blocks[-1].human) == ("more", True)


def test_answer_without_a_word_is_an_answer() -> None:
    """The same request after it is a call of its own, with a usage of its own."""
    request = body(text("user", "go"))
    events = load([http(request, {"status": 200, "body": answer("m1", tokens=7)}), pair(request, answer("m2", "ok"))])
    assert [call.id for call in of(Call, events)] == ["m1", "m2"]
    assert [end.usage.input for end in of(CallEnd, events)] == [7, 100]


def test_long_paths_are_read_to_their_end() -> None:
    """A gateway may put a long path before the API's own; what is no call shows shortened."""
    gateway = "/gateway/teams/platform/environments/production/regions/europe/providers/anthropic" + "/more" * 500
    reply = {"status": 200, "body": answer("m1", "ok")}
    events = load([
        http(body(text("user", "go")), reply, f"https://gw.example.com{gateway}/v1/messages?beta=true"),
        http(body(text("user", "go")), reply, f"{gateway}/v1/messages/count_tokens"),
        http(body(text("user", "go")), reply, f"{gateway}/models"),
    ])  # fmt: skip
    window, counted, other = of(Record, events)
    assert (window.disposition, counted.disposition, counted.type) == ("window", "known", "count_tokens")
    assert other.type == f"{gateway}/models"[:80]


def test_sessions_of_one_name_are_numbered() -> None:
    """Many folders may each hold a file of one name."""
    files = [
        SourceFile(f"run{n}/request.json", data=json.dumps(body(text("user", f"q{n}"), system=f"s{n}")).encode())
        for n in range(4)
    ]
    starts = of(SessionStart, list(LOADER.load(Source(tuple(files)))))
    assert [start.session for start in starts] == ["request", "request-2", "request-3", "request-4"]


def test_usage_of_several_rounds_is_the_last_message_round() -> None:
    """Top-level prompt counters of a response in several rounds are sums, and another model's round is none."""
    usage = {"input_tokens": 30, "output_tokens": 9, "iterations": [
        {"type": "message", "input_tokens": 10}, {"type": "message", "input_tokens": 12},
        {"type": "advisor_message", "input_tokens": 8},
    ]}  # fmt: skip
    (end,) = of(CallEnd, load([pair(body(text("user", "go")), {**answer("m", "x"), "usage": usage})]))
    assert end.usage is not None
    assert (end.usage.prompt, end.usage.output) == (12, 9)


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 0, "output_tokens": 0}, "many"])
def test_no_usage_is_none(usage: Any) -> None:
    """Missing and all-zero usage is unknown, never 0."""
    (end,) = of(CallEnd, load([pair(body(text("user", "go")), {**answer("m", "x"), "usage": usage})]))
    assert end.usage is None


def test_server_side_edits_are_told() -> None:
    """Edits asked for are said once per session, applied ones with their numbers."""
    request = body(text("user", "go"), context_management={"edits": [{"type": "clear_tool_uses_20250919"}]})
    applied = {**answer("m", "x"), "context_management": {"applied_edits": [{"cleared_tool_uses": 3}]}}
    reasons = [issue.reason for issue in of(Issue, load([pair(request, applied), pair(request, answer("n", "y"))]))]
    assert len(reasons) == 2
    assert "clear_tool_uses_20250919" in reasons[0]
    assert '"cleared_tool_uses":3' in reasons[1]


def test_other_paths_are_known_records() -> None:
    """Token counts, model lists and other APIs are no windows; another API is named once."""
    lines = [http(body(text("user", "x")), {"status": 200}, path) for path in (
        "/v1/messages/count_tokens?beta=true", "/v1/models", "/api/event_logging/batch", "/v1/completions",
        "/v1/completions", "/v1beta/models/gemini:streamGenerateContent", "/v1/responses/resp_0123456789abcdef",
    )]  # fmt: skip
    events = load(lines)
    assert [(r.disposition, r.type) for r in of(Record, events)] == [
        ("known", "count_tokens"), ("known", "models"), ("known", "/api/event_logging/batch"),
        ("known", "other-dialect:/v1/completions"), ("known", "other-dialect:/v1/completions"),
        ("known", "other-dialect:/v1beta/models/gemini:streamGenerateContent"), ("known", "responses/*"),
    ]  # fmt: skip
    assert len(of(Issue, events)) == 2


@pytest.mark.parametrize("wrap", [lambda p: {"session": "abc", "agent": "x", "packets": p}, lambda p: p])
def test_documents_hold_records(wrap: Any) -> None:
    """A lab export and an array of pairs are records with their index."""
    packets = [http(body(text("user", "go")), {"status": 200, "body": answer("m1", "ok")}), "junk"]
    data = json.dumps(wrap(packets)).encode()
    events = load(data, "x.json")
    assert [(r.line, r.disposition) for r in of(Record, events)] == [(1, "window"), (2, "unknown")]
    assert of(SessionStart, events)[0].client == "claude-cli 9.1"


def test_unreadable_line_and_pending_tail_are_accounted() -> None:
    """A broken line is one unreadable record, a half-written last line is none."""
    line = json.dumps(pair(body(text("user", "go")), answer("m1", "ok"))).encode()
    events = load(b"\n".join([line, b'{"request": oops}', line[:40]]))
    assert [(r.line, r.disposition) for r in of(Record, events)] == [(1, "window"), (2, "unreadable")]


def test_sniff_by_content_only() -> None:
    """Captures are known by their keys, cut off or not; session logs of agents are not captures."""
    line = json.dumps(http(body(text("user", "x" * 5000)), {"status": 200})).encode()
    assert LOADER.sniff(line, "x") >= 0.8
    assert LOADER.sniff(line[:2000], "x") >= 0.8
    assert LOADER.sniff((CASES / "W11.json").read_bytes(), "x") >= 0.8
    assert LOADER.sniff((CASES / "W12.cleared.jsonl").read_bytes(), "x") >= 0.8
    assert LOADER.sniff((CASES / "C16.json").read_bytes(), "x") == 0.0
    for other in (b"", b"\xff\xfe", b"PK\x03\x04", b'{"uuid":"a","parentUuid":null,"message":{"role":"user"}}',
                  b'{"timestamp":"t","type":"session_meta","payload":{}}', b'"' * 300_000, b"[" * 300_000):  # fmt: skip
        assert LOADER.sniff(other, "x") == 0.0


def mutate(value: Any, rng: random.Random) -> Any:
    """`value` with a few of its inner values replaced by something of another type."""
    junk = [None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], {"type": "text"}, "data: {", [None], {"role": 1}]
    if rng.random() < 0.06:
        return copy.deepcopy(rng.choice(junk))
    if isinstance(value, dict):
        return {key: mutate(item, rng) for key, item in value.items() if rng.random() > 0.03}
    return [mutate(item, rng) for item in value] if isinstance(value, list) else value


def check_accounting(events: list[Event]) -> None:
    """What must hold of any log: sessions come first, calls are unique, and ends belong to calls."""
    started = {event.session for event in of(SessionStart, events)}
    assert all(event.session in started for event in events if isinstance(event, (Snapshot, Call, Block, CallEnd)))
    calls = [(call.session, call.id) for call in of(Call, events)]
    assert len(calls) == len(set(calls))
    assert {(end.session, end.id) for end in of(CallEnd, events)} <= set(calls)
    for window in of(Snapshot, events):
        assert len(set(ids(window))) == len(window.blocks)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_logs_never_raise(seed: int) -> None:
    """Wrong types anywhere cost their record at most; every record has exactly one disposition."""
    rng = random.Random(seed)
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"f": "a"}}
    lines = [
        trace({"status_code": 200, "headers": {}, "body_raw": stream(SSE)}),
        trace({"status_code": 200, "headers": {}, "events": SSE}),
        http(body(text("user", "go")), {"status": 200, "body": answer("m1", "ok", call)}),
        pair(body({"role": "user", "content": "go"}, {"role": "assistant", "content": [call]}), answer("m2", "ok")),
        body(text("user", "go"), text("assistant", "a"), text("user", "b")),
    ]
    damaged = mutate(lines, rng)
    if isinstance(damaged, list) and len(damaged) > 1:  # a file of one line is a document
        events = load(damaged)
        assert len(of(Record, events)) == len(damaged)
        check_accounting(events)
    whole = json.dumps(damaged).encode()
    check_accounting(load(whole, "x.json"))
    LOADER.sniff(whole[: rng.randrange(len(whole) + 1)], "x")


@needs_corpus
def test_packets_in_two_exports_count_once() -> None:
    """Of two exports of one run, the second adds nothing."""
    names = ("claudetap-trace_claude.json", "claudetap-trace_webpage_claude.json")
    events = list(LOADER.load(Source(tuple(SourceFile(name, CORPUS / name) for name in names))))
    records = Counter((record.file, record.disposition) for record in of(Record, events))
    assert records == {(names[0], "window"): 7, (names[1], "duplicate"): 5}
    check_accounting(events)


@needs_corpus
@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.stem)
def test_corpus_file_loads(path: Path) -> None:
    """Every packet has one disposition, and the head is recognised."""
    file = SourceFile(path.name, path)
    events = list(LOADER.load(Source((file,))))
    assert LOADER.sniff(file.head(), file.name) >= 0.8
    assert len(of(Record, events)) == len(json.loads(path.read_bytes())["packets"])
    assert of(Progress, events)[-1].done == file.size
    check_accounting(events)


@needs_corpus
def test_corpus_windows_are_the_requests_text_by_text() -> None:
    """On a capture with three compactions, each window is its request and all but the title call are one session."""
    path = CORPUS / "claudetap-trace_compact_claude.json"
    events = load(path.read_bytes(), path.name)
    packets = json.loads(path.read_bytes())["packets"]
    requests = [p["request"]["body"] for p in packets if p["path"].startswith("/v1/messages?")]
    for window, request in zip(of(Snapshot, events), requests, strict=True):
        assert [block.text for block in window.blocks] == list(texts_of(request))
    assert sorted(Counter(call.session for call in of(Call, events)).values()) == [1, 9]
    main = [window for window in of(Snapshot, events) if window.session == of(SessionStart, events)[0].session]
    assert [(w.cut, w.before) for w in main if w.cut] == [("compact", 63711), ("compact", 62508), ("compact", 62972)]


def texts_of(request: dict[str, Any]) -> Any:
    """The texts of a request's blocks, read independently of the loader."""
    for tool in request.get("tools", ()):
        yield json.dumps(tool, ensure_ascii=False, separators=(",", ":"))
    for block in request.get("system", ()):
        yield block["text"]
    for message in request["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_use":
                yield json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))
            elif block["type"] == "tool_result" and isinstance(block["content"], list):
                yield "\n".join(inner["text"] for inner in block["content"])
            else:
                yield block[{"text": "text", "thinking": "thinking", "tool_result": "content"}[block["type"]]]
