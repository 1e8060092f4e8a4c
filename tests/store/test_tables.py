"""What a table of columns promises: it reads as the rows it was filled with, and keeps few of them as objects."""

from __future__ import annotations

import random

import pytest

from ctxview.model import NEVER, SpanRow
from ctxview.store.rows import blocks, spans
from ctxview.window.table import Ints, Mappings, Strings, Table, Texts


def values(n: int) -> tuple[object, ...]:
    """A block's columns; None, empty, repeated, long and non-ASCII strings among them."""
    return (
        n, f"id-{n}", f"m{n // 3}", "tool" if n % 2 else "user", "tool_result", None if n % 5 else "", f"c{n // 2}",
        n % 7 == 0, n, n * 1_000, n % 11 == 0, 2**40 + n, ("é😀\x00\n" * (n % 40)) + str(n), n // 4, "file", n + 1,
        None, "now", False, True, n % 3 == 0, False, None, "1x1" if n == 9 else None,
    )  # fmt: skip


def test_a_table_reads_as_its_rows_in_their_order():
    """However the rows came, by index, by slice, in a pass, by column."""
    wanted = [values(n) for n in range(10_000)]
    came = wanted[:]
    random.Random(1).shuffle(came)
    table = blocks(came[i : i + 999] for i in range(0, len(came), 999))
    picked = [table[i] for i in (0, 63, 64, 4_097, 9_999, -1)]
    assert [tuple(getattr(row, name) for name in row.__slots__) for row in picked] == [
        wanted[i] for i in (0, 63, 64, 4_097, 9_999, -1)
    ]
    assert table.column("preview") == [row[12] for row in wanted]
    assert [row.id for row in table[5:20:3]] == [row[1] for row in wanted[5:20:3]]
    assert table[100] == list(table)[100] == table[100]
    assert len(table) == 10_000
    with pytest.raises(IndexError):
        table[10_000]


def test_few_picked_rows_stay_as_objects():
    """A walk through all rows, some at a time, leaves a bounded number behind; a second look finds the same object."""
    table = spans([[(n, float(n), n, NEVER, "verbatim", n, 1, None) for n in range(50_000)]])
    for low in range(0, 50_000, 1_000):
        table.pick(range(low, low + 1_000))
    assert table[49_999] is table[49_999]
    assert len(table._picked) <= 10_000
    assert table[0] == SpanRow(0, 0.0, 0, NEVER, "verbatim", 0, 1, None)


def test_a_string_is_found_whole():
    """Not as a part of another, nor across the border of two, nor when it is None's byte."""
    rows = [(2, "ab"), (4, ""), (0, "xab"), (1, "b"), (3, None)]
    table: Table[object] = Table({"n": Ints(), "id": Strings()}, lambda *values: values, [rows], ["n"])
    assert [table.find("id", word) for word in ("xab", "b", "ab")] == [0, 1, 2]
    assert not any(table.find("id", word) for word in ("bx", "a", "ÿ", ""))
    assert table.column("id") == ["xab", "b", "ab", None, ""]


def test_no_rows_are_a_table_too():
    assert list(blocks([])) == [] == blocks([])[:]
    assert blocks([]).find("id", "x") is None


def test_texts_and_mappings_read_back():
    texts, mappings = Texts(), Mappings()
    for n in range(0, 200, 50):
        texts.extend([f"text {i} \ud800" for i in range(n, n + 50)])
        mappings.extend(['{"a": 1}' if i == 70 else "{}" for i in range(n, n + 50)])
    for column in (texts, mappings):
        column.close(list(reversed(range(200))))
    assert (texts[0], texts[199], texts.all()[1]) == ("text 199 \ud800", "text 0 \ud800", "text 198 \ud800")
    assert (dict(mappings[129]), dict(mappings[0]), mappings.all()[129]) == ({"a": 1}, {}, {"a": 1})
