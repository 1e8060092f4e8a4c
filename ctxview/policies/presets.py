"""Stacks under a name, for those who do not want to compose one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PRESETS: Final[Mapping[str, str]] = {
    "naive": "keep-last-n",
    "truth": "recorded,supersede,stale",
    "careful": "supersede,stale,compact-groups:max=100000:keep=4",
    "memory": "pinned-rolling,reinject:at=tail",
    "pydantic-dedup": "supersede",
    "claude-code": "clear-tool-uses:trigger=140000:keep=5,anthropic-compact:trigger=167000",
}
"""`claude-code` is what a stack of documented parts comes to; its own microcompaction is not published."""
