"""`ctxview ledger`: the findings an agent noted, and their fate."""

from __future__ import annotations

import click

from ctxview.cli.options import Named, json_option, print_json, session_option, trace_options
from ctxview.cli.plain import fit, say, table, width
from ctxview.text import one_line


@click.command("ledger")
@trace_options
@session_option
@click.option("--turn", "-t", metavar="N|last|now", help="The state at that turn; default: at the end.")
@json_option
def command(trace: Named, session: str | None, turn: str | None, as_json: bool) -> None:
    """What the agent noted, and whether it reached what it wrote.

    Coarse: any one distinctive token of the row is in the text. Strict: the value itself is. Encoded means that a
    token arrived, not that its condition survived, nor that it is right.
    """
    from ctxview.report.ledger import ledger_report

    with trace.open() as opened:
        view = opened.view(session)
        report = ledger_report(view, view.resolve_turn(turn) if turn else None)
    if as_json:
        print_json(report)
        return
    if not report["rows"]:
        say("no ledger: no note-taking call was recognised, and no ledger file lies beside the trace")
        return
    rows = [("row", "noted", "coarse", "strict", "age", "value", "source")]
    rows += [
        (
            fit(r["id"], 12),
            str(r["noted_at"]) if r["noted_at"] is not None else "-",
            "-" if r["status"] else r["coarse"],
            "-" if r["status"] else r["strict"],
            str(r["age"]) if r["age"] is not None else "-",
            fit(r["status"] or r["value"], 24),
            fit(r["source"], 40),
        )
        for r in report["rows"]
    ]
    for line, row in zip(table(rows, right=frozenset({1, 4})), [None, *report["rows"]], strict=True):
        say(line)
        if row:
            say(f"    {fit(row['finding'], width() - 4)}")
    for gate in report["gates"]:
        if gate["outstanding"]:
            verdict = "would be refused, once" if gate["refused"] else "would be the second try and pass"
            say(
                f"gate at turn {gate['turn']}, {one_line(gate['section'])}: {', '.join(gate['outstanding'])}; {verdict}"
            )
    work = [r["status"] for r in report["rows"] if r["status"]]
    if work:
        items = "1 item" if len(work) == 1 else f"{len(work)} items"
        say(f"{items} of work: {', '.join(f'{work.count(s)} {s}' for s in dict.fromkeys(work))}")
    s = report["survival"]
    if not s["values"]:
        return
    say(
        f"by the end of the session {s['values']} values: {s['shipped']} shipped,"
        f" {s['encoded_without_value']} encoded without the value,"
        f" {s['noted_not_encoded']} noted and not encoded, {s['seen_not_noted']} seen and not noted,"
        f" {s['never_seen']} never seen"
    )
    say("encoded means that a token arrived, not that its condition survived, nor that it is right")
