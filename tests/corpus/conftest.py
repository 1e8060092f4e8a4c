"""Real transcripts, where they are at hand: each is read once for all tests, and nothing of it is kept here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from ctxview.ingest import Trace, open_trace

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real transcripts is not beside this checkout")
    return CORPUS


@pytest.fixture(scope="session")
def read(corpus: Path) -> Iterator[Callable[[str], Trace]]:
    """Opens a corpus file by its name inside the corpus."""
    traces: list[Trace] = []

    @cache
    def open_once(name: str) -> Trace:
        if not (corpus / name).is_file():
            pytest.skip(f"{name} is not in this corpus")
        traces.append(open_trace([str(corpus / name)], cache=False))
        return traces[-1]

    yield open_once
    for trace in traces:
        trace.close()
