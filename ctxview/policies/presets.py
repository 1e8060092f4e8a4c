"""Stacks under a name, for those who do not want to compose one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PRESETS: Final[Mapping[str, str]] = {
    "naive": "keep-last-n",
    "truth": "recorded,supersede",
    "careful": "supersede,compact-groups:max=100000:keep=4",
}
