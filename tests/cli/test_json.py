"""JSON as it is printed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.cli.options import print_json

texts = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud83d", "\x1b[31m", "\x85", "😀"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(value=values)
def test_what_is_printed_is_ascii_and_reads_back(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("click.echo", said.append)
        print_json(value)
    assert said[0].isascii()
    assert "\x1b" not in said[0]
    assert json.loads(said[0]) == value


@pytest.mark.parametrize("beside", ["plain", "\ud83d"])
def test_a_number_that_json_cannot_say_is_null(capsys: pytest.CaptureFixture[str], beside: str) -> None:
    print_json([float("nan"), float("inf"), beside])
    assert json.loads(capsys.readouterr().out) == [None, None, beside]
