"""Cases P: what a damaged, odd or unknown file still tells, and that nothing is lost without a word."""

from __future__ import annotations

from pathlib import Path

import duckdb

from ctxview.ingest import Trace, open_trace
from ctxview.model import FileRow
from ctxview.report.info import info_report
from ctxview.report.show import show_report

from .windows import DATA, ctxview, ids, opened, process_json, reasons, shown, text


def only_file(trace: Trace) -> FileRow:
    (file,) = trace.files
    return file


def read_records(trace: Trace) -> int:
    """Records that became values, whatever they were good for."""
    return sum(file.records - file.unreadable for file in trace.files)


def test_p01_unicode_line_separators_are_text_and_end_no_record() -> None:
    with opened("P01.jsonl") as trace:
        assert only_file(trace).records == 3
        assert reasons(trace) == []
        u1 = text(trace.view(), 1, "u1")
        assert len(u1) == 23
        assert {"\u2028", "\u2029", "\u0085"} <= set(u1)


def test_p04_a_bad_line_is_a_warning_and_an_unfinished_last_line_is_none() -> None:
    with opened("P04.jsonl") as trace:
        assert read_records(trace) == 2
        assert ids(trace.view(), 1) == ["u1", "u2"]
        (warning,) = [issue for issue in trace.issues if issue.severity == "warning"]
        assert warning.line == 2
        assert "not JSON" in warning.reason
        (pending,) = [issue for issue in trace.issues if issue.line == 4]
        assert pending.severity == "info"
        assert reasons(trace, "error") == []
        file = only_file(trace)
        assert (file.records, file.window, file.unreadable) == (3, 2, 1)


def test_p04_a_whole_last_line_without_newline_is_a_record() -> None:
    with opened("P04.full.jsonl") as trace:
        assert only_file(trace).records == 2
        assert ids(trace.view(), 1) == ["u1", "u2"]
        assert reasons(trace) == []


def test_p06_lone_surrogates_become_replacement_characters_and_pairs_stay() -> None:
    with opened("P06.jsonl") as trace:
        assert only_file(trace).records == 2
        (warning,) = trace.issues
        assert warning.severity == "warning"
        assert "2 lone surrogates" in warning.reason
        view = trace.view()
        u1, a1 = text(view, view.now, "u1"), text(view, view.now, "a1")
        assert u1.count("\ufffd") == 2
        assert not any("\ud800" <= char <= "\udfff" for char in u1)
        assert "\U0001f600" in a1


def test_p06_reaches_the_table_and_the_terminal(tmp_path: Path) -> None:
    """DuckDB stores UTF-8 only, and so does a pipe."""
    path = tmp_path / "p06.duckdb"
    open_trace([str(DATA / "P06.jsonl")], db=path).close()
    with duckdb.connect(str(path), read_only=True) as db:
        rows = db.execute("SELECT id, text FROM v_window_text WHERE turn = 2 ORDER BY index").fetchall()
    assert [row[0] for row in rows] == ["u1", "a1"]
    assert rows[0][1].count("\ufffd") == 2
    assert "\U0001f600" in rows[1][1]

    printed = ctxview("show", str(DATA / "P06.jsonl"), "--turn", "now", "--full")
    assert printed.code == 0
    assert printed.out.decode().count("\ufffd") == 2
    assert "\U0001f600" in printed.out.decode()


def test_p07_a_bom_and_carriage_returns_are_no_content() -> None:
    with opened("P07.jsonl") as trace:
        assert only_file(trace).records == 2
        assert reasons(trace, "warning", "error") == []
        view = trace.view()
        assert [row.block.id for row in view.window(1)] == ["u1", "u2"]
        assert not any("\r" in view.text(row.span.content) for row in view.window(1))


def test_p07_utf16_is_read_and_said() -> None:
    with opened("P07.utf16.jsonl") as trace:
        assert only_file(trace).records == 2
        assert ids(trace.view(), 1) == ["u1", "u2"]
        assert any("not UTF-8 (looks like UTF-16)" in reason for reason in reasons(trace))


def test_p09_every_shape_of_a_tool_result_is_read() -> None:
    with opened("P09.jsonl") as trace:
        view = trace.view()
        rows = [row for row in show_report(view, view.now)["blocks"] if row["kind"] in ("tool_result", "image")]
        assert [(row["kind"], row["call_id"]) for row in rows if row["kind"] == "tool_result"] == [
            ("tool_result", f"t{number}") for number in range(1, 7)
        ]
        assert [row["kind"] for row in rows].index("image") == 3, "the image stands right after the text of t3"
        texts = [row["text"] for row in rows if row["kind"] == "tool_result"]
        assert texts[0] == "plain text"
        assert texts[1].split() == ["part", "one", "part", "two"]
        assert texts[2:] == ["see image", "", "", "no such file"]
        assert [row["is_error"] for row in rows if row["kind"] == "tool_result"] == [False] * 5 + [True]
        assert not view.pairing(view.now).orphans
        assert not view.pairing(view.now).duplicates


def test_p10_string_list_and_missing_content_are_all_kept() -> None:
    with opened("P10.jsonl") as trace:
        assert only_file(trace).window == 5
        view = trace.view()
        assert ids(view, 1) == ["u1", "u2", "u3", "u4", "u5"]
        assert text(view, 1, "u1") == "string content"
        assert text(view, 1, "u2") == "list content"
        orphans = {row["id"] for row in show_report(view, 1)["blocks"] if "orphan" in row["states"]}
        assert orphans == {"u3", "u4"}
        empty = shown(view, 1, "u5")
        assert (empty["text"], empty["tokens"], empty["note"]) == ("", 0, "no content")


def test_p13_a_summary_is_no_human_turn_and_history_keeps_what_was_cut() -> None:
    with opened("P13.jsonl") as trace:
        view = trace.view()
        assert view.user_turns == 2
        assert shown(view, 2, "s1")["kind"] == "summary"
        assert ids(view, 2) == ["s1", "u2"]
        assert [row.block.id for row in view.history(view.now)] == ["u1", "a1", "s1", "u2", "a2"]
        assert len(view.cuts) == 1


def test_p15_attachments_stand_in_the_window_and_system_lines_only_link() -> None:
    with opened("P15.jsonl") as trace:
        view = trace.view()
        window = ids(view, view.now)
        assert [block for block in window if not block.startswith("t-")] == ["u1", "a1", "u2", "a2"]
        assert view.messages(view.now) == 4
        assert [row.block.id for row in view.window(view.now) if "injected" in row.states] == ["t-1", "t-3"]
        assert "t-2" not in {block.id for block in view.blocks}


def test_p20_the_last_of_two_equal_keys_stands_and_case_tells_keys_apart() -> None:
    with opened("P20.jsonl") as trace:
        assert only_file(trace).records == 2
        view = trace.view()
        assert ids(view, 1) == ["u1", "u2"]
        assert text(view, 1, "u1") == "second"
        (warning,) = [issue for issue in trace.issues if issue.severity == "warning"]
        assert (warning.line, "duplicate key" in warning.reason) == (1, True)


def test_p22_nesting_without_end_costs_that_line_only(tmp_path: Path) -> None:
    def line(uuid: str, content: str) -> str:
        return f'{{"type":"user","uuid":"{uuid}","message":{{"role":"user","content":{content}}}}}'

    lines = [line("u1", '"before"'), line("u2", "[" * 100_000 + "]" * 100_000), line("u3", '"after"')]
    path = tmp_path / "nested.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        assert [(row.block.id, view.text(row.span.content)) for row in view.window(1)] == [
            ("u1", "before"),
            ("u3", "after"),
        ]
        (warning,) = [issue for issue in trace.issues if issue.severity == "warning"]
        assert (warning.line, "nested too deep" in warning.reason) == (2, True)
        assert only_file(trace).unreadable == 1
    assert ctxview("info", str(path)).code == 0


def test_p25_every_record_that_is_no_message_is_named() -> None:
    report = process_json("info", str(DATA / "P25.jsonl"))
    (file,) = report["files"]
    assert file["window"] == 2
    assert file["known"] == {"file-history-snapshot": 1, "queue-operation": 1, "summary": 1}
    assert file["unknown"] == {"brand-new-kind": 1, "system/brand_new_subtype": 1}
    assert file["records"] == 7
    (session,) = report["sessions"]
    assert (session["title"], session["blocks"]) == ("Demo title", 2)


def test_p27_the_order_of_the_file_stands_and_odd_clocks_are_said() -> None:
    with opened("P27.jsonl") as trace:
        view = trace.view()
        assert ids(view, view.now) == ["u1", "a1", "u2"]
        dates = [issue for issue in trace.issues if issue.severity == "info"]
        assert [(issue.line, issue.severity) for issue in dates] == [(2, "info"), (3, "info")]
        assert "dated before the line above" in dates[0].reason
        assert "no timestamp" in dates[1].reason


def test_the_five_dispositions_of_every_case_file_add_up_to_its_records() -> None:
    names = [path.name for path in sorted(DATA.glob("*.jsonl"))]
    with opened(*names) as trace:
        report = info_report(trace)
    assert len(report["files"]) == len(names)
    for file in report["files"]:
        counted = file["window"] + file["duplicates"] + file["unreadable"]
        counted += sum(file["known"].values()) + sum(file["unknown"].values())
        assert counted == file["records"] > 0, file["path"]
