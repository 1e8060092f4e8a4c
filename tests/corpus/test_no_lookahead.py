"""What is said of a turn is the same whether the file went on or not, on real files of every format at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from ctxview.ingest import Trace
from ctxview.ingest.inputs import find_inputs
from ctxview.ingest.load import read_inputs
from ctxview.ledger import Ledger
from ctxview.store import Store
from ctxview.window import SessionView

FILES: Final = (
    "anthropic-proxy/claudetap-trace_compact_claude.json",
    "anthropic-proxy/claudetap-trace_claude.json",
    "chat-completions/openhands-fncall-messages.json",
    "chat-completions/openhands-nonfncall-messages.json",
    "claude-code/claudemem-2.0.19-sidechain.jsonl",
    "claude-code/entire-2.0.64-old.jsonl",
    "claude-code/entire-2.1.14-microcompact+compact.jsonl",
    "claude-code/entire-2.1.41-progress-subagent.jsonl",
    "claude-code/entire-2.1.5-compact.jsonl",
    "codex/acidicsoil-0.58.0.jsonl",
    "codex/agentsessions-0.146-trimmed-compacted.jsonl",
    "codex/communique-0.142.0-4turns.jsonl",
    "codex/justevery-2025-08-06-legacy.jsonl",
    "mini-swe-agent/github_issue.traj.json",
    "openai-responses-proxy/claudetap-trace_compact_codex.json",
)
SHARES: Final = (0.3, 0.55, 0.8)
"""Where the files are cut, as shares of their records."""
TURNS: Final = 4
"""Turns at which states and ledger are compared, for each cut: the newest ones and some before."""


def cut(data: bytes, share: float) -> bytes:
    """The first records of a file: of its lines, or of the outermost list in its one document."""
    try:
        document = json.loads(data)
    except ValueError:
        lines = data.splitlines(keepends=True)
        return b"".join(lines[: max(1, int(len(lines) * share))])
    records = _outermost(document)
    del records[max(1, int(len(records) * share)) :]
    return json.dumps(document).encode()


def _outermost(document: Any) -> list[Any]:
    level = [document]
    while level:
        for value in level:
            if isinstance(value, list) and len(value) > 1 and isinstance(value[0], dict):
                return value
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
    raise AssertionError("no list of records")


def facts_until(view: SessionView, last: int) -> dict[str, object]:
    """All that is known in the windows up to turn `last`."""
    facts = view.facts
    return {
        "pins": [
            (p.block, p.kind, p.rule, p.quote, p.evidence, p.since, p.until if p.until <= last else None)
            for p in facts.pins
            if p.since <= last
        ],
        "observations": [o for o in facts.observations if o.since <= last],
        "changes": [c for c in facts.changes if c.since <= last],
    }


def states_at(view: SessionView, turn: int) -> list[object]:
    return [(row.block.n, row.pin and row.pin.kind, row.change) for row in view.window(turn)]


def differences(whole: SessionView, short: SessionView) -> list[str]:
    last = short.last
    found = []
    a, b = facts_until(whole, last), facts_until(short, last)
    found += [f"{name}: {set(map(str, a[name])) ^ set(map(str, b[name]))}" for name in a if a[name] != b[name]]  # type: ignore[call-overload]
    ledgers = Ledger(whole), Ledger(short)
    for turn in sorted({max(1, last * n // TURNS) for n in range(1, TURNS + 1)} if last else ()):
        if states_at(whole, turn) != states_at(short, turn):
            found.append(f"states at {turn}")
        rows = [ledger.at(turn) for ledger in ledgers]
        if rows[0] != rows[1]:
            found.append(f"ledger at {turn}: {rows}")
        if ledgers[0].gates(turn) != ledgers[1].gates(turn):
            found.append(f"gates at {turn}")
    return found


def first_window(view: SessionView) -> tuple[str, ...]:
    return tuple(view.text(row.block.content) for row in view.window(1)) if view.last else ()


@pytest.mark.parametrize("name", FILES)
def test_a_cut_changes_nothing_before_it(name: str, corpus: Path, tmp_path: Path) -> None:
    """Pins, observations, what superseded them or made them stale, states, ledger rows, encodings and gates.

    Sessions are paired by their first window: which of a capture's conversations is the main one, and bears the
    session's name, is told by the whole file.
    """
    file = corpus / name
    if not file.is_file():
        pytest.skip(f"{name} is not in this corpus")
    with read(file) as trace:
        views = {first_window(view): view for view in map(trace.view, names(trace))}
        for share in SHARES:
            part = tmp_path / str(share) / file.name
            part.parent.mkdir()
            part.write_bytes(cut(file.read_bytes(), share))
            with read(part) as short:
                pairs = [(views.get(first_window(view)), view) for view in map(short.view, names(short))]
                assert any(whole is not None for whole, _ in pairs)
                for whole, view in pairs:
                    assert whole is None or differences(whole, view) == [], share


def read(file: Path) -> Trace:
    return read_inputs(find_inputs([str(file)]), Store.memory(), exact=False)


def names(trace: Trace) -> list[str]:
    return [row.session for row in trace.sessions]
