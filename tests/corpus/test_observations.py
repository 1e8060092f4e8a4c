"""Observations of real transcripts against a list made by reading them; of the texts only hashes are kept."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from ctxview.annotate.observations import ObservationFinder
from ctxview.loaders import detect
from ctxview.loaders.discover import discover
from ctxview.loaders.source import Source
from ctxview.model import Block, Call, CallEnd, Cut, Edit, Observation, SessionStart, Snapshot
from ctxview.reconstruct import Arrival, SessionBuilder

LIST = Path(__file__).with_name("observations_recall.tsv")
RECALL = 0.95
MINIMUM = 50
Seen = tuple[int, str, str]
"""Line, effect and hashed key."""


def listed() -> dict[str, Counter[Seen]]:
    """The list by file; what stands twice was observed twice."""
    found: dict[str, Counter[Seen]] = {}
    with LIST.open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            found.setdefault(row["file"], Counter())[(int(row["line"]), row["effect"], row["key"])] += 1
    return found


LISTED = listed()


class _Session:
    """One session's finder, fed with blocks as they arrive."""

    def __init__(self, start: SessionStart) -> None:
        self.finder = ObservationFinder(cwd=start.cwd)
        self.blocks: list[Block] = []
        contents: dict[str, int] = {}
        self.builder = SessionBuilder(start, lambda text: contents.setdefault(text, len(contents)), self._see)

    def _see(self, arrival: Arrival) -> None:
        self.blocks.append(arrival.block)
        self.finder.see(arrival.block, arrival.n, arrival.turn)

    def rows(self) -> list[tuple[Block, Observation]]:
        return [(self.blocks[row.block], row) for row in self.finder.drain()[0]]


@pytest.fixture(scope="module")
def found(corpus: Path) -> Callable[[str], list[tuple[Block, Observation]]]:
    """All observations of a corpus file, each with its block."""

    @cache
    def find(name: str) -> list[tuple[Block, Observation]]:
        if not (corpus / name).is_file():
            pytest.skip(f"{name} is not in this corpus")
        files, _ = discover([corpus / name])
        loader = detect(files[0])
        if loader is None:
            pytest.skip(f"no loader reads {name}")
        sessions: dict[str, _Session] = {}
        for event in loader.load(Source(tuple(files))):
            if isinstance(event, SessionStart):
                sessions.setdefault(event.session, _Session(event)).finder.cwd = event.cwd
            elif isinstance(event, Block | Call | CallEnd | Edit | Cut | Snapshot):
                sessions[event.session].builder.feed(event)
        return [row for session in sessions.values() for row in session.rows()]

    return find


def test_the_list_is_long_enough() -> None:
    """At least fifty observations of at least three sessions."""
    assert sum(map(Counter.total, LISTED.values())) >= MINIMUM
    assert len(LISTED) >= 3


def test_recall(found: Callable[[str], list[tuple[Block, Observation]]]) -> None:
    """Of what a reader sees, at least 95 in 100 are found, with the right resource and effect."""
    hits = total = 0
    missed: list[str] = []
    for name, expected in LISTED.items():
        seen = Counter((block.origin.line, row.effect, _hashed(row.key)) for block, row in found(name))
        hits += (expected & seen).total()
        total += expected.total()
        missed += [f"{name}:{line} {effect}" for line, effect, _ in (expected - seen).elements()]
    assert hits / total >= RECALL, missed


@pytest.mark.parametrize("name", LISTED)
def test_nothing_is_found_that_the_reader_did_not_see(
    name: str, found: Callable[[str], list[tuple[Block, Observation]]]
) -> None:
    """In the lines that were read through, at most 2 in 100 observations of content are not on the list.

    Where the reader saw a resource under another name, both the miss and the surplus count.
    """
    if name == SHARED_SHELL:
        pytest.skip("its agents share one shell, whose folder no session's own calls tell")
    expected = LISTED[name]
    last = max(line for line, _, _ in expected)
    lines = {line for line, _, _ in expected}
    conversations = name.startswith("chat-completions/")
    seen = Counter(
        (block.origin.line, row.effect, _hashed(row.key))
        for block, row in found(name)
        if row.effect not in ("ack", "event")
        and (block.origin.line in lines if conversations else block.origin.line <= last)
    )
    assert (seen - expected).total() <= 0.02 * seen.total()


SHARED_SHELL = "claude-code/ccviewer-main.jsonl"


def _hashed(key: str | None) -> str:
    return sha256((key or "").encode()).hexdigest()[:12]
