"""A microcompaction: what it took, as far as the log tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.cli.command import run
from ctxview.policies import parse_stack
from ctxview.replay import replay
from ctxview.report.info import info_report
from ctxview.report.replay import replay_report

from .sessions import Writer, call, opened, result


def test_a_microcompaction_of_what_is_older_than_the_file_dropped_nobody_knows_how_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the blocks it took nor how much of the head stayed is in the log: unknown, not none and not all of it."""
    w = Writer()
    usage = {"input_tokens": 9_000, "output_tokens": 5}
    lines = [
        w.user("u1", "older"),
        w.answer("a1", "u1", [call("c1")], usage=usage),
        w.user("r1", "a1", [result("c1")]),
        w.answer("a2", "r1", usage=usage),
        w.microcompact("m", "a2", compactedToolIds=["c0"], tokensSaved=4_000),
        w.user("u2", "m"),
        w.answer("a3", "u2", usage={**usage, "input_tokens": 5_000}),
        w.user("u3", "a3"),
        w.answer("a4", "u3", usage={**usage, "input_tokens": 5_010}),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        (cut,) = info_report(trace)["sessions"][0]["cuts"]
        assert (cut["turn"], cut["kind"], cut["dropped"]) == (3, "clear", None)
        for stack in ("recorded", "history"):
            report = replay_report(replay(trace.view(), parse_stack(stack)))
            assert [turn["cached"] is None for turn in report["turns"]] == [False, False, True, False], stack
            assert report["turns"][2]["hit"] is None
            assert report["totals"]["billed"] is None
    assert run(["show", str(tmp_path / "s.jsonl"), "--turn", "3", "--no-cache"]) == 0
    assert "dropped unknown" in capsys.readouterr().out
    assert run(["info", str(tmp_path / "s.jsonl"), "--no-cache"]) == 0
    (row,) = (line.split() for line in capsys.readouterr().out.splitlines() if " clear " in line)
    assert row[-3] == "unknown"


def test_a_microcompaction_of_logged_results_drops_no_block(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [call("c1")]),
        w.user("r1", "a1", [result("c1")]),
        w.answer("a2", "r1"),
        w.microcompact("m", "a2", compactedToolIds=["c1"]),
        w.user("u2", "m"),
        w.answer("a3", "u2"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        view = trace.view()
        assert [cut.dropped for cut in view.cuts] == [0]
        metrics = replay(view, parse_stack("recorded")).measure()
        assert None not in [turn.cached for turn in metrics.turns]
        assert metrics.totals.billed
