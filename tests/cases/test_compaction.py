"""Cases C: what a compaction took, what it left, and what stands right after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.ingest import open_trace
from ctxview.report.info import info_report
from ctxview.report.show import show_report
from ctxview.window import SessionView
from ctxview.window.absence import absences

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


RULE = "Project rule: never add a Co-Authored-By line to commits."


def _rule_lost_at(view: SessionView) -> list[int]:
    found = absences(view, len(view.blocks))
    return [a.turn for a in found if a.pin.kind == "constraint" and view.blocks[a.pin.block].id == "p1"]


def _changed(tmp_path: Path, name: str, *swaps: tuple[str, str], order: tuple[int, ...] = ()) -> Path:
    text = (DATA / name).read_text(encoding="utf-8")
    for before, after in swaps:
        assert before in text
        text = text.replace(before, after)
    lines = text.splitlines()
    path = tmp_path / name
    path.write_text("\n".join([lines[i] for i in order] or lines) + "\n", encoding="utf-8")
    return path


def _put_in_again(tmp_path: Path) -> Path:
    """The case with the memory file right behind the cut: line 8 of the file."""
    return _changed(
        tmp_path,
        "C03.jsonl",
        ('"uuid":"p2","parentUuid":"r3"', '"uuid":"p2","parentUuid":"s1"'),
        ('"uuid":"u3","parentUuid":"s1"', '"uuid":"u3","parentUuid":"p2"'),
        ('"uuid":"a4","parentUuid":"p2"', '"uuid":"a4","parentUuid":"r3"'),
        order=(0, 1, 2, 3, 4, 5, 6, 10, 7, 8, 9, 11),
    )


def test_c03_the_rule_is_lost_at_request_3() -> None:
    with opened("C03.jsonl") as trace:
        assert _rule_lost_at(trace.view()) == [3]


def test_c03_a_rule_that_comes_back_right_behind_the_cut_is_not_lost(tmp_path: Path) -> None:
    """The client puts the memory file in again before the next request: the model saw it in every window."""
    again = _put_in_again(tmp_path)
    with open_trace([str(again)]) as trace:
        assert _rule_lost_at(trace.view()) == []


def test_c03_a_rule_that_the_summary_quotes_is_not_lost(tmp_path: Path) -> None:
    quoted = _changed(tmp_path, "C03.jsonl", ("Progress: one fix", f"{RULE} Progress: one fix"))
    with open_trace([str(quoted)]) as trace:
        assert _rule_lost_at(trace.view()) == []


def test_c03_a_word_or_two_in_a_summary_are_no_quote(tmp_path: Path) -> None:
    """They may stand there by chance: that shows nothing of the rule that was lost."""
    short = _changed(
        tmp_path, "C03.jsonl", (RULE, "never push"), ("next is the parser", "next is the parser, which may never push")
    )
    with open_trace([str(short)]) as trace:
        assert _rule_lost_at(trace.view()) == [3]


def test_c01_diff_names_the_source_of_each_size() -> None:
    """A counted size beside a recorded one is no fall: what was never logged is in one of them alone."""
    found = ctxview_json("diff", str(DATA / "C01.nopost.jsonl"), "-t", "1", "-t", "now")["tokens"]
    assert found["a"] == 171_000
    assert found["source"] == {"a": "recorded", "b": "counted"}


def test_c03_a_rule_that_stands_in_another_text_is_not_lost(tmp_path: Path) -> None:
    """A client that puts a file in again may write something around it: the rule's words are what counts."""
    again = _put_in_again(tmp_path)
    lines = again.read_text(encoding="utf-8").splitlines()
    lines[7] = lines[7].replace(RULE, f"Read again after the cut.\\n\\n{RULE}")
    again.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_trace([str(again)]) as trace:
        assert _rule_lost_at(trace.view()) == []


@pytest.mark.parametrize(("kept", "lost"), [("Goal: migrate all tests to pytest.", []), ("Goal: migrate them.", [2])])
def test_a_marked_goal_stands_where_a_summary_has_its_words(tmp_path: Path, kept: str, lost: list[int]) -> None:
    """Without the tag that the client put around it, which no summary repeats."""

    def line(kind: str, **payload: object) -> str:
        return json.dumps({"timestamp": "2026-03-02T10:00:00.000Z", "type": kind, "payload": payload}) + "\n"

    def message(role: str, text: str) -> dict[str, object]:
        part = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}

    goal = '<codex_internal_context source="goal">\nGoal: migrate all tests to pytest.\n</codex_internal_context>'
    history = [message("user", "Start."), message("user", f"Summary: some tests moved. {kept}")]
    path = tmp_path / "rollout.jsonl"
    path.write_text(
        line("session_meta", id="s1", cwd="/work/demo", originator="codex_cli_rs", cli_version="0.150.0", source="cli")
        + line("response_item", **message("user", goal))
        + line("response_item", **message("user", "Start."))
        + line("response_item", **message("assistant", "Started."))
        + line("compacted", message="", replacement_history=history)
        + line("response_item", **message("user", "continue"))
        + line("response_item", **message("assistant", "Continuing.")),
        encoding="utf-8",
    )
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        assert [a.turn for a in absences(view, len(view.blocks)) if a.pin.kind == "goal"] == lost
