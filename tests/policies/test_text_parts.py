"""The parts that write and weigh texts: digests that add up, BM25, a call's arguments without their content."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ctxview.policies.bm25 import scores, words
from ctxview.policies.digest import Tally, read_tally
from ctxview.policies.parts import head_and_tail, suffix_that_fits
from ctxview.policies.supersede import without_content


def test_the_published_digest() -> None:
    assert Tally(16, {"fetch_invoices": 8}).text() == "[compacted 16 earlier messages] | tools used: fetch_invoices x8"
    assert Tally(2, {}).text(1) == "[compacted 2 earlier messages] | denials preserved: 1"


NAMES = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)


@given(st.integers(0, 999), st.dictionaries(NAMES, st.integers(1, 99), max_size=4), st.integers(0, 3))
def test_a_digest_reads_back(messages: int, tools: dict[str, int], denials: int) -> None:
    tally = Tally(messages, tools)
    assert read_tally(tally.text(denials)) == tally


def test_other_texts_are_no_digest() -> None:
    assert read_tally("[compacted by hand]") is None


def test_digests_add_up() -> None:
    assert Tally(2, {"a": 1}).plus(Tally(3, {"b": 1, "a": 2})) == Tally(5, {"a": 3, "b": 1})


def test_bm25_prefers_the_rare_word_and_the_shorter_text() -> None:
    texts = [words("the cat sat"), words("the dog"), words("the the the cat and many more words than before")]
    found = scores(words("cat"), texts)
    assert found[0] > found[2] > found[1] == 0
    assert scores(words("absent"), texts) == [0, 0, 0]
    assert scores(words("x"), []) == []


def test_a_write_keeps_its_path_and_loses_its_content() -> None:
    call = json.dumps({"file_path": "a.txt", "content": "long text " * 50, "mode": 1})
    assert json.loads(without_content(call, "[gone]")) == {"file_path": "a.txt", "content": "[gone]", "mode": 1}
    assert without_content("not json", "[gone]") == "[gone]"


@given(st.lists(st.integers(0, 50)), st.integers(0, 200))
def test_the_longest_suffix_that_fits(sizes: list[int], room: int) -> None:
    start = suffix_that_fits(sizes, room)
    assert sum(sizes[start:]) <= room
    assert start == 0 or sum(sizes[start - 1 :]) > room


@given(st.text(max_size=60), st.integers(0, 20), st.integers(0, 20))
def test_head_and_tail_keep_both_ends(text: str, head: int, tail: int) -> None:
    short = head_and_tail(text, head, tail, lambda gone: f"[{gone}]")
    if len(text) <= head + tail:
        assert short == text
    else:
        assert short == text[:head] + f"[{len(text) - head - tail}]" + (text[-tail:] if tail else "")
