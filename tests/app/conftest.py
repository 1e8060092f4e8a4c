"""The dashboard's tests need the extra `web`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

if importlib.util.find_spec("streamlit") is None or importlib.util.find_spec("plotly") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own Streamlit configuration and cache take part."""
    monkeypatch.setenv("CTXVIEW_CACHE", str(tmp_path / "cache"))
