"""SWE-agent's `LastNObservations`: all but the newest observations are elided; never the first one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.items import Entry
from ctxview.policies.parts import cleared, request_groups, results
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window


def _line(entry: Entry) -> str:
    return f"Old environment output: ({len(entry.text().splitlines())} lines omitted)"


def _elide(window: Window, ctx: Context) -> Sequence[Edit]:
    n, polling = ctx.params["n"], ctx.params["polling"]
    found = results(window)
    last = len(found) // polling * polling - n
    asked = request_groups(window)
    edits: list[Edit] = []
    for entry in found[1 : max(1, last)]:
        if entry.item.group in asked:
            continue
        text, size = ctx.once(("elided", entry.n, entry.content), partial(_line, entry))
        if size < entry.tokens:
            evidence = {"n": n, "polling": polling}
            edits += cleared(window, entry, text, "elided", f"not among the last {n} observations", evidence)
    return edits


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="swe-agent-last-n",
        title="SWE-agent: the last N observations",
        source="SWE-agent LastNObservations; never the first observation, steps of `polling` save the cache",
        plan=_elide,
        phase="rewrite",
        params=(
            Param("n", 5, "newest observations that stay", low=1),
            Param("polling", 1, "how many observations pass between two elisions", low=1),
        ),
        monotone=True,
        examples=("swe-agent-last-n:n=5:polling=5",),
    ),
)
