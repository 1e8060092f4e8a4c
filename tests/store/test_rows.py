"""Every row comes back from the store as it went in, whatever it holds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.errors import UsageError
from ctxview.model import (
    KINDS,
    NEVER,
    BlockRow,
    CutRow,
    EditRow,
    FileRow,
    IssueRow,
    SessionRow,
    SpanRow,
    Stretch,
    TurnRow,
)
from ctxview.store import Store

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["'; DROP TABLE blocks; --", '"x"', "a\x00b", "\x00", "?", "$1", "\x1b[31m", "é\u202e\U0001f600", ""]
)
maybe_text = st.none() | texts
int64 = st.integers(-(2**63), 2**63 - 1)
counts = st.integers(0, 2**40)
maybe_int = st.none() | int64
turn_numbers = st.integers(0, 100_000)
floats = st.floats(allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
forms = st.sampled_from(["verbatim", "placeholder", "pointer", "flagged", "summary", "truncated"])

session_rows = st.builds(
    SessionRow, session=texts, parent=maybe_text, parent_call=maybe_text, agent=maybe_text, format=texts,
    client=maybe_text, title=maybe_text, cwd=maybe_text, limit=maybe_int, joins_roles=st.booleans(),
    started=maybe_text, ended=maybe_text,
)  # fmt: skip
block_rows = st.builds(
    BlockRow, n=st.just(0), id=texts, message=texts, role=st.sampled_from(["system", "user", "assistant", "tool"]),
    kind=st.sampled_from(KINDS), tool=maybe_text, call_id=maybe_text, is_error=st.booleans(),
    content=st.integers(0, 2**31 - 1), tokens=counts, estimated=st.booleans(), chars=counts, preview=texts,
    turn=turn_numbers, file=texts, line=counts, origin_id=maybe_text, at=maybe_text, injected=st.booleans(),
    inherited=st.booleans(), human=st.booleans(), inserted=st.booleans(), note=maybe_text, image=maybe_text,
)  # fmt: skip
turn_rows = st.builds(
    TurnRow, turn=st.just(0), call=texts, model=maybe_text, client=maybe_text, at=maybe_text,
    fidelity=st.sampled_from(["exact", "reconstructed", "simulated"]), missing=st.lists(texts).map(tuple),
    input=maybe_int, cache_read=maybe_int, cache_write=maybe_int, output=maybe_int, reasoning=maybe_int,
    output_partial=st.booleans(), stop_reason=maybe_text, error=maybe_text, inherited=st.booleans(), file=texts,
    line=counts,
)  # fmt: skip
span_rows = st.builds(
    SpanRow, block=st.integers(0, 2**31 - 1), pos=floats, start=turn_numbers, end=turn_numbers | st.just(NEVER),
    form=forms, content=st.integers(0, 2**31 - 1), tokens=counts, ended_by=st.none() | turn_numbers,
)  # fmt: skip
edit_rows = st.builds(
    EditRow, n=st.just(0), turn=turn_numbers, layer=texts, rule=texts, reason=texts, block=st.none() | turn_numbers,
    action=st.sampled_from(["drop", "replace", "insert", "move", "tag"]), at=maybe_text,
    covers=st.lists(texts).map(tuple), evidence=st.dictionaries(texts, json_values, max_size=4),
    cut=st.none() | turn_numbers,
)  # fmt: skip
cut_rows = st.builds(
    CutRow, n=st.just(0), turn=turn_numbers,
    kind=st.sampled_from(["compact", "clear", "truncate", "rewind", "unexplained"]), trigger=maybe_text,
    before=maybe_int, after=maybe_int, dropped=counts, kept=counts, summary_tokens=maybe_int, file=texts, line=counts,
)  # fmt: skip
stretches = st.builds(
    Stretch, start=turn_numbers, end=turn_numbers, factor=floats, constant=int64,
    steps=st.lists(turn_numbers).map(tuple), median_error=floats, p95_error=floats, model=maybe_text,
)  # fmt: skip
issue_rows = st.builds(
    IssueRow, file=texts, line=st.none() | counts, byte=st.none() | counts,
    severity=st.sampled_from(["error", "warning", "info"]), reason=texts, session=maybe_text,
)  # fmt: skip
file_rows = st.builds(
    FileRow, path=texts, format=maybe_text, bytes=counts, records=counts, window=counts, duplicates=counts,
    known=st.dictionaries(texts, counts, max_size=4), unknown=st.dictionaries(texts, counts, max_size=4),
    unreadable=counts,
)  # fmt: skip

SESSION = SessionRow("s", None, None, None, "test", None, None, None, None, False, None, None)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.memory() as store:
        yield store


fresh = itertools.count()


def numbered(rows: list, field: str, first: int = 0) -> list:
    return [replace(row, **{field: n}) for n, row in enumerate(rows, first)]


@settings(max_examples=40, deadline=None)
@given(
    row=session_rows,
    blocks=st.lists(block_rows, max_size=4),
    turns=st.lists(turn_rows, max_size=4),
    spans=st.lists(span_rows, max_size=4),
    edits=st.lists(edit_rows, max_size=4),
    cuts=st.lists(cut_rows, max_size=4),
    audit=st.lists(stretches, max_size=4),
)
def test_a_session_comes_back_whole(store, row, blocks, turns, spans, edits, cuts, audit):
    """All seven kinds of rows of a session survive, among the rows of all sessions before it."""
    row = replace(row, session=f"{row.session}{next(fresh)}")
    blocks, turns = numbered(blocks, "n"), numbered(turns, "turn", 1)
    edits, cuts = numbered(edits, "n"), numbered(cuts, "n")
    store.add_sessions([row])
    store.add_blocks(row.session, iter(blocks))
    store.add_turns(row.session, iter(turns))
    store.add_spans(row.session, iter(spans))
    store.add_edits(row.session, iter(edits))
    store.add_cuts(row.session, iter(cuts))
    store.add_audit(row.session, iter(audit))

    view = store.view(row.session)

    assert view.row == row
    assert store.sessions()[-1] == row
    assert (view.blocks, view.turns) == (tuple(blocks), tuple(turns))
    assert sorted(view.spans, key=repr) == sorted(spans, key=repr)
    assert (view.edits, view.cuts, view.audit) == (tuple(edits), tuple(cuts), tuple(audit))
    assert {type(b) for b in view.blocks} <= {BlockRow}


@settings(max_examples=25, deadline=None)
@given(files=st.lists(file_rows, max_size=4), issues=st.lists(issue_rows, max_size=4))
def test_files_and_issues_come_back_in_order(files, issues):
    """Counts by type included, and over several calls."""
    with Store.memory() as store:
        for row in files:
            store.add_files([row])
        store.add_issues(issues[:1])
        store.add_issues(iter(issues[1:]))
        assert store.files() == tuple(files)
        assert store.issues() == tuple(issues)


@settings(max_examples=25, deadline=None)
@given(found=st.lists(texts, min_size=1, max_size=8))
def test_texts_come_back(found):
    """One by one and in one query; a NUL is a character like any other."""
    with Store.memory() as store:
        store.add_contents((n, text, len(text), 1, False) for n, text in enumerate(found))
        assert [store.text(n) for n in range(len(found))] == found
        assert store.texts(range(len(found))) == dict(enumerate(found))
        assert store.texts([0, 10**6]) == {0: found[0]}
        assert store.texts([]) == {}


def test_the_rows_are_of_the_models_class(store):
    """Rows made quickly are like any other: hashable, without a dict. That nobody changes them is mypy's to say."""
    store.add_sessions([replace(SESSION, session="frozen")])
    row = store.view("frozen").row
    assert type(row) is SessionRow
    assert hash(row) == hash(replace(SESSION, session="frozen"))
    with pytest.raises(AttributeError):
        row.nickname = "x"


def test_what_duckdb_cannot_hold_is_replaced(store):
    """Lone surrogates become U+FFFD and numbers beyond 64 bits unknown; the rows around them stay as they are."""
    turn = TurnRow(
        1, "c", "m", None, None, "exact", ("sys\ud800",), 2**63, 10**5000, -(2**63) - 1, 7, None, False, None, None,
        False, "f", 1,
    )  # fmt: skip
    store.add_sessions([replace(SESSION, session="s\udfff", title="\ud83d\ude00\ud83d", limit=2**70)])
    store.add_turns("s\udfff", [replace(turn, missing=(), input=1), replace(turn, turn=2), replace(turn, turn=3)])
    store.add_edits("s\udfff", [EditRow(0, 1, "l", "r", "x", None, "tag", None, ("\ud800",), {"\ud800": 2**80}, None)])
    store.add_contents([(900, "fine", 4, 1, False), (901, "a\udcffb", 3, 1, False)])

    view = store.view("s\udfff")

    assert (view.row.session, view.row.title, view.row.limit) == ("s�", "😀�", None)
    assert [t.input for t in view.turns] == [1, None, None]
    assert (view.turns[1].cache_read, view.turns[1].cache_write, view.turns[1].output) == (None, None, 7)
    assert view.turns[1].missing == ("sys�",)
    assert (view.edits[0].covers, view.edits[0].evidence) == (("�",), {"�": 2**80})
    assert store.texts([900, 901]) == {900: "fine", 901: "a�b"}


def test_ids_are_never_sql():
    """Quotes and semicolons in ids change no table (security.md row 22)."""
    evil = "'; DROP TABLE blocks; --\" ) SELECT"
    with Store.memory() as store:
        store.add_sessions([replace(SESSION, session=evil), SESSION])
        store.add_spans(evil, [SpanRow(0, 0.0, 1, NEVER, "verbatim", 0, 1, None)])
        store.finish()
        assert [row.session for row in store.sessions()] == [evil, "s"]
        assert len(store.view(evil).spans) == 1
        with pytest.raises(UsageError):
            store.view("' OR 1=1 --")


def test_sessions_keep_their_order_and_may_be_amended(store):
    """Order is that of the first rows, whoever's blocks came first; a second row of a session replaces its first."""
    with Store.memory() as store:
        store.add_spans("b", [SpanRow(0, 0.0, 1, NEVER, "verbatim", 0, 1, None)])
        store.add_sessions(replace(SESSION, session=name) for name in "cab")
        store.add_sessions([replace(SESSION, session="a", title="later")])
        assert [(row.session, row.title) for row in store.sessions()] == [("c", None), ("a", "later"), ("b", None)]
        assert [len(store.view(name).spans) for name in "cab"] == [0, 0, 1]


def test_rows_held_together_are_written_at_the_end():
    """All or, when the inside raises, none; what does not wait is written at once."""
    span = SpanRow(0, 0.0, 1, NEVER, "verbatim", 0, 1, None)
    with Store.memory() as store:
        store.add_sessions([SESSION])
        with store.together():
            store.add_spans("s", [span])
            store.add_contents([(0, "text", 4, 1, False)])
            assert (store.view("s").spans, store.text(0)) == ((), "text")
        assert store.view("s").spans == (span,)
        with pytest.raises(RuntimeError), store.together():  # noqa: PT012
            store.add_spans("s", [span])
            raise RuntimeError
        assert store.view("s").spans == (span,)


def test_a_kept_word_comes_back():
    with Store.memory() as store:
        store.set_meta("inputs", "one")
        store.set_meta("inputs", "two")
        assert (store.meta("inputs"), store.meta("nothing")) == ("two", None)


def test_an_unknown_text_or_session_is_a_usage_error(store):
    with pytest.raises(UsageError, match="no content"):
        store.text(10**6)
    with pytest.raises(UsageError, match="no session"):
        store.view("nobody")


def test_a_batch_is_written_whole_or_not_at_all():
    """An error halfway through the rows leaves the table as it was."""

    def rows() -> Iterator[IssueRow]:
        yield IssueRow("f", 1, None, "error", "x", None)
        raise RuntimeError

    with Store.memory() as store:
        with pytest.raises(RuntimeError):
            store.add_issues(rows())
        assert store.issues() == ()


def test_more_rows_than_one_insert_takes(monkeypatch):
    """Batches follow one another in order, bounded by rows and by characters."""
    monkeypatch.setattr("ctxview.store.store._BATCH", 7)
    monkeypatch.setattr("ctxview.store.store._BATCH_CHARS", 20)
    issues = tuple(IssueRow("f", n, None, "info", "x", None) for n in range(50))
    with Store.memory() as store:
        store.add_issues(issues)
        store.add_contents((n, "0123456789", 10, 1, False) for n in range(9))
        assert store.issues() == issues
        assert len(store.texts(range(9))) == 9
