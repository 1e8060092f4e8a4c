"""The SQL views and the Python view of a session answer the same questions with the same numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.model import KINDS, NEVER, BlockRow, CutRow, EditRow, SessionRow, SpanRow, TurnRow
from ctxview.store import Store
from ctxview.window import SessionView

SESSION = SessionRow("s", None, None, None, "test", None, None, None, None, False, None, None)
BLOCK = BlockRow(
    0, "b", "m", "user", "user", None, None, False, 0, 5, False, 4, "text", 0, "f", 1, None, None, False, False, False,
    False, None, None,
)  # fmt: skip
TURN = TurnRow(
    1, "c", None, None, None, "exact", (), None, None, None, None, None, False, None, None, False, "f", 1
)  # fmt: skip
FORMS = ("verbatim", "placeholder", "summary", "truncated")
fresh = itertools.count()


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with Store.memory() as store:
        store.add_contents((n, f"text {n}", 6, n, False) for n in range(40))
        yield store


def ask(store: Store, query: str, *values: Any) -> list[Any]:
    return store._con.cursor().execute(query, values).fetchall()


@st.composite
def lives(draw: st.DrawFn) -> tuple[SessionRow, list[TurnRow], list[BlockRow], list[SpanRow], list[EditRow]]:
    """A session with random stays: some never seen, some open, some that come back in another form."""
    last = draw(st.integers(0, 12))
    edits = [EditRow(n, 1, "recorded", f"rule {n}", "why", None, "drop", None, (), {}, None) for n in range(3)]
    blocks, spans = [], []
    for n in range(draw(st.integers(0, 10))):
        kind, turn = draw(st.sampled_from(KINDS)), draw(st.integers(0, last))
        blocks.append(replace(BLOCK, n=n, id=f"b{n}", kind=kind, turn=turn))
        marks = sorted(draw(st.lists(st.integers(0, last + 2), max_size=6)))
        for start, end in itertools.zip_longest(marks[::2], marks[1::2], fillvalue=NEVER):
            ended_by = None if end == NEVER else draw(st.none() | st.integers(0, 2))
            form, pos = draw(st.sampled_from(FORMS)), draw(st.integers(0, 11)) + n / 100
            tokens, content = draw(st.integers(0, 1000)), draw(st.integers(0, 39))
            spans.append(SpanRow(n, pos, start, end, form, content, tokens, ended_by))
    numbers = st.none() | st.integers(0, 150_000)
    models = st.sampled_from([None, "claude-x", "eu/claude-y", "gpt-5", "opus[1m]"])
    turns = [
        replace(
            TURN, turn=t, model=draw(models), input=draw(numbers), cache_read=draw(numbers), cache_write=draw(numbers)
        )
        for t in range(1, last + 1)
    ]
    limit = draw(st.none() | st.sampled_from([100_000, 1_000_000]))
    return replace(SESSION, session=f"s{next(fresh)}", limit=limit), turns, blocks, spans, edits


def none(turn: int) -> int | None:
    """What a query sees of a turn that never comes."""
    return None if turn == NEVER else turn


def stored(store: Store, life: tuple[Any, ...]) -> SessionView:
    row, turns, blocks, spans, edits = life
    store.add_sessions([row])
    store.add_turns(row.session, turns)
    store.add_blocks(row.session, blocks)
    store.add_spans(row.session, spans)
    store.add_edits(row.session, edits)
    store.finish()
    return store.view(row.session)


@settings(max_examples=30, deadline=None)
@given(life=lives())
def test_v_window_is_the_window(store, life):
    """At every turn and at `now`, in order, with forms, tokens and texts."""
    view = stored(store, life)
    for turn in range(1, view.now + 1):
        expected = [
            (i, s.block, view.blocks[s.block].id, view.blocks[s.block].kind, s.tokens, s.form, s.start, none(s.end))
            for i, s in enumerate(view.spans_at(turn))
        ]
        found = ask(
            store,
            'SELECT index, block, id, kind, tokens, form, start, "end" FROM v_window WHERE session = ? AND turn = ? '
            "ORDER BY index",
            view.row.session,
            turn,
        )
        assert found == expected
        texts = ask(
            store,
            "SELECT text, chars FROM v_window_text WHERE session = ? AND turn = ? ORDER BY index",
            view.row.session,
            turn,
        )
        assert texts == [(view.text(s.content), 6) for s in view.spans_at(turn)]


@settings(max_examples=30, deadline=None)
@given(life=lives())
def test_v_budget_is_the_budget(store, life):
    """Recorded and counted sizes of every turn, and the limit by the same rules."""
    view = stored(store, life)
    query = 'SELECT turn, recorded, counted, "limit" FROM v_budget WHERE session = ? ORDER BY turn'
    expected = [
        (t, call.recorded if (call := view.turn(t)) else None, view.counted(t), view.limit)
        for t in range(1, view.now + 1)
    ]
    assert ask(store, query, view.row.session) == expected


@settings(max_examples=30, deadline=None)
@given(life=lives())
def test_v_lifelines_is_the_life_of_each_block(store, life):
    """First and last turn, whether it stands, its forms, and the edit that took it out."""
    view = stored(store, life)
    query = "SELECT block, first, last, stands, forms, edit, rule FROM v_lifelines WHERE session = ? ORDER BY block"
    found = ask(store, query, view.row.session)
    assert [row[0] for row in found] == [b.n for b in view.blocks]
    for n, first, last, stands, forms, edit, rule in found:
        spans = view.life(n)
        seen = [s for s in spans if s.start < s.end]
        assert first == min((s.start for s in seen), default=None)
        assert stands == any(s.end == NEVER for s in spans)
        assert last == (None if stands or not seen else max(s.end for s in seen) - 1)
        assert sorted(forms) == sorted(s.form for s in spans)
        final = max(spans, key=lambda s: (s.end, s.start, -1 if s.ended_by is None else s.ended_by), default=None)
        assert edit == (None if final is None or stands else final.ended_by)
        assert rule == (None if edit is None else view.edits[edit].rule)


@settings(max_examples=30, deadline=None)
@given(life=lives(), data=st.data())
def test_v_cuts_gives_the_sizes_of_a_cut(store, life, data):
    """As the log states them, else as the turns around it were recorded: whatever the view of the session says."""
    numbers = st.none() | st.integers(0, 150_000)
    turns = st.integers(1, len(life[1]) + 1)
    cuts = [
        CutRow(n, turn, "compact", None, data.draw(numbers), data.draw(numbers), 1, 1, None, "f", 1)
        for n, turn in enumerate(data.draw(st.lists(turns, max_size=4)))
    ]
    store.add_cuts(life[0].session, cuts)
    view = stored(store, life)
    query = "SELECT before, after, freed FROM v_cuts WHERE session = ? ORDER BY cut"
    sizes = [view.cut_sizes(cut) for cut in cuts]
    expected = [(b, a, None if b is None or a is None else b - a) for b, a in sizes]
    assert ask(store, query, view.row.session) == expected


def test_v_cuts_names_the_call_a_cut_took_effect_at():
    """A cut after the last turn has no call; freed is unknown where neither the log nor a call tells a size."""
    with Store.memory() as store:
        store.add_sessions([SESSION])
        store.add_turns("s", [replace(TURN, model="m1", at="noon")])
        store.add_cuts(
            "s",
            [
                CutRow(0, 1, "compact", "auto", 90, 30, 4, 2, 9, "f", 3),
                CutRow(1, 2, "clear", None, None, None, 6, 0, None, "f", 9),
            ],
        )
        store.finish()
        query = 'SELECT session, cut, turn, kind, freed, model, "at" FROM v_cuts ORDER BY cut'
        assert ask(store, query) == [("s", 0, 1, "compact", 60, "m1", "noon"), ("s", 1, 2, "clear", None, None, None)]


def test_finish_may_come_again():
    """Turns added after the first finish join the views at the second."""
    with Store.memory() as store:
        store.add_sessions([SESSION])
        store.finish()
        assert ask(store, "SELECT turn FROM v_budget") == [(1,)]
        store.add_turns("s", [TURN])
        store.finish()
        assert ask(store, "SELECT turn FROM v_budget ORDER BY turn") == [(1,), (2,)]
