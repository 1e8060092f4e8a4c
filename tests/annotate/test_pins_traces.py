"""Whole traces: the samples and the recorded cases, and that a session's later blocks change nothing of what was."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pin_blocks import agent, arrivals, block, call, numbered, person, pins_in, result

from ctxview.annotate.pins import PinFinder, TaskList
from ctxview.model import Block, Pin
from ctxview.sample_traces import sample_path

ROOT = Path(__file__).parents[1]
CASES = ROOT / "data" / "cases"
CORPUS = ROOT.parents[1] / "shared" / "corpus"


def found(path: Path) -> list[tuple[str, int, str, str, str]]:
    """Kind, turn since, rule, evidence and quote of every pin with words."""
    return [(p.kind, p.since, p.rule, p.evidence, p.quote) for _, p in pins_in(path) if p.quote]


def test_refund_holds_a_goal_a_denial_and_a_constraint():
    rows = found(sample_path("refund"))
    assert ("denial", 4, "denied by policy", "stated") in [row[:4] for row in rows]
    assert (
        "constraint",
        5,
        "forbids: never …",
        "matched",
        "One rule from legal: never contact the customer directly.",
    ) in rows
    assert ("constraint", 1, "forbids: … only", "matched", "Refund only what you can prove.") in rows
    goals = [(a.block.text[:14], p.since, p.evidence) for a, p in pins_in(sample_path("refund")) if p.kind == "goal"]
    assert goals == [("Goal: find out", 1, "matched")]


def test_collapse_holds_what_a_marker_would_deny():
    rows = found(sample_path("collapse"))
    assert [(kind, since, quote) for kind, since, _, evidence, quote in rows if evidence == "matched"][:5] == [
        ("preference", 1, rows[0][4]),
        ("constraint", 1, "The auth service is off limits: do not change its code, its schema or its logging."),
        ("decision", 1, "Decision: every DATETIME becomes timestamptz in UTC."),
        ("decision", 2, "Actually, skip the invoices table: finance moves it themselves in May."),
        ("question", 3, "Open question: do we keep the archive_2019 table or drop it?"),
    ]


def test_tutor_holds_method_rounding_and_an_unfinished_list():
    rows = found(sample_path("tutor"))
    assert [(since, quote) for kind, since, _, _, quote in rows if kind == "preference"] == [
        (3, "I prefer one method throughout: complete the square, rather than the quadratic formula."),
        (4, "I also prefer that you round every result to two decimals."),
    ]
    [workflow] = [row for row in rows if row[0] == "workflow"]
    assert workflow[3] == "stated"


def test_every_sample_has_one_goal():
    for name in ("refund", "collapse", "tutor", "stale", "ledger"):
        assert [p.kind for _, p in pins_in(sample_path(name))].count("goal") == 1, name


def case(name: str) -> Path:
    return CASES / f"{name}.jsonl"


def test_c03_a_memory_file_is_pinned_at_each_of_its_arrivals():
    rows = [(a.block.id, p.kind, p.since) for a, p in pins_in(case("C03")) if p.kind in ("system", "constraint")]
    assert rows == [("p1", "system", 1), ("p1", "constraint", 1), ("p2", "system", 4), ("p2", "constraint", 4)]


def test_c06_the_goal_is_the_one_the_client_marks():
    goals = [(a.block.text.split("\n")[1], p.evidence) for a, p in pins_in(case("C06")) if p.kind == "goal"]
    assert goals == [("Goal: migrate all tests to pytest.", "stated")]


def test_c08_the_refusal_and_the_words_after_it_are_denials():
    rows = [(a.block.id, p.evidence, p.since) for a, p in pins_in(case("C08")) if p.kind == "denial"]
    assert rows == [("r1", "stated", 2), ("u2", "matched", 2)]


def test_w19_two_tasks_whatever_was_logged_twice():
    tasks = TaskList()
    for _, arrival in arrivals(case("W19")):
        tasks.see(arrival.block, arrival.n, arrival.turn)
    assert [(t.id, t.subject, t.status) for t in tasks.items] == [
        ("7", "write docs", "completed"),
        ("8", "add tests", "pending"),
    ]
    assert [[t.status for t in tasks.at(turn)] for turn in range(1, 5)] == [
        [],
        ["pending"],
        ["pending", "pending"],
        ["completed", "pending"],
    ]
    assert [(a.block.id, p.since, p.until > 99) for a, p in pins_in(case("W19")) if p.kind == "workflow"] == [
        ("a1", 2, False),
        ("a2", 3, True),
    ]


# ----------------------------------------------------------------------------------------------- what holds for all

TEXTS = st.sampled_from(
    [
        lambda: person("Move the tables. Never touch auth."),
        lambda: person("yes"),
        lambda: person("No, don't delete that folder."),
        lambda: person("Actually, skip the views."),
        lambda: person("Open question: keep the archive?"),
        lambda: person("Does it reload?"),
        lambda: block("user", "Find the handlers.", human=False),
        lambda: block("user", '<my_context source="goal">\nship it', human=False),
        lambda: block("note", "Contents of CLAUDE.md:\n\nAlways run the tests."),
        lambda: block("note", "[Request interrupted by user for tool use]"),
        lambda: block("note", "<command-message>x</command-message>\n<command-name>/x</command-name>"),
        lambda: agent("Shall I go on?"),
        lambda: agent("- [ ] one\n- [ ] two"),
        lambda: agent("- [x] one\n- [x] two"),
        lambda: call("TodoWrite", {"todos": [{"content": "a", "status": "pending"}]}, "c1"),
        lambda: call("TodoWrite", {"todos": [{"content": "a", "status": "completed"}]}, "c2"),
        lambda: call("TaskCreate", {"subject": "b"}, "c3"),
        lambda: result("Task #1 created successfully: b", "c3"),
        lambda: call("TaskUpdate", {"taskId": "1", "status": "completed"}, "c4"),
        lambda: call("ExitPlanMode", {"plan": "copy"}, "c5"),
        lambda: result("User has approved your plan", "c5"),
        lambda: result("The user doesn't want to proceed with this tool use", "c5", error=True),
        lambda: call("AskUserQuestion", {"questions": []}, "c6"),
        lambda: result('User has answered your questions: "a"="b"', "c6"),
    ]
)


def holding(pins: tuple[Pin, ...], turn: int) -> Counter[tuple[int, str, str, str, int]]:
    """What stands at a turn. Where a pin ends later is not part of it."""
    return Counter((p.block, p.kind, p.rule, p.quote, p.since) for p in pins if p.since <= turn < p.until)


def finished(rows: list[tuple[Block, int, int]]) -> tuple[Pin, ...]:
    finder = PinFinder()
    for row in rows:
        finder.see(*row)
    return finder.finish()


@given(st.lists(TEXTS, max_size=30))
def test_no_pin_at_a_turn_changes_when_the_session_is_cut_after_it(makers):
    rows = numbered(make() for make in makers)
    whole = finished(rows)
    for turn in range(1, max((t for *_, t in rows), default=0) + 1):
        seen = [row for row in rows if row[2] < turn]  # what the window of `turn` can hold
        assert holding(finished(seen), turn) == holding(whole, turn)


@given(st.lists(st.text(max_size=200), max_size=8))
def test_no_text_breaks_the_finder(texts: list[str]):
    kinds = ("user", "assistant", "system", "tool_call", "tool_result", "note", "summary", "thinking", "image")
    finished(numbered(block(kind, text, tool="TodoWrite", error=True) for text in texts for kind in kinds))


def test_pins_are_sorted_and_quotes_short():
    pins = finished(numbered([person("Never stop. " + "word " * 100 + "must not end."), person("I prefer tea.")]))
    assert list(pins) == sorted(pins, key=lambda p: (p.block, -p.priority, p.quote))
    assert max(len(p.quote) for p in pins) <= 200


# ---------------------------------------------------------------------------------------------------------- recall


def test_recall_on_pins_that_a_person_listed():
    """Lines and kinds only, listed by reading transcripts; nothing of their text is kept.

    `tuned` sessions were read before the rules were written, `held-out` and `fresh` ones after; the rules found 80 and
    76 % of these at first sight, and were widened since. `block` is given where a line of the log is a whole session.
    """
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real transcripts is not beside this checkout")
    with (ROOT / "corpus" / "pins_recall.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    seen: dict[str, set[tuple[str, str, str]]] = {}
    for name in {row["file"] for row in rows}:
        if not (CORPUS / name).is_file():
            pytest.skip(f"{name} is not in this corpus")
        pins = [(str(a.block.origin.line), str(a.n), p.kind) for a, p in pins_in(CORPUS / name)]
        seen[name] = {(line, block, kind) for line, n, kind in pins for block in ("", n)}
    for part in ("tuned", "held-out", "fresh"):
        listed = [row for row in rows if row["set"] == part]
        missed = [row for row in listed if (row["line"], row["block"], row["kind"]) not in seen[row["file"]]]
        assert len(listed) >= 30
        assert 1 - len(missed) / len(listed) >= 0.85, missed
