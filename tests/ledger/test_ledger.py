"""What an agent noted, followed to what it wrote: the two tests of a row, grace, gates, and where a value was lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxview.errors import UsageError
from ctxview.ingest import Trace, open_trace
from ctxview.ledger import Ledger, distinctive_tokens, find_rows, holds_value, sidecar_rows
from ctxview.ledger.sidecar import sidecar_of
from ctxview.report.ledger import ledger_report
from ctxview.sample_traces import sample_path

CASES = Path(__file__).parents[1] / "data" / "cases"


@pytest.fixture(scope="module")
def sample() -> Iterator[Trace]:
    with open_trace([str(sample_path("ledger"))]) as trace:
        yield trace


def _chat(tmp_path: Path, *messages: dict[str, Any]) -> Trace:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(m) + "\n" for m in messages), encoding="utf-8")
    return open_trace([str(path)])


def _call(name: str, arguments: dict[str, Any], number: int) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": "ok"},
    ]


def test_the_samples_four_rows_end_as_scenarios_say(sample: Trace) -> None:
    """Coarse unchecked and strict missing; coarse but not strict; both; neither."""
    rows = {r["id"]: (r["coarse"], r["strict"]) for r in ledger_report(sample.view())["rows"]}
    assert rows == {
        "L1": ("unchecked", "missing"),
        "L2": ("encoded", "missing"),
        "L3": ("encoded", "value-encoded"),
        "L4": ("missing", "missing"),
    }


def test_the_samples_rows_at_every_turn(sample: Trace) -> None:
    """Each status holds from the turn after what brought it, and nothing is known before it was noted."""
    ledger = Ledger(sample.view())
    noted = {"L1": 3, "L2": 61, "L3": 148, "L4": 291}
    changes: dict[str, list[tuple[int, str, str]]] = {row: [] for row in noted}
    for turn in range(1, sample.view().now + 1):
        states = ledger.at(turn)
        assert [s.row.id for s in states] == [row for row, at in noted.items() if at < turn]
        for s in states:
            if not changes[s.row.id] or changes[s.row.id][-1][1:] != (s.coarse, s.strict):
                changes[s.row.id].append((turn, s.coarse, s.strict))
    assert changes == {
        "L1": [(4, "not-drafted", "not-drafted"), (404, "unchecked", "missing")],
        "L2": [(62, "not-drafted", "not-drafted"), (406, "encoded", "missing")],
        "L3": [(149, "not-drafted", "not-drafted"), (408, "encoded", "value-encoded")],
        "L4": [(292, "not-drafted", "not-drafted"), (410, "missing", "missing")],
    }


def test_the_sample_loses_a_value_seen_400_turns_before(sample: Trace) -> None:
    """Age counts from the newest sight of the value; the fact still stands in the window and was lost all the same."""
    first = Ledger(sample.view()).at(404)[0]
    assert (first.first_seen, first.last_seen, first.age, first.tier) == (3, 4, 400, "window")
    report = ledger_report(sample.view())
    assert report["survival"] == {
        "values": 4,
        "never_seen": 0,
        "seen_not_noted": 0,
        "noted_not_encoded": 2,
        "encoded_without_value": 1,
        "shipped": 1,
    }
    assert report["notes_share"] == round(4 / 420, 4)


def test_the_sidecar_tells_the_same_as_the_calls(sample: Trace) -> None:
    """Its rows are those that were noted, so none comes twice."""
    beside = sidecar_of(sample_path("ledger"))
    assert beside is not None
    extra = sidecar_rows(beside)
    assert len(extra) == 4
    assert len(Ledger(sample.view(), extra).rows) == 4


@pytest.mark.parametrize(
    ("finding", "value", "tokens"),
    [
        ("keep the top five", "p60", ()),
        ("a run of 750", "75 %", ()),
        ("retry_limit_s is used up", "1750", ("retry_limit_s", "1750")),
        ("see config.toml", "", ("config.toml",)),
        ("the Parser and the README", "", ()),
        ("maxRetries", "18,432", ("maxRetries", "18,432")),
        ("lat,p95_ms and 1,750,2026", "1750.", ("p95_ms", "1,750", "2026", "1750")),
        ("v1.2.3456 of 3.14159", "2024-05-06", ("v1.2.3456", "3.14159", "2024")),
    ],
)
def test_distinctive_tokens_are_long_numbers_and_identifiers(finding: str, value: str, tokens: tuple[str, ...]) -> None:
    assert distinctive_tokens(finding, value) == tokens


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("there were 18,432 of them", "18432", True),
        ("there were 18432 of them.", "18,432", True),
        ("there were 118432 of them", "18432", False),
        ("18432.5 of them", "18432", False),
        ("above the cutoff P60", "p60", True),
        ("p605", "p60", False),
        ("anything", "", False),
        ("in all 1,234,567 EUR", "1234567 EUR", True),
        ("in all 1234567  eur.", "1,234,567 EUR", True),
        ("it costs $5200", "$5,200", True),
        ("from 18,432 to 20,000", "18432 to 20000", True),
        ("7,18432,x", "18432", True),
        ("1,018,432", "18432", False),
        ("18,432", "432", False),
        ("18,432", "18", False),
        ("item_18432 and v18432 and 18432b", "18432", False),
        ("3.18432", "18432", False),
        ("a rise of 12.5%", "12.5%", True),
        ("a rise of 112.5%", "12.5%", False),
    ],
)
def test_a_value_is_held_as_a_word_of_its_own(text: str, value: str, held: bool) -> None:
    assert holds_value(text, value) is held


def test_a_fresh_row_has_the_grace_of_one_section(tmp_path: Path) -> None:
    """Without a section of its own a row counts once two were written; the document's end counts everything."""
    trace = _chat(
        tmp_path,
        {"role": "user", "content": "Write the report."},
        *_call("note", {"finding": "the limit is max_rows_v2", "value": "5000"}, 1),
        *_call("write_section", {"section": "One", "text": "Nothing of it."}, 2),
        *_call("write_section", {"section": "Two", "text": "Nothing either."}, 3),
        *_call("write_file", {"path": "report.md", "content": "Nothing at all."}, 4),
    )
    with trace:
        ledger = Ledger(trace.view())
        assert [ledger.at(turn)[0].coarse for turn in (2, 3, 4, 5)] == ["not-drafted", "in-grace", "missing", "missing"]
        assert [(g.section, g.outstanding, g.refused) for g in ledger.gates()] == [
            ("One", (), False),
            ("Two", ("L1",), True),
            ("report.md", ("L1",), True),
        ]


def test_a_failed_note_and_a_failed_draft_count_for_nothing(tmp_path: Path) -> None:
    """What a tool refused was neither noted nor written."""
    path = tmp_path / "failed.jsonl"
    lines = []
    parent = None
    for i, (name, arguments) in enumerate(
        [("note", {"finding": "x_y_z_1", "value": "4242"}), ("Write", {"file_path": "a.md", "content": "x_y_z_1"})]
    ):
        use = {"type": "tool_use", "id": f"t{i}", "name": name, "input": arguments}
        answer = {"id": f"m{i}", "role": "assistant", "model": "m", "content": [use]}
        result = {"type": "tool_result", "tool_use_id": f"t{i}", "content": "no", "is_error": True}
        for kind, message in (("assistant", answer), ("user", {"role": "user", "content": [result]})):
            record = {"type": kind, "uuid": f"{kind}{i}", "parentUuid": parent, "sessionId": "s", "message": message}
            parent = f"{kind}{i}"
            lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_trace([str(path)]) as trace:
        ledger = Ledger(trace.view())
        assert ledger.rows == ()
        assert ledger.drafts.items == ()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.ledger.csv", "name,other\n1,2\n", "line 1"),
        ("a.ledger.jsonl", '{"finding": "x"}\nnot json\n', "line 2"),
        ("a.ledger.csv", "finding,noted_at\nx,soon\n", "noted_at"),
        ("a.ledger.jsonl", '{"finding": "x", "noted_at": Infinity}\n', "noted_at"),
        pytest.param("a.ledger.csv", "finding,value\nx,1\n" + "y" * 140_000 + ",2\n", "line 2: field", id="long cell"),
    ],
)
def test_a_broken_sidecar_names_its_line(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        sidecar_rows(path)


def test_a_sidecar_keeps_what_its_cells_hold(tmp_path: Path) -> None:
    """Line ends inside a cell, characters that only look like line ends, and the value 0."""
    table = tmp_path / "a.ledger.csv"
    table.write_bytes('finding,value\r\n"one\ntwo",0\r\n"a\u2028b\x85c",12345\r\n'.encode())
    assert [(r.finding, r.value) for r in sidecar_rows(table)] == [("one\ntwo", "0"), ("a\u2028b\x85c", "12345")]
    lines = tmp_path / "a.ledger.jsonl"
    lines.write_text('{"finding": "none left", "value": 0}\n', encoding="utf-8")
    assert [(r.finding, r.value) for r in sidecar_rows(lines)] == [("none left", "0")]


def test_no_answer_is_the_final_one_before_the_last_call(tmp_path: Path) -> None:
    """An answer in words, followed by a call whose answer was never written, drafts nothing at that call."""
    noted = _call("add_note", {"finding": "build", "value": "4711"}, 1)
    wrote = _call("write_file", {"path": "report.md", "content": "Nothing yet."}, 2)
    said = {"role": "assistant", "content": "The build is 4711."}
    asked = {"role": "user", "content": "Go on."}
    with _chat(tmp_path, asked, *noted, *wrote, said, asked, {"role": "assistant", "content": ""}) as trace:
        ledger = Ledger(trace.view())
        last = trace.view().last
        assert [d.turn for d in ledger.drafts.items if d.section == "final answer"] == [last]
        assert ledger.at(last)[0].strict == "missing"


@pytest.mark.parametrize(
    ("tool", "arguments", "rows"),
    [
        (
            "mcp__memory__create_entities",
            {"entities": [{"name": "Depot 7", "observations": ["holds 41 crates", "shut on Mondays"]}]},
            [("holds 41 crates", "Depot 7"), ("shut on Mondays", "Depot 7")],
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "Depot 7", "contents": ["reopens at 06:40"]}]},
            [("reopens at 06:40", "Depot 7")],
        ),
        (
            "memory",
            {"command": "create", "path": "/memories/depot.md", "file_text": "holds 41 crates"},
            [("holds 41 crates", "/memories/depot.md")],
        ),
        ("memory", {"command": "view", "path": "/memories"}, []),
        ("core_memory_append", {"label": "human", "content": "likes tea"}, [("likes tea", "human")]),
    ],
)  # fmt: skip
def test_what_memory_tools_keep_are_rows(
    tmp_path: Path, tool: str, arguments: dict[str, Any], rows: list[tuple[str, str]]
) -> None:
    with _chat(tmp_path, {"role": "user", "content": "go"}, *_call(tool, arguments, 1)) as trace:
        found = find_rows(trace.view())
    assert [(row.finding, row.section) for row in found] == rows
    assert not any(row.source for row in found)


def test_w19_tasks_are_rows_with_their_status_at_every_turn() -> None:
    with open_trace([str(CASES / "W19.jsonl")]) as trace:
        view = trace.view()
        rows = [[(r["id"], r["finding"], r["status"]) for r in ledger_report(view, t)["rows"]] for t in range(1, 5)]
    docs, tests = ("T7", "write docs"), ("T8", "add tests")
    assert rows == [
        [],
        [(*docs, "pending")],
        [(*docs, "pending"), (*tests, "pending")],
        [(*docs, "completed"), (*tests, "pending")],
    ]


def test_work_is_never_outstanding_and_no_value(tmp_path: Path) -> None:
    """A gate closes although items are open; a list that is written anew keeps the turn in which an item was noted."""
    todos = [{"content": "Fix get_user in v2.10", "status": "in_progress"}, {"content": "Ship", "status": "pending"}]
    done = [{**todo, "status": "completed"} for todo in todos]
    messages = [
        {"role": "user", "content": "Go"},
        *_call("TodoWrite", {"todos": todos}, 1),
        *_call("write_file", {"path": "report.md", "content": "# A\ntext"}, 2),
        *_call("TodoWrite", {"todos": done}, 3),
        {"role": "assistant", "content": "Done."},
    ]
    with _chat(tmp_path, *messages) as trace:
        view = trace.view()
        early, late = ledger_report(view, 3), ledger_report(view)
        assert [gate["outstanding"] for gate in late["gates"]] == [[] for _ in late["gates"]]
    assert [(r["status"], r["noted_at"], r["age"], r["tier"]) for r in early["rows"]] == [
        ("in_progress", 1, 1, "window"),
        ("pending", 1, 1, "window"),
    ]
    assert [(r["status"], r["coarse"], r["noted_at"], r["last_seen"]) for r in late["rows"]] == [
        ("completed", "unchecked", 1, 4),
        ("completed", "unchecked", 1, 4),
    ]
    assert late["survival"]["values"] == 0
    assert late["notes_share"] == 0.5


def _edited(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"old_string": old, "new_string": new, **more}


@pytest.mark.parametrize(
    "writes",
    [
        [
            ("Edit", _edited("A: TODO", "A: 18432", file_path="report.md")),
            ("Edit", _edited("B: TODO", "B: 99121", file_path="report.md")),
        ],
        [("MultiEdit", {"file_path": "report.md", "edits": [_edited("A", "A: 18432"), _edited("B", "B: 99121")]})],
        [
            ("str_replace_editor", {"command": "insert", "path": "report.md", "insert_line": 1, "insert_text": text})
            for text in ("A: 18432", "B: 99121")
        ],
        [("append_section", {"section": "One", "text": text}) for text in ("A: 18432", "B: 99121")],
        [("apply_patch", {"input": "*** Begin Patch\n*** Add File: report.md\n+A: 18432\n+B: 99121\n*** End Patch"})],
        [
            (
                "apply_patch",
                {
                    "input": "*** Begin Patch\n*** Update File: report.md\n@@\n Sums\n-A: ?\n+A: 18432\n"
                    "@@ later\n-B: ?\n+B: 99121\n*** End Patch"
                },
            )
        ],
        [
            ("Bash", {"command": "mkdir -p out && cat > report.md <<'EOF'\nA: 18432\nEOF"}),
            ("exec_command", {"cmd": "echo 'B: 99121' >> report.md"}),
        ],
        [("shell", {"command": ["bash", "-lc", "printf 'A: 18432\\nB: 99121\\n' | tee report.md"]})],
        [
            (
                "shell",
                {
                    "command": [
                        "apply_patch",
                        "*** Begin Patch\n*** Add File: report.md\n+A: 18432\n+B: 99121\n*** End Patch",
                    ]
                },
            )
        ],
    ],
    ids=[
        "edits", "several at once", "insertions", "additions", "a patch adds", "a patch changes",
        "a heredoc and echo", "tee", "a patch in a shell",
    ],
)  # fmt: skip
def test_every_way_to_write_adds_to_what_stands(tmp_path: Path, writes: list[tuple[str, dict[str, Any]]]) -> None:
    """Of a document that was there before the session, what was written is known, and no later write undoes it."""
    notes = [
        *_call("add_note", {"finding": "the sum of A", "value": "18432"}, 1),
        *_call("add_note", {"finding": "the sum of B", "value": "99121"}, 2),
    ]
    calls = [message for n, (name, arguments) in enumerate(writes, 3) for message in _call(name, arguments, n)]
    with _chat(tmp_path, {"role": "user", "content": "Write it."}, *notes, *calls) as trace:
        ledger = Ledger(trace.view())
        assert [state.strict for state in ledger.at(trace.view().now)] == ["value-encoded", "value-encoded"]
        assert [gate.outstanding for gate in ledger.gates()][-1] == ()


def test_an_edit_takes_away_what_it_replaces(tmp_path: Path) -> None:
    """With more of the document around it than the session itself wrote, too."""
    trace = _chat(
        tmp_path,
        {"role": "user", "content": "Write it."},
        *_call("add_note", {"finding": "the sum of A", "value": "18432"}, 1),
        *_call("Edit", _edited("A: TODO", "A: 18432", file_path="report.md"), 2),
        *_call("Edit", _edited("# Sums\nA: 18432\n", "# Sums\nA: unknown\n", file_path="report.md"), 3),
    )
    with trace:
        ledger = Ledger(trace.view())
        assert [ledger.at(turn)[0].strict for turn in (3, 4)] == ["value-encoded", "missing"]


def test_a_command_that_failed_wrote_nothing(tmp_path: Path) -> None:
    write, answered = _call("Bash", {"command": "cat > /locked/report.md <<'EOF'\nA: 18432\nEOF"}, 2)
    answered["content"] = "Exit code 1\nbash: /locked/report.md: Permission denied"
    said = {"role": "user", "content": "Write it."}
    with _chat(tmp_path, said, *_call("add_note", {"finding": "A", "value": "18432"}, 1), write, answered) as trace:
        assert Ledger(trace.view()).at(trace.view().now)[0].strict == "not-drafted"


def test_a_harness_that_runs_the_command_in_an_answer_lets_it_write(tmp_path: Path) -> None:
    write = "Now the report.\n```bash\ncat > report.md <<'EOF'\nA: 18432\nEOF\n```"
    messages = [
        {"role": "user", "content": "Write it."},
        *_call("add_note", {"finding": "the sum of A", "value": "18432"}, 1),
        {"role": "assistant", "content": write},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\n</output>"},
    ]
    with _chat(tmp_path, *messages) as trace:
        ledger = Ledger(trace.view())
        assert [d.section for d in ledger.drafts.items] == ["report.md"]
        assert ledger.at(trace.view().now)[0].strict == "value-encoded"


@pytest.mark.parametrize("said", ["Error: EACCES: permission denied", "Exit code 2\nno space left"])
@pytest.mark.parametrize(
    "writes",
    [
        ("Write", {"file_path": "report.md", "content": "A: 18432"}),
        ("Bash", {"command": "echo 'A: 18432' > report.md"}),
    ],
    ids=["a file tool", "a shell"],
)
def test_a_call_that_failed_by_its_words_wrote_nothing(
    tmp_path: Path, writes: tuple[str, dict[str, Any]], said: str
) -> None:
    write, answered = _call(*writes, 2)
    answered["content"] = said
    note = _call("add_note", {"finding": "A", "value": "18432"}, 1)
    with _chat(tmp_path, {"role": "user", "content": "Write it."}, *note, write, answered) as trace:
        assert Ledger(trace.view()).at(trace.view().now)[0].strict == "not-drafted"


def test_a_note_that_was_refused_is_no_row(tmp_path: Path) -> None:
    note, answered = _call("add_note", {"finding": "A", "value": "18432"}, 1)
    answered["content"] = "Error: the store is read-only"
    with _chat(tmp_path, {"role": "user", "content": "Note it."}, note, answered) as trace:
        assert Ledger(trace.view()).rows == ()


def test_what_a_later_result_says_changes_no_window_before_it(tmp_path: Path) -> None:
    """A result that comes late, or belongs to a later call of the same id."""
    said = {"role": "user", "content": "Write it."}
    note = _call("add_note", {"finding": "A", "value": "18432"}, 1)
    write, written = _call("Bash", {"command": "echo 'A: 18432' > report.md"}, 2)
    again, failed = _call("Bash", {"command": "cat nope"}, 2)
    failed["content"] = "Exit code 1\ncat: nope: No such file or directory"
    with _chat(tmp_path, said, *note, write, written, again, failed) as trace:
        ledger = Ledger(trace.view())
        written_by = {turn: ledger.at(turn)[0].strict for turn in (2, 3, 4)}
    assert written_by == {2: "not-drafted", 3: "value-encoded", 4: "value-encoded"}


def test_values_that_were_not_written_are_told_with_their_turn(sample: Trace) -> None:
    assert [(turn, row.id) for turn, row in Ledger(sample.view()).lost()] == [(404, "L1"), (406, "L2"), (410, "L4")]
