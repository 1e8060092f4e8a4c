"""A person's SELECT: what it may do, what is refused, and that the reference says what there is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxview.errors import UsageError
from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path
from ctxview.store import Store
from ctxview.store.query import reference

SECRET = "a python variable that no query may read"


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    db = tmp_path / "trace.duckdb" if request.param == "file" else None
    with open_trace([str(sample_path("refund"))], db=db) as trace:
        yield trace.store


def test_a_select_is_answered_with_its_columns(store: Store) -> None:
    """Views answer in plain rows."""
    answer = store.ask("select turn, recorded from v_budget order by turn")
    assert answer.columns == ("turn", "recorded")
    assert len([row for row in answer.rows if row[1] is not None]) == 15
    assert not answer.is_cut


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_text('/etc/hostname')",
        "select * from read_blob('/etc/hostname')",
        "select * from read_csv('/etc/hostname')",
        "select * from '/etc/hostname'",
        "select * from sniff_csv('/etc/hostname')",
        "select * from glob('/etc/*')",
        "copy (select 1) to 'out.csv'",
        "attach 'other.duckdb'",
        "export database 'out'",
        "install httpfs",
        "load httpfs",
        "set memory_limit = '1TB'",
        "drop table blocks",
        "delete from blocks",
        "select 1; select 2",
        "select * from SECRET",
        "not sql at all",
        "",
    ],
)
def test_everything_but_one_select_of_the_trace_is_refused(store: Store, query: str, tmp_path: Path) -> None:
    """No file, network, second statement, write, setting or Python value is within reach."""
    with pytest.raises(UsageError):
        store.ask(query)
    assert store.ask("select count(*) from blocks").rows[0][0] > 0


def test_rows_are_capped_and_said_so(store: Store) -> None:
    answer = store.ask("select * from range(100)", rows=7)
    assert len(answer.rows) == 7
    assert answer.is_cut


def test_a_query_without_end_is_stopped(store: Store) -> None:
    """It ends soon after its time, and the store answers the next one."""
    start = time.monotonic()
    with pytest.raises(UsageError, match="more than"):
        store.ask("select count(*) from range(100000000000) a, range(1000000) b", seconds=0.3)
    assert time.monotonic() - start < 10
    assert store.ask("select 1").rows == ((1,),)


def test_the_written_reference_is_that_of_the_schema() -> None:
    """Run scripts/make_sql_reference.py after changing the schema."""
    written = Path(__file__).resolve().parents[2] / "docs" / "sql.md"
    assert written.read_text(encoding="utf-8") == reference()
