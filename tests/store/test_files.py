"""What a database file promises: it appears whole, it is private, it is ours, and it reaches nothing else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from ctxview.errors import UnreadableError, UsageError
from ctxview.model import NEVER, BlockRow, SessionRow, SpanRow
from ctxview.store import OutdatedError, Store
from ctxview.store.connect import SCHEMA

SESSION = SessionRow("s", None, None, None, "test", None, None, None, None, False, None, None)
BLOCK = BlockRow(
    0, "b", "m", "user", "user", None, None, False, 0, 5, False, 4, "text", 0, "f", 1, None, None, False, False, False,
    False, None, None,
)  # fmt: skip


def write(path: Path, title: str = "t", replacing: bool = False) -> None:
    with Store.create(path, replace=replacing) as store:
        store.add_sessions([replace(SESSION, title=title)])
        store.add_contents((n, f"text {n}", 6, 1, False) for n in range(500))
        store.add_blocks("s", (replace(BLOCK, n=n, id=f"b{n}", content=n) for n in range(500)))
        store.add_spans("s", (SpanRow(n, float(n), 1, NEVER, "verbatim", n, 5, None) for n in range(500)))
        store.finish()


def test_a_finished_file_reads_as_it_was_written(tmp_path):
    write(tmp_path / "a.duckdb")
    with Store.open(tmp_path / "a.duckdb") as store:
        assert store.sessions() == (replace(SESSION, title="t"),)
        view = store.view("s")
        assert (len(view.blocks), view.text(499)) == (500, "text 499")


def test_a_file_appears_whole_and_alone(tmp_path):
    """Nothing stands at the path before close, and no other file stays in the folder."""
    path = tmp_path / "a.duckdb"
    with Store.create(path) as store:
        store.add_sessions([SESSION])
        store.finish()
        assert not path.exists()
    assert os.listdir(tmp_path) == ["a.duckdb"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_file_is_private(tmp_path):
    """Even under a generous umask (security.md row 19)."""
    previous = os.umask(0)
    try:
        write(tmp_path / "a.duckdb")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "a.duckdb").stat().st_mode) == 0o600


def test_an_unfinished_file_leaves_nothing(tmp_path):
    with Store.create(tmp_path / "a.duckdb") as store:
        store.add_sessions([SESSION])
    assert os.listdir(tmp_path) == []


def test_a_taken_path_is_kept_unless_told_otherwise(tmp_path):
    """A reader of the old file goes on reading it while the new one takes its place."""
    path = tmp_path / "a.duckdb"
    write(path, "old")
    with pytest.raises(UsageError, match="exists"):
        Store.create(path)
    write(path, "new", replacing=True)
    with Store.open(path) as store:
        assert store.sessions()[0].title == "new"


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        Store.create(tmp_path / "no" / "a.duckdb")


def test_what_is_no_ctxview_database_is_refused(tmp_path):
    """Text, an empty file, a folder, nothing, and another program's database each get the typed error."""
    (tmp_path / "text").write_text("hello" * 5000)
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    with duckdb.connect(str(tmp_path / "other")) as con:
        con.execute("CREATE TABLE t (x INTEGER)")
    with duckdb.connect(str(tmp_path / "other-meta")) as con:
        con.execute("CREATE TABLE meta (x INTEGER)")
    for name in ("text", "empty", "folder", "missing", "other", "other-meta"):
        with pytest.raises(UnreadableError) as caught:
            Store.open(tmp_path / name)
        assert type(caught.value) is UnreadableError
        assert caught.value.exit_code == 3
        assert "load the trace again" in caught.value.fix


def test_another_schema_version_is_refused(tmp_path):
    """Versions are compared, not guessed around; an unfinished database is refused too."""
    path = tmp_path / "a.duckdb"
    write(path)
    with duckdb.connect(str(path)) as con:
        con.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    with pytest.raises(OutdatedError, match="schema '999'"):
        Store.open(path)
    with duckdb.connect(str(path)) as con:
        con.execute("DELETE FROM meta WHERE key = 'complete'")
        con.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [SCHEMA])
    with pytest.raises(OutdatedError, match="never finished"):
        Store.open(path)


def test_every_table_view_and_column_is_described(tmp_path):
    """The reference is printed from the database itself (style.md, habit 7)."""
    write(tmp_path / "a.duckdb")
    with Store.open(tmp_path / "a.duckdb") as store:
        con = store._con
        columns = con.execute(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
        tables = con.execute("SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal").fetchall()
        views = con.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
    assert len(tables) == 16
    named = {"v_budget", "v_cuts", "v_lifelines", "v_observations", "v_pins", "v_window", "v_window_text"}
    assert {name for name, _ in views} == named
    assert [row for row in columns + tables + views if not row[-1]] == []


def test_two_readers_at_once(tmp_path):
    """Two stores on one file in one process, and several threads in each: all see the same."""
    path = tmp_path / "a.duckdb"
    write(path)
    problems: list[BaseException] = []

    def read(store: Store) -> None:
        try:
            for n in range(30):
                assert store.text(n) == f"text {n}"
                assert len(store.view("s").blocks) == 500
        except BaseException as error:  # noqa: BLE001
            problems.append(error)

    with Store.open(path) as one, Store.open(path) as two:
        threads = [threading.Thread(target=read, args=(store,)) for store in (one, one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []


def test_a_reader_and_a_writer_at_once():
    """A view is of one moment: never spans without their blocks."""
    problems: list[BaseException] = []
    with Store.memory() as store:
        store.add_sessions([SESSION])

        def write_on() -> None:
            try:
                for n in range(60):
                    store.add_blocks("s", [replace(BLOCK, n=n)])
                    store.add_spans("s", [SpanRow(n, float(n), 1, NEVER, "verbatim", 0, 1, None)])
            except BaseException as error:  # noqa: BLE001
                problems.append(error)

        writer = threading.Thread(target=write_on)
        writer.start()
        while writer.is_alive():
            view = store.view("s")
            assert len(view.blocks) - len(view.spans) in (0, 1)
        writer.join()
        assert len(store.view("s").spans) == 60
    assert problems == []


def test_two_programs_read_one_file(tmp_path):
    """Read-only openings do not exclude each other (security.md row 24)."""
    path = tmp_path / "a.duckdb"
    write(path)
    code = (
        "import sys; from pathlib import Path; from ctxview.store import Store\n"
        "print(len(Store.open(Path(sys.argv[1])).sessions()))"
    )
    with Store.open(path):
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_a_connection_reaches_nothing_else(tmp_path):
    """No file, no extension, no setting, no Python variable (security.md row 21)."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    write(tmp_path / "a.duckdb")
    variable = [(1,)]  # noqa: F841
    statements = [
        f"SELECT * FROM read_text('{secret}')",
        f"SELECT * FROM read_blob('{secret}')",
        f"SELECT * FROM read_csv('{secret}')",
        f"SELECT * FROM '{secret}'",
        f"SELECT * FROM sniff_csv('{secret}')",
        f"SELECT * FROM glob('{tmp_path}/*')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/b.duckdb'",
        f"EXPORT DATABASE '{tmp_path}/dump'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 8",
        "SET enable_external_access = true",
        "SELECT * FROM variable",
    ]
    memory = Store.memory()
    memory.finish()
    for store in (memory, Store.open(tmp_path / "a.duckdb")):
        with store:
            for statement in statements:
                with pytest.raises(duckdb.Error):
                    store._con.execute(statement)
    assert sorted(os.listdir(tmp_path)) == ["a.duckdb", "secret.csv"]


def test_an_opened_store_cannot_be_written(tmp_path):
    write(tmp_path / "a.duckdb")
    with Store.open(tmp_path / "a.duckdb") as store, pytest.raises(duckdb.Error):
        store.add_issues([])


def test_what_does_not_fit_in_memory_is_spilled(monkeypatch):
    """A trace larger than the bound still loads, and leaves no spilled text behind."""
    monkeypatch.setattr("ctxview.store.store.MEMORY", 100)
    with Store.memory() as store:
        for part in range(40):
            texts = ((part * 1000 + n, chr(65 + n % 26) * 4_000, 4_000, 1, False) for n in range(1000))
            store.add_contents(texts)
        assert store.text(39_050) == chr(65 + 50 % 26) * 4_000
        assert store.text(0) == "A" * 4_000


def test_long_texts_are_given_the_room_they_take(monkeypatch, tmp_path):
    """DuckDB holds 2,048 neighbouring texts at once, however long they are."""
    monkeypatch.setattr("ctxview.store.store.BUILD_MEMORY", 24)
    with Store.create(tmp_path / "a.duckdb") as store:
        with store.bulk():
            store.add_contents((n, "ab" * 2_000_000, 4_000_000, 1, False) for n in range(12))
        store.finish()
    with Store.open(tmp_path / "a.duckdb") as store:
        assert all(store.text(n) == "ab" * 2_000_000 for n in range(12))


def test_no_data_library_is_loaded():
    """Neither importing nor reading loads numpy, pandas or pyarrow: they cost more than the query."""
    code = (
        "import sys; from ctxview.store import Store; s = Store.memory(); s.finish(); s.sessions(); s.texts([1])\n"
        "assert not {'numpy', 'pandas', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
