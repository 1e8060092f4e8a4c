"""What the command line prints as text says as much as the terminal interface does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxview.cli.command import cli
from ctxview.errors import UsageError
from ctxview.sample_traces import sample_path

REFUND = str(sample_path("refund"))


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.output


def records(tmp_path: Path, *items: dict[str, object]) -> str:
    """A Codex rollout."""
    lines = [{"type": "session_meta", "payload": {"id": "s", "cli_version": "0.142.0", "cwd": "/w"}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps({"timestamp": "2026-05-01T00:00:00Z", **line}) + "\n" for line in lines))
    return str(path)


def said(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


@pytest.fixture
def rollout(tmp_path: Path) -> str:
    return records(
        tmp_path,
        said("user", "look it up"),
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "A" * 4000},
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "opus"}},
        said("assistant", "found"),
        said("user", "thanks"),
        said("assistant", "welcome"),
    )


@pytest.mark.parametrize("more", [[], ["--full"]])
def test_show_marks_estimates_and_what_was_never_recorded(rollout: str, more: list[str]) -> None:
    text = run("show", rollout, *more)
    assert re.search(r"~\d", text)
    assert "(text not recorded)" in text
    assert "(its results are not recorded)" in text


@pytest.mark.parametrize("trace", [REFUND, str(sample_path("stale")), str(sample_path("ledger"))])
def test_block_takes_the_ids_that_show_and_diff_print(trace: str) -> None:
    blocks = json.loads(run("show", trace, "-t", "5", "--json"))["blocks"]
    lines = run("show", trace, "-t", "5").split("\n\n")[1].splitlines()
    assert len(lines) == len(blocks)
    for block, line in list(zip(blocks, lines, strict=True))[::4]:
        least = min(8, len(block["id"]))
        short = next(word for word in line.split() if len(word) >= least and block["id"].startswith(word))
        assert json.loads(run("block", trace, short, "--json"))["block"]["id"] == block["id"]
    added = [line for line in run("diff", trace, "-t", "3", "-t", "4").splitlines() if line.startswith("+ ")]
    assert run("block", trace, added[0].split()[3])


def test_what_a_policy_put_in_has_no_id_to_ask_for() -> None:
    text = run("show", REFUND, "-t", "6", "--stack", "pin-goal")
    assert re.search(r"note +- +pointer · \(put in by pin-goal\)", text)


def test_a_pin_that_holds_for_good_and_a_block_that_stands_have_no_end() -> None:
    for column, view in (("until", "v_pins"), ('"end"', "v_window")):
        query = f"select count(*) filter ({column} > 1000000), count(*) filter ({column} is null) from {view}"
        ((never, unknown),) = json.loads(run("sql", query, REFUND, "--json"))["rows"]
        assert never == 0
        assert unknown > 0


def test_a_block_that_left_is_absent_and_not_rolling() -> None:
    blocks = json.loads(run("show", REFUND, "-t", "15", "--history", "--json"))["blocks"]
    assert {"absent"} <= {state for block in blocks for state in block["states"]}
    assert not any({"absent", "rolling"} <= set(block["states"]) for block in blocks)


def test_what_a_captured_request_left_out_is_said_once() -> None:
    rows = json.loads(run("sql", "select distinct reason from edits", REFUND, "--json"))["rows"]
    assert ["not in the captured request"] in rows
    assert not any(reason.count("captured request") > 1 for (reason,) in rows)


@pytest.mark.parametrize(("turn", "is_recorded"), [("3", True), ("now", False)])
def test_a_size_without_its_unlogged_part_is_no_share_of_the_limit(turn: str, is_recorded: bool) -> None:
    line = run("show", str(sample_path("stale")), "-t", turn).splitlines()[1]
    assert ("%" in line) == is_recorded
    assert ("unlogged part unknown here" in line) != is_recorded
    assert "limit 200,000" in line


def test_replay_names_the_first_turn_whose_window_contradicts_itself() -> None:
    text = run("replay", str(sample_path("stale")), "--stack", "recorded", "--stack", "supersede")
    assert text.count("differing versions of a resource stand, first at turn 20") == 1


def test_sizes_of_two_measures_are_not_subtracted() -> None:
    """What stands after the last call was never sent, so that nobody recorded its size."""
    stale = str(sample_path("stale"))
    assert re.search(r"^turn 38: [\d,]+ tokens recorded, turn 40: [\d,]+ tokens recorded \(\+\d+\)$",
                     run("diff", stale, "-t", "38", "-t", "40"), re.MULTILINE)  # fmt: skip
    assert re.search(r"^turn 40: [\d,]+ tokens recorded, now: [\d,]+ tokens calibrated$",
                     run("diff", stale, "-t", "40", "-t", "now"), re.MULTILINE)  # fmt: skip


@pytest.mark.parametrize(("threshold", "calls"), [(8, 7), (20, 19), (20, 20)])
def test_the_life_of_a_reading_tells_when_it_grew_old(tmp_path: Path, threshold: int, calls: int) -> None:
    """Whatever the project's threshold is, and not a turn before the window says so."""
    (tmp_path / "ctxview.toml").write_text(f"[resources.stale_after]\ndefault = {threshold}\n")
    function = {"name": "read_file", "arguments": '{"path": "/w/a.py"}'}
    items: list[dict[str, object]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "x = 1"},
    ]
    for _ in range(calls - 1):
        items += [{"role": "assistant", "content": "step"}, {"role": "user", "content": "more"}]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    (shown,) = [
        block
        for block in json.loads(run("show", str(path), "--turn", "now", "--json"))["blocks"]
        if block["kind"] == "tool_result"
    ]
    life = json.loads(run("block", str(path), shown["id"], "--json"))
    assert shown["age"] == calls
    assert life["block"]["states"] == shown["states"]
    grown = [state["turn"] for state in life["states"] if "stale" in state["state"]]
    assert grown == ([threshold + 1] if "stale" in shown["states"] else [])


@pytest.mark.parametrize("turn", ["0", "-1", "\u00b2", "1" * 5000, "first"])
def test_what_is_no_turn_is_refused_before_the_terminal_opens(turn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.cli.open_.has_terminal", lambda: True)
    monkeypatch.setattr("ctxview.cli.open_.open_in_terminal", lambda *_: pytest.fail("it was opened"))
    result = CliRunner().invoke(cli, ["open", REFUND, "--turn", turn])
    assert isinstance(result.exception, UsageError)
