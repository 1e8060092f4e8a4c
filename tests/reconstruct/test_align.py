"""Aligning two captured windows."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from ctxview.reconstruct.align import Key, align


def keys(letters: str) -> list[Key]:
    return [(0, 0, 0, ord(letter)) for letter in letters]


def kept(old: str, new: str) -> dict[int, int]:
    return align(keys(old), keys(new)).kept


def test_a_head_that_was_trimmed_and_an_insert_between_what_stays() -> None:
    assert kept("sabcdef", "SdexfG") == {1: 4, 2: 5, 4: 6}


def test_a_block_that_moved_leaves_the_longer_run_in_place() -> None:
    assert kept("xabcdy", "XbcdaY") == {1: 2, 2: 3, 3: 4}


def test_equal_blocks_are_told_apart_by_what_stands_around_them() -> None:
    """`o` stands three times; the ones beside `b` and `c` are theirs."""
    assert kept("1oaobocz", "2obocy") == {1: 3, 2: 4, 3: 5, 4: 6}


@given(st.text("abcde", max_size=12), st.text("abcde", max_size=12))
def test_what_is_kept_is_equal_and_in_order(old: str, new: str) -> None:
    found = kept(old, new)
    assert all(old[a] == new[b] for b, a in found.items())
    order = [found[b] for b in sorted(found)]
    assert order == sorted(set(order))


def test_many_equal_messages_take_no_more_than_a_moment() -> None:
    """Two windows of 4,800 messages in few different words, shifted against each other."""
    start = time.process_time()
    assert len(kept("g1" + "ab" * 2400 + "x", "g2" + "aab" * 1600 + "y")) > 3000
    assert time.process_time() - start < 2
