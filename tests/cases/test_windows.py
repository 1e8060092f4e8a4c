"""Cases W: which blocks were sent at a turn, whatever the order and the tree of the log's lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ctxview.ingest import open_trace
from ctxview.report.info import info_report
from ctxview.report.show import show_report

from .windows import DATA, ctxview_json, ids, opened, outputs, recorded, shown


def test_w01_a_rewind_leaves_the_branch_it_abandoned() -> None:
    with opened("W01.jsonl") as trace:
        view = trace.view()
        assert ids(view, view.last) == ["u1", "a1", "u3"]
        assert view.tokens(view.last).recorded == 1110
        (cut,) = view.cuts
        assert (cut.kind, cut.turn) == ("rewind", view.last)
        kept = {row.block.id for row in view.window(view.now)}
        assert {block.id for block in view.blocks} - kept == {"u2", "a2"}
        assert outputs(trace) == 80


def test_w02_parallel_calls_keep_all_their_results() -> None:
    report = ctxview_json("show", str(DATA / "W02.jsonl"), "--turn", "2")
    assert [row["id"] for row in report["blocks"]] == ["u1", "a1", "a2", "u2", "u3"]
    positions = {row["id"]: row["position"] for row in report["blocks"]}
    assert positions["a1"] == positions["a2"] == 1
    assert {row["id"]: row["call_id"] for row in report["blocks"] if row["kind"] == "tool_call"} == {
        "a1": "t1",
        "a2": "t2",
    }
    assert not any("orphan" in row["states"] for row in report["blocks"])
    assert report["tokens"]["recorded"] == 602


def test_w04_preserved_messages_follow_the_summary() -> None:
    with opened("W04.jsonl") as trace:
        view = trace.view()
        assert ids(view, 4) == ["s1", "u3", "a3", "u4"]
        assert view.tokens(4).recorded == 170
        (session,) = info_report(trace)["sessions"]
        (cut,) = session["cuts"]
        assert (cut["kind"], cut["before"], cut["after"], cut["turn"]) == ("compact", 405, 150, 4)
        assert (cut["dropped"], cut["kept"]) == (4, 2)


def test_w11_orphans_are_seen_in_a_captured_request() -> None:
    with opened("W11.json") as trace:
        view = trace.view()
        rows = show_report(view, 1)["blocks"]
        orphans = {(row["kind"], row["call_id"]) for row in rows if "orphan" in row["states"]}
        assert orphans == {("tool_result", "call_B"), ("tool_call", "call_D")}
        assert [row["kind"] for row in rows if row["call_id"] == "call_C"] == ["tool_call", "tool_result"]


def test_w12_a_fall_without_a_cut_row_is_unexplained_and_casts_doubt_on_old_results() -> None:
    with opened("W12.drop.jsonl") as trace:
        view = trace.view()
        assert recorded(view) == [6000, 903_000, 275_000]
        (session,) = info_report(trace)["sessions"]
        (cut,) = session["cuts"]
        assert (cut["kind"], cut["turn"]) == ("unexplained", 3)
        assert cut["before"] - cut["after"] == 628_000
        assert "may no longer be in the window" in str(shown(view, 3, "u2")["doubt"])
        assert shown(view, 2, "u2")["doubt"] is None


def test_w12_a_cleared_result_is_one_block_in_two_forms() -> None:
    with opened("W12.cleared.jsonl") as trace:
        view = trace.view()
        first, second = ([row for row in show_report(view, t)["blocks"] if row["call_id"] == "t1"] for t in (1, 2))
        (whole,) = [row for row in first if row["kind"] == "tool_result"]
        (cleared,) = [row for row in second if row["kind"] == "tool_result"]
        assert whole["id"] == cleared["id"]
        assert (whole["tokens"], whole["form"], "cleared" in whole["states"]) == (51, "verbatim", False)
        assert (cleared["tokens"], cleared["form"], "cleared" in cleared["states"]) == (7, "placeholder", True)
        spans = view.life(view.block(whole["id"]).n)
        assert [(span.start, span.form) for span in spans] == [(1, "verbatim"), (2, "placeholder")]


def test_w14_a_sidechain_in_the_same_file_has_a_window_of_its_own() -> None:
    with opened("W14.jsonl") as trace:
        main, side = (trace.view(row.session) for row in trace.sessions)
        assert recorded(main) == [100, 116]
        assert ids(main, 2) == ["u1", "a1", "u2"]
        assert recorded(side) == [5000]
        assert [block.id for block in side.blocks] == ["x1", "x2"]
        assert side.row.parent == main.row.session
        assert main.occupancy() == (116, "recorded")
        assert main.peak == (2, 116)


# ------------------------------------------------------------------------------------ met on real files, made anew here


def write_lines(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def line(uuid: str, parent: str | None, role: str, text: str, at: str, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "assistant":
        usage = {"input_tokens": 9, "output_tokens": 3}
        message |= {"id": f"msg_{uuid}", "model": "claude-demo-5", "usage": usage}
    base = {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False}
    return {**base, "timestamp": at, "message": message, **more}


def test_two_interruptions_that_a_resume_dated_alike_are_two_messages(tmp_path: Path) -> None:
    """A resume writes the conversation again, all of it at one moment."""
    resumed, stop = "2026-03-01T10:00:00.000Z", "[Request interrupted by user]"
    lines = [
        line("u1", None, "user", "Build it.", resumed),
        line("a1", "u1", "assistant", "Building.", resumed),
        line("u2", "a1", "user", stop, resumed),
        line("u3", "u2", "user", "Go on.", resumed),
        line("a3", "u3", "assistant", "Testing.", resumed),
        line("u4", "a3", "user", stop, resumed),
        line("u5", "u4", "user", "Finish.", "2026-03-01T10:00:09.000Z"),
        line("a5", "u5", "assistant", "Done.", "2026-03-01T10:00:10.000Z"),
    ]
    with open_trace([write_lines(tmp_path / "resumed.jsonl", lines)], cache=False) as trace:
        view = trace.view()
        assert ids(view, view.last) == ["u1", "a1", "u2", "u3", "a3", "u4", "u5"]
        assert view.cuts == ()
        assert [file.duplicates for file in trace.files] == [0]


def test_lines_written_again_under_new_names_at_their_own_moments_stand_once(tmp_path: Path) -> None:
    """The other kind of resume: each line keeps its date and gets a new uuid."""
    first = [
        line("u1", None, "user", "Build it.", "2026-03-01T10:00:00.000Z"),
        line("a1", "u1", "assistant", "Building.", "2026-03-01T10:00:01.000Z"),
        line("u2", "a1", "user", "Go on.", "2026-03-01T10:00:02.000Z"),
        line("a2", "u2", "assistant", "Testing.", "2026-03-01T10:00:03.000Z"),
    ]
    above = {old["uuid"]: old["parentUuid"] and f"x-{old['parentUuid']}" for old in first}
    again = [{**old, "uuid": f"x-{old['uuid']}", "parentUuid": above[old["uuid"]]} for old in first]
    more = [
        line("u3", "x-a2", "user", "Finish.", "2026-03-01T11:00:00.000Z"),
        line("a3", "u3", "assistant", "Done.", "2026-03-01T11:00:01.000Z"),
    ]
    with open_trace([write_lines(tmp_path / "again.jsonl", [*first, *again, *more])], cache=False) as trace:
        view = trace.view()
        assert ids(view, view.last) == ["u1", "a1", "u2", "a2", "u3"]
        assert [(file.window, file.duplicates) for file in trace.files] == [(6, 4)]


def test_captured_thinking_without_text_stays_with_its_own_answer(tmp_path: Path) -> None:
    """Every such block looks the same; the one that is sent is the newest answer's, not an old one come back."""

    def answer(call: str) -> list[dict[str, Any]]:
        thinking = {"type": "thinking", "thinking": "", "signature": "c2ln"}
        return [thinking, {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": call}}]

    def result(call: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": f"out of {call}"}]}

    goal = {"role": "user", "content": "Run both."}
    first, second = ({"role": "assistant", "content": answer(call)} for call in ("t1", "t2"))
    windows = [[goal], [goal, first, result("t1")], [goal, second, result("t2")]]
    done = [{"type": "text", "text": "Done."}]
    lines = [
        {
            "request": {"model": "claude-demo-5", "max_tokens": 99, "messages": messages},
            "response": {"id": f"msg_{n}", "role": "assistant", "content": said, "usage": {"input_tokens": 9}},
        }
        for n, (messages, said) in enumerate(zip(windows, (first["content"], second["content"], done), strict=True))
    ]
    with open_trace([write_lines(tmp_path / "capture.jsonl", lines)], cache=False) as trace:
        view = trace.view()
        rows = show_report(view, 3)["blocks"]
        assert [(row["kind"], row["position"]) for row in rows] == [
            ("user", 0),
            ("thinking", 1),
            ("tool_call", 1),
            ("tool_result", 2),
        ]
        assert rows[1]["turn"] == 2
