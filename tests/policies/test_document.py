"""docs/policies.md names every policy, every parameter with its default, and every preset; and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ctxview.policies import POLICIES, PRESETS, Policy
from ctxview.policies.stack import written

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", TEXT.partition("## The policies")[2], re.MULTILINE))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_every_policy_has_its_row(policy: Policy) -> None:
    row = ROWS[policy.name]
    assert policy.title in row
    assert policy.source.replace("|", "/") in row
    for param in policy.params:
        assert f"`{param.name}={written(param.default)}`" in row


def test_every_preset_has_its_row_and_there_is_nothing_more() -> None:
    for name, stack in PRESETS.items():
        assert f"`{stack}`" in ROWS[name]
    assert set(ROWS) == {p.name for p in POLICIES} | set(PRESETS)
