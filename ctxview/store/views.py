"""Sessions out of the database as views: many small ones in a few queries, a large one without holding its rows twice.

It prevents a trace of thousands of sub-agents from taking a dozen queries for each of them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, TypeVar

import duckdb

from ctxview.annotate import Facts
from ctxview.annotate.note_rules import NoteRules
from ctxview.store import rows as r
from ctxview.window import SessionView

_FETCHED: Final = 2_048
"""Rows that are fetched at once."""
_TOGETHER: Final = 10_000
"""Blocks of several sessions that are read together, at most."""

Made = TypeVar("Made")


def runs(sizes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """First and last of the sessions to read together. `sizes`: each session's number, rising, and its blocks."""
    first, last, together = -1, -1, 0
    for n, blocks in sizes:
        if first >= 0 and together + blocks > _TOGETHER:
            yield first, last
            first, together = -1, 0
        first, last, together = first if first >= 0 else n, n, together + blocks
    if first >= 0:
        yield first, last


def views(
    cursor: duckdb.DuckDBPyConnection,
    first: int,
    last: int,
    text: Callable[[int], str],
    texts: Callable[[Collection[int]], Mapping[int, str]],
) -> list[SessionView]:
    """The sessions of these numbers with their recorded spans."""

    def batches(query: str) -> Iterator[Sequence[r.Values]]:
        """A few at a time, so that they and what is made of them do not stand in memory together."""
        cursor.execute(query, [first, last])
        while batch := cursor.fetchmany(_FETCHED):
            yield batch

    def rows(query: str) -> Callable[[int], Iterable[Sequence[r.Values]]]:
        """A session's rows by its number, which is their last value; of a single session as they come."""
        if first == last:
            return lambda n: batches(query)
        found: dict[int, list[r.Values]] = defaultdict(list)
        for values in chain.from_iterable(batches(query)):
            found[values[-1]].append(values)
        return lambda n: [found.pop(n, [])]

    def own(found: Iterable[Sequence[r.Values]]) -> Iterator[r.Values]:
        """Rows without the session's number."""
        return (values[:-1] for values in chain.from_iterable(found))

    thresholds = cursor.execute(r.STALE_AFTER).fetchone()
    notes = cursor.execute(r.NOTE_RULES).fetchone()
    stale_after = json.loads(thresholds[0]) if thresholds else None
    note_rules = NoteRules.from_json(notes[0]) if notes else NoteRules()
    numbers = {values[-1]: values[:-1] for values in chain.from_iterable(batches(r.SESSIONS_BETWEEN))}
    turns, blocks, spans, edits = rows(r.TURNS), rows(r.BLOCKS), rows(r.SPANS), rows(r.EDITS)
    cuts, audit = rows(r.CUTS), rows(r.AUDIT)
    pins, observations, changes = rows(r.PINS), rows(r.OBSERVATIONS), rows(r.CHANGES)
    return [
        SessionView(
            row=r.sessions([row])[0],
            turns=_in_order(r.turns(own(turns(n))), "turn"),
            blocks=r.blocks(blocks(n)),
            spans=r.spans(spans(n)),
            edits=r.edits(edits(n)),
            cuts=_in_order(r.cuts(own(cuts(n))), "n"),
            audit=r.stretches(own(audit(n))),
            facts=Facts(
                tuple(r.pins(own(pins(n)))),
                tuple(r.observations(own(observations(n)))),
                tuple(r.changes(own(changes(n)))),
                stale_after,
                note_rules,
            ),
            texts=text,
            texts_many=texts,
        )
        for n, row in numbers.items()
    ]


def _in_order(made: list[Made], field: str) -> list[Made]:
    """Rows mostly lie in order, which makes it cheaper here than in SQL."""
    return sorted(made, key=attrgetter(field))
