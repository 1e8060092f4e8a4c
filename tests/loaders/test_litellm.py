"""Completion logs written through LiteLLM: one file per call, one session per run."""

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
from ctxview.loaders.captures import LITELLM_LOADER
from ctxview.loaders.source import Source, SourceFile
from ctxview.model import Block, Call, CallEnd, Event, Record, SessionStart, Snapshot

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "litellm-completion-log"
FILES = sorted(CORPUS.glob("*/*.json"))
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {}}}]
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "go"}

needs_corpus = pytest.mark.skipif(not FILES, reason="the corpus is not beside this checkout")


def load(files: dict[str, Any]) -> list[Event]:
    return list(
        LITELLM_LOADER.load(Source(tuple(SourceFile(n, data=json.dumps(v).encode()) for n, v in files.items())))
    )


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def logged(time: float, *messages: Any, said: str = "ok", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": said}
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 20}}
    response = {"id": f"m{time}", "model": "gw/gpt-9", "usage": usage, "choices": [
        {"message": message, "finish_reason": "stop"}]}  # fmt: skip
    kwargs = {"temperature": 0, "tools": TOOLS, "extra_body": {"metadata": {"tags": ["openhands_version:1.2.3"]}}}
    return {"messages": [SYSTEM, *messages], "tools": TOOLS, "kwargs": kwargs, "context_window": 65_536,
            "response": response, "cost": 0.1, "timestamp": time, "latency_sec": 1.0, **more}  # fmt: skip


def answered(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_files_are_one_session_in_order_of_time() -> None:
    """Names do not order them, and the limit is what the log states."""
    events = load({
        "gpt-9-1700000003.5.json": logged(1_700_000_003.5, USER, answered("A"), USER),
        "gpt-9-1700000001.5.json": logged(1_700_000_001.5, USER, said="A"),
    })  # fmt: skip
    (start,) = of(SessionStart, events)
    assert (start.session, start.format, start.limit) == ("gpt-9", "litellm", 65_536)
    assert (start.client, start.title) == ("openhands 1.2.3", "go")
    assert [made.at for made in of(Call, events)] == ["2023-11-14T22:13:21.500Z", "2023-11-14T22:13:23.500Z"]
    assert all(made.exact and not made.missing for made in of(Call, events))
    assert [len(window.blocks) for window in of(Snapshot, events)] == [3, 5]
    assert [(record.disposition, record.line) for record in of(Record, events)] == [("window", 1)] * 2


def test_one_file_is_a_trace() -> None:
    (end,) = of(CallEnd, load({"a.json": logged(1_700_000_001.5, USER)}))
    assert end.usage is not None
    assert (end.usage.input, end.usage.cache_read, end.usage.prompt) == (30, 20, 50)


def test_runs_in_several_folders_are_kept_apart() -> None:
    """The same beginning in another folder is another run; a side call is a session under its folder's main one."""
    aside = logged(1_700_000_004.0, said="Summary.")
    aside["messages"] = [{"role": "user", "content": "Summarise: go, A."}]
    events = load({
        "logs/x/1.json": logged(1_700_000_001.0, USER, said="A"),
        "logs/y/1.json": logged(1_700_000_002.0, USER, said="A"),
        "logs/x/2.json": logged(1_700_000_003.0, USER, answered("A"), USER),
        "logs/x/3.json": aside,
    })  # fmt: skip
    assert [(start.session, start.parent) for start in of(SessionStart, events)] == [
        ("x", None), ("x-3", "x"), ("y", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({}, ["tools", "system", "user"]),
        ({"tools": None}, ["tools", "system", "user"]),
        ({"kwargs": {}}, ["tools", "system", "user"]),
        ({"kwargs": {}, "tools": None}, ["system", "user"]),
        ({"kwargs": {}, "raw_messages": []}, ["system", "user"]),
        ({"raw_messages": []}, ["tools", "system", "user"]),
    ],
)
def test_tools_are_those_that_were_sent(change: dict[str, Any], kinds: list[str]) -> None:
    """Without tool calling the schemas stand in the prompt, and are not missing."""
    events = load({"a.json": logged(1_700_000_001.0, USER, **change)})
    assert [block.kind for block in of(Snapshot, events)[0].blocks] == kinds
    assert of(Call, events)[0].missing == ()


def test_answer_without_tool_calling_is_what_comes_back() -> None:
    """The text the model gave is shown, with the end that the agent sends back; not the call read out of it."""
    text = "Run it.\n\n<function=run>\n<parameter=a>1</parameter>\n"
    raw = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    prompt = {"role": "user", "content": "Here is how.\n---- NEW TASK DESCRIPTION ----\nFix it.\n---- END ----"}
    done = {"role": "user", "content": "EXECUTION RESULT of [run]:\n1"}
    events = load({
        "a-1700000001.json": logged(1_700_000_001.0, prompt, raw_messages=[], raw_response=raw),
        "a-1700000002.json": logged(1_700_000_002.0, prompt, answered(f"{text}</function>"), done, raw_messages=[]),
    })  # fmt: skip
    assert of(SessionStart, events)[0].title == "Fix it."
    second = of(Snapshot, events)[1]
    assert of(Block, events)[0].id == second.blocks[-2].id
    assert of(Block, events)[0].text == second.blocks[-2].text
    assert (second.blocks[-1].injected, second.blocks[-1].human) == (True, False)


def test_calls_over_the_responses_api() -> None:
    """Newer logs keep items instead of messages."""
    record = logged(1_700_000_001.0)
    del record["messages"]
    record |= {"instructions": "Be brief.", "input": [{"role": "user", "content": "go"}]}
    record["response"] = {"id": "r1", "status": "completed", "output": [], "usage": {"input_tokens": 9}}
    events = load({"a.json": record})
    assert [block.kind for block in of(Snapshot, events)[0].blocks] == ["tools", "system", "user"]
    assert of(CallEnd, events)[0].usage.prompt == 9


def test_sniff() -> None:
    """Known by its keys; where the messages alone fill the head, by those and the time in its name."""
    small = json.dumps(logged(1_700_000_001.0, USER)).encode()
    large = json.dumps(logged(1_700_000_001.0, {"role": "user", "content": "x" * 400_000})).encode()
    named = "gpt-9-1700000001.000-a1b2.json"
    for data, name, expected in ((small, "x", "litellm"), (large, named, "litellm"), (large, "x", "chat")):
        found = detect(SourceFile(name, data=data))
        assert found is not None
        assert found.name == expected
    assert LITELLM_LOADER.sniff(b"", named) == LITELLM_LOADER.sniff(b"[" * 300_000, named) == 0.0


def mutate(value: Any, rng: random.Random) -> Any:
    """`value` with a few of its inner values replaced by something of another type."""
    junk = [None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], {"type": "text"}, "<function=", [None], {"role": 1}]
    if rng.random() < 0.06:
        return copy.deepcopy(rng.choice(junk))
    if isinstance(value, dict):
        return {key: mutate(item, rng) for key, item in value.items() if rng.random() > 0.03}
    return [mutate(item, rng) for item in value] if isinstance(value, list) else value


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_logs_never_raise(seed: int) -> None:
    """Wrong types anywhere never raise; a file is one record."""
    rng = random.Random(seed)
    raw = {"choices": [{"message": {"content": "<function=run>"}}]}
    files = {
        f"{n}.json": mutate(logged(1_700_000_000.0 + n, USER, answered("A"), raw_response=raw, raw_messages=[]), rng)
        for n in range(4)
    }
    events = load(files)
    calls = [(made.session, made.id) for made in of(Call, events)]
    assert len(calls) == len(set(calls))
    assert len(of(Record, events)) == sum(len(value) if isinstance(value, list) else 1 for value in files.values())


def read_message(message: dict[str, Any]) -> list[str]:
    """A message's texts, read independently of the loader."""
    content = message["content"]
    texts = [content] if isinstance(content, str) else ["\n".join(part["text"] for part in content)] if content else []
    return texts + [call["function"]["arguments"] for call in message.get("tool_calls") or ()]


@needs_corpus
@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda path: path.name)
def test_corpus_windows_are_the_logged_requests(folder: Path) -> None:
    """Block by block; usage as recorded; one session per folder, its limit stated."""
    paths = sorted(folder.glob("*.json"))
    files = tuple(SourceFile(path.name, path) for path in reversed(paths))
    assert {loader.name for file in files if (loader := detect(file))} == {"litellm"}
    events = list(LITELLM_LOADER.load(Source(files)))
    (start,) = of(SessionStart, events)
    assert len(of(Record, events)) == len(paths)
    for window, end, path in zip(of(Snapshot, events), of(CallEnd, events), paths, strict=True):
        record = json.loads(path.read_bytes())
        expected = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in record["kwargs"]["tools"]]
        expected += [text for message in record["messages"] for text in read_message(message)]
        assert [block.text for block in window.blocks] == expected
        assert end.usage.prompt == record["response"]["usage"]["prompt_tokens"]
        assert start.limit == record["context_window"]
    assert all(made.exact for made in of(Call, events))
