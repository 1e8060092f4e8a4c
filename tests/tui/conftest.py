"""Makes the helpers of this folder importable, and gives tests both sizes of terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from running import NARROW, WIDE


@pytest.fixture(params=[NARROW, WIDE], ids=["80x24", "160x45"])
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param
