"""What the ledger sample must hold: what was noted, what was drafted, and how each row fares in the two checks."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

from ctxview.sample_traces import sample_path

Json = dict[str, Any]


def records() -> list[Json]:
    return [json.loads(line) for line in sample_path("ledger").read_text(encoding="utf-8").split("\n") if line]


def ledger_calls() -> list[tuple[int, str, Json]]:
    """(turn, tool, arguments) of every tool call."""
    out = []
    turn = 0
    for message in records():
        if message["role"] != "assistant":
            continue
        turn += 1
        for call in message.get("tool_calls", ()):
            out.append((turn, call["function"]["name"], json.loads(call["function"]["arguments"])))
    return out


def ledger_rows() -> list[dict[str, str]]:
    with sample_path("ledger").with_suffix(".ledger.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def drafted() -> str:
    return "\n".join(given["text"] for _, name, given in ledger_calls() if name == "write_section") + "\n".join(
        given["content"] for _, name, given in ledger_calls() if name == "write_file"
    )


def distinctive(text: str) -> set[str]:
    """Numbers of four digits or more; identifiers of six characters or more with `_`, `.`, a digit or mixed case."""
    words = re.findall(r"[A-Za-z_][\w.]*\w", text)
    marked = {w for w in words if len(w) >= 6 and (re.search(r"[_.\d]", w) or re.search(r"[a-z][A-Z]", w))}
    return marked | set(re.findall(r"\d{4,}", text))


def test_ledger_has_420_calls_each_answered() -> None:
    messages = records()
    assert sum(message["role"] == "assistant" for message in messages) == 420
    asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert asked == [message["tool_call_id"] for message in messages if message["role"] == "tool"]


def test_ledger_reads_the_rule_at_2_and_notes_it_at_3_with_its_lines() -> None:
    used = ledger_calls()
    assert used[1] == (2, "read_file", {"path": "docs/selection_rule.md"})
    turn, name, given = used[2]
    assert (turn, name, given["value"], given["source"]) == (3, "append_ledger", "p60", "docs/selection_rule.md:40-58")
    text = records()[5]["content"].split("\n")
    inside = [line for line in text if 40 <= int(line.split()[0]) <= 58]
    assert "cutoff p60" in "\n".join(inside)
    assert "keep the" in "\n".join(inside)
    assert "p60" not in "\n".join(line for line in text if line not in inside)


def test_ledger_never_sees_the_cutoff_again_and_drafts_one_step_four_hundred_calls_later() -> None:
    messages = [json.dumps(message) for message in records()]
    assert [n for n, text in enumerate(messages) if "p60" in text] == [5, 6]
    turn, _, given = next(call for call in ledger_calls() if call[1] == "write_section")
    assert turn == 403
    assert given["section"] == "Selection"
    assert "keep the top five" in given["text"]
    assert "cutoff" not in drafted()


def test_ledger_rows_are_what_was_noted() -> None:
    noted = [(turn, given) for turn, name, given in ledger_calls() if name == "append_ledger"]
    assert [
        (int(r["noted_at"]), {k: r[k] for k in ("finding", "value", "source", "section")}) for r in ledger_rows()
    ] == noted


def test_ledger_rows_pass_and_fail_the_two_checks_as_told() -> None:
    """(coarse, strict): unchecked/missing, encoded/missing, encoded/encoded, missing/missing."""
    text = drafted()
    found = []
    for row in ledger_rows():
        marks = distinctive(row["finding"] + " " + row["value"])
        coarse = "unchecked" if not marks else "encoded" if any(mark in text for mark in marks) else "missing"
        found.append((coarse, row["value"] in text))
    assert found == [("unchecked", False), ("encoded", False), ("encoded", True), ("missing", False)]


def test_ledger_reads_nothing_after_the_first_draft() -> None:
    late = {name for turn, name, _ in ledger_calls() if turn > 403}
    assert not late & {"read_file", "search"}
