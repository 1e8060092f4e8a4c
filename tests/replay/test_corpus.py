"""Real transcripts of every format that loads: what stacks start from is what was logged, and every policy runs on it
and explains itself.

They are read where they are at hand; nothing of them is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from ctxview.ingest import Trace, open_trace
from ctxview.loaders import LOADERS
from ctxview.policies import POLICIES, Policy, parse_stack
from ctxview.replay import replay
from ctxview.window import SessionView

from .laws import SAFE_LAWS, UNSAFE_LAWS, Held, bases
from .test_properties import stacks_of

CORPUS: Final = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FORMATS: Final = {
    "claude-code": (
        "claude-code/vscode/98b76fb9-compact-resume.jsonl",
        "claude-code/sessionshare/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl",
    ),
    "codex": ("codex/justevery-2025-08-06-legacy.jsonl", "codex/agentsessions-0.146-trimmed-compacted.jsonl"),
    "anthropic-requests": ("anthropic-proxy/claudetap-trace_thinking_on.json",),
    "openai-requests": ("openai-responses-proxy/claudetap-trace_hi_codex.json",),
    "litellm": ("litellm-completion-log/llm-logs",),
    "chat": ("chat-completions/openhands-fncall-messages.json", "mini-swe-agent/github_issue.traj.json"),
}
"""By loader: small files of its format, with compactions, sub-agents, thinking and tools among them."""
FILES: Final = [name for names in FORMATS.values() for name in names]
LARGER: Final = (
    "claude-code/entire-2.1.14-microcompact+compact.jsonl",
    "anthropic-proxy/claudetap-trace_compact_claude.json",
)
"""Files whose client cleared results and compacted, for what is quick to ask."""

Read = Callable[[str], list[SessionView]]


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    """The sessions of a corpus file, read once."""
    traces: list[Trace] = []

    @cache
    def views(name: str) -> list[SessionView]:
        if not (CORPUS / name).exists():
            pytest.skip(f"{name} of the corpus of real transcripts is not beside this checkout")
        traces.append(open_trace([str(CORPUS / name)], cache=False))
        return [traces[-1].view(row.session) for row in traces[-1].sessions]

    yield views
    for trace in traces:
        trace.close()


def test_every_format_has_a_file() -> None:
    assert set(FORMATS) == {loader.name for loader in LOADERS}


@pytest.mark.parametrize("name", [*FILES, *LARGER])
def test_recorded_is_the_recorded_window_block_for_block(name: str, read: Read) -> None:
    for view in read(name):
        for stack in ("", "recorded"):
            assert replay(view, parse_stack(stack)).view is view
        for turn, entries in bases(view, "recorded"):
            logged = [(w.block.n, w.span.form, w.span.content) for w in view.window(turn)]
            assert [(e.n, e.form, e.content) for e in entries] == logged, turn


@pytest.mark.parametrize("name", [*FILES, *LARGER])
def test_a_layer_that_does_nothing_changes_no_recorded_window_that_is_whole(name: str, read: Read) -> None:
    for view in read(name):
        done = replay(view, parse_stack("recorded,lifetime:ttl=1000000")).view
        for turn in range(1, view.last + 1):
            if not view.pairing(turn).orphans and not any(e.layer == "repair" for e in done.edits if e.turn <= turn):
                here, there = ([(w.block.n, w.span.form, w.span.content) for w in v.window(turn)] for v in (view, done))
                assert here == there, turn


@pytest.mark.parametrize("name", [*FILES, *LARGER])
def test_history_holds_every_arrival_that_was_not_taken_back(name: str, read: Read) -> None:
    for view in read(name):
        gone = {e.block for e in view.edits if e.rule in ("never-sent", "rewind", "rollback")}
        arrived = {b.n for b in view.blocks if not b.inserted}
        history = replay(view, parse_stack("history")).view
        standing = {w.block.n for w in history.window(history.now)}
        assert standing <= arrived
        assert arrived - standing <= gone
        assert all(s.form == "verbatim" for s in history.spans_at(history.now))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_every_policy_runs_on_real_sessions_and_keeps_the_invariants(policy: Policy, read: Read) -> None:
    for name in FILES:
        for view in read(name)[:2]:
            for text in (policy.name, f"recorded,{stacks_of(policy)[0]}"):
                held = Held(view, replay(view, parse_stack(text)))
                (only,) = held.stack.layers
                for law in UNSAFE_LAWS if only.unsafe else SAFE_LAWS:
                    law(held)
                assert held.done.metrics.totals.peak >= 0
