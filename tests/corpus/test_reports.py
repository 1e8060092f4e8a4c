"""Every real file: reports of every session without an exception, and no record lost."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ctxview.ingest import Trace
from ctxview.report.info import info_report
from ctxview.report.show import show_report

from .names import CAPTURES, CHAT, CLAUDE_CODE

Read = Callable[[str], Trace]

VOICE_RUN = "chat-completions/tau2-sim-7c6a3e3e.json"

ALL = [*CLAUDE_CODE, *CAPTURES, *CHAT]
FILES = [pytest.param(name, marks=pytest.mark.slow) if "taubench" in name else name for name in ALL]
"""The benchmark's file holds 200 conversations."""


@pytest.mark.parametrize("name", FILES)
def test_every_session_is_reported_at_its_first_middle_and_last_turn_and_now(name: str, read: Read) -> None:
    trace = read(name)
    report = info_report(trace)
    json.dumps(report)
    if name == VOICE_RUN:
        assert not report["sessions"]
        assert any("a voice run" in issue.reason for issue in trace.issues)
        return
    assert report["sessions"]
    assert report["sessions"][0]["parent"] is None, "the main session comes first"
    for session in report["sessions"]:
        view = trace.view(session["id"])
        for turn in sorted({1, max(1, view.last // 2), max(1, view.last), view.now}):
            shown = show_report(view, turn)
            json.dumps(shown)
            assert len(shown["blocks"]) == len(view.spans_at(turn))
            assert sum(block["tokens"] for block in shown["blocks"]) == shown["tokens"]["counted"]
            if shown["tokens"]["recorded"] is not None:
                assert sum(shown["by_kind"].values()) == shown["tokens"]["recorded"]


@pytest.mark.parametrize("name", FILES)
def test_the_five_dispositions_add_up_to_the_records(name: str, read: Read) -> None:
    for file in info_report(read(name))["files"]:
        counted = file["window"] + file["duplicates"] + file["unreadable"]
        counted += sum(file["known"].values()) + sum(file["unknown"].values())
        assert counted == file["records"] > 0, file["path"]


@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_a_json_lines_file_has_as_many_records_as_values(name: str, read: Read) -> None:
    """Counted here by the plainest reading there is: one value per line, comments and blank lines apart."""
    for file in read(name).files:
        values = glued = 0
        with open(file.path, encoding="utf-8") as lines:
            for line in lines:
                if not line.strip() or line.startswith("//"):
                    continue
                values += 1
                try:
                    json.loads(line)
                except json.JSONDecodeError:
                    glued += 1  # two values on one line
        assert file.records == values + glued, file.path
        assert glued == (1 if "two-objects" in name else 0)


@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_a_session_takes_hardly_more_spans_than_blocks(name: str, read: Read) -> None:
    trace = read(name)
    views = [trace.view(row.session) for row in trace.sessions]
    assert sum(len(view.spans) for view in views) <= 1.1 * sum(len(view.blocks) for view in views)
