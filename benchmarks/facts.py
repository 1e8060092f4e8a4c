"""What finding facts costs, in processor time against counting the tokens of the same file's distinct texts.

Facts are found while a trace is read: pins and observations, and of the ledger what it reads then, which is nothing:
its rows are looked up when somebody asks. Processor time and the best of several runs in turn, so that a busy machine
measures the program and not its neighbours.
"""

from __future__ import annotations

import gc
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
from ctxview.annotate.pins.reading import read_standing
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
_AGENTS: Final = ("claude-code", "codex")
"""Folders of sessions of agents that work on files: most of their text is results, which facts barely read."""
_AGENT_TARGET, _TARGET = 0.4, 1.0
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
    """One row for a generated session and one for each file of the corpus, where it is at hand."""
    yield from _row("generated", write_session(folder / "facts.jsonl", 5_000_000), _AGENT_TARGET)
    for file in sorted(CORPUS.rglob("*")):
        if file.is_file():
            name = str(file.relative_to(CORPUS))
            yield from _row(name, file, _AGENT_TARGET if name.startswith(_AGENTS) else _TARGET)


def _row(name: str, file: Path, target: float) -> Iterator[Row]:
    sessions = _sessions(file)
    texts = list({arrival.block.text for session in sessions for arrival in session.arrivals})
    Counter().count("warm")
    counting = finding = float("inf")
    gc.collect()
    gc.disable()  # as while a trace is read
    for _ in range(_RUNS):
        # A new counter: it remembers short texts, and would look up the second time what it counted the first.
        counting = min(counting, _seconds(partial(Counter().count_many, texts)))
        read_standing.cache_clear()  # for the same reason
        finding = min(finding, _seconds(lambda: deque(map(_Session.find, sessions), maxlen=0)))
    gc.enable()
    if counting < _FROM_SECONDS:
        return
    detail = f"{finding * 1000:.1f} of {counting * 1000:.1f} ms"
    yield Row(f"facts ÷ tokenising, {name[-38:]}", "<=", target, finding / counting, detail)


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
