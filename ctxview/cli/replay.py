"""`ctxview replay`: what stacks of policies would have sent, in numbers, one beside the other."""

from __future__ import annotations

from typing import Any

import click

from ctxview.cli.options import FACTOR, Named, json_option, print_json, session_option, trace_options
from ctxview.cli.plain import counted, number, say, table
from ctxview.text import one_line


@click.command("replay")
@trace_options
@session_option
@click.option("--stack", "stacks", metavar="STACK", multiple=True, help="A stack to replay; repeat to compare.")
@click.option(
    "--cache-read", metavar="FACTOR", type=FACTOR, default=0.1, show_default=True, help="Price of a cached token."
)
@click.option(
    "--cache-write", metavar="FACTOR", type=FACTOR, default=1.25, show_default=True, help="Price of a token put there."
)
@json_option
def command(
    trace: Named, session: str | None, stacks: tuple[str, ...], cache_read: float, cache_write: float, as_json: bool
) -> int:
    """What the session would have sent under other policies.

    No model is called: the recorded answers stay as they are, and what the model would have answered is not known.
    """
    from ctxview.policies import parse_stack
    from ctxview.replay import replay
    from ctxview.report.replay import replay_report

    parsed = [parse_stack(text) for text in stacks or ("recorded", "history")]
    with trace.open() as opened:
        view = opened.view(session)
        reports = [replay_report(replay(view, stack), read=cache_read, write=cache_write) for stack in parsed]
    if as_json:
        print_json(reports)
        return 0
    _print(reports)
    return 0


def _print(reports: list[dict[str, Any]]) -> None:
    say("The recorded answers stay as they are; behaviour is not simulated.")
    say()
    head = (
        "stack", "peak", "input", "billed (simulated)", "saved", "cuts", "busts", "orphans", "first failure", "lost",
        "needed",
    )  # fmt: skip
    rows: list[tuple[str, ...]] = [head]
    for report in reports:
        totals = report["totals"]
        lost = ", ".join(f"{kind} at {turn}" for kind, turn in totals["lost"].items() if turn is not None)
        failure = totals["first_failure"]
        row = [report["stack"], *(number(totals[name]) for name in ("peak", "input", "billed"))]
        row += [f"{totals['saved']:+,}", *(number(totals[name]) for name in ("cuts", "cache_busts", "orphans"))]
        row += ["none" if failure is None else f"turn {failure}", lost or "nothing", _need(totals)]
        rows.append(tuple(row))
    for line in table(rows, right=frozenset(range(1, 8))):
        say(line)
    for report in reports:
        notes = [failure["message"] for failure in report["failures"]]
        if report["provider_error"]:
            notes.append(f"a provider would answer: {report['provider_error']}")
        contradiction = report["totals"]["first"]["contradiction"]
        if contradiction is not None:
            notes.append(f"differing versions of a resource stand, first at turn {contradiction}")
        notes += [
            f"{use['block']} left at turn {use['dropped']} and was needed at turn {use['used']}: {use['how']}"
            for use in report["needed_later"][:5]
        ]
        more = len(report["needed_later"]) - 5
        if more > 0:
            notes.append(f"and {counted(more, 'more block')} needed later (--json lists them)")
        if notes:
            say()
            say(report["stack"])
            for note in notes:
                say(f"  {one_line(note)}")


def _need(totals: dict[str, Any]) -> str:
    if not totals["fired"]:
        return "never fired"
    return "yes" if totals["needed"] else "no: it would have fit"
