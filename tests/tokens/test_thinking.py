"""Hidden thinking is estimated from its signature, and never below what the log shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.tokens import thinking_tokens


@pytest.mark.parametrize(
    ("signature", "visible", "tokens"),
    [(0, 0, 0), (0, 12, 12), (400, 0, 0), (399, 0, 0), (960, 0, 100), (960, 99, 100), (960, 101, 101), (5000, 0, 821)],
)
def test_the_rule(signature: int, visible: int, tokens: int):
    assert thinking_tokens(signature, visible) == tokens


@given(st.integers(-5, 10**7), st.integers(-5, 10**6))
def test_never_negative_and_never_below_the_visible(signature: int, visible: int):
    assert thinking_tokens(signature, visible) >= max(0, visible)
