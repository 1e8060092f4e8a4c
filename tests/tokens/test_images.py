"""Image tokens follow the vendors' published examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.tokens import image_tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(120, 100, 16), (200, 200, 54), (1000, 1000, 1334), (1092, 1092, 1590), (4000, 3000, 1600), (1, 1, 1),
     (3136, 400, 419), (100_000, 1, 3)],
)  # fmt: skip
@pytest.mark.parametrize("vendor", ["claude-demo-5", "anthropic", "openrouter/anthropic/claude-x", None, "other"])
def test_anthropics_rule(vendor: str | None, width: int, height: int, tokens: int):
    assert image_tokens(vendor, width, height) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(1024, 1024, 765), (2048, 4096, 1105), (512, 512, 255), (1, 1, 255), (513, 512, 425), (100_000, 10, 765)],
)
@pytest.mark.parametrize("vendor", ["openai", "gpt-4o", "azure/gpt-4.1", "o3", "chatgpt-4o-latest", "ft:gpt-4o:acme"])
def test_openais_rule(vendor: str, width: int, height: int, tokens: int):
    assert image_tokens(vendor, width, height) == tokens


def test_low_detail_is_flat_for_openai_only():
    assert image_tokens("gpt-4o", 4096, 8192, low_detail=True) == 85
    assert image_tokens("gpt-4o", None, None, low_detail=True) == 85
    assert image_tokens("claude-demo-5", 120, 100, low_detail=True) == 16


@pytest.mark.parametrize(("width", "height"), [(None, None), (None, 10), (10, None), (0, 10), (10, -1)])
def test_an_unknown_size_has_a_flat_rate(width: int | None, height: int | None):
    assert image_tokens("claude-demo-5", width, height) == 1600
    assert image_tokens("gpt-4o", width, height) == 765


@given(st.sampled_from(["claude", "gpt-4o"]), st.integers(1, 2**32), st.integers(1, 2**32))
def test_any_size_takes_at_least_one_token_and_has_a_ceiling(model: str, width: int, height: int):
    assert 1 <= image_tokens(model, width, height) <= 1600
