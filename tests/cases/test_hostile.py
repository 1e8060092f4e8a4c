"""Cases S and U: text of a trace that would act on a terminal is seen there, and does nothing."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from ctxview.report.show import show_report
from ctxview.text import safe_text

from .windows import DATA, ROOT, ctxview, ctxview_json, opened, text

VERBS = (["info"], ["show", "--turn", "now"], ["show", "--turn", "now", "--full"], ["show", "--turn", "1"])


def through_a_terminal(*words: str) -> bytes:
    """What the command line writes to a pseudo-terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "ctxview", *words], cwd=ROOT, stdout=theirs, stderr=theirs) as run:
        os.close(theirs)
        out = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            out += piece
    os.close(ours)
    assert run.returncode == 0
    return out.replace(b"\r\n", b"\n")  # the terminal's own line ends


def acting(printed: bytes) -> set[str]:
    """Characters that a terminal would obey."""
    return {char for char in printed.decode() if char != "\n" and safe_text(char) != char}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["S02.jsonl", "U04.jsonl", "U01.jsonl"])
def test_no_control_character_of_a_trace_reaches_a_pipe(name: str, verb: list[str]) -> None:
    printed = ctxview(verb[0], str(DATA / name), *verb[1:])
    assert printed.code == 0
    assert acting(printed.out) == set()
    assert acting(printed.err) == set()


def test_s02_on_a_terminal_nothing_acts_and_everything_is_seen() -> None:
    printed = through_a_terminal("show", str(DATA / "S02.jsonl"), "--turn", "now", "--full")
    assert acting(printed) == set()
    words = printed.decode()
    for escape in ("\\x1b]52;c;", "\\x07", "\\x9b2J", "\\x9d52;c;", "\\x1bP+q544e"):
        assert escape in words
    assert "end\\x0dOVER\\x08\\x08 \\x00 \\x7f" in words


def test_s02_a_files_name_is_content_too(tmp_path: Path) -> None:
    """Error messages repeat the path they were given."""
    bad = tmp_path / "x\x1b]0;title\x07.jsonl"
    bad.write_text("no transcript\n")
    gone = tmp_path / "gone\x1b[2J.jsonl"
    for words in (["show", str(bad)], ["show", str(gone)], ["show", str(bad), "--turn", "\x1b"]):
        printed = ctxview(*words)
        assert printed.code in (2, 3)
        assert printed.err
        assert acting(printed.out + printed.err) == set()


def test_s02_as_json_control_characters_arrive_escaped() -> None:
    report = ctxview_json("show", str(DATA / "S02.jsonl"))
    assert report["blocks"][0]["text"].startswith("A\x1b]52;c;cm0gLXJmIH4=\x07B")


def test_u01_markup_in_texts_names_and_titles_stays_as_it_is() -> None:
    with opened("U01.jsonl") as trace:
        view = trace.view()
        assert view.row.title == "Title with [/bold] in it"
        assert "[node_modules] :bug: [link=http://evil.example]x[/link]" in text(view, 1, "u1")
        (call,) = [row for row in show_report(view, view.now)["blocks"] if row["kind"] == "tool_call"]
        assert call["tool"] == "mcp__[/bold]__tool"
        assert "[@click=app.quit]here[/]" in text(view, 2, "a1")
    printed = ctxview("show", str(DATA / "U01.jsonl"), "--turn", "now", "--full").out.decode()
    tail = "\\[escaped] trailing backslash \\"
    for literal in ("[/a0/tests/x]", "[red]hi[/red]", ":bug:", tail, "mcp__[/bold]__tool"):
        assert literal in printed


def test_u04_bidi_and_invisible_characters_are_shown_as_escapes() -> None:
    printed = ctxview("show", str(DATA / "U04.jsonl"), "--turn", "now", "--full").out.decode()
    for escape in ("a\\u202eb", "\\u200f", "\\ufeff", "\\xad"):
        assert escape in printed
    for kept in ("👨\u200d👩\u200d👧", "你好", "العربية", "🇯🇵"):
        assert kept in printed
