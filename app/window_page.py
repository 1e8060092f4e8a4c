"""The page "Window": one session's windows turn by turn, and what they would have been under another stack."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import streamlit as st

from ctxview.app import panels
from ctxview.app.charts import Series, budget, kinds
from ctxview.app.colours import palette
from ctxview.app.named import NamedTrace
from ctxview.app.place import arrive, here, move, publish, remarks, show_in
from ctxview.app.rows import row_of, window_rows
from ctxview.app.run_panel import measure, run_panel
from ctxview.app.sources import cost_at, found, opened, replayed_or_fault
from ctxview.app.stack_editor import stack_editor
from ctxview.errors import UsageError
from ctxview.ingest import Trace
from ctxview.policies import Stack, parse_stack
from ctxview.replay import Replay
from ctxview.text import one_line
from ctxview.window import SessionView, diff_windows

NOT_SIMULATED: Final = "Recorded answers stay as they are; behaviour is not re-simulated."
_CHART: Final = {"displayModeBar": False, "responsive": True}


@dataclass(frozen=True)
class Scene:
    """What the page is about: one session under a stack, beside another."""

    recorded: SessionView
    stack: Replay
    base: Replay
    faults: tuple[tuple[str, UsageError], ...]
    """Texts of the URL that mean no stack; the recorded windows stand in for them."""

    @property
    def view(self) -> SessionView:
        return self.stack.view

    @property
    def compared(self) -> SessionView | None:
        """The other view, where it is another."""
        return None if self.base.stack == self.stack.stack else self.base.view

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """Recorded, the other, this: each once."""
        ordered = [parse_stack("recorded"), self.base.stack, self.stack.stack]
        return tuple(s for i, s in enumerate(ordered) if s.text not in [o.text for o in ordered[i + 1 :]])

    @property
    def is_simulated(self) -> bool:
        return any(not s.is_recorded for s in (self.stack.stack, self.base.stack))


def scene(named: NamedTrace) -> Scene:
    focus = here()
    session = focus.session or ""
    faults = []
    runs = []
    for text in (focus.stack, focus.base or "recorded"):
        replay, fault = replayed_or_fault(named, session, text)
        if fault is not None:
            faults.append((text, fault))
            replay, _ = replayed_or_fault(named, session, "recorded")
        assert replay is not None
        runs.append(replay)
    return Scene(opened(named).view(session), runs[0], runs[1], tuple(faults))


def window_page(named: NamedTrace) -> None:
    """The whole page. What moves with the turn is drawn alone when only the turn changes."""
    trace = opened(named)
    arrive(trace)
    with st.sidebar:
        _sessions(trace)
        stack_editor()
    about = scene(named)
    waiting = measure(named, here().session or "", about.stacks)
    _moving(named)
    st.subheader("The whole run", help="The numbers of `ctxview replay`.")
    if about.is_simulated:
        st.caption(NOT_SIMULATED)
    run_panel(about.stacks, waiting)


def _sessions(trace: Trace) -> None:
    rows = {row.session: row for row in trace.sessions}

    def name(session: str) -> str:
        row = rows[session]
        words = one_line(row.title or row.agent or session, 60)
        return f"{'↳ ' if row.parent else ''}{words}"

    st.selectbox(
        "Session", list(rows), key=show_in("session", here().session), format_func=name,
        on_change=lambda: move(session=st.session_state["session"], turn=None, block=None),
    )  # fmt: skip


@st.fragment
def _moving(named: NamedTrace) -> None:
    """Everything that follows the turn."""
    about = scene(named)
    view = about.view
    if here().turn is None:
        move(turn=view.resolve_turn(None))
    turn = here().turn or view.now
    _header(named, about, turn)
    _budget(about, turn)
    _turns(about, turn)
    if about.stack.failures:
        panels.unfitting(about.stack.failures, view, turn)
    panels.totals(view, turn, about.compared, cost_at(named, here().session or "", about.stack.stack.text, turn))
    compared = about.compared
    diff = diff_windows(compared, turn, view, turn) if compared is not None else None
    left, right = st.columns([2, 1], gap="medium")
    with left:
        only = panels.search_box(
            view, turn, lambda words, at: found(named, here().session or "", about.stack.stack.text, words, at)
        )
        rows = window_rows(view, turn, diff, only)
        panels.block_list(rows, diff is not None)
    with right:
        panels.block_detail(view, turn, next((row.id for row in reversed(rows) if row.change != "-"), None))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("What happened before this turn")
        panels.edits(view, turn)
        if diff is not None and compared is not None:
            st.subheader("Missing here", help="What stands in the window compared with at this turn, and not in this.")
            panels.absent_here(diff, compared, turn, row_of)
    with right:
        st.subheader("By kind")
        parts = view.by_kind(turn)
        figure = kinds(parts, compared.by_kind(turn) if compared is not None else None, palette(_theme()))
        st.plotly_chart(figure, theme=None, key="kinds", config=_CHART, alt="Tokens of this window by kind")
    publish()


def _theme() -> str | None:
    return st.context.theme.type


def _header(named: NamedTrace, about: Scene, turn: int) -> None:
    view = about.view
    for text, fault in about.faults:
        st.error("A stack of this link cannot be replayed; the recorded windows stand in for it.")
        st.text(one_line(f"{text}: {fault.cause}; {fault.fix}", 400))
    for words in remarks():
        st.warning("This part of the link could not be followed:")
        st.text(one_line(words, 400))
    where = f"turn {turn:,} of {view.last:,}" if view.turn(turn) else f"now, after turn {view.last:,}"
    file = PurePath(opened(named).name).name
    title = one_line(view.row.title or view.row.agent or view.row.session, 60)
    place, link = st.columns([6, 1], vertical_alignment="center")
    with place:
        known = panels.standing(view, turn)
        st.text(f"{one_line(file, 60)} › {title} › {where} › {one_line(view.stack, 80)} · {known}")
    with link, st.popover("Link", width="stretch"):
        st.caption("This page's address shows this very moment; so does, in a terminal:")
        st.code(one_line(here().command(*named.paths)), language=None, wrap_lines=True)
    if about.is_simulated:
        st.info(f"**Simulated.** {NOT_SIMULATED}")


def _budget(about: Scene, turn: int) -> None:
    recorded = about.recorded
    others = [
        Series(run.stack.text, run.view.sizes, [c.turn for c in run.view.cuts])
        for run in (about.stack, about.base)
        if not run.stack.is_recorded
    ]
    if len(others) == 2 and others[0].stack == others[1].stack:
        others.pop()
    lacks_now = recorded.last > 0 and recorded.lacks_unlogged(recorded.now)
    own = Series("recorded", recorded.sizes, [c.turn for c in recorded.cuts])
    figure = budget(own, others, turn, recorded.last, recorded.limit, palette(_theme()), lacks_now)
    st.plotly_chart(
        figure, theme=None, key="budget", on_select=_pick, selection_mode="points", config=_CHART,
        alt="Tokens of every window, recorded and under the stack",
    )  # fmt: skip


def _pick() -> None:
    points = st.session_state["budget"]["selection"]["points"]
    if points:
        move(turn=int(points[0]["x"]))


def _turns(about: Scene, turn: int) -> None:
    """The slider, and steps to neighbours and cuts."""
    view = about.view
    cuts = sorted({c.turn for c in (*view.cuts, *about.recorded.cuts)})
    before = max((t for t in cuts if t < turn), default=None)
    after = min((t for t in cuts if t > turn), default=None)
    sides = st.columns([1, 1, 10, 1, 1, 1], vertical_alignment="bottom", gap="small")
    _step(sides[0], "« ✂", before, "The cut before")
    _step(sides[1], "‹", turn - 1 if turn > 1 else None, "The turn before")
    with sides[2]:
        if view.now > 1:
            st.slider("Turn", 1, view.now, key=show_in("turn", turn), on_change=_slid, label_visibility="collapsed")
        else:
            st.caption("No model call was logged.")
    _step(sides[3], "›", turn + 1 if turn < view.now else None, "The next turn")
    _step(sides[4], "✂ »", after, "The next cut")
    _step(sides[5], "now", view.now if turn != view.now else None, "What stands after the newest call")


def _step(column: st.delta_generator.DeltaGenerator, words: str, turn: int | None, meaning: str) -> None:
    column.button(
        words, key=f"step:{words}", help=meaning, disabled=turn is None, on_click=move, kwargs={"turn": turn},
        width="stretch",
    )  # fmt: skip


def _slid() -> None:
    move(turn=st.session_state["turn"])
