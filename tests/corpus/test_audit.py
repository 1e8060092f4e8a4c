"""Rebuilt windows against what the provider counted: how many stretches fit, and every one that does not, with why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxview.ingest import Trace
from ctxview.model import Stretch

from .names import CLAUDE_CODE, RESUMED_BY_ONE_MOMENT

Read = Callable[[str], Trace]

LEAST_TURNS = 8
OTHER_COUNTER = "claude-code/vscode/30530d66-todo.jsonl"
"""Logged through a proxy of another vendor, which counts with a tokenizer of its own: factor 1.78."""

JUMPS = {
    (RESUMED_BY_ONE_MOMENT, 138): "a resume left out 7,000 unlogged tokens at 26; the client restored files at 138",
    ("claude-code/sessionshare-general-tools.jsonl", 50): "a newer client resumed: reported as an unexplained cut",
}
"""(file, first turn after the cut) -> why what is not logged changed by 8,000 tokens or more there."""


def stretches(read: Read, name: str) -> Iterator[tuple[str, Stretch]]:
    trace = read(name)
    for row in trace.sessions:
        for stretch in trace.view(row.session).audit:
            yield row.session, stretch


def turns(stretch: Stretch) -> int:
    return stretch.end - stretch.start + 1


def test_nine_of_ten_long_stretches_fit(corpus: Path, read: Read) -> None:
    long = [(name, s) for name in CLAUDE_CODE for _, s in stretches(read, name) if turns(s) >= LEAST_TURNS]
    assert len(long) >= 30
    fit = [s for _, s in long if s.median_error <= 0.01 and s.p95_error <= 0.04]
    assert len(fit) >= 0.9 * len(long)


@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_a_factor_is_believable_and_steps_are_rare(name: str, read: Read) -> None:
    for session, stretch in stretches(read, name):
        if name == OTHER_COUNTER:
            assert 1.7 <= stretch.factor <= 1.9
        else:
            assert 0.9 <= stretch.factor <= 1.6, (session, stretch)
        assert len(stretch.steps) <= turns(stretch) / 20, (session, stretch)
        assert stretch.constant > 0, "what is never logged is sent, and takes tokens"


def is_slice(path: Path) -> bool:
    """Whether the file's first message answers a line that is not in the file: what stood above it is not logged."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("{")]
    known = {line.get("uuid") for line in lines}
    first = next(line for line in lines if "parentUuid" in line)
    return first["parentUuid"] is not None and first["parentUuid"] not in known


@pytest.mark.parametrize("name", [n for n in CLAUDE_CODE if "two-objects" not in n])
def test_what_is_not_logged_stays_alike_across_a_cut(name: str, corpus: Path, read: Read) -> None:
    """System prompt and tools do not change at a compaction. In a file that is a slice, the cut takes all of the
    conversation above the slice with it, so there the constant falls and says nothing."""
    trace = read(name)
    jumps = []
    for row in trace.sessions:
        view = trace.view(row.session)
        for cut in view.cuts:
            before, after = view.stretch(cut.turn - 1), view.stretch(cut.turn)
            if before and after and before is not after and abs(after.constant - before.constant) >= 8_000:
                jumps.append((name, cut.turn))
    if jumps and is_slice(corpus / name):
        return
    assert jumps == [key for key in JUMPS if key[0] == name]
