"""Cases T: each response counted once, prompts of disjoint parts, occupancy never a sum."""

from __future__ import annotations

import base64
import json

import pytest

from ctxview.report.info import info_report
from ctxview.report.show import show_report
from ctxview.tokens import Counter

from .windows import DATA, ctxview_json, ids, opened, outputs, process_json, reasons, recorded, shown


def test_t01_the_lines_of_one_response_are_one_request() -> None:
    with opened("T01.jsonl") as trace:
        view = trace.view()
        assert recorded(view) == [10 + 200 + 1000, 12 + 150 + 1200]
        assert outputs(trace) == 130
        assert ids(view, 2) == ["u1", "a1", "a2", "a3", "u2"]
        positions = {row["id"]: row["position"] for row in show_report(view, 2)["blocks"]}
        assert positions == {"u1": 0, "a1": 1, "a2": 1, "a3": 1, "u2": 2}
        assert view.messages(2) == 3


def test_t02_a_streamed_partial_count_does_not_stand() -> None:
    with opened("T02.jsonl") as trace:
        assert recorded(trace.view()) == [23688]
        assert outputs(trace) == 214


def test_t04_a_response_without_request_id_is_counted_once() -> None:
    with opened("T04.jsonl") as trace:
        assert recorded(trace.view()) == [904]
        assert outputs(trace) == 55


@pytest.mark.parametrize("order", [("T05.a.jsonl", "T05.b.jsonl"), ("T05.b.jsonl", "T05.a.jsonl")])
def test_t05_a_resumed_session_does_not_bill_what_it_copied(order: tuple[str, str]) -> None:
    """Whatever the order in which the files are named: the session that was first is the one that is copied."""
    with opened(*order) as trace:
        views = {row.session: trace.view(row.session) for row in trace.sessions}
        own = sum(not turn.inherited for view in views.values() for turn in view.turns)
        assert own == 3
        assert outputs(trace) == 120
        resumed = views["s-two"]
        turn = next(turn.turn for turn in resumed.turns if turn.call == "msg_C")
        assert ids(resumed, turn) == ["b-u1", "b-a1", "b-u2", "b-a2", "b-u3"]
        assert resumed.tokens(turn).recorded == 640
        inherited = [row["id"] for row in show_report(resumed, turn)["blocks"] if row["inherited"]]
        assert inherited == ["b-u1", "b-a1", "b-u2", "b-a2"]
        assert recorded(views["s-one"]) == [510, 570]


def test_t06_rows_written_again_are_duplicates() -> None:
    with opened("T06.jsonl") as trace:
        (file,) = trace.files
        assert (file.records, file.window, file.duplicates) == (10, 6, 4)
        view = trace.view()
        assert view.last == 3
        assert outputs(trace) == 60
        assert ids(view, 3) == ["u1", "a1", "u2", "a2", "u3"]
        assert view.tokens(3).recorded == 385


def test_t17_thinking_is_part_of_the_output_and_a_block_of_its_own() -> None:
    with opened("T17.jsonl") as trace:
        view = trace.view()
        assert recorded(view) == [2000]
        assert outputs(trace) == 900
        assert view.turns[0].reasoning == 700
        thinking = [row for row in show_report(view, view.now)["blocks"] if row["kind"] == "thinking"]
        assert [(row["text"], row["note"]) for row in thinking] == [("", "text not recorded")]
        assert "not-recorded" in thinking[0]["states"]


def test_t18_a_failed_call_is_an_error_and_no_request() -> None:
    with opened("T18.jsonl") as trace:
        view = trace.view()
        assert recorded(view) == [84210]
        assert view.occupancy() == (84210, "recorded")
        (error,) = reasons(trace, "error")
        assert "API Error: rate limited" in error
        assert outputs(trace) == 300


def test_t19_occupancy_is_the_newest_window_and_sums_are_billing() -> None:
    report = ctxview_json("info", str(DATA / "T19.jsonl"))
    (session,) = report["sessions"]
    assert session["now"] == {"tokens": 23000, "source": "recorded"}
    assert session["limit"] == 200_000
    assert session["peak"] == {"turn": 3, "tokens": 23000}
    usage = session["usage"]
    assert usage["cache_read"] == 41460
    assert usage["input"] + usage["cache_read"] + usage["cache_write"] == 64500
    with opened("T19.jsonl") as trace:
        assert recorded(trace.view()) == [20000, 21500, 23000]


def test_t20_the_window_is_all_three_parts_of_the_prompt() -> None:
    with opened("T20.jsonl") as trace:
        view = trace.view()
        assert view.occupancy() == (154006, "recorded")
        assert view.limit == 200_000
        assert round(154006 / view.limit, 3) == 0.77
        (turn,) = view.turns
        assert (turn.input, turn.cache_write, turn.cache_read) == (6, 4000, 150_000)


def test_t23_an_image_is_counted_by_its_pixels_and_never_as_text() -> None:
    body = json.loads((DATA / "T23.json").read_text())
    data = body["messages"][0]["content"][1]["source"]["data"]
    assert len(data) == 48240
    with opened("T23.json") as trace:
        view = trace.view()
        (image,) = [row for row in show_report(view, 1)["blocks"] if row["kind"] == "image"]
        assert image["tokens"] == 16 == 120 * 100 // 750
        assert image["estimated"]
        assert view.block(image["id"]).image == "120x100 image/png"
        assert data[:100] not in json.dumps(show_report(view, 1))
        assert base64.b64decode(data).startswith(b"\x89PNG")


def test_t25_special_tokens_in_a_text_are_text() -> None:
    with opened("T25.jsonl") as trace:
        view = trace.view()
        u2 = shown(view, 2, "u2")
        assert u2["tokens"] == 9
        assert Counter("cl100k_base").count(u2["text"]) == 8


def test_t27_what_is_not_in_the_transcript_is_a_part_of_its_own() -> None:
    report = process_json("show", str(DATA / "T27.jsonl"), "--turn", "1")
    assert report["tokens"]["recorded"] == 21450
    assert [(row["id"], row["tokens"]) for row in report["blocks"]] == [("u1", 6)]
    assert report["tokens"]["unlogged"] == 21444
    assert report["by_kind"]["user"] == 6
    assert report["by_kind"]["unlogged"] == 21444
    assert sum(report["by_kind"].values()) == 21450


def test_t29_a_compaction_that_grew_the_window_says_so() -> None:
    with opened("T29.jsonl") as trace:
        view = trace.view()
        (session,) = info_report(trace)["sessions"]
        (cut,) = session["cuts"]
        assert (cut["before"], cut["after"]) == (12000, 14098)
        assert cut["after"] - cut["before"] == 2098
        assert view.tokens(2).recorded == 14098


def test_t31_a_sub_agent_is_billed_once_and_is_not_in_its_parents_window() -> None:
    with opened("T31.parent.jsonl", "T31.agent-ag1.jsonl") as trace:
        bills = {}
        for session in info_report(trace)["sessions"]:
            usage = session["usage"]
            bills[session["id"]] = sum(usage[part] for part in ("input", "cache_read", "cache_write", "output"))
        parent, child = trace.view("s-par"), trace.view("agent-ag1")
        assert child.row.parent == "s-par"
        assert bills == {"s-par": 2200, "agent-ag1": 7834}
        assert recorded(parent) == [1000, 1100]
        assert [turn.output for turn in parent.turns] == [50, 50]
        assert ids(parent, 2) == ["u1", "a1", "u2"]
        assert not {"g1", "g2"} & {block.id for block in parent.blocks}
        raw = json.loads((DATA / "T31.parent.jsonl").read_text().splitlines()[2])
        (result,) = raw["message"]["content"]
        words = result["content"] if isinstance(result["content"], str) else result["content"][0]["text"]
        assert shown(parent, 2, "u2")["text"] == words
        assert not reasons(trace)


def test_t31_without_its_file_the_sub_agents_total_is_told_once() -> None:
    with opened("T31.parent.jsonl") as trace:
        assert [row.session for row in trace.sessions] == ["s-par"]
        (warning,) = reasons(trace)
        assert "ag1" in warning
        assert "7,834" in warning
