"""What the bundled samples show in their recorded windows, as a person meets it: opened and shown, not parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ctxview.ingest import Trace, open_trace
from ctxview.report.info import info_report
from ctxview.report.show import show_report
from ctxview.sample_traces import sample_path
from ctxview.window import SessionView

Json = dict[str, Any]
Open = Callable[[str], Trace]


@pytest.fixture(scope="module")
def sample() -> Iterator[Open]:
    """Opens a sample by its name, once."""
    traces: dict[str, Trace] = {}

    def open_once(name: str) -> Trace:
        if name not in traces:
            traces[name] = open_trace([str(sample_path(name))], cache=False)
        return traces[name]

    yield open_once
    for trace in traces.values():
        trace.close()


def blocks(view: SessionView, turn: int) -> list[Json]:
    found = show_report(view, turn)["blocks"]
    assert isinstance(found, list)
    return found


def words(view: SessionView, turn: int) -> str:
    return "\n".join(row["text"] for row in blocks(view, turn))


@pytest.mark.parametrize(
    ("name", "turns", "fidelity"),
    [
        ("collapse", 10, "exact"),
        ("tutor", 60, "reconstructed"),
        ("stale", 40, "reconstructed"),
        ("refund", 15, "exact"),
        ("ledger", 420, "reconstructed"),
    ],
)
def test_each_sample_is_one_session_of_its_turns(name: str, turns: int, fidelity: str, sample: Open) -> None:
    trace = sample(name)
    (session,) = info_report(trace)["sessions"]
    assert (session["turns"], session["fidelity"]) == (turns, fidelity)
    (file,) = trace.files
    assert (file.unknown, file.unreadable) == ({}, 0)
    assert not [issue for issue in trace.issues if issue.severity != "info"]


def test_collapse_ends_without_its_goal(sample: Open) -> None:
    view = sample("collapse").view()
    (goal,) = [row for row in blocks(view, 1) if row["pin"] == "goal"]
    assert "Postgres" in goal["text"]
    assert goal["leaves"] == 4
    assert [turn for turn in range(1, 11) if goal["id"] in {row["id"] for row in blocks(view, turn)}] == [1, 2, 3]
    assert goal["text"] not in words(view, view.last)
    assert "auth" in words(view, view.last)
    assert {cut.kind for cut in view.cuts} == {"truncate"}


def test_refund_ends_without_denial_constraint_and_goal_and_with_an_orphan_at_the_head(sample: Open) -> None:
    view = sample("refund").view()
    rows = blocks(view, view.last)
    assert view.messages(view.last) == 8
    assert rows[-1]["position"] == 7
    assert view.tokens(view.last).counted == pytest.approx(510, abs=10)
    orphans = [row for row in rows if "orphan" in row["states"]]
    assert [(row["kind"], row["position"]) for row in orphans] == [("tool_result", 1)]
    (goal,) = [row for row in blocks(view, 1) if row["pin"] == "goal"]
    assert goal["id"] not in {row["id"] for row in rows}
    last = words(view, view.last)
    assert "DENIED by policy" not in last
    assert "never contact" not in last.lower()


def test_refund_denies_at_3_and_forbids_at_5_and_holds_neither_at_12(sample: Open) -> None:
    view = sample("refund").view()
    denial = next(row for row in blocks(view, 4) if row["text"].startswith("DENIED by policy:"))
    assert (denial["turn"], denial["kind"]) == (3, "tool_result")
    assert "never contact" in words(view, 5).lower()
    assert "DENIED by policy" not in words(view, 12)
    assert "never contact" not in words(view, 12).lower()


def test_stale_holds_three_versions_of_the_file_at_turn_40(sample: Open) -> None:
    view = sample("stale").view()
    rows = blocks(view, 40)
    files = [row for row in rows if row["kind"] == "tool_call" and row["tool"] in ("Read", "Write")]
    calls = {row["call_id"]: row for row in files if "config/gateway.yaml" in row["text"]}
    assert [(row["turn"], row["tool"]) for row in calls.values()] == [(6, "Read"), (19, "Write"), (31, "Write")]
    versions = [row for row in rows if row["call_id"] in calls and "prefetch:" in row["text"]]
    assert [(row["turn"], row["kind"]) for row in versions] == [
        (6, "tool_result"),
        (19, "tool_call"),
        (31, "tool_call"),
    ]
    assert len({row["text"] for row in versions}) == 3
    assert not view.cuts


def test_tutor_is_cut_before_turn_35_and_its_summary_loses_what_was_agreed(sample: Open) -> None:
    view = sample("tutor").view()
    assert [(cut.kind, cut.turn) for cut in view.cuts] == [("compact", 35)]
    method, rounding = "one method throughout: complete the square", "round every result to two decimals"
    agreed = (method, rounding, "Noor's substitutions")
    before, after = words(view, 34), words(view, 35)
    for term in agreed:
        assert term in before
        assert term not in after
    first = blocks(view, 35)[0]
    assert (first["kind"], first["form"], first["position"]) == ("summary", "summary", 0)
    left = {row["left_by"] for row in blocks(view, 34)}
    assert left == {"recorded/compact"}
    last = words(view, 60)
    assert method not in last
    assert rounding not in last


def test_ledger_reads_its_rule_at_turn_2_and_still_holds_it_when_it_drafts(sample: Open) -> None:
    view = sample("ledger").view()
    rule = next(row for row in blocks(view, 3) if row["kind"] == "tool_result" and "cutoff p60" in row["text"])
    assert rule["turn"] == 2
    assert rule["entered"] == 3
    assert rule["id"] not in {row["id"] for row in blocks(view, 2)}
    drafted = next(row for row in blocks(view, 403) if row["id"] == rule["id"])
    assert drafted["age"] == 401
    assert drafted["leaves"] is None
    assert not view.cuts
