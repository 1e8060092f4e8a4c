"""What the case tests ask of a trace: the ids of a window, its texts, its size, and what the command line prints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from ctxview.cli import main
from ctxview.ingest import Trace, open_trace
from ctxview.report.info import info_report
from ctxview.report.show import show_report
from ctxview.window import SessionView

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "cases"

Json = dict[str, Any]


@contextmanager
def opened(*names: str) -> Iterator[Trace]:
    """The case files of these names, as one trace."""
    with open_trace([str(DATA / name) for name in names], cache=False) as trace:
        yield trace


def ids(view: SessionView, turn: int) -> list[str]:
    """Ids of the window's blocks, in order: a line's uuid, with `.n` for its further blocks."""
    return [row.block.id for row in view.window(turn)]


def shown(view: SessionView, turn: int, block: str) -> Json:
    """One block of the window at `turn`, as `ctxview show --json` reports it."""
    found = [row for row in show_report(view, turn)["blocks"] if row["id"] == block]
    assert len(found) == 1, f"{block} stands {len(found)} times in the window at turn {turn}"
    return found[0]


def text(view: SessionView, turn: int, block: str) -> str:
    return str(shown(view, turn, block)["text"])


def recorded(view: SessionView) -> list[int | None]:
    """The recorded size of each turn's window."""
    return [view.tokens(turn).recorded for turn in range(1, view.last + 1)]


def outputs(trace: Trace) -> int:
    """Output tokens over all sessions, each response once."""
    return sum(session["usage"]["output"] or 0 for session in info_report(trace)["sessions"])


def reasons(trace: Trace, *severities: str) -> list[str]:
    """What the issues of these severities say; of any when none is named."""
    return [issue.reason for issue in trace.issues if not severities or issue.severity in severities]


@dataclass(frozen=True, slots=True)
class Printed:
    """What a run of the command line left."""

    code: int
    out: bytes
    err: bytes


def ctxview(*words: str) -> Printed:
    """Run the command line as in a pipe, in this process: a process of its own costs a second."""
    out, err = TextIOWrapper(BytesIO(), encoding="utf-8"), TextIOWrapper(BytesIO(), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 1
        out.flush()
        err.flush()
    return Printed(code, out.buffer.getvalue(), err.buffer.getvalue())  # type: ignore[attr-defined]


def ctxview_json(*words: str) -> Json:
    """What `ctxview ... --json` prints."""
    printed = ctxview(*words, "--json")
    assert printed.code == 0, printed.err.decode()
    return _answer(printed.out)


def process_json(*words: str) -> Json:
    """The same from a process of its own, which is how people run it."""
    command = [sys.executable, "-m", "ctxview", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return _answer(done.stdout)


def _answer(printed: bytes) -> Json:
    assert printed.isascii()
    answer = json.loads(printed)
    assert isinstance(answer, dict)
    return answer
