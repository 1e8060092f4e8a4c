"""`ctxview.toml`: where it is found, what `[pins]` means, and how a mistake is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pin_blocks import agent, person, pins_of, result

from ctxview.annotate.config import note_rules, pin_rules, read_config
from ctxview.annotate.note_rules import NoteRules
from ctxview.annotate.pins import OFF_BY_DEFAULT, PinRules
from ctxview.errors import UsageError
from ctxview.ingest import open_trace
from ctxview.ledger import find_rows
from ctxview.project import find_config

GOOD = """\
[pins]
off = ["question"]
denial_markers = ["REFUSED:"]

[pins.phrases]
constraint = ["hands in pockets", "/keep .* frozen/"]

[resources.stale_after]
default = 8
"""


def rules(tmp_path: Path, text: str) -> PinRules:
    path = tmp_path / "ctxview.toml"
    path.write_text(text, encoding="utf-8")
    return pin_rules(read_config(path))


def test_what_the_table_says_is_done(tmp_path: Path):
    got = rules(tmp_path, GOOD)
    pins = pins_of(
        person("Tidy up."),
        agent("What first?"),
        person("Hands   in pockets, please. Keep the invoices frozen!"),
        result("REFUSED: closed"),
        rules=got,
    )
    assert [(p.block, p.kind) for p in pins] == [(0, "goal"), (2, "constraint"), (2, "constraint"), (3, "denial")]


def test_without_a_file_or_a_table_the_defaults_hold(tmp_path: Path):
    assert pin_rules(None) == PinRules()
    assert rules(tmp_path, "[other]\na = 1\n") == PinRules()
    assert rules(tmp_path, "") == PinRules()


def test_kinds_that_are_off_can_be_switched_on(tmp_path: Path):
    assert rules(tmp_path, '[pins]\non = ["plan"]\n').off == OFF_BY_DEFAULT - {"plan"}


@pytest.mark.parametrize(
    ("text", "where", "cause", "fix"),
    [
        ("[pins]\noff = [", "line 2", "", "mend the TOML"),
        ("\n[pins]\nof = []\n", "line 3: pins.of:", "is no setting", "did you mean 'off'?"),
        ('[pins]\noff = ["denail"]\n', "line 2: pins.off:", "'denail' is no kind of pin", "did you mean 'denial'?"),
        ('[pins]\noff = "goal"\n', "line 2: pins.off:", "not a list of texts", 'off = ["..."]'),
        ('[pins]\ndenial_markers = [" "]\n', "line 2: pins.denial_markers:", "not a list", "for example"),
        ('[pins]\noff = ["plan"]\non = ["plan"]\n', "line 3: pins.on:", "in `on` and in `off`", "keep it in one"),
        ("pins = 3\n", "line 1: pins:", "is not a table", "[pins]"),
        ("[pins]\nphrases = []\n", "line 2: pins.phrases:", "is not a table", "[pins.phrases]"),
        ('[pins.phrases]\nrule = ["x"]\n', "line 2: pins.phrases.rule:", "no kind of pin", "known: goal"),
        ('[pins.phrases]\ngoal = ["/(/"]\n', "line 2: pins.phrases.goal:", "no regular expression", "mend it"),
        ('[pins.phrases]\ngoal = ["/(a+)+$/"]\n', "line 2: pins.phrases.goal:", "repeats a group", "plainer"),
        ('[pins.phrases]\ngoal = ["/(a|aa)+$/"]\n', "line 2: pins.phrases.goal:", "repeats a group", "plainer"),
        ('[pins.phrases]\ngoal = ["' + "x" * 400 + '"]\n', "line 2: pins.phrases.goal:", "longer than", "shorten"),
    ],
)
def test_a_mistake_names_file_line_key_and_fix(tmp_path: Path, text: str, where: str, cause: str, fix: str):
    with pytest.raises(UsageError) as caught:
        rules(tmp_path, text)
    told = caught.value
    assert told.cause.startswith(f"{tmp_path / 'ctxview.toml'}, {where}")
    assert cause in told.cause
    assert fix in told.fix


def test_a_file_that_is_no_text_is_told(tmp_path: Path):
    path = tmp_path / "ctxview.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"ctxview\.toml"):
        read_config(path)


@pytest.mark.parametrize("text", ["x = " + "1" * 5000, "x = " + "[" * 5000])
def test_a_file_beyond_what_python_reads_is_told(tmp_path: Path, text: str):
    path = tmp_path / "ctxview.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"ctxview\.toml"):
        read_config(path)


def test_it_is_found_beside_the_trace_above_it_or_where_one_stands(tmp_path: Path):
    repo = tmp_path / "home" / "repo"
    deep = repo / "runs" / "today"
    deep.mkdir(parents=True)
    trace = deep / "run.jsonl"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "ctxview.toml").touch()  # above the home folder: not this project's

    def found(at: Path | None = trace) -> Path | None:
        return find_config(at, cwd=elsewhere, home=tmp_path / "home")

    assert found() is None
    (tmp_path / "home" / "ctxview.toml").touch()
    assert found() == tmp_path / "home" / "ctxview.toml"
    (repo / ".git").mkdir()
    assert found() is None
    (elsewhere / "ctxview.toml").touch()
    assert found() == found(None) == elsewhere / "ctxview.toml"
    (repo / "ctxview.toml").touch()
    assert found() == repo / "ctxview.toml"
    (deep / "ctxview.toml").touch()
    assert found() == found(deep) == deep / "ctxview.toml"


def test_the_ledgers_table_names_tools_and_arguments(tmp_path: Path):
    """Tools are known with and without their server's name; a project's arguments go before the usual ones."""
    path = tmp_path / "ctxview.toml"
    path.write_text('[ledger]\ntools = ["log_*", "mcp__lab__jot"]\nvalue = ["figure"]\n', encoding="utf-8")
    got = note_rules(read_config(path))
    named = ("log_result", "mcp__lab__log_it", "mcp__lab__jot", "jot", "add_note", "Read")
    assert [got.takes_notes(tool) for tool in named] == [True, True, True, False, True, False]
    assert got.value_keys[:2] == ("figure", "value")
    assert NoteRules.from_json(got.to_json()) == got


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        ('[ledger]\ntool = ["a"]\n', "line 2: ledger.tool: is no setting", "did you mean 'tools'?"),
        ('[ledger]\ntools = "a"\n', "line 2: ledger.tools: is not a list of texts", "for example"),
        ("ledger = 3\n", "line 1: ledger: is not a table", r"write it as a table: \[ledger\]"),
    ],
)
def test_a_mistake_in_the_ledgers_table_names_file_line_cause_and_fix(tmp_path: Path, text: str, cause: str, fix: str):
    path = tmp_path / "ctxview.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=cause) as caught:
        note_rules(read_config(path))
    assert str(path) in caught.value.cause
    assert re.search(fix, caught.value.fix)


def test_a_mistake_in_a_resources_table_names_its_line(tmp_path: Path):
    path = tmp_path / "ctxview.toml"
    path.write_text('[pins]\n\n[resources]\nstale = 3\n', encoding="utf-8")
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "hello"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"ctxview\.toml, line 4: \[resources\] has no setting 'stale'"):
        open_trace([str(chat)])


def test_a_table_that_nothing_reads_is_a_warning_with_the_nearest_name(tmp_path: Path):
    """And the trace opens, with the rules of the other tables."""
    (tmp_path / "ctxview.toml").write_text(
        '[leger]\ntools = ["x"]\n\n[ledger]\ntools = ["jot"]\nvalue = ["figure"]\n', encoding="utf-8"
    )
    chat = tmp_path / "chat.jsonl"
    function = {"name": "jot", "arguments": json.dumps({"finding": "cells", "value": "no", "figure": "4711"})}
    call = {"id": "c", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "count"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]
    chat.write_text("".join(json.dumps(m) + "\n" for m in messages), encoding="utf-8")
    with open_trace([str(chat)], cache=False) as trace:
        told = [(i.line, i.severity, i.reason) for i in trace.issues]
        assert told == [(1, "warning", "'leger' is no table that ctxview reads: did you mean 'ledger'?")]
        assert [(row.finding, row.value) for row in find_rows(trace.view())] == [("cells", "4711")]
