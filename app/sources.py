"""What is read and replayed, kept for the whole server: opening a tab costs no second reading.

Traces and replays hold open databases and views, so they are kept as they are; what a page draws from them is copied.
Both are bounded.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import streamlit as st

from ctxview.app.named import NamedTrace
from ctxview.errors import UsageError
from ctxview.ingest import Trace, open_trace
from ctxview.policies import parse_stack
from ctxview.replay import Metrics, Replay, TurnCost, replay


@st.cache_resource(max_entries=4, show_spinner="Reading the trace…")
def opened(named: NamedTrace) -> Trace:
    """The trace, read once per server. Raises CtxviewError."""
    return open_trace(named.paths, db=Path(named.db) if named.db else None, cache=named.cache)


@st.cache_resource(max_entries=16, show_spinner="Replaying the session…")
def _replayed(named: NamedTrace, session: str, canonical: str) -> Replay:
    return replay(opened(named).view(session), parse_stack(canonical))


def replayed(named: NamedTrace, session: str, stack: str) -> Replay:
    """The session under a stack. Raises UsageError for a text that means none."""
    return _replayed(named, session, parse_stack(stack).text)


def replayed_or_fault(named: NamedTrace, session: str, stack: str) -> tuple[Replay | None, UsageError | None]:
    """The same, for a page that goes on without it."""
    try:
        return replayed(named, session, stack), None
    except UsageError as fault:
        return None, fault


@st.cache_data(max_entries=64, show_spinner="Searching…")
def found(named: NamedTrace, session: str, canonical: str, query: str, turn: int) -> tuple[frozenset[int], int]:
    """Numbers of the blocks of a window that hold `query`, and how often it stands in them. Reads whole texts."""
    hits = _replayed(named, session, canonical).view.find(query, turn)
    return hits.blocks, hits.total


@st.cache_resource(max_entries=1, show_spinner=False)
def _measurer() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="measure")


@st.cache_resource(max_entries=16, show_spinner=False)
def measured(named: NamedTrace, session: str, canonical: str) -> Future[Metrics]:
    """A run's costs and losses, by another thread: a long session takes seconds, and the page moves on meanwhile."""
    done = _replayed(named, session, canonical)
    return _measurer().submit(lambda: done.metrics)


def cost_at(named: NamedTrace, session: str, canonical: str, turn: int) -> TurnCost | None:
    """What a turn cost under a stack; None while that is being measured, and for what was never sent."""
    measuring = measured(named, session, canonical)
    turns = measuring.result().turns if measuring.done() else ()
    return turns[turn - 1] if 1 <= turn <= len(turns) else None
