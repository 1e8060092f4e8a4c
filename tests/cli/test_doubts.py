"""A doubt whether a block still stood in the window is said in text, not in JSON alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxview.cli.command import cli

START = {"sessionId": "s", "version": "2.1.0", "cwd": "/w", "userType": "external"}


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.output


def answer(number: int, size: int, content: dict[str, object]) -> dict[str, object]:
    usage = {"input_tokens": 1, "cache_read_input_tokens": size - 1, "output_tokens": 5}
    message = {"id": f"m{number}", "role": "assistant", "model": "claude-demo", "content": [content], "usage": usage}
    return {"type": "assistant", "uuid": f"a{number}", "parentUuid": f"u{number}", "message": message}


def asked(number: int, parent: str | None, content: object) -> dict[str, object]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": f"u{number}", "parentUuid": parent, "message": message}


@pytest.fixture
def fallen(tmp_path: Path) -> str:
    """The recorded size falls from 90,000 to 20,000 at turn 3, and no record says why."""
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "log.txt"}}
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "LOG " * 50}]
    said = {"type": "text", "text": "Seen."}
    items = [
        asked(1, None, "Read the log."),
        answer(1, 90_000, call),
        asked(2, "a1", result),
        answer(2, 90_500, said),
        asked(3, "a2", "Back after lunch."),
        answer(3, 20_000, said),
    ]
    path = tmp_path / "s.jsonl"
    lines = [{**START, "timestamp": f"2026-05-01T00:00:0{n}Z", **item} for n, item in enumerate(items)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_show_marks_what_may_have_left_and_says_why(fallen: str) -> None:
    lines = run("show", fallen, "--turn", "3").splitlines()
    assert any(line.startswith("? doubtful: may no longer be in the window") for line in lines)
    (row,) = [line for line in lines if "LOG LOG" in line]
    assert "?  rolling,doubtful" in row
    assert "doubtful" not in run("show", fallen, "--turn", "2")
    assert "rolling, doubtful" in run("show", fallen, "--turn", "3", "--full")


def test_block_says_from_which_turn_it_is_in_doubt(fallen: str) -> None:
    assert "? doubtful from turn 3: may no longer be in the window" in run("block", fallen, "u2")


def test_info_counts_one_thing_in_the_singular(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    items = [asked(1, None, "Say so."), answer(1, 900, {"type": "text", "text": "So."})]
    lines = [{**START, "timestamp": f"2026-05-01T00:00:0{n}Z", **item} for n, item in enumerate(items)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "  1 turn, 1 user turn, 2 blocks, reconstructed" in run("info", str(path))
