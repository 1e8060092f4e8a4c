"""Real Codex rollouts, where the corpus lies beside this checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.annotate import pair
from ctxview.ingest import open_trace
from ctxview.loaders import detect
from ctxview.loaders.source import SourceFile

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
FILES = sorted(CORPUS.glob("codex/*.jsonl"))
needs_corpus = pytest.mark.skipif(not FILES, reason="the corpus is not beside this checkout")


def final_totals(path: Path) -> list[int]:
    """Codex's own count: the last running total of each session in a file."""
    totals: dict[str, int] = {}
    thread = ""
    for text in path.read_text().splitlines():
        value = json.loads(text)
        payload = value.get("payload", {})
        if value.get("type") == "session_meta":
            thread = payload["id"]
        if payload.get("type") == "token_count" and payload.get("info"):
            totals[thread] = payload["info"]["total_token_usage"]["total_tokens"]
    return sorted(total for total in totals.values() if total)


@needs_corpus
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_corpus_rollout_loads(path: Path) -> None:
    """All records are accounted for, totals are Codex's own, no window has an orphan or a duplicate, the audit fits."""
    with open_trace([str(path)]) as trace:
        (file,) = trace.files
        assert (file.format, file.unreadable, dict(file.unknown)) == ("codex", 0, {})
        assert file.records == len(path.read_bytes().splitlines())
        assert file.records == file.window + file.duplicates + sum(file.known.values())
        views = [trace.view(row.session) for row in trace.sessions]
        sums = [sum((turn.recorded or 0) + (turn.output or 0) for turn in view.turns) for view in views]
        assert sorted(filter(None, sums)) == final_totals(path)
        for view in views:
            assert view.turns
            for turn in range(1, view.now):
                found = pair([w.block for w in view.window(turn)])
                assert not found.orphans | found.duplicates, turn
            for stretch in view.audit:
                print(f"{path.stem} {stretch}")
                assert stretch.median_error < 0.01
                assert 0.85 < stretch.factor < 1.15


@needs_corpus
def test_screen_log_of_the_corpus_is_no_rollout() -> None:
    for path in CORPUS.glob("codex-tui-session-log/*.jsonl"):
        assert detect(SourceFile(path.name, path)) is None
