"""`ctxview diff`: two turns of one session compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from ctxview.cli.options import (
    Named,
    check_stack,
    json_option,
    print_json,
    session_option,
    trace_options,
    under_stack,
)
from ctxview.cli.plain import fit, number, say, tokens, told, width
from ctxview.errors import UsageError
from ctxview.text import one_line

if TYPE_CHECKING:
    pass


@click.command("diff")
@trace_options
@session_option
@click.option("--turn", "-t", "turns", metavar="N|last|now", multiple=True, help="Give it twice: from, to.")
@click.option("--stack", "stacks", metavar="STACK", multiple=True, help="The windows' stack; twice: from, to.")
@json_option
def command(trace: Named, session: str | None, turns: tuple[str, ...], stacks: tuple[str, ...], as_json: bool) -> None:
    """What changed between the windows of two turns.

    Also how much of its head the second window shares with the first: what a prompt cache could reuse.
    """
    from ctxview.report.diff import diff_report
    from ctxview.window import short_ids

    if len(turns) != 2:
        raise UsageError(f"diff compares two turns, {len(turns)} given", "write: --turn A --turn B")
    if len(stacks) > 2:
        raise UsageError(f"diff compares at most two stacks, {len(stacks)} given", "write: --stack X --stack Y")
    for stack in stacks:
        check_stack(stack)
    with trace.open() as opened:
        view = opened.view(session)
        a, b = (view.resolve_turn(t) for t in turns)
        first = under_stack(view, stacks[0] if stacks else "recorded")
        second = under_stack(view, stacks[1]) if len(stacks) == 2 else first
        report = diff_report(first, a, b, second)
        names = ["now" if turn == view.now else f"turn {turn}" for turn in (a, b)]
        changed = [pair["b"] for pair in report["changed"]]
        ids = short_ids(view, [block["id"] for block in (*report["added"], *report["removed"], *changed)])
    if as_json:
        print_json(report)
        return
    sizes, prefix = report["tokens"], report["prefix"]
    kinds = [sizes["source"]["a"], sizes["source"]["b"]]
    alike = kinds[0] == kinds[1] or {*kinds} <= {"recorded", "simulated"}  # else it would mix two measures
    change = f" ({sizes['b'] - sizes['a']:+,})" if alike else ""
    told_sizes = zip(names, (sizes["a"], sizes["b"]), kinds, strict=True)
    say(f"{', '.join(f'{name}: {number(size)} tokens {kind}' for name, size, kind in told_sizes)}{change}")
    share = "" if prefix["share"] is None else f" ({prefix['share']:.1%})"
    broken = f", breaks at {one_line(prefix['breaks_at'])}" if prefix["breaks_at"] else ""
    say(f"shared head: {prefix['shared_tokens']:,} counted tokens{share}{broken}")
    for mark, blocks in (("+", report["added"]), ("-", report["removed"]), ("~", changed)):
        _rows(mark, blocks, ids)


def _rows(mark: str, blocks: Iterable[dict[str, Any]], ids: Mapping[str, str]) -> None:
    for block in blocks:
        size, block_id = tokens(block["tokens"], block["estimated"]), one_line(ids.get(block["id"], "-"))
        head = f"{mark} {size:>9}  {block['kind']:<12}{block_id:<8}  "
        text = told(block["text"], **{name: block[name] for name in ("kind", "form", "note", "is_error")})
        say(f"{head}{fit(text, max(20, width() - len(head)))}")
