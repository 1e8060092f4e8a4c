"""`ctxview block`: the life of one block."""

from __future__ import annotations

import click

from ctxview.cli.options import Named, json_option, print_json, session_option, trace_options
from ctxview.cli.plain import GLYPHS, say, tokens, told
from ctxview.text import one_line, safe_text


@click.command("block")
@trace_options
@click.argument("block_id", metavar="ID")
@session_option
@json_option
def command(trace: Named, block_id: str, session: str | None, as_json: bool) -> None:
    """The life of one block: when it stood in the window, in which form, and why it left.

    ID is a block's id or a unique prefix of it, as `ctxview show` prints them.
    """
    from ctxview.report.block import block_life_report

    with trace.open() as opened:
        report = block_life_report(opened.view(session), block_id)
    if as_json:
        print_json(report)
        return
    block = report["block"]
    if block:
        tool = f" {one_line(block['tool'])}" if block["tool"] else ""
        say(f"{block['kind']}{tool} [{one_line(block['id'])}] {tokens(block['tokens'], block['estimated'])} tokens")
        say(f"  {one_line(block['origin']['file'])}:{block['origin']['line']}")
    for span in report["spans"]:
        until = f"to turn {span['to'] - 1}" if span["to"] else "to the end"
        left = f", left by {one_line(span['ended_by'])}: {one_line(span['reason'])}" if span["ended_by"] else ""
        where = f"turn {span['from']} {until}" if span["to"] != span["from"] else "in no window"
        say(f"  {where} as {span['form']}, {span['tokens']:,} tokens{left}")
    for doubt in report["doubts"]:
        say(f"  {GLYPHS['doubtful']} doubtful from turn {doubt['turn']}: {one_line(doubt['because'])}")
    for state in report["states"]:
        why = f": {one_line(state['because'])}" if state["because"] else ""
        say(f"  from turn {state['turn']} {state['state']}{why}")
    if report["used_at"]:
        turns = report["used_at"]
        say(f"  its resource was asked for again at turn{'s' if len(turns) > 1 else ''} {', '.join(map(str, turns))}")
    if block:
        say()
        say(safe_text(told(block["text"], **{name: block[name] for name in ("kind", "form", "note", "is_error")})))
