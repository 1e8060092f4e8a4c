"""What the user names, as files."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from ctxview.cli.command import run
from ctxview.errors import UsageError
from ctxview.ingest import inputs as module
from ctxview.ingest import open_trace


def session(name: str, said: str) -> bytes:
    message = {"role": "user", "content": said}
    line = {"type": "user", "uuid": f"u-{name}", "parentUuid": None, "sessionId": name, "message": message}
    return json.dumps(line).encode() + b"\n"


def test_files_of_one_name_are_accounted_for_apart(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.jsonl").write_bytes(session(folder, "hello"))
    with open_trace([str(tmp_path / "one"), str(tmp_path / "two")], cache=False) as trace:
        assert [Path(file.path).parts[-2:] for file in trace.files] == [("one", "s.jsonl"), ("two", "s.jsonl")]
        assert [file.records for file in trace.files] == [1, 1]
        assert len(trace.sessions) == 2


def test_standard_input_is_another_trace_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named database keeps the last of them, and does not answer for the next."""
    for name in ("first", "second"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(session(name, "hello"))))
        with open_trace(["-"], db=tmp_path / "x.duckdb") as trace:
            assert [row.session for row in trace.sessions] == [name]


@pytest.mark.parametrize("piped_first", [True, False])
def test_what_is_named_first_is_the_main_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piped_first: bool
) -> None:
    """Standard input, too."""
    (tmp_path / "s.jsonl").write_bytes(session("filed", "hello"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(session("piped", "hello"))))
    names = [str(tmp_path / "s.jsonl"), "-"]
    with open_trace(names[::-1] if piped_first else names) as trace:
        assert [row.session for row in trace.sessions] == (["piped", "filed"] if piped_first else ["filed", "piped"])


def test_endless_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIPE_LIMIT", 100)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 200)))
    with pytest.raises(UsageError, match="standard input holds more"):
        open_trace(["-"])


@pytest.mark.parametrize("words", [["--cache-read", "nan"], ["--cache-write", "inf"], ["--cache-read", "-1"]])
def test_a_price_is_a_finite_number(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    sample = Path(__file__).parents[2] / "sample_traces" / "refund.jsonl"
    assert run(["replay", str(sample), *words]) == 2
    assert words[0] in capsys.readouterr().err
