"""Captured Responses API requests: deltas are resolved, and what cannot be is named."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.loaders import detect
from ctxview.loaders.captures import OPENAI_LOADER
from ctxview.loaders.source import Source, SourceFile
from ctxview.model import Block, Call, CallEnd, Event, Issue, Record, SessionStart, Snapshot, Usage

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
LOGS = sorted(CORPUS.glob("openai-responses-proxy/*.json")) + sorted(CORPUS.glob("*/claudetap-trace_thinking_on.json"))
TOOLS = [{"type": "function", "name": "exec", "parameters": {}}, {"type": "web_search"}]

needs_corpus = pytest.mark.skipif(not LOGS, reason="the corpus is not beside this checkout")


def load(lines: Any, name: str = "log.jsonl") -> list[Event]:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines) if isinstance(lines, list) else lines
    return list(OPENAI_LOADER.load(Source((SourceFile(name, data=data),))))


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def called(id_: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": "exec", "call_id": id_, "arguments": json.dumps(arguments)}


def gave(id_: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": output}


def thought(sealed: str, *summary: str) -> dict[str, Any]:
    texts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "summary": texts, "encrypted_content": sealed}


def packed(sealed: str) -> dict[str, Any]:
    return {"type": "compaction", "encrypted_content": sealed}


def body(*items: Any, previous: str | None = None, **more: Any) -> dict[str, Any]:
    named = {"previous_response_id": previous} if previous else {}
    return {"model": "gpt-9", "instructions": "Be brief.", "tools": TOOLS, "input": list(items), **named, **more}


def answer(id_: str, *output: Any, tokens: int = 100, cached: int = 40, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": tokens, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
    }  # fmt: skip
    return {"id": id_, "object": "response", "status": "completed", "output": list(output), "usage": usage, **more}


def socket(request: dict[str, Any], response: Any, thread: str = "thread-0001", **told: Any) -> dict[str, Any]:
    metadata = {"client_metadata": {"thread_id": thread, **told}}
    sent = {"method": "WEBSOCKET", "path": "/v1/responses", "headers": {"User-Agent": "codex_exec/1.2 (x)"},
            "body": {"type": "response.create", **request, **metadata}}  # fmt: skip
    return {"request": sent, "response": {"status": 101, "headers": {}, "body": response}}


def windows_of(events: list[Event]) -> list[Snapshot]:
    """The window of each call, in log order: a snapshot, or what was said since the one before it."""
    now: dict[str, Snapshot] = {}
    windows = []
    for event in events:
        if isinstance(event, Snapshot):
            now[event.session] = event
        elif isinstance(event, Block):
            before = now[event.session]
            now[event.session] = replace(before, blocks=(*before.blocks, event), cut=None, before=None)
        elif isinstance(event, Call):
            windows.append(now[event.session])
    return windows


def texts(window: Snapshot) -> list[str]:
    return [block.text for block in window.blocks if block.kind not in ("tools", "system")]


def answers(events: list[Event]) -> list[Block]:
    """The blocks that responses gave: those after their call and before its end."""
    found, open_calls = [], set()
    for event in events:
        if isinstance(event, (Call, CallEnd)):
            (open_calls.add if isinstance(event, Call) else open_calls.discard)(event.session)
        elif isinstance(event, Block) and event.session in open_calls:
            found.append(event)
    return found


def test_deltas_are_chained() -> None:
    """A window is its predecessor's, what that was answered, and what is new; ids are the same all along."""
    events = load([
        socket(body(said("user", "go")), answer("r1", thought("S"), said("assistant", "Ok."), called("c1", a=1))),
        socket(body(gave("c1", "out"), previous="r1"), answer("r2", said("assistant", "Done."))),
        socket(body(said("user", "more"), previous="r2"), answer("r3")),
    ])  # fmt: skip
    first, second, third = windows_of(events)
    assert texts(third) == ["go", "", "Ok.", '{"a": 1}', "out", "Done.", "more"]
    assert [b.id for b in third.blocks][: len(second.blocks)] == [b.id for b in second.blocks]
    answered = [block.id for block in answers(events)]
    assert [b.id for b in second.blocks][len(first.blocks) : -1] == answered[:3]
    assert len({b.message for b in second.blocks[-4:-1]}) == 1
    assert [(call.exact, call.missing) for call in of(Call, events)] == [
        (True, ()), (True, ("thinking",)), (True, ("thinking",)),
    ]  # fmt: skip
    assert of(CallEnd, events)[0].usage == Usage(60, 40, None, 7, 3)
    assert len(of(SessionStart, events)) == 1


def test_a_request_without_a_predecessor_is_all_there_is() -> None:
    """It resets the window, in the same session."""
    whole = [said("user", "go"), called("c1"), gave("c1", "out")]
    events = load([
        socket(body(said("user", "go")), answer("r1", called("c1"))),
        socket(body(gave("c1", "out"), previous="r1"), answer("r2", said("assistant", "Hm."))),
        socket(body(*whole), answer("r3")),
    ])  # fmt: skip
    assert texts(windows_of(events)[2]) == ["go", "{}", "out"]
    assert len(of(SessionStart, events)) == 1


def test_a_fork_goes_on_with_an_older_response() -> None:
    """A predecessor need not be the last one."""
    events = load([
        socket(body(said("user", "go")), answer("r1", said("assistant", "A"))),
        socket(body(said("user", "x"), previous="r1"), answer("r2", said("assistant", "B"))),
        socket(body(said("user", "y"), previous="r1"), answer("r3", said("assistant", "C"))),
    ])  # fmt: skip
    assert texts(windows_of(events)[2]) == ["go", "A", "y"]
    assert len(of(SessionStart, events)) == 1


def test_branches_that_both_go_on_are_two_sessions() -> None:
    """Each response is gone on with in the session that holds it, even where all say the same."""
    events = load([
        socket(body(said("user", "go")), answer("r1", said("assistant", "OK"))),
        socket(body(said("user", "x"), previous="r1"), answer("r2", said("assistant", "OK"))),
        socket(body(said("user", "y"), previous="r1"), answer("r3", said("assistant", "OK"))),
        socket(body(said("user", "x2"), previous="r2"), answer("r4", said("assistant", "OK"))),
        socket(body(said("user", "y2"), previous="r3"), answer("r5", said("assistant", "OK"))),
    ])  # fmt: skip
    first, second = of(SessionStart, events)
    calls = [(call.id, call.session) for call in of(Call, events)]
    assert [id_ for id_, session in calls if session == first.session] == ["r1", "r2", "r4"]
    assert [id_ for id_, session in calls if session == second.session] == ["r3", "r5"]


def test_an_unknown_predecessor_is_named() -> None:
    """What is known is shown, nothing is exact until the next reset, and one issue says which id is missing."""
    events = load([
        socket(body(gave("c0", "out"), previous="r0"), answer("r1", said("assistant", "A"))),
        socket(body(said("user", "x"), previous="r1"), answer("r2", said("assistant", "B"))),
        socket(body(said("user", "go")), answer("r3")),
    ])  # fmt: skip
    assert [texts(window) for window in windows_of(events)] == [["out"], ["out", "A", "x"], ["go"]]
    assert [(call.exact, call.missing) for call in of(Call, events)] == [
        (False, ("history",)), (False, ("history",)), (True, ()),
    ]  # fmt: skip
    (issue,) = of(Issue, events)
    assert issue.severity == "warning"
    assert "r0" in issue.reason
    assert len(of(SessionStart, events)) == 1


def test_remote_compaction_is_a_cut() -> None:
    """The window that starts with the opaque item is a cut of the same session, whose summary that item is."""
    goal = said("user", "go")
    trigger = {"type": "compaction_trigger"}
    events = load([
        socket(body(goal), answer("r1", called("c1"))),
        socket(body(goal, called("c1"), gave("c1", "out"), trigger), answer("r2", packed("SEAL" * 9), tokens=900)),
        socket(body(goal, packed("SEAL" * 9)), answer("r3", called("c2"))),
        socket(body(goal, packed("SEAL" * 9), called("c2"), gave("c2", "o"), trigger), answer("r4", packed("NEXT"))),
        socket(body(goal, packed("NEXT")), answer("r5")),
    ])  # fmt: skip
    windows = windows_of(events)
    assert [(w.cut, w.before) for w in windows] == [
        (None, None), (None, None), ("compact", 900), (None, None), ("compact", 100),
    ]  # fmt: skip
    summary = windows[2].blocks[-1]
    assert (summary.kind, summary.text, summary.note, summary.inserted) == ("summary", "", "text not recorded", True)
    assert summary.signature == 36
    assert windows[3].blocks[4].id == summary.id != windows[4].blocks[-1].id
    asked = windows[1].blocks[-1]
    assert (asked.kind, asked.injected) == ("note", True)
    assert of(Call, events)[2].missing == ("summary",)
    assert not [block for block in answers(events) if block.kind == "summary"]
    assert len(of(SessionStart, events)) == 1


def test_compaction_by_the_provider_starts_the_chained_window() -> None:
    """What stood before the compaction is not sent again; as no request says so, the window is not exact."""
    events = load([
        socket(body(said("user", "go")), answer("r1", packed("S"), said("assistant", "A"))),
        socket(body(said("user", "x"), previous="r1"), answer("r2", said("assistant", "B"))),
        socket(body(said("user", "y"), previous="r2"), answer("r3")),
    ])  # fmt: skip
    windows = windows_of(events)
    assert [texts(window) for window in windows] == [["go"], ["", "A", "x"], ["", "A", "x", "B", "y"]]
    assert [window.cut for window in windows] == [None, "compact", None]
    assert [call.exact for call in of(Call, events)] == [True, False, False]


def test_warm_up_is_a_predecessor() -> None:
    """A request that asks for no answer has a window, and the first real one goes on with it, titled by its text."""
    context = said("user", "<environment_context>here</environment_context>")
    events = load([
        socket(body(generate=False), answer("r1")),
        socket(body(said("developer", "Rules."), context, said("user", "Fix it."), previous="r1"), answer("r2")),
    ])  # fmt: skip
    (start,) = of(SessionStart, events)
    assert (start.session, start.title, start.client) == ("thread-0001", "Fix it.", "codex_exec 1.2")
    assert of(CallEnd, events)[0].stop_reason == "no answer asked for"
    marks = [(b.kind, b.injected, b.human) for b in windows_of(events)[1].blocks[3:]]
    assert marks == [("system", False, False), ("note", True, False), ("user", False, True)]


def test_sub_agent_is_a_session_under_its_call() -> None:
    """Client ids tell the threads apart; the prompt tells which call started the sub-agent."""
    spawn = {"type": "function_call", "name": "spawn_agent", "call_id": "c1",
             "arguments": json.dumps({"agent_type": "worker", "message": "Look around."})}  # fmt: skip
    told = {"x-codex-parent-thread-id": "thread-0001", "x-openai-subagent": "collab"}
    events = load([
        socket(body(said("user", "go")), answer("r1", spawn)),
        socket(body(generate=False), answer("s0"), "thread-0002", **told),
        socket(body(said("user", "Look around."), previous="s0"), answer("s1"), "thread-0002", **told),
        socket(body(said("user", "Else."), tools=[]), answer("t1"), "thread-0003", **told),
        socket(body(gave("c1", "ok"), previous="r1"), answer("r2")),
    ])  # fmt: skip
    starts = [(s.session, s.parent, s.parent_call, s.agent) for s in of(SessionStart, events)]
    assert starts == [
        ("thread-0001", None, None, None),
        ("thread-0002", "thread-0001", "c1", "worker"),
        ("thread-0003", "thread-0001", None, "collab"),
    ]
    assert Counter(call.session for call in of(Call, events)) == {"thread-0001": 2, "thread-0002": 2, "thread-0003": 1}


ITEMS: list[tuple[Any, list[tuple[str, str, str, str | None]]]] = [
    ("just text", [("user", "user", "just text", None)]),
    ({"role": "user", "content": "no type"}, [("user", "user", "no type", None)]),
    (thought("enc", "Because."), [("assistant", "thinking", "Because.", None)]),
    (
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "All of it"}]},
        [("assistant", "thinking", "All of it", None)],
    ),
    (
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** x"},
        [("assistant", "tool_call", "*** x", "c")],
    ),
    ({"type": "custom_tool_call_output", "call_id": "c", "output": "ok"}, [("tool", "tool_result", "ok", "c")]),
    (
        {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
        [("assistant", "tool_call", '{"command":["ls"]}', "c")],
    ),
    ({"type": "local_shell_call_output", "id": "c", "output": "a\nb"}, [("tool", "tool_result", "a\nb", "c")]),
    (
        {"type": "web_search_call", "id": "ws", "action": {"query": "q"}},
        [("assistant", "tool_call", '{"query":"q"}', None)],
    ),
    (
        gave("c", [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "https://h.example/i"}]),
        [("tool", "tool_result", "a", "c"), ("tool", "image", "[image from h.example]", None)],
    ),
    (
        {"type": "additional_tools", "tools": [{"type": "function", "name": "t"}]},
        [("system", "tools", '{"type":"function","name":"t"}', None)],
    ),
    ({"type": "brand_new", "x": 1}, [("user", "user", '{"type":"brand_new","x":1}', None)]),
    (7, [("user", "user", "", None)]),
]  # fmt: skip


@pytest.mark.parametrize(("item", "blocks"), ITEMS)
def test_items(item: Any, blocks: list[tuple[str, str, str, str | None]]) -> None:
    """Each kind of item is what the model would read of it."""
    (window,) = windows_of(load([socket(body(item), answer("r"))]))
    assert [(b.role, b.kind, b.text, b.call_id) for b in window.blocks[3:]] == blocks


def test_reasoning_is_not_recorded() -> None:
    """A summary is not what the model reads, so the text counts as not recorded; its sealed length is kept."""
    (window,) = windows_of(load([socket(body(thought("x" * 50, "In short.")), answer("r"))]))
    block = window.blocks[-1]
    assert (block.note, block.signature) == ("text not recorded", 50)


def test_item_references_are_resolved() -> None:
    """A reference stands for an item the log holds; one that it does not hold is named."""
    known, unknown = {"type": "item_reference", "id": "m1"}, {"type": "item_reference", "id": "m0"}
    events = load([
        socket(body(said("user", "go")), answer("r1", {**said("assistant", "A"), "id": "m1"})),
        socket(body(said("user", "go"), known, said("user", "x")), answer("r2")),
        socket(body(unknown, said("user", "y")), answer("r3")),
    ])  # fmt: skip
    assert [texts(window) for window in windows_of(events)[1:]] == [["go", "A", "x"], ["", "y"]]
    assert [call.exact for call in of(Call, events)] == [True, True, False]
    assert "m0" in of(Issue, events)[0].reason


def test_conversations_of_the_provider_are_chains() -> None:
    """Requests that share a conversation go on with each other; what it held before the first is not known."""
    events = load([
        socket(body(said("user", "a"), conversation="conv_1"), answer("r1", said("assistant", "A"))),
        socket(body(said("user", "b"), conversation="conv_1"), answer("r2")),
    ])  # fmt: skip
    assert [texts(window) for window in windows_of(events)] == [["a"], ["b"]]
    events = load([
        socket(body(said("user", "a"), conversation="conv_1"), answer("r1", said("assistant", "A"), conversation={
            "id": "conv_1"})),
        socket(body(said("user", "b"), conversation="conv_1"), answer("r2")),
    ])  # fmt: skip
    assert [texts(window) for window in windows_of(events)] == [["a"], ["a", "A", "b"]]
    assert not any(call.exact for call in of(Call, events))


STREAM: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"id": "r1", "status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "lo"},
    {"type": "response.output_item.done", "output_index": 0, "item": said("assistant", "Hello")},
    {"type": "response.output_item.done", "output_index": 1, "item": called("c1")},
    {"type": "response.completed", "response": {"id": "r1", "status": "completed", "output": [], "usage": {
        "input_tokens": 9, "output_tokens": 2}}},
]  # fmt: skip


def streamed(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


@pytest.mark.parametrize(
    "response", [{"body": streamed(STREAM)}, {"ws_events": STREAM, "body": None}, {"body_raw": streamed(STREAM)}]
)
def test_streamed_answer_is_put_together(response: dict[str, Any]) -> None:
    """Items come one by one; the last event may lack them."""
    line = socket(body(said("user", "go")), None)
    line["response"] = {"status": 200, **response}
    events = load([line])
    assert [(b.kind, b.text) for b in answers(events)] == [("assistant", "Hello"), ("tool_call", "{}")]
    assert of(CallEnd, events) == [
        CallEnd(of(Call, events)[0].session, "r1", Usage(input=9, output=2), "completed", None)
    ]


def test_broken_stream_keeps_what_came() -> None:
    """The text so far is shown, and the call did not end well."""
    line = socket(body(said("user", "go")), streamed(STREAM[:4]))
    events = load([line])
    assert [block.text for block in answers(events)] == ["Hello"]
    assert of(CallEnd, events)[0].error == "the response broke off"


@pytest.mark.parametrize(
    ("response", "stop", "error"),
    [
        ({**answer("r"), "status": "incomplete", "incomplete_details": {"reason": "max"}}, "max", None),
        ({"id": "r", "status": "failed", "error": {"code": "x", "message": "no"}, "output": []}, None, "no"),
        ({"id": "r", "status": "in_progress", "usage": None, "output": []}, None, "the response broke off"),
        (None, None, "HTTP 101, no body logged"),
    ],
)
def test_calls_that_did_not_end_well(response: Any, stop: str | None, error: str | None) -> None:
    """An answer cut short, failed or missing says so."""
    (end,) = of(CallEnd, load([socket(body(said("user", "go")), response)]))
    assert (end.stop_reason, end.error) == (stop, error)


def test_merged_socket_messages_are_told_apart() -> None:
    """A record that holds a warm-up and the request after it is about the request."""
    line = socket(body(said("user", "old"), said("user", "new")), answer("r1"))
    line["request"]["ws_events"] = [
        {"type": "response.create", **body(said("user", "old"), generate=False)},
        {"type": "response.create", **body(said("user", "new"))},
    ]
    assert texts(windows_of(load([line]))[0]) == ["new"]


@pytest.mark.parametrize("wrap", [lambda r, a: {"request": r, "response": a}, lambda r, a: {**r, "response": a}])
def test_plain_pairs_and_bodies(wrap: Any) -> None:
    """Without a proxy's wrapper the shape of the body tells what it is."""
    line = wrap(body(said("user", "go")), answer("r1", said("assistant", "A")))
    (call,) = of(Call, load([line]))
    assert (call.id, call.exact) == ("r1", True)
    pending = load([body(said("user", "go"))])
    assert len(of(Call, pending)) == 1
    assert not of(CallEnd, pending)


def test_a_log_of_two_apis_gives_both() -> None:
    """Sessions are named after the API they were held in, whichever loader reads the log."""
    sent = {"method": "POST", "path": "/v1/messages", "headers": {}, "body": {
        "model": "claude-opus-9", "messages": [{"role": "user", "content": "hi"}]}}  # fmt: skip
    reply = {"status": 200, "body": {"id": "m1", "content": [{"type": "text", "text": "A"}]}}
    events = load([socket(body(said("user", "go")), answer("r1")), {"request": sent, "response": reply}])
    assert {start.format for start in of(SessionStart, events)} == {"openai-requests", "anthropic-requests"}
    assert [call.id for call in of(Call, events)] == ["r1", "m1"]


def test_sniff() -> None:
    """Logs, pairs and bodies are recognised, cut off or not; a log of Anthropic's API is another loader's."""
    for value in (
        socket(body(said("user", "x" * 9000)), answer("r")),
        {"request": body(said("user", "x")), "response": answer("r")},
        {"type": "response.create", **body(said("user", "x"))},
    ):
        for size in (None, 900):
            found = detect(SourceFile("x", data=json.dumps(value).encode()[:size]))
            assert found is not None
            assert found.name == "openai-requests"
    for other in (b"", b'{"model":"a","input":"b","messages":[{"role":"user"}]}', b"[" * 300_000, b'"' * 300_000):
        assert OPENAI_LOADER.sniff(other, "x") == 0.0


def mutate(value: Any, rng: random.Random) -> Any:
    """`value` with a few of its inner values replaced by something of another type."""
    junk = [None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], {"type": "compaction"}, "data: {", "r1", {"id": 1}]
    if rng.random() < 0.06:
        return copy.deepcopy(rng.choice(junk))
    if isinstance(value, dict):
        return {key: mutate(item, rng) for key, item in value.items() if rng.random() > 0.03}
    return [mutate(item, rng) for item in value] if isinstance(value, list) else value


def check_accounting(events: list[Event]) -> None:
    """What must hold of any log."""
    started = {event.session for event in of(SessionStart, events)}
    assert all(event.session in started for event in events if isinstance(event, (Snapshot, Call, Block, CallEnd)))
    assert {start.parent for start in of(SessionStart, events)} - {None} <= started
    calls = [(call.session, call.id) for call in of(Call, events)]
    assert len(calls) == len(set(calls))
    assert {(end.session, end.id) for end in of(CallEnd, events)} <= set(calls)
    for window in windows_of(events):
        assert len({block.id for block in window.blocks}) == len(window.blocks)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_logs_never_raise(seed: int) -> None:
    """Wrong types anywhere cost their record at most; every record has exactly one disposition."""
    rng = random.Random(seed)
    lines = [
        socket(body(said("user", "go")), answer("r1", thought("S"), called("c1"), packed("P"))),
        socket(body(gave("c1", "out"), {"type": "item_reference", "id": "m1"}, previous="r1"), streamed(STREAM)),
        socket(body(*(item for item, _ in ITEMS), previous="r0"), answer("r3", conversation={"id": "conv_1"})),
        {"request": body(said("user", "x"), conversation="conv_1"), "response": answer("r4", packed("Q"))},
        body(packed("Q"), said("user", "b")),
    ]
    damaged = mutate(lines, rng)
    if isinstance(damaged, list) and len(damaged) > 1:  # a file of one line is a document
        events = load(damaged)
        assert len(of(Record, events)) == len(damaged)
        check_accounting(events)
    whole = json.dumps(damaged).encode()
    check_accounting(load(whole, "x.json"))
    OPENAI_LOADER.sniff(whole[: rng.randrange(len(whole) + 1)], "x")


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_item(item: dict[str, Any]) -> list[str]:
    """An item's texts, read independently of the loader."""
    kind = item["type"]
    if kind == "message":
        return [part["text"] for part in item["content"]]
    if kind in ("reasoning", "compaction"):
        return ["\n\n".join(part["text"] for part in item.get("summary") or ())]
    if kind == "function_call":
        return [item["arguments"]]
    if kind == "tool_search_call":
        return [dumped(item["arguments"])]
    if kind == "tool_search_output":
        return [dumped({"tools": item["tools"]})]
    return [{"function_call_output": item.get("output"), "compaction_trigger": "[compaction trigger]"}[kind]]


@needs_corpus
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_corpus_windows_are_the_requests_with_deltas_resolved(path: Path) -> None:
    """Block by block against a naive resolver; usage is as recorded, and every packet has one disposition."""
    file = SourceFile(path.name, path)
    found = detect(file)
    assert found is not None
    assert found.name == "openai-requests"
    events = list(found.load(Source((file,))))
    packets = json.loads(path.read_bytes())["packets"]
    assert len(of(Record, events)) == len(packets)
    assert {record.disposition for record in of(Record, events)} <= {"window", "known"}
    check_accounting(events)
    past: dict[str, list[str]] = {}
    windows, ends = iter(windows_of(events)), iter(of(CallEnd, events))
    for packet in packets:
        if not packet["path"].endswith("/responses"):
            continue
        request, response = packet["request"]["body"], packet["response"]["body"]
        window = past.get(request.get("previous_response_id"), [])
        window = window + [text for item in request["input"] for text in read_item(item)]
        past[response["id"]] = window + [text for item in response["output"] for text in read_item(item)]
        beside = [dumped(tool) for tool in request["tools"]] + [request["instructions"]]
        assert [block.text for block in next(windows).blocks] == beside + window
        usage = next(ends).usage
        recorded = response["usage"]
        assert (usage.prompt if usage else None) == (recorded["input_tokens"] if recorded else None)
    assert next(windows, None) is None


@needs_corpus
def test_corpus_threads_and_cuts() -> None:
    """Three remote compactions in one session; a sub-agent is a session under the call that started it."""

    def starts_of(name: str) -> tuple[list[Event], list[SessionStart]]:
        path = next(path for path in LOGS if path.stem == name)
        events = list(OPENAI_LOADER.load(Source((SourceFile(path.name, path),))))
        return events, of(SessionStart, events)

    events, (main, side) = starts_of("claudetap-trace_compact_codex")
    assert side.parent == main.session
    windows = [window for window in windows_of(events) if window.session == main.session]
    assert [(w.cut, w.before) for w in windows if w.cut] == [("compact", 25710), ("compact", 26247), ("compact", 25668)]
    assert [call.exact for call in of(Call, events) if call.session == main.session] == [False] + [True] * 6
    events, (main, sub) = starts_of("claudetap-trace_subagent_codex")
    spawn = next(block for block in answers(events) if block.tool == "spawn_agent")
    assert (sub.parent, sub.parent_call) == (main.session, spawn.call_id)
    assert Counter(call.session for call in of(Call, events)) == {main.session: 6, sub.session: 3}
