"""Chat messages: an answer's window is what stands before it."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.loaders.chat import LOADER
from ctxview.loaders.source import Source, SourceFile
from ctxview.model import Block, Call, CallEnd, Event, Issue, Record, SessionStart, Usage

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
FILES = sorted([*CORPUS.glob("chat-completions/*.json"), *CORPUS.glob("mini-swe-agent/*.json")])

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "Seen."},
    {"role": "assistant", "content": "Done.", "reasoning_content": "Easy."},
    {"role": "user", "content": "Thanks"},
]


def load(data: Any, name: str = "talk.json", lines: bool = False) -> list[Event]:
    if lines:
        data = b"".join(json.dumps(line).encode() + b"\n" for line in data)
    elif not isinstance(data, bytes):
        data = json.dumps(data).encode()
    return list(LOADER.load(Source((SourceFile(name, data=data),))))


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def windows(events: list[Event]) -> list[list[str]]:
    """Texts in the window of each call, of one session's events."""
    seen: list[str] = []
    out = []
    for event in events:
        if isinstance(event, Block):
            seen.append(event.text)
        elif isinstance(event, Call):
            out.append(list(seen))
    return out


@pytest.mark.parametrize("lines", [False, True])
def test_window_of_an_answer_is_what_stands_before_it(lines: bool) -> None:
    """As an array or as lines, each message is a record, and each answer a reconstructed call."""
    events = load(CHAT, lines=lines)
    assert windows(events) == [["Be kind.", "Look."], ["Be kind.", "Look.", '{"at": 1}', "Seen."]]
    assert [(r.line, r.disposition) for r in of(Record, events)] == [(n, "window") for n in range(1, 7)]
    assert all(not call.exact and call.missing == ("tools",) for call in of(Call, events))
    result = next(block for block in of(Block, events) if block.kind == "tool_result")
    assert (result.tool, result.call_id, result.role) == ("look", "c1", "tool")
    assert [block.kind for block in of(Block, events)] == [
        "system", "user", "tool_call", "tool_result", "thinking", "assistant", "user",
    ]  # fmt: skip
    starts = of(SessionStart, events)
    assert {start.session for start in starts} == {"talk"}
    assert starts[-1].title == "Look."


def test_stored_tools_and_system_are_in_the_window() -> None:
    """What stands beside the messages comes first, and is not missing."""
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    events = load({"system": "S", "tools": tools, "messages": CHAT[1:5]})
    assert [(b.kind, b.message, b.tool) for b in of(Block, events)][:2] == [
        ("tools", "tools", "look"), ("system", "system", None),
    ]  # fmt: skip
    assert {call.missing for call in of(Call, events)} == {()}
    assert {call.missing for call in of(Call, load(CHAT[1:]))} == {("system", "tools")}


def test_anthropic_messages_without_a_model_are_a_conversation() -> None:
    """C16: two answers, and the unanswered question stays last."""
    events = load((CASES / "C16.json").read_bytes(), "C16.json")
    assert len(of(Call, events)) == 2
    assert [b.call_id for b in of(Block, events) if b.kind == "tool_result"] == ["t1", "t2"]
    last = of(Block, events)[-1]
    assert (last.text, last.human) == ("Well?", True)


def test_request_without_an_answer_is_one_exact_call() -> None:
    """A chat request's whole list is the window of the call it asks for."""
    events = load({"model": "gpt-9", "temperature": 0, "messages": CHAT})
    (call,) = of(Call, events)
    assert call.exact
    assert events.index(call) > max(events.index(block) for block in of(Block, events))
    assert not of(CallEnd, events)


@pytest.mark.parametrize("more", [{"model": "gpt-9"}, {"model": "gpt-9", "temperature": 1}])
def test_a_saved_conversation_is_no_request(more: dict[str, Any]) -> None:
    """One that ends with an answer waits for none; nor does one that says nothing of how to answer."""
    for messages in (CHAT[:5], CHAT[:4] if len(more) == 1 else CHAT[:3]):
        events = load({**more, "messages": messages})
        answers = [message for message in messages if message["role"] == "assistant"]
        assert [(call.exact, call.model) for call in of(Call, events)] == [(False, "gpt-9")] * len(answers)
    (call,) = of(Call, load({**more, "messages": CHAT[:2]}))
    assert call.exact


@pytest.mark.parametrize(
    "more",
    [
        {"session_id": "s"},
        {"conversation_id": "s"},
        {"instance_id": "s"},
        {"title": "T", "created_at": "2026-01-01"},
        {"model": "m", "reasoning_effort": "high"},
        {"model": "m", "stream": True, "stream_options": {"include_usage": True}},
        {"model": "m", "max_completion_tokens": 9, "response_format": {"type": "json_object"}},
        {"model": "m", "max_tokens": 9, "thinking": {"type": "disabled"}},
    ],
)
def test_named_conversations_and_every_request_body_are_recognised(more: dict[str, Any]) -> None:
    head = json.dumps({**more, "messages": CHAT}).encode()
    assert LOADER.sniff(head, "x.json") >= 0.6
    events = load(head, "x.json")
    assert {start.session for start in of(SessionStart, events)} == {"s" if "s" in more.values() else "x"}


def test_messages_that_name_their_session_are_chat() -> None:
    """Unless they have a type, too: those are events of other programs."""
    lines = [{**message, "session_id": "s"} for message in CHAT]
    assert LOADER.sniff(json.dumps(lines[0]).encode() + b"\n", "x") >= 0.6
    assert LOADER.sniff(json.dumps({**lines[0], "type": "user"}).encode() + b"\n", "x") == 0.0


def test_a_torn_first_line_costs_only_itself() -> None:
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in CHAT)
    for torn in (b'{"role":"user","content":\n', b'rest of it"}\n', b'{"a": 1},\n'):
        events = load(torn + lines)
        assert len(of(Call, events)) == 2
        assert [r.line for r in of(Record, events) if r.disposition == "unreadable"] == [1]


def test_legacy_functions_are_paired() -> None:
    """`function_call` and its `function` message share an id although the log has none."""
    events = load([
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "seen"},
    ])  # fmt: skip
    call, result = of(Block, events)[1:]
    assert (call.kind, result.kind) == ("tool_call", "tool_result")
    assert call.call_id == result.call_id is not None
    assert result.tool == "look"


def test_tau_bench_tasks_are_sessions() -> None:
    """Each task and trial is a session and a record."""
    tasks = [{"task_id": 3, "reward": 1.0, "info": {}, "traj": CHAT, "trial": trial} for trial in (0, 1, 1)]
    events = load(tasks, "air.json")
    assert list(dict.fromkeys(s.session for s in of(SessionStart, events))) == ["air-3-0", "air-3-1", "air-3-1-2"]
    assert [(r.line, r.type) for r in of(Record, events)] == [(n, "conversation") for n in (1, 2, 3)]
    assert len(of(Call, events)) == 6
    assert of(Block, events)[1].origin.id == "messages[1]"


def test_conversations_one_per_line() -> None:
    """Each line with messages is a session, named by its own id where it has one."""
    events = load([{"id": "one", "messages": CHAT}, {"messages": CHAT}], "set.jsonl", lines=True)
    assert list(dict.fromkeys(s.session for s in of(SessionStart, events))) == ["one", "set-2"]


def test_voice_ticks_are_known_records() -> None:
    """A run of audio ticks has no messages: it says so and shows nothing."""
    ticks = [{"tick_id": n, "agent_chunk": {"role": "assistant"}} for n in range(3)]
    events = load({"id": "x", "task_id": "9", "ticks": ticks})
    assert [(r.disposition, r.type) for r in of(Record, events)] == [("known", "tick")] * 3
    assert [issue.severity for issue in of(Issue, events)] == ["info"]


def test_mini_trajectory_has_usage_and_environment_answers() -> None:
    """Cached tokens are inside the prompt; only the task was typed by a person."""
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    response = {"id": "gen-1", "model": "m", "usage": usage, "choices": [{"finish_reason": "stop"}]}
    events = load({
        "trajectory_format": "mini-swe-agent-1", "instance_id": "repo-1", "info": {"mini_version": "1.15.0"},
        "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": "Fix."},
            {"role": "assistant", "content": "ls", "extra": {"response": response}},
            {"role": "user", "content": "<returncode>0</returncode>"}, {"role": "exit", "content": "bye"},
        ],
    })  # fmt: skip
    assert of(CallEnd, events) == [CallEnd("repo-1", "gen-1", Usage(40, 60, None, 7), "stop")]
    assert of(SessionStart, events)[0].client == "mini-swe-agent 1.15.0"
    assert [(b.human, b.injected) for b in of(Block, events) if b.kind == "user"] == [(True, False), (False, True)]
    assert of(Record, events)[-1].type == "exit"


def test_images_are_placeholders() -> None:
    """A data URL becomes its facts, a remote one its host."""
    content = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lGODlhAQACAAAAACw="}},
        {"type": "image_url", "image_url": {"url": "https://host.example/private?k=1"}},
        {"type": "input_text", "text": "more"},
    ]
    blocks = of(Block, load([{"role": "user", "content": content}]))
    assert [b.text for b in blocks] == ["see", "[image image/gif]", "[image from host.example]", "more"]
    assert (blocks[1].image.width, blocks[1].image.height) == (1, 2)
    assert len({b.message for b in blocks}) == 1


@pytest.mark.parametrize("content", [None, 7, True])
def test_odd_content_is_kept_with_a_note(content: Any) -> None:
    """A message without readable content is an empty block and an issue."""
    events = load([{"role": "user", "content": content}, {"role": "assistant", "content": "ok"}])
    first = of(Block, events)[0]
    assert first.text == ""
    assert first.note
    assert len(of(Issue, events)) == 1


def test_unknown_roles_and_values_are_counted() -> None:
    """What is no message is an unknown record with a warning."""
    events = load([*CHAT[:2], {"role": "oracle", "content": "?"}, 5])
    assert [r.disposition for r in of(Record, events)] == ["window", "window", "unknown", "unknown"]
    assert [issue.severity for issue in of(Issue, events)] == ["warning", "warning"]


def test_sniff_by_content_only() -> None:
    """Messages are known by their keys; logs of agents with records of their own are not."""
    assert LOADER.sniff(json.dumps(CHAT).encode(), "x") >= 0.6
    assert LOADER.sniff(json.dumps(CHAT[0]).encode() + b"\n" + json.dumps(CHAT[1]).encode(), "x") >= 0.6
    assert LOADER.sniff(json.dumps({"messages": CHAT}).encode()[:60], "x") >= 0.6
    for other in (b"", b"\xff", b"{", b'{"uuid":"a","parentUuid":"b","role":"user","content":"x"}',
                  b'{"type":"response_item","payload":{"role":"user","content":[]}}', b'{"role":"user","parts":[]}',
                  b'[{"conversations":[{"from":"human","value":"x"}]}]', b'\\"' * 200_000):  # fmt: skip
        assert LOADER.sniff(other, "x") == 0.0


def mutate(value: Any, rng: random.Random) -> Any:
    junk = [None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], {"type": "image_url"}, [None], {"role": "tool"}]
    if rng.random() < 0.07:
        return copy.deepcopy(rng.choice(junk))
    if isinstance(value, dict):
        return {key: mutate(item, rng) for key, item in value.items() if rng.random() > 0.03}
    return [mutate(item, rng) for item in value] if isinstance(value, list) else value


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_files_never_raise(seed: int) -> None:
    """Wrong types anywhere cost their record at most, and every line has exactly one disposition."""
    rng = random.Random(seed)
    tools = [{"type": "function", "function": {"name": "look"}}]
    for whole in (
        CHAT,
        {"model": "m", "tools": tools, "messages": CHAT},
        [{"task_id": 1, "traj": CHAT}],
        {"ticks": [1]},
    ):
        damaged = mutate(whole, rng)
        events = load(damaged)
        started = {start.session for start in of(SessionStart, events)}
        assert all(event.session in started for event in events if isinstance(event, (Call, Block, CallEnd)))
        blocks = [(block.session, block.id) for block in of(Block, events)]
        assert len(blocks) == len(set(blocks))
        calls = [(call.session, call.id) for call in of(Call, events)]
        assert len(calls) == len(set(calls))
        if isinstance(damaged, list) and len(damaged) > 1:
            assert len(of(Record, load(damaged, lines=True))) == len(damaged)
        data = json.dumps(damaged).encode()
        LOADER.sniff(data[: rng.randrange(len(data) + 1)], "x")


@pytest.mark.skipif(not FILES, reason="the corpus is not beside this checkout")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_corpus_file_loads(path: Path) -> None:
    """Every record has one disposition, every assistant message is a call, and the head is recognised."""
    file = SourceFile(path.name, path)
    events = list(LOADER.load(Source((file,))))
    document = json.loads(path.read_bytes())
    records = document if isinstance(document, list) else document.get("messages") or document["ticks"]
    assert LOADER.sniff(file.head(), file.name) >= 0.6
    assert len(of(Record, events)) == len(records)
    messages = [m for record in records for m in record.get("traj", [record])]
    assert len(of(Call, events)) == sum(m.get("role") == "assistant" for m in messages)
    if not document or "ticks" not in document:
        assert {r.disposition for r in of(Record, events)} == {"window"}
