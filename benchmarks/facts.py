"""What finding facts costs, in processor time against counting the tokens of the same file's distinct texts.

Facts are found while a trace is read: pins and observations, and of the ledger what it reads then, which is nothing:
its rows are looked up when somebody asks. Two questions, two rows for a file:

- *alone*: a process reads this one file, as `ctxview FILE` does. Counting tokens has to load the vocabulary then, and
  finding facts has to compile the rules that the file needs. This is what a person waits for.
- *among many*: both are warm, as for the later files of a folder. The best of several runs in turn, so that a busy
  machine measures the program and not its neighbours.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.inputs import write_session
from benchmarks.row import Row
from ctxview.annotate.observations import ObservationFinder
from ctxview.annotate.pins import PinFinder
from ctxview.annotate.pins.reading import read_standing, standing_pins
from ctxview.errors import CtxviewError
from ctxview.ingest.inputs import find_inputs
from ctxview.loaders.registry import detect
from ctxview.loaders.source import Source
from ctxview.model import Block, Call, CallEnd, Cut, Edit, SessionStart, Snapshot
from ctxview.reconstruct import Arrival, SessionBuilder
from ctxview.tokens import Counter

CORPUS: Final = Path(__file__).parents[2] / "shared" / "corpus"
_FROM_SECONDS: Final = 0.005
"""A file whose tokens are counted sooner is read before anybody could notice what facts cost."""
_MOST: Final = 1.0
_RUNS: Final = 5


class _Session:
    """A session's blocks in order of arrival, as its facts are found from them."""

    def __init__(self, start: SessionStart) -> None:
        self.cwd = start.cwd
        self.arrivals: list[Arrival] = []
        contents: dict[str, int] = {}
        self.builder = SessionBuilder(
            start, lambda text: contents.setdefault(text, len(contents)), self.arrivals.append
        )

    def find(self) -> None:
        pins, observations = PinFinder(), ObservationFinder(cwd=self.cwd)
        for arrival in self.arrivals:
            pins.see(arrival.block, arrival.n, arrival.turn)
            observations.see(arrival.block, arrival.n, arrival.turn)
        pins.finish()
        observations.drain()


def rows(folder: Path) -> Iterator[Row]:
    """Rows for a generated session and for each file of the corpus, where it is at hand."""
    files = {"generated": write_session(folder / "facts.jsonl", 5_000_000)}
    files |= {str(file.relative_to(CORPUS)): file for file in sorted(CORPUS.rglob("*")) if file.is_file()}
    for name, file in files.items():
        yield from _alone(name, file)
    for name, file in files.items():
        yield from _among_many(name, file)


def _alone(name: str, file: Path) -> Iterator[Row]:
    """Measured in a process of its own; no row for a file without texts."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.facts", str(file)], capture_output=True, text=True, check=True
    )
    finding, counting = map(float, run.stdout.split())
    if counting:
        detail = f"{finding * 1000:.0f} of {counting * 1000:.0f} ms"
        yield Row(f"facts ÷ tokenising alone, {name[-36:]}", "<=", _MOST, finding / counting, detail)


def _measure_once(file: Path) -> tuple[float, float]:
    """Seconds for finding facts and for counting, in a process that has done neither before."""
    sessions = _sessions(file)
    texts = _texts(sessions)
    if not any(texts):
        return 0.0, 0.0
    gc.collect()
    gc.disable()
    finding = _seconds(lambda: deque(map(_Session.find, sessions), maxlen=0))
    return finding, _seconds(partial(Counter().count_many, texts))


def _texts(sessions: list[_Session]) -> list[str]:
    return list({arrival.block.text for session in sessions for arrival in session.arrivals})


def _among_many(name: str, file: Path) -> Iterator[Row]:
    sessions = _sessions(file)
    texts = _texts(sessions)
    Counter().count("warm")
    counting = finding = float("inf")
    gc.collect()
    gc.disable()  # as while a trace is read
    for _ in range(_RUNS):
        # A new counter: it remembers short texts, and would look up the second time what it counted the first.
        counting = min(counting, _seconds(partial(Counter().count_many, texts)))
        read_standing.cache_clear()  # for the same reason
        standing_pins.cache_clear()
        finding = min(finding, _seconds(lambda: deque(map(_Session.find, sessions), maxlen=0)))
    gc.enable()
    if counting < _FROM_SECONDS:
        return
    detail = f"{finding * 1000:.1f} of {counting * 1000:.1f} ms"
    yield Row(f"facts ÷ tokenising among many, {name[-32:]}", "<=", _MOST, finding / counting, detail)


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _sessions(file: Path) -> list[_Session]:
    """Its sessions; none when it is no transcript."""
    try:
        files = find_inputs([str(file)]).files
        loader = detect(files[0]) if files else None
    except (CtxviewError, OSError):
        return []
    sessions: dict[str, _Session] = {}
    for event in loader.load(Source(files)) if loader else ():
        if isinstance(event, SessionStart) and event.session not in sessions:
            sessions[event.session] = _Session(event)
        elif isinstance(event, SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot):
            sessions[event.session].builder.feed(event)
    return list(sessions.values())


if __name__ == "__main__":
    print(*_measure_once(Path(sys.argv[1])))
