"""A page's address reproduces it, and one that leads nowhere is named while the page still works."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

pytest.importorskip("streamlit", reason="the extra `web` is not installed")

from pages import address, page, sizes, table, told

from ctxview.app.address import KEYS, read, write
from ctxview.focus import Focus
from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path


def test_a_focus_survives_its_address() -> None:
    with open_trace([str(sample_path("refund"))], cache=False) as trace:
        focus = Focus("refund", 7, "3f65ad3d3261926d", "pin-goal:n=6", "history", "a&b=c #1")
        arrival = read(write(focus), trace)
        assert arrival.focus == focus
        assert arrival.remarks == ()
        assert set(write(focus)) == set(KEYS)


def test_defaults_are_left_out_but_session_and_turn_stand() -> None:
    with open_trace([str(sample_path("refund"))], cache=False) as trace:
        assert write(read({}, trace).focus) == {"session": "refund", "turn": "15"}
        assert read({"turn": "now"}, trace).focus.turn == 16


def test_controls_write_the_address_and_the_address_sets_the_controls(monkeypatch: Any) -> None:
    trace = sample_path("refund")
    block = told("show", str(trace), "--turn", "4")["blocks"][1]["id"]
    first = page(monkeypatch, trace)
    first.slider(key="turn").set_value(4).run()
    first.text_input(key="stack_text").set_value("pin-goal:n=6").run()
    first.text_input(key="base_text").set_value("history").run()
    first.text_input(key="q_text").set_value("refund").run()
    first.session_state["blocks"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    where = address(first)
    assert where == {"session": "refund", "turn": "4", "stack": "pin-goal:n=6", "base": "history", "q": "refund"}
    second = page(monkeypatch, trace, **where, block=block)
    assert address(second) == {**where, "block": block}
    assert second.slider(key="turn").value == 4
    assert second.text_input(key="stack_text").value == "pin-goal:n=6"
    assert second.text_input(key="base_text").value == "history"
    assert second.text_input(key="q_text").value == "refund"
    assert block in list(table(second, "fact", "words").words)
    assert sizes(second) == sizes(first)


def test_the_command_of_the_link_opens_the_trace_of_several_files(monkeypatch: Any) -> None:
    files = (str(sample_path("refund")), str(sample_path("tutor")))
    drawn = page(monkeypatch, *files, base="history")
    command = shlex.split(next(c.value for c in drawn.code if c.value.startswith("ctxview ")))
    assert tuple(command[1:3]) == files
    assert told("show", *command[1:3], "--session", command[command.index("--session") + 1])["turns"] == 15
    assert command[-2:] == ["--base", "history"]


def test_steps_and_cuts_move_the_turn(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, sample_path("refund"), turn="5")
    for words, turn in (("›", "6"), ("‹", "5"), ("now", "16"), ("« ✂", "15")):
        drawn.button(key=f"step:{words}").click().run()
        assert address(drawn)["turn"] == turn, words


def test_the_permalink_for_a_terminal_is_shown(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, sample_path("refund"), turn="5", stack="history")
    assert any("--session refund --turn 5 --stack history" in c.value for c in drawn.code)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"stack": "pin-gaol"}, "did you mean 'pin-goal'"),
        ({"stack": "pin-goal:n=0"}, "n takes"),
        ({"base": "nothing"}, "no policy 'nothing'"),
        ({"turn": "99"}, "no turn '99'"),
        ({"turn": "<b>"}, "no turn '<b>'"),
        ({"session": "other"}, "names no session"),
        ({"block": "zzz"}, "names no block"),
    ],
)
def test_an_address_that_leads_nowhere_is_named_and_the_page_works(
    query: dict[str, str], named: str, monkeypatch: Any
) -> None:
    drawn = page(monkeypatch, sample_path("refund"), **query)
    assert any(named in t.value for t in drawn.text)
    assert any(drawn.error) or any(drawn.warning)
    assert sizes(drawn)["recorded"] == "531"
    assert len(table(drawn, "states", "form")) > 0
