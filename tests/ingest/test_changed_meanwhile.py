"""A file, or the database kept of it, that is removed or cut short while it is in use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ctxview.errors import UnreadableError
from ctxview.ingest import open_trace
from ctxview.ingest.inputs import find_inputs
from ctxview.ingest.load import read_inputs
from ctxview.sample_traces import sample_path
from ctxview.store import Store


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copy(sample_path("refund"), tmp_path / "trace.jsonl"))


def test_a_file_that_is_gone_before_it_is_read_is_named_with_the_reason(trace: Path) -> None:
    inputs = find_inputs([str(trace)])
    trace.unlink()
    with pytest.raises(UnreadableError, match=r"trace\.jsonl: cannot be read: No such file"):
        read_inputs(inputs, Store.memory())
    with pytest.raises(UnreadableError, match=r"trace\.jsonl cannot be read any more: No such file"):
        inputs.stamp()


def test_a_file_that_is_removed_as_soon_as_it_is_read_keeps_its_size(trace: Path) -> None:
    def remove(file: str, done: int, total: int) -> None:
        if done:
            trace.unlink(missing_ok=True)

    size = trace.stat().st_size
    with read_inputs(find_inputs([str(trace)]), Store.memory(), remove) as read:
        assert not trace.exists()
        assert (read.files[0].bytes, read.issues) == (size, ())


def test_a_file_that_is_cut_short_while_it_is_read_says_so(trace: Path) -> None:
    size = trace.stat().st_size
    with read_inputs(find_inputs([str(trace)]), Store.memory(), lambda *_: os.truncate(trace, size // 2)) as read:
        reasons = [issue.reason for issue in read.issues if issue.severity == "error"]
    assert reasons == [
        f"it became shorter while it was read ({size:,} bytes, then {size // 2:,}): some of it is not shown"
    ]


@pytest.mark.parametrize("sql", ["select sum(length(text)) from contents", None])
def test_a_database_that_is_cut_short_under_its_reader_is_named(sql: str | None, trace: Path, tmp_path: Path) -> None:
    place = tmp_path / "kept.duckdb"
    open_trace([str(trace)], db=place).close()
    with Store.open(place) as store:
        os.truncate(place, 20_000)
        with pytest.raises(UnreadableError, match=r"the database .*kept\.duckdb cannot be read any more"):
            store.ask(sql) if sql else store.view(store.sessions()[0].session)


def test_a_damaged_database_in_the_cache_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("ctxview.ingest.cache.CACHE_FROM_BYTES", 1)
    with open_trace([str(sample_path("refund"))]) as read:
        turns = len(read.view().turns)
    [place] = (tmp_path / "cache").glob("*.duckdb")
    whole = place.stat().st_size
    os.truncate(place, whole // 2)
    said: list[str] = []
    with open_trace([str(sample_path("refund"))], say=said.append) as read:
        assert len(read.view().turns) == turns
    assert len(said) == 1
    assert said[0].startswith("reading the trace anew:")
    assert place.stat().st_size > whole // 2
