"""`ctxview show`: the window at a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ctxview.cli.options import (
    Named,
    check_stack,
    json_option,
    print_json,
    session_option,
    stack_option,
    trace_options,
    under_stack,
)
from ctxview.cli.plain import GLYPHS, counted, fit, number, percent, say, table, tokens, told, width
from ctxview.text import one_line, safe_text

if TYPE_CHECKING:
    from ctxview.window import SessionView, WindowBlock


@click.command("show")
@trace_options
@session_option
@click.option("--turn", "-t", metavar="N|last|now", default="last", show_default=True, help="Which turn's window.")
@click.option("--history", is_flag=True, help="Everything that had arrived by that turn, cut or not.")
@stack_option
@click.option("--full", is_flag=True, help="Whole texts instead of one line each.")
@json_option
def command(trace: Named, session: str | None, turn: str, history: bool, stack: str, full: bool, as_json: bool) -> int:
    """The window at a turn, as text or JSON.

    `now` is what stands after the newest call.
    """
    check_stack(stack)
    if as_json:
        from ctxview.report.show import show_report

        with trace.open() as opened:
            view = under_stack(opened.view(session), stack)
            print_json(show_report(view, view.resolve_turn(turn), history=history))
        return 0
    return print_window(trace, session, turn, history=history, full=full, stack=stack)


def print_window(
    trace: Named,
    session: str | None,
    turn: str,
    *,
    history: bool = False,
    full: bool = False,
    stack: str = "recorded",
) -> int:
    """Print a window as text."""
    with trace.open() as opened:
        view = under_stack(opened.view(session), stack)
        at = view.resolve_turn(turn)
        _header(opened.name, view, at, history)
        rows = view.history(at) if history else view.window(at)
        if full:
            for row in rows:
                _whole(view, at, row)
        else:
            _lines(view, at, rows, history)
    return 0


def _header(name: str, view: SessionView, turn: int, history: bool) -> None:
    call = view.turn(turn)
    where = f"turn {turn}/{view.last}" if call else f"now, after turn {view.last}"
    what = "history" if history else view.stack
    fidelity = view.fidelity_at(turn) or "no calls"
    missing = view.missing_at(turn)
    lacking = f", never logged: {', '.join(missing)}" if missing else ""
    say(f"{one_line(name)} › {one_line(view.row.session)} › {where} › {what} ({fidelity}{lacking})")
    sizes = view.tokens(turn)
    parts = []
    if sizes.recorded is not None:
        parts.append(f"recorded {sizes.recorded:,}")
    parts.append(f"counted {sizes.counted:,}")
    if sizes.calibrated is not None:
        parts.append(f"calibrated {sizes.calibrated:,}")
    if sizes.unlogged is not None:
        parts.append(f"unlogged {sizes.unlogged:,}")
    lacks = view.lacks_unlogged(turn)
    if lacks:
        parts.append("unlogged part unknown here")
    share = "" if lacks else percent(view.size(turn), sizes.limit)
    say(f"{', '.join(parts)}; limit {number(sizes.limit)}{share} tokens")
    kinds = [f"{kind} {count:,}" for kind, count in view.by_kind(turn).items() if count]
    say(f"by kind: {', '.join(kinds) or 'nothing'}")
    for cut in view.cuts:
        if cut.turn == turn:
            before, after = view.cut_sizes(cut)
            trigger = f" ({one_line(cut.trigger)})" if cut.trigger else ""
            dropped = "dropped unknown" if cut.dropped is None else f"{counted(cut.dropped, 'block')} dropped"
            say(
                f"✂ {cut.kind}{trigger} just before this turn: {number(before)} → {number(after)} tokens,"
                f" {dropped}, {cut.kept:,} kept"
            )
    doubts = {e.reason for e in view.edits_at(turn) if e.action == "tag"} if view.base is None else set()
    for reason in sorted(doubts):
        say(f"{GLYPHS['doubtful']} doubtful: {one_line(reason)}")
    say()


def _lines(view: SessionView, turn: int, rows: Sequence[WindowBlock], history: bool) -> None:
    from ctxview.window import short_ids

    changes = {} if history else view.changes(turn)
    ids = short_ids(view, [row.block.id for row in rows])
    head = []
    for row in rows:
        change, states = changes.get(row.block.n), _states(view, turn, row)
        head.append(
            (
                change.what if change else " ",
                GLYPHS["doubtful" if "doubtful" in states else states[0]],
                ",".join(states),
                tokens(row.span.tokens, row.block.estimated),
                _kind(view, row, 28),
                one_line(ids.get(row.block.id, "-")),
            )
        )
    cells = width()
    for line, row in zip(table(head, right=frozenset({3})), rows, strict=True):
        say(f"{line}  {fit(_text(row, view.preview(row.span)), max(20, cells - len(line) - 2))}")
    if not rows:
        say("(empty)")


def _states(view: SessionView, turn: int, row: WindowBlock) -> tuple[str, ...]:
    """What holds of a block, a doubt whether it stood there included."""
    is_doubtful = view.base is None and "absent" not in row.states and view.doubt(row.block.n, turn)
    return (*row.states, "doubtful") if is_doubtful else row.states


def _whole(view: SessionView, turn: int, row: WindowBlock) -> None:
    block = row.block
    size = tokens(row.span.tokens, block.estimated)
    states = ", ".join(_states(view, turn, row))
    say(f"--- {_kind(view, row)} [{one_line(block.id)}] {size} tokens, {states}")
    say(safe_text(_text(row, view.text(row.span.content))))


def _kind(view: SessionView, row: WindowBlock, cells: int | None = None) -> str:
    tool = view.tool_of(row.block)
    return one_line(f"{row.block.kind} {tool}" if tool else row.block.kind, cells)


def _text(row: WindowBlock, text: str) -> str:
    block = row.block
    return told(text, kind=block.kind, form=row.span.form, note=block.note, is_error=block.is_error)
