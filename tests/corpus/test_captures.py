"""A captured session around three compactions: the requests themselves are the truth to compare with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxview.ingest import Trace, open_trace
from ctxview.window import SessionView

from .names import COMPACTED_CAPTURE

Read = Callable[[str], Trace]
Json = dict[str, Any]
Said = tuple[str, str]
"""(role, text)"""


def of_part(role: str, part: Json) -> Said:
    match part["type"]:
        case "text":
            return role, part["text"].strip()
        case "thinking":
            return role, part["thinking"]
        case "tool_use":
            return role, json.dumps(part["input"], sort_keys=True)
        case "tool_result":
            content = part["content"]
            return role, content if isinstance(content, str) else "\n".join(p["text"] for p in content)
        case other:
            raise AssertionError(other)


def said(request: Json) -> list[list[Said]]:
    """A request's messages, part by part, cache markers apart."""
    messages = []
    for message in request["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        messages.append([of_part(message["role"], part) for part in parts])
    return messages


def flat(messages: list[list[Said]]) -> list[Said]:
    return [part for message in messages for part in message]


def shown(view: SessionView, turn: int) -> list[Said]:
    """The window's messages as ctxview has them; system prompt and tools apart."""
    rows = [row for row in view.window(turn) if row.block.message not in ("system", "tools")]
    texts = []
    for row in rows:
        text = view.text(row.span.content)
        if row.block.kind == "tool_call":
            text = json.dumps(json.loads(text), sort_keys=True)
        texts.append((row.block.role, text.strip()))
    return texts


@pytest.fixture(scope="module")
def requests(corpus: Path, read: Read) -> list[Json]:
    """The main conversation's request bodies, by turn."""
    packets = json.loads((corpus / COMPACTED_CAPTURE).read_text(encoding="utf-8"))["packets"]
    return [packets[turn.line - 1]["request"]["body"] for turn in read(COMPACTED_CAPTURE).view().turns]


def strip(parts: list[Said]) -> list[Said]:
    return [(role, text.strip()) for role, text in parts]


def test_every_window_is_the_request_block_by_block(requests: list[Json], read: Read) -> None:
    view = read(COMPACTED_CAPTURE).view()
    assert view.last == len(requests) == 9
    for turn, request in enumerate(requests, 1):
        assert view.turns[turn - 1].fidelity == "exact"
        assert shown(view, turn) == strip(flat(said(request))), turn
        rows = view.window(turn)
        assert [row.block.tool for row in rows if row.block.kind == "tools"] == [t["name"] for t in request["tools"]]
        system = [view.text(row.span.content) for row in rows if row.block.message == "system"]
        assert system == [part["text"] for part in request["system"]]


def test_all_calls_of_the_main_model_with_tools_are_turns(requests: list[Json], corpus: Path) -> None:
    packets = json.loads((corpus / COMPACTED_CAPTURE).read_text(encoding="utf-8"))["packets"]
    calls = [p["request"]["body"] for p in packets if "count_tokens" not in p["path"]]
    assert [body for body in calls if body["tools"]] == requests


def test_its_three_compactions_are_cuts(read: Read) -> None:
    view = read(COMPACTED_CAPTURE).view()
    assert [(cut.turn, cut.kind) for cut in view.cuts] == [(5, "compact"), (7, "compact"), (9, "compact")]


@pytest.mark.xfail(
    strict=True, reason="a block keeps its first wire message: a prompt that is sent again counts as one of its own"
)
def test_wire_messages_are_counted_as_they_were_sent(requests: list[Json], read: Read) -> None:
    view = read(COMPACTED_CAPTURE).view()
    for turn, request in enumerate(requests, 1):
        assert view.messages(turn) == 1 + len(request["messages"]), turn


@pytest.mark.parametrize("turn", [1, 2, 3, 4, 5, 7, 9])
def test_wire_messages_are_counted_right_where_nothing_came_back(turn: int, requests: list[Json], read: Read) -> None:
    assert read(COMPACTED_CAPTURE).view().messages(turn) == 1 + len(requests[turn - 1]["messages"])


def test_a_chat_file_of_the_last_request_before_each_cut_rebuilds_the_earlier_ones(
    requests: list[Json], read: Read, tmp_path: Path
) -> None:
    """Messages alone, without a request around them: windows are rebuilt, and must be the requests that were sent."""
    cuts = [cut.turn for cut in read(COMPACTED_CAPTURE).view().cuts]
    compared = 0
    for first, cut in zip([1, *cuts], cuts):
        last = requests[cut - 2]
        path = tmp_path / f"before-{cut}.json"
        path.write_text(json.dumps({"messages": last["messages"]}))
        with open_trace([str(path)], cache=False) as trace:
            assert [file.format for file in trace.files] == ["chat"]
            view = trace.view()
            answers = [n for n, message in enumerate(last["messages"]) if message["role"] == "assistant"]
            assert view.last == len(answers)
            for turn, position in enumerate(answers, 1):
                assert shown(view, turn) == strip(flat(said(last)[:position]))
            everything = shown(view, view.now)
            for request in requests[first - 1 : cut - 1]:
                rest = iter(everything)
                assert all(part in rest for part in strip(flat(said(request)))), "in order, all of them"
                compared += 1
    assert compared == cuts[-1] - 1
