"""What the times in a file say against its order: said once per file, whatever the format; the order stands."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxview.loaders import LOADERS, detect
from ctxview.loaders.clock import OWN_TIME, Clock
from ctxview.loaders.shapes import as_time, instant
from ctxview.loaders.source import Source, SourceFile
from ctxview.model import Block, Issue

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
NINE = "2026-03-01T09:00:{:02}Z"
MOMENT = 1_772_355_610.0
"""2026-03-01T09:00:10Z."""


def said(*times: Any, **how: Any) -> list[tuple[int | None, str]]:
    """What a clock says of records dated so, each on a line of its own."""
    clock = Clock("f", **how)
    for line, value in enumerate(times, 1):
        clock.see(value, line)
    return [(issue.line, issue.reason.removesuffix("; the order of the file is kept")) for issue in clock.issues()]


# ----------------------------------------------------------------------------------------------------- instants


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T09:00:10Z", "2026-03-01T09:00:10.000Z", "2026-03-01T10:00:10+01:00", "2026-03-01T04:00:10.0-05:00",
        "2026-03-01 09:00:10", "20260301T090010Z", 1_772_355_610, 1_772_355_610.0, 1_772_355_610_000,
    ],
)  # fmt: skip
def test_one_moment_in_many_words(value: Any) -> None:
    """Zones, fractions, numbers of seconds and of milliseconds; without a zone it is UTC, on every machine."""
    assert instant(value) == MOMENT


@pytest.mark.parametrize(
    "value",
    [
        None, "", "not a date", "09:00", "Sun Mar 1 2026", "2026-13-01", "0000-01-01", "2026-03-01T25:00Z", True, -5,
        float("nan"), float("inf"), 10**16, 10**400, {"at": 5}, [1], "٢٠٢٦-03-01",
    ],
)  # fmt: skip
def test_what_is_no_moment(value: Any) -> None:
    assert instant(value) is None


@settings(max_examples=100, deadline=None)
@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_the_zone_a_time_is_told_in_makes_no_difference(moment: datetime, minutes: int) -> None:
    there = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert instant(there.isoformat()) == instant(moment.isoformat() + "Z")


@given(st.floats() | st.integers())
@example(253_402_300_799_999.99)
def test_any_number_is_a_time_or_none(value: float) -> None:
    """Milliseconds are shown as what they are, too, and nothing past the last year is tried."""
    assert (as_time(value) is not None) == bool(instant(value))
    assert as_time(1_772_355_610_500) == "2026-03-01T09:00:10.500Z"


# -------------------------------------------------------------------------------------------------- the shared watch


def test_each_kind_is_said_once_with_its_first_line_and_its_count() -> None:
    late, early = NINE.format(10), NINE.format(4)
    assert said(late, early, late, early, None, "", "soon", {"at": 1}) == [
        (2, "2 lines are dated before the line above"),
        (7, '2 lines have no usable timestamp ("soon" on line 7; {"at":1} on line 8)'),
        (5, "2 lines have no timestamp"),
    ]
    assert said(late, early, unit="record") == [(2, "a record is dated before the record above")]


def test_a_value_that_is_no_time_is_shown_shortened_once_and_three_at_most() -> None:
    ((line, reason),) = said("x" * 500, "b", "b", "c", "d", *["e"] * 50)
    assert (line, reason) == (
        1, f'55 lines have no usable timestamp ("{"x" * 40}" on line 1; "b" on line 2; "c" on line 4; and others)',
    )  # fmt: skip


def test_a_value_that_is_no_time_is_nothing_to_compare_with() -> None:
    assert [line for line, _ in said(NINE.format(5), "zzz", NINE.format(6))] == [2]
    assert [line for line, _ in said(NINE.format(5), "1", NINE.format(4))] == [3, 2]


def test_a_file_without_times_is_not_blamed_for_it() -> None:
    assert said(None, "", None) == []
    assert said() == []


def test_a_number_is_a_time_where_the_format_writes_numbers() -> None:
    assert said(MOMENT, MOMENT + 1, MOMENT * 1000, numbers=True) == [(3, "a line is dated before the line above")]
    assert said(NINE.format(10), 1_772_355_611) == [
        (2, "a line has no usable timestamp (1772355611 on line 2)"),
    ]  # fmt: skip


def test_threads_are_compared_each_with_itself_and_results_with_their_calls() -> None:
    clock = Clock("f")
    clock.see(NINE.format(10), 1, "a", calls=["c1"])
    clock.see(NINE.format(5), 2, "b")
    clock.see(NINE.format(20), 3, "a", calls=["c2"])
    clock.see(NINE.format(12), 4, "a", answers=["c1"])
    clock.see(NINE.format(15), 5, "a", slack=OWN_TIME)
    clock.see(NINE.format(21), 6, "a", slack=1.0)
    clock.see(NINE.format(13), 7, "a")
    assert list(clock.issues()) == []
    clock.see(NINE.format(14), 8, "a", answers=["c2"])
    assert [issue.line for issue in clock.issues()] == [8]


# ---------------------------------------------------------------------------------------------------- every loader

LATE, EARLY = "2026-03-02T10:00:10.000Z", "2026-03-02T10:00:04.000Z"


def claude(number: int, role: str, text: str, at: Any) -> dict[str, Any]:
    message = {"role": role, "content": text} | ({"id": f"m{number}"} if role == "assistant" else {})
    above = f"u{number - 1}" if number > 1 else None
    return {"type": role, "uuid": f"u{number}", "parentUuid": above, "sessionId": "s", "timestamp": at} | {
        "message": message
    }


def codex(number: int, role: str, text: str, at: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": at, "type": "response_item", "payload": payload}


def chat(number: int, role: str, text: str, at: Any) -> dict[str, Any]:
    return {"role": role, "content": text, "timestamp": at}


def anthropic(number: int, role: str, text: str, at: Any) -> dict[str, Any]:
    said = [{"role": "user" if n % 2 == 0 else "assistant", "content": str(n)} for n in range(2 * number - 1)]
    body = {"model": "claude-x", "max_tokens": 9, "messages": said}
    answer = {"id": f"m{number}", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "1"}]}
    return {
        "timestamp": at, "request_id": f"r{number}", "turn": number,
        "request": {"method": "POST", "path": "/v1/messages", "body": body},
        "response": {"status": 200, "body": answer},
    }  # fmt: skip


def openai(number: int, role: str, text: str, at: Any) -> dict[str, Any]:
    said = [{"role": "user" if n % 2 == 0 else "assistant", "content": str(n)} for n in range(2 * number - 1)]
    answer = {"id": f"m{number}", "choices": [{"message": {"role": "assistant", "content": "1"}}], "created": 5}
    return {"timestamp": at, "request": {"model": "gpt-x", "messages": said}, "response": answer}


WRITERS = {
    "claude-code": claude, "codex": codex, "chat": chat, "anthropic-requests": anthropic, "openai-requests": openai,
}  # fmt: skip


def read(name: str, *times: Any) -> tuple[list[str], list[tuple[int | None, str]]]:
    """The texts in order, and what is said of the times."""
    lines = [
        WRITERS[name](number, "assistant" if number == 2 else "user", f"say {number}", at)
        for number, at in enumerate(times, 1)
    ]
    for line in lines:
        if line["timestamp"] is None:
            del line["timestamp"]
    file = SourceFile("log.jsonl", data=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    loader = detect(file)
    assert loader is not None
    assert loader.name == name
    events = list(loader.load(Source((file,))))
    issues = [(e.line, e.reason) for e in events if isinstance(e, Issue) and "order of the file" in e.reason]
    return [e.text for e in events if isinstance(e, Block)], issues


def test_every_format_is_among_these() -> None:
    """LiteLLM's logs are read by the same code as the other captures; one file of theirs holds one call."""
    assert {*WRITERS, "litellm"} == {loader.name for loader in LOADERS}


@pytest.mark.parametrize("name", WRITERS)
def test_p27_every_loader_says_what_is_odd_about_its_times(name: str) -> None:
    texts, issues = read(name, LATE, EARLY, None)
    assert issues == [
        (2, "a line is dated before the line above; the order of the file is kept"),
        (3, "a line has no timestamp; the order of the file is kept"),
    ]
    assert texts == sorted(texts)


@pytest.mark.parametrize("name", WRITERS)
def test_p27_every_loader_compares_moments(name: str) -> None:
    """Other zones, with and without fractions, all in order: nothing to say."""
    assert read(name, "2026-03-01T10:00:10.000+01:00", "2026-03-01T09:00:10.5Z", "2026-03-01T04:00:11-05:00")[1] == []
    ((line, _),) = read(name, "2026-03-01T09:00:15Z", "2026-03-01T10:00:10+01:00")[1]
    assert line == 2


@pytest.mark.parametrize("name", WRITERS)
def test_p27_every_loader_says_which_value_is_no_time(name: str) -> None:
    texts, issues = read(name, LATE, "not a date", LATE)
    assert issues == [(2, 'a line has no usable timestamp ("not a date" on line 2); the order of the file is kept')]
    assert texts == sorted(texts)


@pytest.mark.parametrize("name", WRITERS)
def test_no_loader_blames_a_file_without_times(name: str) -> None:
    assert read(name, None, None, None)[1] == []


def test_numbers_are_times_in_captures_and_chats_only() -> None:
    for name in WRITERS:
        issues = read(name, LATE, 1_772_445_611_000, 1_772_445_612)[1]
        if name in ("claude-code", "codex"):
            assert [line for line, _ in issues] == [2], name
            assert "1772445611000 on line 2; 1772445612 on line 3" in issues[0][1]
        else:
            assert issues == [], name


def test_what_a_client_writes_of_itself_is_dated_by_its_occasion() -> None:
    """Claude Code echoes a command once it is done, and dates it by when it was typed."""
    lines = [claude(n, "user", f"say {n}", NINE.format(10 * n)) for n in (1, 2, 3)]
    lines[1] |= {"isMeta": True, "timestamp": NINE.format(1)}
    file = SourceFile("log.jsonl", data=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    (loader,) = (loader for loader in LOADERS if loader.name == "claude-code")
    assert [e for e in loader.load(Source((file,))) if isinstance(e, Issue)] == []


def test_a_report_of_codex_may_be_a_little_late() -> None:
    """Real ones are dated up to 0.7 s before the record above them; a minute is something to say."""
    report = {"timestamp": "2026-03-02T10:00:09.300Z", "type": "event_msg", "payload": {"type": "token_count"}}
    first = codex(1, "user", "Hi.", LATE)
    (loader,) = (loader for loader in LOADERS if loader.name == "codex")
    for at, lines in (("2026-03-02T10:00:09.300Z", []), ("2026-03-02T09:59:10.000Z", [2])):
        data = b"".join(json.dumps(line).encode() + b"\n" for line in (first, {**report, "timestamp": at}))
        events = loader.load(Source((SourceFile("log.jsonl", data=data),)))
        assert [e.line for e in events if isinstance(e, Issue)] == lines


NOTED = {
    "openagents-1.0.29-inline-sidechains.jsonl": [(17, "a line is dated before the line above")],
    "agentsessions-0.146-trimmed-compacted.jsonl": [
        (27, '92 lines have no usable timestamp ("[trimmed for fixture]" on line 27)')
    ],
}
"""Real files in which times are odd: a message dated five minutes before what was logged above it; times cut out."""


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")
@pytest.mark.parametrize("folder", ["claude-code", "codex", "anthropic-proxy", "openai-responses-proxy"])
def test_healthy_real_traces_get_no_note(folder: str) -> None:
    """Parallel results, sub-agents, commands, compactions and resumes leave a real log a little out of order."""
    files = [path for path in sorted((CORPUS / folder).rglob("*.json*")) if path.stat().st_size < 30_000_000]
    assert files
    for path in files:
        file = SourceFile(path.name, path)
        loader = detect(file)
        if loader is None:
            continue
        issues = [e for e in loader.load(Source((file,))) if isinstance(e, Issue) and "order of the file" in e.reason]
        found = [(issue.line, issue.reason.removesuffix("; the order of the file is kept")) for issue in issues]
        assert found == NOTED.get(path.name, []), path.name
