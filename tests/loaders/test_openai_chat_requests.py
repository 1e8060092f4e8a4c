"""Captured chat completions: each request is one exact window."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.loaders import detect
from ctxview.loaders.captures import OPENAI_LOADER
from ctxview.loaders.source import Source, SourceFile
from ctxview.loaders.usage import openai_usage
from ctxview.model import Block, Call, CallEnd, Event, Issue, Record, SessionStart, Snapshot, Usage

VCR = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "cline" / "cli-vcr-subagents.json"
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {}}}]


def load(lines: Any, name: str = "log.jsonl") -> list[Event]:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines) if isinstance(lines, list) else lines
    return list(OPENAI_LOADER.load(Source((SourceFile(name, data=data),))))


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def call(id_: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "run", "arguments": arguments}}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "model": "gpt-9", "tools": TOOLS, "messages": [{"role": "system", "content": "Be brief."}, *messages], **more,
    }  # fmt: skip


def answer(id_: str, content: Any = None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}
    usage = {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 30}, "completion_tokens": 5}
    return {"id": id_, "object": "chat.completion", "usage": usage, "choices": [
        {"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip


def http(request: Any, response: Any, path: str = "/api/v1/chat/completions") -> dict[str, Any]:
    sent = {"method": "POST", "path": path, "headers": {"User-Agent": "agent/1.0"}, "body": request}
    return {"timestamp": "2026-01-01T00:00:00Z", "request": sent, "response": {"status": 200, "body": response}}


USER = {"role": "user", "content": "go"}


def test_windows_and_answers() -> None:
    """Parallel calls are one message, results keep their order, and an answer and its copy have the same ids."""
    calls = [call("c1", '{"a": 1}'), call("c2")]
    copied = {"role": "assistant", "content": "", "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": id_, "content": f"out {id_}"} for id_ in ("c2", "c1")]
    events = load([
        http(body(USER), answer("m1", None, *calls)), http(body(USER, copied, *results), answer("m2", "Done.")),
    ])  # fmt: skip
    first, second = of(Snapshot, events)
    assert [(b.role, b.kind, b.text, b.tool, b.call_id) for b in second.blocks] == [
        ("system", "tools", json.dumps(TOOLS[0], separators=(",", ":")), "run", None),
        ("system", "system", "Be brief.", None, None),
        ("user", "user", "go", None, None),
        ("assistant", "tool_call", '{"a": 1}', "run", "c1"),
        ("assistant", "tool_call", "{}", "run", "c2"),
        ("tool", "tool_result", "out c2", "run", "c2"),
        ("tool", "tool_result", "out c1", "run", "c1"),
    ]
    answered = [block.id for block in of(Block, events)][:2]
    assert [block.id for block in second.blocks[len(first.blocks) :]][:2] == answered
    assert second.blocks[3].message == second.blocks[4].message != second.blocks[5].message
    assert all(made.exact and not made.missing for made in of(Call, events))
    assert of(CallEnd, events)[0].usage == Usage(70, 30, None, 5)
    (start,) = of(SessionStart, events)
    assert (start.format, start.title, start.client) == ("openai-requests", "go", "agent 1.0")


CHUNKS: list[dict[str, Any]] = [
    {"id": "m1", "model": "gpt-9-x", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"reasoning_content": "Hm"}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"content": "Hel"}}, {"index": 1, "delta": {"content": "other"}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"content": "lo"}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "c1", "function": {"name": "run", "arguments": ""}}]}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 1, "id": "c2", "function": {"name": "run", "arguments": "{}"}}]}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "function": {"arguments": "{\"a\""}}]}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]},
    {"id": "m1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"id": "m1", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
]  # fmt: skip


def stream(chunks: list[dict[str, Any]]) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


@pytest.mark.parametrize("response", [stream(CHUNKS), json.dumps(stream(CHUNKS)), CHUNKS])
def test_streamed_answer_is_put_together(response: Any) -> None:
    """Pieces of parallel calls go to their call; the usage comes after the last choice."""
    events = load([http(body(USER), response)])
    assert [(b.kind, b.text, b.call_id) for b in of(Block, events)] == [
        ("thinking", "Hm", None),
        ("assistant", "Hello", None),
        ("tool_call", '{"a":1}', "c1"),
        ("tool_call", "{}", "c2"),
    ]
    (end,) = of(CallEnd, events)
    assert (end.id, end.usage, end.stop_reason, end.error) == ("m1", Usage(9, output=4), "tool_calls", None)
    assert of(Call, events)[0].model == "gpt-9-x"


def test_broken_stream_is_partial() -> None:
    """A stream without its end is an error."""
    (end,) = of(CallEnd, load([http(body(USER), stream(CHUNKS[:4]))]))
    assert end.error == "the response broke off"


def test_thinking_that_is_not_sent_back_keeps_the_thread() -> None:
    """Clients leave reasoning out of the next request, and it is the same conversation."""
    events = load([
        http({**body(), "messages": [USER]}, answer("m1", "A", reasoning_content="Hm")),
        http({**body(), "messages": [USER, {"role": "assistant", "content": "A"}, USER]}, answer("m2", "B")),
    ])  # fmt: skip
    assert len(of(SessionStart, events)) == 1
    assert [block.kind for block in of(Block, events)][:2] == ["thinking", "assistant"]


def test_legacy_functions() -> None:
    """A function call without an id gets one, the same in the answer and in its copy."""
    used = {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}}
    request = body(USER, functions=[{"name": "run"}], tools=[])
    events = load([
        http(request, answer("m1", None, function_call=used["function_call"])),
        http(body(USER, used, {"role": "function", "name": "run", "content": "ok"}), answer("m2", "Done.")),
    ])  # fmt: skip
    first, second = of(Snapshot, events)
    assert first.blocks[0].text == '{"name":"run"}'
    assert of(Block, events)[0].id in [block.id for block in second.blocks]
    assert second.blocks[-1].call_id == second.blocks[-2].call_id


def test_images_and_files_are_facts_and_not_text() -> None:
    """No base64 gets into a text."""
    content = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 5000}},
        {"type": "input_audio", "input_audio": {"data": "B" * 5000, "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "C" * 5000}},
    ]
    (window,) = of(Snapshot, load([http(body({"role": "user", "content": content}), answer("m1", "ok"))]))
    assert [block.kind for block in window.blocks][2:] == ["user", "image", "user", "user"]
    assert all(len(block.text) < 200 for block in window.blocks)


def test_failed_call() -> None:
    """An HTTP error is a call with an error."""
    line = http(body(USER), {"error": {"type": "rate_limit", "message": "slow down"}})
    line["response"]["status"] = 429
    (end,) = of(CallEnd, load([line]))
    assert end.error == "HTTP 429: rate_limit: slow down"


def test_messages_the_api_does_not_know_are_told() -> None:
    """They are shown as the user's, with an issue each."""
    events = load([http(body({"content": "x"}, 7), answer("m1", "ok"))])
    assert [block.text for block in of(Snapshot, events)[0].blocks][2:] == ["x", ""]
    assert [issue.reason for issue in of(Issue, events)] == [
        "message 1 has no role the API knows", "message 2 is a number",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("usage", "parts"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2}, (10, None, None, 2)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}}, (6, 4, None, None)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, (6, 4, None, None)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}, "cache_creation_input_tokens": 5},
            (1, 4, 5, None),
        ),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 5}},
            (5, 0, 5, None),
        ),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 14}}, (10, 14, None, None)),
    ],
)
def test_usage_is_disjoint(usage: dict[str, Any], parts: tuple[int | None, ...]) -> None:
    """Cached parts are inside the prompt, under whichever name, unless they exceed it."""
    found = openai_usage(usage)
    assert found is not None
    assert (found.input, found.cache_read, found.cache_write, found.output) == parts


def test_sniff() -> None:
    """Logs and pairs are captures; a conversation on its own is the chat loader's."""
    for value in (http(body(USER), answer("m1", "x")), {"request": body(USER), "response": answer("m1", "x")}):
        found = detect(SourceFile("x", data=json.dumps(value).encode()))
        assert found is not None
        assert found.name == "openai-requests"
    found = detect(SourceFile("x", data=json.dumps(body(USER)).encode()))
    assert found is not None
    assert found.name == "chat"


def test_recorded_traffic_without_requests_says_so() -> None:
    """Answers alone make no window; every record is accounted for, and one issue says what is wrong."""
    lines = [
        {"scope": "https://a.example", "method": "POST", "path": "/v1/chat/completions", "status": 200, "response": "x"}
    ] * 3
    data = json.dumps(lines).encode()
    found = detect(SourceFile("x", data=data))
    assert found is not None
    assert found.name == "openai-requests"
    events = load(data, "x.json")
    assert [record.disposition for record in of(Record, events)] == ["known"] * 3
    assert len(of(Issue, events)) == 1


@pytest.mark.skipif(not VCR.is_file(), reason="the corpus is not beside this checkout")
def test_corpus_traffic_without_requests() -> None:
    events = list(OPENAI_LOADER.load(Source((SourceFile(VCR.name, VCR),))))
    assert len(of(Record, events)) == len(json.loads(VCR.read_bytes()))
    assert not of(SessionStart, events)


def mutate(value: Any, rng: random.Random) -> Any:
    """`value` with a few of its inner values replaced by something of another type."""
    junk = [None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], {"type": "text"}, "data: {", [None], {"role": 1}]
    if rng.random() < 0.06:
        return copy.deepcopy(rng.choice(junk))
    if isinstance(value, dict):
        return {key: mutate(item, rng) for key, item in value.items() if rng.random() > 0.03}
    return [mutate(item, rng) for item in value] if isinstance(value, list) else value


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_logs_never_raise(seed: int) -> None:
    """Wrong types anywhere cost their record at most; every record has exactly one disposition."""
    rng = random.Random(seed)
    used = {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}}
    done = {"role": "assistant", "tool_calls": [call("c1")], "thinking_blocks": [{"type": "thinking"}]}
    lines = [
        http(body(USER), CHUNKS),
        http(body(USER, done, {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}]}),
             answer("m1", [{"type": "text", "text": "y"}], call("c2"))),
        {"request": body(USER, used, {"role": "function", "content": "x"}), "response": answer("m2", "ok")},
    ]  # fmt: skip
    damaged = mutate(lines, rng)
    if isinstance(damaged, list) and len(damaged) > 1:  # a file of one line is a document
        events = load(damaged)
        assert len(of(Record, events)) == len(damaged)
        calls = [(made.session, made.id) for made in of(Call, events)]
        assert len(calls) == len(set(calls))
        assert {(end.session, end.id) for end in of(CallEnd, events)} <= set(calls)
    whole = json.dumps(damaged).encode()
    load(whole, "x.json")
    OPENAI_LOADER.sniff(whole[: rng.randrange(len(whole) + 1)], "x")
