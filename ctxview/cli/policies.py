"""`ctxview policies`: every policy with its parameters, their ranges and examples."""

from __future__ import annotations

from typing import Any

import click

from ctxview.cli.options import json_option, print_json
from ctxview.cli.plain import say, table


@click.command("policies")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> int:
    """The policies that a stack can be made of.

    With a NAME: that policy's parameters, their ranges and defaults, and where its semantics come from.
    """
    from ctxview.policies import POLICIES, PRESETS, parse_stack
    from ctxview.report.policies import policy_report

    chosen = [p for p in POLICIES if name in (None, p.name)]
    if not chosen:
        chosen = [layer.policy for layer in parse_stack(name or "").layers]
    reports = [policy_report(policy) for policy in chosen]
    if as_json:
        print_json({"policies": reports, "presets": dict(PRESETS) if name is None else {}})
        return 0
    if name is None:
        say("A stack is `recorded` or `history`, or policies joined by commas; parameters follow with colons.")
        say()
        for line in table([(r["name"], r["title"], ":".join([r["name"], *_defaults(r)])) for r in reports]):
            say(line)
        say()
        for line in table([("preset", "stack"), *PRESETS.items()]):
            say(line)
        return 0
    for r in reports:
        say(f"{r['name']}: {r['title']}")
        say(f"  source: {r['source']}")
        say(f"  mode {r['mode']}, phase {r['phase']}{''.join(', ' + flag for flag in r['flags'])}")
        rows = [(f"  {p['name']}={p['default']}", p["range"], p["help"]) for p in r["params"]]
        for line in table(rows):
            say(line)
        for example in r["examples"]:
            say(f"  --stack {example}")
    return 0


def _defaults(report: dict[str, Any]) -> list[str]:
    short = [p for p in report["params"] if len(p["default"]) <= 12 and p["name"] not in ("mode", "repair")]
    return [f"{p['name']}={p['default']}" for p in short[:4]]
