"""Cases C: what a compaction took, what it left, and what stands right after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.report.info import info_report
from ctxview.report.show import show_report

from .windows import DATA, ctxview_json, ids, opened, recorded


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("C01.now.jsonl", {"tokens": 17000, "source": "post-cut"}),
        ("C01.nopost.jsonl", {"tokens": None, "source": "unknown"}),
        ("C01.later.jsonl", {"tokens": 18400, "source": "recorded"}),
    ],
)
def test_c01_right_after_a_cut_the_old_size_does_not_stand(name: str, now: dict[str, object]) -> None:
    (session,) = ctxview_json("info", str(DATA / name))["sessions"]
    assert session["now"] == now


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("C01.now.jsonl", {"tokens": 17000, "source": "post-cut"}),
        ("C01.nopost.jsonl", {"tokens": None, "source": "unknown"}),
    ],
)
def test_c01_a_call_without_usage_brings_the_old_size_not_back(
    tmp_path: Path, name: str, now: dict[str, object]
) -> None:
    """As in logs of gateways that report no usage, and in those that end before the usage came."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    more = {"sessionId": "s-demo", "timestamp": "2026-01-01T02:00:00.000Z", "version": "2.1.0"}
    message = {"id": "m-x", "role": "assistant", "model": "claude-demo-5", "content": [{"type": "text", "text": "n"}]}
    lines.append(json.dumps({"type": "assistant", "uuid": "ax", "parentUuid": "s1", "message": message, **more}))
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (session,) = ctxview_json("info", str(path))["sessions"]
    assert session["turns"] == 2
    assert session["now"] == now


def test_c02_three_cuts_with_two_requests_between_them() -> None:
    with opened("C02.jsonl") as trace:
        view = trace.view()
        assert recorded(view) == [300, 1800, 350, 1810, 360, 1820, 400]
        assert [cut.turn for cut in view.cuts] == [3, 5, 7]
        assert {cut.kind for cut in view.cuts} == {"compact"}
        for turn, largest in ((4, "r3"), (6, "r5")):
            rows = show_report(view, turn)["blocks"]
            assert max(rows, key=lambda row: row["tokens"])["id"] == largest


def test_c06_the_goal_is_gone_after_the_cut() -> None:
    with opened("C06.jsonl") as trace:
        view = trace.view()
        (cut,) = view.cuts
        before = [row["text"] for row in show_report(view, cut.turn - 1)["blocks"]]
        assert any("Goal: migrate" in text for text in before)
        texts = [row["text"] for row in show_report(view, view.last)["blocks"]]
        assert texts == ["Start.", "Summary: some tests moved.", "continue"]


def test_c11_an_early_cut_is_seen_against_the_limit() -> None:
    with opened("C11.jsonl") as trace:
        (session,) = info_report(trace)["sessions"]
        (cut,) = session["cuts"]
        assert (cut["before"], session["limit"]) == (84000, 1_000_000)
        assert round(cut["before"] / session["limit"], 3) == 0.084


def test_c12_what_a_cut_cost_the_cache() -> None:
    with opened("C12.jsonl") as trace:
        view = trace.view()
        assert recorded(view) == [173_864, 39_083]
        before, after = view.turns
        assert (before.cache_read, after.cache_read) == (171_520, 17_920)
        sent = (after.input or 0) + (after.cache_write or 0)
        assert sent == 21_163
        assert round(sent / 39_083, 3) == 0.541
        assert round(17_920 / 173_864, 3) == 0.103
        assert ids(view, 2) == ["s1", "u2"]
