"""The parts of the page that tell of one window: its sizes, its blocks, one block in full, what happened before it.

Text of a trace is drawn by `st.text`, `st.code` and tables alone: everything else reads markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from ctxview.annotate import Pairing
from ctxview.app.place import here, move, show_in
from ctxview.app.rows import Row, columns, edit_rows, fact_rows, life_rows
from ctxview.errors import UsageError
from ctxview.replay import BudgetUnsatisfiable, TurnCost
from ctxview.text import one_line, safe_text
from ctxview.window import Diff, SessionView, WindowBlock

SHOWN_CHARS: Final = 20_000
_NO_PAIRING: Final = Pairing(frozenset(), frozenset(), frozenset())


_WIDTHS: Final = {
    "position": 36, "change": 30, "states": 124, "what": 150, "tokens": 58, "against": 80, "text": 460, "form": 90,
}  # fmt: skip


def number(value: int | None) -> str:
    """Unknown is said so: never 0."""
    return "unknown" if value is None else f"{value:,}"


def table(
    rows: Sequence[Any], names: dict[str, str], *, alt: str, height: Literal["content"] | int | None = None,
    widths: Mapping[str, int] = MappingProxyType({}), **more: Any,
) -> None:  # fmt: skip
    """Rows of one frozen dataclass as a table. Columns have a fixed kind, so no text becomes a link or a picture."""
    data = columns(rows)
    config = {}
    for key, title in names.items():
        if any(isinstance(value, int) for value in data.get(key, ())):
            config[key] = NumberColumn(title, format="localized", width=widths.get(key))
        else:
            config[key] = TextColumn(title, width=widths.get(key))
    st.dataframe(
        data, hide_index=True, column_order=list(names), column_config=config, placeholder="", alt=alt,
        height=height or _height(len(rows)), **more,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ sizes


def totals(view: SessionView, turn: int, base: SessionView | None, cost: TurnCost | None) -> None:
    """The sizes that `ctxview show` gives, each under its own name; with the turn's `cost`, once that is measured."""
    sizes = view.tokens(turn)
    size = view.size(turn)
    simulated = view.base is not None
    beside = "vs recorded" if base is not None and base.base is None else "vs the stack compared with"
    cells = [
        ("simulated size" if simulated else "size", number(size)),
        ("recorded", number(sizes.recorded) if not simulated else "not sent"),
        ("counted", number(sizes.counted)),
        ("calibrated", number(sizes.calibrated)),
        ("unlogged", number(sizes.unlogged)),
        ("limit", number(sizes.limit)),
        ("messages", number(view.messages(turn))),
    ]
    if cost is not None:
        cells.append(("pins", f"{cost.pins_present:,} of {cost.pins_required:,}"))
        cells.append(("cached", number(cost.cached)))
    with st.container(horizontal=True, gap="medium"):
        for name, words in cells:
            delta = size - base.size(turn) if base is not None and name in ("size", "simulated size") else None
            st.metric(
                name, words, delta=None if delta is None else f"{delta:+,}", delta_color="off", width="content",
                delta_arrow="auto" if delta else "off", delta_description=None if delta is None else beside,
                help=MEANING[name],
            )  # fmt: skip


def _height(rows: int, most: int = 12, tall: int = 400) -> Literal["content"] | int:
    """As tall as its rows are, up to `most` of them."""
    return "content" if rows <= most else tall


MEANING: Final = {
    "size": "The best known size: recorded, else calibrated, else counted.",
    "simulated size": "Counted and scaled as the recorded windows are, with what was never logged. The change is "
    "against the window compared with.",
    "recorded": "Prompt tokens as the provider reported them.",
    "counted": "Sum over the blocks in the log, by tokenizer.",
    "calibrated": "Counted times the factor that was fitted to the recorded sizes.",
    "unlogged": "Recorded minus calibrated, or minus counted without a factor: what was sent and never logged.",
    "limit": "The model's context size.",
    "messages": "Wire messages in this window.",
    "pins": "Pinned blocks that stand in this window, of those that should: goal, rules, denials and the like.",
    "cached": "Tokens of the head that the window before had too: what a prompt cache could reuse.",
}


def standing(view: SessionView, turn: int) -> str:
    """How well this window is known, in words."""
    fidelity = view.fidelity_at(turn) or "no call was logged"
    missing = view.missing_at(turn)
    if not missing:
        return f"{fidelity} · nothing missing from the log"
    return f"{fidelity} · never logged: {', '.join(one_line(m, 30) for m in missing)}"


def unfitting(failures: Sequence[BudgetUnsatisfiable], view: SessionView, turn: int) -> None:
    """Budgets that the stack cannot keep: from which turn, by how much, and what stands in the way."""
    for failure in failures:
        st.error(
            f"This stack cannot keep to its budget from turn {failure.turn:,} to {failure.until:,}: "
            f"{failure.tokens:,} tokens at turn {failure.turn:,}, budget {failure.budget:,}. What it has to keep:"
        )
        st.text(one_line(failure.message, 500))
        ids, tokens, words = [], [], []
        for block, count in failure.protected:
            ids.append(one_line(block))
            tokens.append(count)
            words.append(_words(view, block))
        st.dataframe(
            {"block": ids, "tokens": tokens, "text": words}, hide_index=True, alt="What the stack has to keep",
            height=_height(len(ids)),
            column_config={"block": TextColumn(), "tokens": NumberColumn(format="localized"), "text": TextColumn()},
        )  # fmt: skip


def _words(view: SessionView, block_id: str) -> str:
    try:
        block = view.block(block_id)
    except UsageError:
        return ""
    return f"{block.kind} · {one_line(block.preview.strip(), 120)}"


# ----------------------------------------------------------------------------------------------------------- blocks


def block_list(rows: Sequence[Row], compares: bool) -> None:
    """The window as a table. The chosen row follows the block, not the place, from turn to turn."""
    names = {
        "position": "#", "change": "±", "states": "states", "what": "what", "tokens": "tokens",
        **({"against": "compared"} if compares else {}), "text": "text", "form": "form",
    }  # fmt: skip
    chosen = [i for i, row in enumerate(rows) if row.id == here().block][:1]
    ids = [row.id for row in rows]
    key = "blocks"
    state = {"selection": {"rows": chosen, "columns": [], "cells": []}}
    known = st.session_state.get(key)
    if known is None or list(known["selection"]["rows"]) != chosen:
        st.session_state[key] = state
    table(
        rows, names, alt="The blocks of the window", height=_height(len(rows), 17, 580), widths=_WIDTHS, key=key,
        selection_mode="single-row", on_select=_chooser(ids),
    )  # fmt: skip


def _chooser(ids: Sequence[str]) -> Callable[[], None]:
    def choose() -> None:
        rows = st.session_state["blocks"]["selection"]["rows"]
        move(block=ids[rows[0]] if rows and rows[0] < len(ids) else None)

    return choose


def block_detail(view: SessionView, turn: int, fallback: str | None) -> None:
    """One block in full: its facts, its text, its life."""
    wanted = here().block or fallback
    if wanted is None:
        st.caption("Nothing stands in this window.")
        return
    try:
        block = view.block(wanted)
    except UsageError as fault:
        st.warning("The block of this link is not in this session under this stack.")
        st.text(one_line(f"{fault.cause}; {fault.fix}", 300))
        return
    found = _standing(view, block.n, turn)
    if found is None:
        st.caption("This block never stood in a window.")
        return
    row, is_here = found
    if not is_here:
        st.warning("Not in this window.")
    facts = list(fact_rows(view, row, turn))
    st.dataframe(
        {"fact": [name for name, _ in facts], "words": [words for _, words in facts]}, hide_index=True,
        column_config={"fact": TextColumn(width=80), "words": TextColumn()}, alt="What is known of the block",
        height="content",
    )  # fmt: skip
    text = safe_text(view.text(row.span.content))
    whole = len(text) <= SHOWN_CHARS or st.toggle(f"All {len(text):,} characters", key="whole")
    st.code(text if whole else text[:SHOWN_CHARS], language=None, wrap_lines=True, height=260)
    life = life_rows(view, block.n)
    st.caption("Its life, turn by turn")
    names = {"turns": "turns", "form": "form", "reason": "ended because", "ended_by": "by", "tokens": "tokens"}
    table(life, names, alt="The life of the block", widths={"turns": 78, "form": 68, "reason": 200})


def _standing(view: SessionView, block: int, turn: int) -> tuple[WindowBlock, bool] | None:
    """The block as it stands at `turn`, else as it stood last or will first."""
    life = view.life(block)
    if not life:
        return None
    for span in life:
        if span.start <= turn < span.end:
            return view.stand(span, view.pairing(turn), turn), True
    span = next((s for s in reversed(life) if s.start <= turn), life[0])
    return view.stand(span, _NO_PAIRING, turn), False


def search_box(
    view: SessionView, turn: int, find: Callable[[str, int], tuple[frozenset[int], int]]
) -> frozenset[int] | None:
    """Words to find in whole texts; the numbers of the blocks that hold them, None without words.

    `find(words, turn)`: the blocks of a window that hold words, and how often it does.
    """
    query = here().query
    st.text_input(
        "Find in whole texts", key=show_in("q_text", query or ""), on_change=_searched,
        placeholder="Find in whole texts", label_visibility="collapsed",
    )  # fmt: skip
    if not query:
        return None
    blocks, total = find(query, turn)
    left = {n for n, change in view.changes(turn).items() if change.what == "-"}
    st.caption(f"{len(blocks):,} blocks of this window hold it, {total:,} times")
    return blocks | (left & find(query, turn - 1)[0]) if left else blocks


def _searched() -> None:
    move(query=st.session_state["q_text"].strip() or None)


# ----------------------------------------------------------------------------------------------- before and beside


def edits(view: SessionView, turn: int) -> None:
    """What happened between the window before and this one, and why."""
    rows = edit_rows(view, turn)
    if not rows:
        st.caption("No edit: blocks only arrived.")
        return
    names = {"action": "did", "reason": "because", "block": "block", "rule": "rule", "layer": "layer"}
    table(rows, names, alt="What happened before this turn", widths={"action": 54, "reason": 240, "block": 300})


def absent_here(diff: Diff, base: SessionView, turn: int, row_of: Callable[..., Row]) -> None:
    """What stands in the window compared with, and not in this one."""
    if not diff.removed:
        st.caption("Nothing: all that stands there stands here.")
        return
    rows = [row_of(base, w) for w in diff.removed]
    names = {"position": "#", "states": "states", "what": "what", "tokens": "tokens", "text": "text"}
    table(rows, names, alt="Blocks missing in this window")
