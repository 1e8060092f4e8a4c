"""The page's numbers are those of the command line, at several places and under several stacks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("streamlit", reason="the extra `web` is not installed")

from pages import address, page, settled, shown, sizes, table, told

from ctxview.app import stack_editor
from ctxview.app.window_page import NOT_SIMULATED
from ctxview.errors import UsageError
from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path

GROUPS = "compact-groups:max=2000:trigger=0.8:keep=2"
PLACES = [
    ("refund", "5", "recorded"),
    ("refund", "9", GROUPS),
    ("refund", "now", "pin-goal:n=6"),
    ("stale", "last", "recorded,supersede"),
    ("tutor", "2", "history"),
]


@pytest.mark.parametrize(("sample", "turn", "stack"), PLACES)
def test_a_windows_numbers_are_those_of_show(sample: str, turn: str, stack: str, monkeypatch: Any) -> None:
    trace = str(sample_path(sample))
    report = told("show", trace, "--turn", turn, "--stack", stack)
    drawn = page(monkeypatch, trace, turn=turn, stack=stack)
    found = sizes(drawn)
    tokens = report["tokens"]
    for name in ("counted", "calibrated", "unlogged", "limit"):
        assert found[name] == shown(tokens[name]), name
    if stack == "recorded":
        assert found["recorded"] == shown(tokens["recorded"])
    else:
        assert found["recorded"] == "not sent"
    rows = table(drawn, "states", "form", "text", "change")
    standing = rows[rows.change != "-"]
    assert set(rows[rows.change == "-"].id).isdisjoint(standing.id)
    assert list(standing.id) == [b["id"] for b in report["blocks"]]
    assert list(standing.tokens) == [b["tokens"] for b in report["blocks"]]
    assert list(standing.form) == [b["form"] for b in report["blocks"]]
    assert [None if math.isnan(p) else int(p) for p in standing.position] == [b["position"] for b in report["blocks"]]
    for words, block in zip(standing.states, report["blocks"]):
        assert all(state in words for state in block["states"])
        assert block["pin"] is None or f"pinned: {block['pin']}" in words
    if report["edits"]:
        done = table(drawn, "action", "reason", "rule")
        assert list(done.action) == [e["action"] for e in report["edits"]]
        assert list(done.rule) == [e["rule"] for e in report["edits"]]
    assert any(report["fidelity"] in t.value for t in drawn.text)
    for missing in report["missing"]:
        assert any(missing in t.value for t in drawn.text)


@pytest.mark.parametrize(("sample", "turn", "stack"), PLACES)
def test_a_runs_numbers_are_those_of_replay(sample: str, turn: str, stack: str, monkeypatch: Any) -> None:
    trace = str(sample_path(sample))
    (report,) = told("replay", trace, "--stack", stack)
    drawn = page(monkeypatch, trace, turn=turn, stack=stack)
    run = table(drawn, "peak", "billed").iloc[-1]
    totals = report["totals"]
    for name in ("peak", "input", "billed", "saved", "cuts", "cache_busts", "orphans", "regret"):
        assert run[name] == totals[name], name
    failure = None if run.first_failure is None or math.isnan(run.first_failure) else int(run.first_failure)
    assert failure == totals["first_failure"]
    for kind, lost in totals["lost"].items():
        assert (f"{kind} at {lost}" in run.lost) == (lost is not None)
    at = next((t for t in report["turns"] if str(t["turn"]) == turn), None)
    if at is not None:
        found = sizes(drawn)
        assert found["pins"] == f"{at['pins']['present']} of {at['pins']['required']}"
        assert found["cached"] == shown(at["cached"])
        assert found["size" if stack == "recorded" else "simulated size"] == shown(at["tokens"])


def test_an_alternate_is_said_to_be_one(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, sample_path("refund"), stack=GROUPS)
    assert any(NOT_SIMULATED in i.value for i in drawn.info)
    assert any(NOT_SIMULATED in c.value for c in drawn.caption)
    assert any("simulated" in t.value for t in drawn.text)
    recorded = page(monkeypatch, sample_path("refund"))
    assert not any(NOT_SIMULATED in i.value for i in recorded.info)
    beside = page(monkeypatch, sample_path("refund"), base="history")
    assert any(NOT_SIMULATED in i.value for i in beside.info)


def test_what_is_missing_against_the_base_is_listed(monkeypatch: Any) -> None:
    trace = sample_path("refund")
    drawn = page(monkeypatch, trace, turn="9", base="history")
    removed = told("diff", str(trace), "--turn", "9", "--turn", "9")["removed"]
    assert removed == []  # the same window twice: so the next line is about the base
    here = {b["id"] for b in told("show", str(trace), "--turn", "9")["blocks"]}
    there = [b["id"] for b in told("show", str(trace), "--turn", "9", "--stack", "history")["blocks"]]
    found = [d.value for d in drawn.dataframe if "states" in d.value.columns][-1]
    assert list(found.id) == [b for b in there if b not in here]


def test_toggles_change_the_stack_and_the_stack_the_toggles(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, sample_path("refund"))
    drawn.toggle(key="add:supersede").set_value(True).run()
    assert address(drawn)["stack"] == "recorded,supersede"
    drawn.toggle(key="layer:recorded").set_value(False).run()
    assert address(drawn)["stack"] == "supersede"
    drawn.toggle(key="add:pin-goal").set_value(True).run()
    drawn.number_input(key="field:1:pin-goal:n").set_value(4).run()
    assert address(drawn)["stack"] == "supersede,pin-goal:n=4"
    assert drawn.text_input(key="stack_text").value == "supersede,pin-goal:n=4"
    drawn.number_input(key="field:1:pin-goal:n").set_value(6).run()
    assert address(drawn)["stack"] == "supersede,pin-goal"
    drawn.toggle(key="layer:0:supersede").set_value(False).run()
    assert address(drawn)["stack"] == "pin-goal"
    drawn.text_input(key="stack_text").set_value(GROUPS).run()
    assert drawn.number_input(key="field:0:compact-groups:max").value == 2000
    drawn.text_input(key="stack_text").set_value("").run()
    assert "stack" not in address(drawn)
    settled(drawn)


def test_a_parameter_that_cannot_be_is_named_and_changes_nothing(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, sample_path("refund"), stack="pin-goal:n=6")

    def refuse(*args: Any) -> None:
        raise UsageError("pin-goal: n and <threshold> contradict each other", "change one of the two")

    monkeypatch.setattr(stack_editor, "layer", refuse)
    drawn.number_input(key="field:0:pin-goal:n").set_value(20).run()
    assert any("<threshold> contradict" in t.value for t in drawn.text)
    assert address(drawn)["stack"] == "pin-goal:n=6"
    assert drawn.number_input(key="field:0:pin-goal:n").value == 6
    settled(drawn)


def test_a_stack_that_cannot_fit_says_what_stands_in_the_way(monkeypatch: Any) -> None:
    trace = sample_path("refund")
    stack = "compact-groups:max=100:trigger=0.8:keep=2"
    (report,) = told("replay", str(trace), "--stack", stack)
    failure = report["failures"][0]
    drawn = page(monkeypatch, trace, stack=stack)
    (said,) = [e.value for e in drawn.error][:1]
    assert f"from turn {failure['turn']}" in said
    assert f"budget {failure['budget']}" in said
    kept = table(drawn, "block", "tokens", "text")
    assert list(zip(kept.block, kept.tokens)) == [(p["block"], p["tokens"]) for p in failure["protected"]]
    assert len(table(drawn, "states", "form")) > 0


def test_a_search_keeps_the_blocks_that_hold_the_words(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, sample_path("refund"), turn="9", stack="history", q="INV-2031")
    rows = table(drawn, "states", "form", "text", "change")
    report = told("show", str(sample_path("refund")), "--turn", "9", "--stack", "history")
    assert list(rows[rows.change != "-"].id) == [b["id"] for b in report["blocks"] if "inv-2031" in b["text"].lower()]


def test_a_trace_without_a_call_has_a_page(tmp_path: Path, monkeypatch: Any) -> None:
    trace = tmp_path / "one.jsonl"
    trace.write_text('{"role": "user", "content": "Hello."}\n', encoding="utf-8")
    drawn = page(monkeypatch, trace)
    assert [e.value for e in drawn.error] == []
    assert any("No model call" in c.value for c in drawn.caption)


def test_what_cannot_be_read_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    trace = tmp_path / "none.jsonl"
    trace.write_text("no transcript\n", encoding="utf-8")
    drawn = page(monkeypatch, trace)
    assert [e.value for e in drawn.error] == ["The trace cannot be read."]
    assert drawn.text[0].value


def test_a_search_keeps_no_block_that_just_left_without_holding_the_words(monkeypatch: Any) -> None:
    trace = sample_path("tutor")
    drawn = page(monkeypatch, trace, turn="35", q="Noor")
    with open_trace([str(trace)], cache=False) as opened:
        view = opened.view()
        left = [n for n, change in view.changes(35).items() if change.what == "-"]
        held = view.find("Noor", 34).blocks & set(left)
        assert 0 < len(held) < len(left)
    rows = table(drawn, "change", "text")
    assert (rows.change == "-").sum() == len(held)
