"""A stack's whole run in numbers, beside the recorded one's: what `ctxview replay` says.

Measuring a long session takes seconds, so another thread does it and this part of the page looks again.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import Final

import streamlit as st

from ctxview.app.named import NamedTrace
from ctxview.app.panels import table
from ctxview.app.place import move
from ctxview.app.rows import missed_rows, run_row
from ctxview.app.sources import measured
from ctxview.policies import Stack
from ctxview.replay import Metrics
from ctxview.text import one_line

_AT_ONCE: Final = 0.4
"""Seconds that the page waits for numbers before it goes on without."""
_AGAIN: Final = 1.0
NAMES: Final = {
    "stack": "stack", "peak": "peak", "input": "input", "billed": "billed", "saved": "saved", "cuts": "cuts",
    "cache_busts": "cache busts", "orphans": "orphans", "first_failure": "first failure", "lost": "lost",
    "regret": "regret", "acted": "acted",
}  # fmt: skip


def measure(named: NamedTrace, session: str, stacks: tuple[Stack, ...]) -> list[Future[Metrics]]:
    """Begin to measure the runs of `stacks`; short ones are done when this returns."""
    waiting = [measured(named, session, stack.text) for stack in stacks]
    wait(waiting, timeout=_AT_ONCE)
    return waiting


def run_panel(stacks: tuple[Stack, ...], waiting: list[Future[Metrics]]) -> None:
    """The runs of `stacks`, the last one being the one looked at."""
    if all(one.done() for one in waiting):
        st.fragment(_runs)(stacks, [one.result() for one in waiting])
    else:
        st.fragment(_wait, run_every=_AGAIN)(waiting)


def _wait(waiting: list[Future[Metrics]]) -> None:
    if all(one.done() for one in waiting):
        st.rerun()
    st.caption("Measuring the whole run…")


def _runs(stacks: tuple[Stack, ...], found: list[Metrics]) -> None:
    rows = [run_row(stack, metrics) for stack, metrics in zip(stacks, found)]
    table(rows, NAMES, alt="Whole runs in numbers")
    stack, metrics = stacks[-1], found[-1]
    failure = metrics.totals.first_failure
    if failure is not None:
        st.button(f"Go to the first failure, turn {failure:,}", on_click=move, kwargs={"turn": failure})
    if metrics.provider_error:
        st.caption("A provider would answer to this run:")
        st.code(one_line(metrics.provider_error, 400), language=None, wrap_lines=True)
    missed = missed_rows(metrics)
    with st.expander(f"Dropped and needed later: {len(missed):,}", expanded=bool(missed)):
        st.text(one_line(stack.text, 200))
        if missed:
            names = {"dropped": "left at turn", "used": "needed at turn", "how": "how", "what": "what", "text": "text"}
            table(missed, names, alt="Blocks that were dropped and needed later")
