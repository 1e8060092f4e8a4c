"""What the bundled samples must hold, read from their raw JSON: no loader stands between a fact and its test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ctxview.sample_traces import SAMPLES, sample_path
from ctxview.tokens import Counter

ROOT = Path(__file__).resolve().parents[2]
COUNTER = Counter("o200k_base")

Json = dict[str, Any]


def records(name: str) -> list[Json]:
    return [json.loads(line) for line in sample_path(name).read_text(encoding="utf-8").split("\n") if line]


def parts(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(message: Json) -> str:
    """All that the model would read of a message: texts, calls with their arguments, results."""
    out = []
    for part in parts(message):
        if part["type"] == "tool_use":
            out.append(part["name"] + json.dumps(part["input"], ensure_ascii=False))
        else:
            out.append(part.get("text") or part.get("content") or "")
    return "\n".join(out)


def counted(request: Json) -> int:
    return COUNTER.count(request["system"]) + sum(COUNTER.count(text_of(message)) for message in request["messages"])


def window_text(request: Json) -> str:
    return "\n".join([request["system"], *(text_of(message) for message in request["messages"])])


def calls_in(message: Json) -> list[Json]:
    return [part for part in parts(message) if part["type"] == "tool_use"]


def orphaned_results(messages: list[Json]) -> list[int]:
    """Positions of results without a call in the same window; the system prompt is position 0."""
    called: set[str] = set()
    out = []
    for position, message in enumerate(messages, 1):
        called |= {call["id"] for call in calls_in(message)}
        results = [part["tool_use_id"] for part in parts(message) if part["type"] == "tool_result"]
        out += [position for call_id in results if call_id not in called]
    return out


# ------------------------------------------------------------------------------------------------------- all samples


def test_the_generator_writes_exactly_the_committed_files(tmp_path: Path) -> None:
    """Nobody edits a sample by hand, and nothing in the generator depends on clock or chance."""
    script = ROOT / "scripts" / "make_samples.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True, capture_output=True)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted([*(sample.file for sample in SAMPLES), "ledger.ledger.csv"])
    for name in made:
        assert (tmp_path / name).read_bytes() == (ROOT / "sample_traces" / name).read_bytes(), name


def test_the_registry_names_files_that_exist() -> None:
    assert [sample.name for sample in SAMPLES] == ["collapse", "tutor", "stale", "refund", "ledger"]
    for sample in SAMPLES:
        assert sample_path(sample.name).is_file()
        assert sample.shows.endswith(".")


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(KeyError, match="collapse, tutor, stale, refund, ledger"):
        sample_path("nothing")


@pytest.mark.parametrize("name", ["collapse", "refund"])
def test_each_captured_request_is_the_tail_of_everything_said_before(name: str) -> None:
    """The naive loop: system, and the last few messages of a history that only grows."""
    keep = {"collapse": 6, "refund": 7}[name]
    history: list[Json] = []
    for record in records(name):
        window = record["request"]["messages"]
        assert len(window) <= keep
        seen = max((n for n in range(len(window) + 1) if history[len(history) - n :] == window[:n]), default=0)
        history += window[seen:]
        assert window == history[-keep:]
        history.append({"role": "assistant", "content": record["response"]["content"]})


# ---------------------------------------------------------------------------------------------------------- collapse


def test_collapse_has_ten_steps_that_all_mention_the_auth_log() -> None:
    steps = records("collapse")
    assert len(steps) == 10
    assert [len(step["request"]["messages"]) for step in steps] == [2, 4] + [6] * 8
    for step in steps:
        assert re.search(r"\bauth log\b", step["request"]["messages"][-1]["content"], re.IGNORECASE)


def test_collapse_loses_the_goal_at_turn_4_and_never_sees_it_again() -> None:
    steps = records("collapse")
    goal = steps[0]["request"]["messages"][0]["content"]
    assert "MySQL" in goal
    assert "Postgres" in goal
    assert "auth service is off limits" in goal
    held = [any(message["content"] == goal for message in step["request"]["messages"]) for step in steps]
    assert held == [True] * 3 + [False] * 7
    last = window_text(steps[-1]["request"])
    assert not re.search(r"mysql|postgres|migrat|off limits", last, re.IGNORECASE)


def test_collapse_drops_a_correction_a_decision_and_an_open_question() -> None:
    """So that a marker which says that nothing was decided is false."""
    steps = records("collapse")
    for words in ("Actually, skip the invoices table", "Decision: every DATETIME", "Open question: do we keep"):
        assert any(words in window_text(step["request"]) for step in steps[:3]), words
        assert words not in window_text(steps[-1]["request"])


def test_collapse_ends_with_a_reply_that_turns_to_auth() -> None:
    reply = records("collapse")[-1]["response"]["content"][0]["text"]
    assert "fix the auth service" in reply
    assert "migrat" not in reply


# ------------------------------------------------------------------------------------------------------------ refund


def test_refund_ends_with_eight_messages_and_about_510_tokens() -> None:
    turns = records("refund")
    assert len(turns) == 15
    last = turns[-1]["request"]
    assert 1 + len(last["messages"]) == 8
    assert 500 <= counted(last) <= 520


def test_refund_holds_no_goal_constraint_or_denial_at_the_end() -> None:
    turns = records("refund")
    goal = turns[0]["request"]["messages"][0]["content"]
    assert goal.startswith("Goal:")
    last = window_text(turns[-1]["request"])
    assert goal not in last
    assert "never contact" not in last
    assert "DENIED by policy:" not in last


def test_refund_starts_its_last_window_with_the_one_orphaned_result() -> None:
    turns = records("refund")
    assert orphaned_results(turns[-1]["request"]["messages"]) == [1]
    first = next(n for n, turn in enumerate(turns, 1) if orphaned_results(turn["request"]["messages"]))
    assert first == 9


def test_refund_is_denied_at_3_constrained_at_5_and_retried_with_an_e_mail_at_12() -> None:
    turns = records("refund")
    asked = [call for turn in turns for call in turn["response"]["content"] if call["type"] == "tool_use"]
    denied = next(part for part in turns[2]["response"]["content"] if part["type"] == "tool_use")
    assert denied["name"] == "issue_refund"
    result = parts(turns[3]["request"]["messages"][-1])[0]
    assert result["tool_use_id"] == denied["id"]
    assert result["content"].startswith("DENIED by policy: ")
    assert turns[4]["request"]["messages"][-1]["content"].startswith("One rule from legal: never contact the customer")
    retried = [part for part in turns[11]["response"]["content"] if part["type"] == "tool_use"]
    assert [call["name"] for call in retried] == ["issue_refund", "draft_email"]
    assert retried[0]["input"] == denied["input"]
    at_retry = window_text(turns[11]["request"])
    assert "DENIED" not in at_retry
    assert "never contact" not in at_retry
    assert sum(call["name"] == "fetch_invoices" for call in asked) == 8


def test_refund_has_room_for_a_smaller_window_in_which_everything_survives() -> None:
    """System, goal, constraint, the denied group, a digest, and the last two groups with what the person said last:
    eleven messages, fewer tokens than the recorded window."""
    turns = records("refund")
    last = turns[-1]["request"]
    denial = turns[3]["request"]["messages"][-2:]
    kept = [turns[0]["request"]["messages"][0], *denial, turns[4]["request"]["messages"][-1], *last["messages"][2:]]
    digest = (
        "[compacted 24 earlier messages] | tools used: fetch_invoices x8, get_account x1, get_payments x1, "
        "issue_refund x1, draft_email x1 | denials preserved: 1"
    )
    size = COUNTER.count(last["system"]) + COUNTER.count(digest) + sum(COUNTER.count(text_of(m)) for m in kept)
    assert 1 + len(kept) + 1 == 11
    assert orphaned_results(kept) == []
    assert 310 <= size <= 350 < counted(last)


# ------------------------------------------------------------------------------------------ Claude Code: tutor, stale


def calls(name: str) -> list[list[Json]]:
    """Assistant lines by model call, in order."""
    out: dict[str, list[Json]] = {}
    for record in records(name):
        if record["type"] == "assistant":
            out.setdefault(record["message"]["id"], []).append(record)
    return list(out.values())


def turn_blocks(name: str, turn: int) -> list[Json]:
    return [part for record in calls(name)[turn - 1] for part in record["message"]["content"]]


def turn_text(name: str, turn: int) -> str:
    return "\n".join(part["text"] for part in turn_blocks(name, turn) if part["type"] == "text")


def prompt(record: Json) -> int:
    usage = record["message"]["usage"]
    return int(usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"])


@pytest.mark.parametrize(("name", "count"), [("tutor", 60), ("stale", 40)])
def test_claude_sessions_have_their_turns_and_one_chain(name: str, count: int) -> None:
    assert len(calls(name)) == count
    known: set[str] = set()
    roots = 0
    for record in records(name):
        if "uuid" not in record:
            continue
        roots += record["parentUuid"] is None
        assert record["parentUuid"] is None or record["parentUuid"] in known
        assert record["uuid"] not in known
        known.add(record["uuid"])
    assert roots == {"tutor": 2, "stale": 1}[name]


@pytest.mark.parametrize("name", ["tutor", "stale"])
def test_claude_sessions_answer_every_call_once(name: str) -> None:
    asked = [
        part["id"] for turn in calls(name) for record in turn for part in record["message"]["content"] if "id" in part
    ]
    answered = [
        part["tool_use_id"]
        for record in records(name)
        if record["type"] == "user"
        for part in parts(record["message"])
        if part["type"] == "tool_result"
    ]
    assert sorted(asked) == sorted(answered)


@pytest.mark.parametrize("name", ["tutor", "stale"])
def test_recorded_usage_grows_with_the_window_and_reads_the_cache(name: str) -> None:
    first = [turn[0] for turn in calls(name)]
    for before, after in pairwise(first):
        if name == "tutor" and after is first[34]:
            assert prompt(after) < prompt(before)
            continue
        assert prompt(after) > prompt(before)
        read = after["message"]["usage"]["cache_read_input_tokens"]
        assert read == prompt(before) - before["message"]["usage"]["input_tokens"]


@cache
def tutor_boundary() -> tuple[Json, Json]:
    lines = records("tutor")
    at = next(n for n, line in enumerate(lines) if line.get("subtype") == "compact_boundary")
    return lines[at], lines[at + 1]


def test_tutor_is_compacted_once_before_turn_35() -> None:
    lines = records("tutor")
    assert sum(line.get("subtype") == "compact_boundary" for line in lines) == 1
    boundary, summary = tutor_boundary()
    assert boundary["compactMetadata"]["trigger"] == "auto"
    assert boundary["logicalParentUuid"] == calls("tutor")[33][-1]["uuid"]
    assert summary["isCompactSummary"]
    assert summary["parentUuid"] == boundary["uuid"]
    assert lines.index(boundary) < lines.index(calls("tutor")[34][0])


def test_tutor_states_method_rounding_and_substitutions_and_the_summary_carries_none() -> None:
    typed = [line["message"]["content"] for line in records("tutor") if line["type"] == "user"]
    said = [text for text in typed if isinstance(text, str)]
    assert sum(text.startswith("I prefer one method throughout: complete the square") for text in said) == 1
    assert sum("round every result to two decimals" in text for text in said) == 1
    assert sum("Noor's substitutions were:" in text for text in said) == 1
    summary = tutor_boundary()[1]["message"]["content"]
    assert not re.search(r"square|formula|decimal|round|noor|substitut", summary, re.IGNORECASE)


def test_tutor_keeps_both_preferences_before_and_breaks_both_after() -> None:
    for turn in range(1, 61):
        text = turn_text("tutor", turn)
        if not text.startswith("Exercise ") or ": x^2" not in text:
            continue
        if turn < 35:
            assert "complete the square" in text
            assert not re.search(r"\d\.\d{3}", text)
        else:
            assert "quadratic formula" in text
            assert re.search(r"\d\.\d{4}\b", text)
    assert "quadratic formula" in turn_text("tutor", 36)
    assert "quadratic formula" in turn_text("tutor", 60)


def test_tutor_has_no_record_of_the_substitutions_at_turn_56() -> None:
    asked = next(line for line in records("tutor") if line.get("uuid") == calls("tutor")[55][0]["parentUuid"])
    assert asked["message"]["content"].endswith("Which substitutions did Noor use?")
    assert "no record of Noor's substitutions" in turn_text("tutor", 56)


def test_tutor_stops_using_its_tools_after_the_compaction() -> None:
    used = [n for n in range(1, 61) if any(part["type"] == "tool_use" for part in turn_blocks("tutor", n))]
    assert len(used) == 15
    assert max(used) < 35


def test_stale_reads_the_config_at_6_and_writes_it_at_19_and_31() -> None:
    touched = {}
    for turn in range(1, 41):
        for part in turn_blocks("stale", turn):
            if part["type"] == "tool_use" and part["input"].get("file_path", "").endswith("config/gateway.yaml"):
                touched[turn] = part["name"]
    assert touched == {6: "Read", 19: "Write", 31: "Write"}


def test_stale_holds_three_versions_that_differ_in_what_the_rollout_needs() -> None:
    results = {
        part["tool_use_id"]: part["content"]
        for line in records("stale")
        if line["type"] == "user"
        for part in parts(line["message"])
        if part["type"] == "tool_result"
    }
    read = next(part for part in turn_blocks("stale", 6) if part["type"] == "tool_use")
    written = [next(p for p in turn_blocks("stale", turn) if p["type"] == "tool_use") for turn in (19, 31)]
    first = "\n".join(line.split("\t", 1)[1] for line in results[read["id"]].split("\n"))
    versions = [first, *(call["input"]["content"] for call in written)]
    found = [
        tuple(re.search(rf"{key}: (\S+)", text)[1] for key in ("address", "prefetch", "ack_timeout_ms"))  # type: ignore[index]
        for text in versions
    ]
    assert found == [
        ("queue-a.parcel.internal:5671", "40", "4500"),
        ("queue-b.parcel.internal:5671", "60", "9000"),
        ("queue-c.parcel.internal:5671", "25", "15000"),
    ]
    assert not any(line.get("subtype") == "compact_boundary" for line in records("stale"))


def test_stale_acts_at_turn_40_on_the_version_of_turn_6() -> None:
    call = next(part for part in turn_blocks("stale", 40) if part["type"] == "tool_use")
    command = call["input"]["command"]
    assert "--broker queue-a.parcel.internal:5671 --prefetch 40 --ack-timeout-ms 4500" in command
    others = [json.dumps(turn_blocks("stale", turn)) for turn in range(1, 40)]
    assert not any("queue-a" in text for text in others), "the value has no other origin than the read of turn 6"


def test_stale_stays_in_a_small_window() -> None:
    sizes = [prompt(turn[0]) for turn in calls("stale")]
    assert 7_000 <= sizes[-1] == max(sizes) <= 12_000
