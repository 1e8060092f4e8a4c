"""`already-read`: a second reading of an unchanged file becomes a pointer to the first, with the ledger's rows on it.

Only where the first can be read in the window that all other policies leave and the ledger holds something of that
source, and never while a draft from it is about to be written: a cited span is wanted word for word then.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxview.model import Observation
from ctxview.policies.edits import Edit
from ctxview.policies.facts import LedgerRow
from ctxview.policies.ledger_readback import is_drafting
from ctxview.policies.parts import cleared, readable, results
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    rows = [row for row in ctx.facts.ledger() if row.since <= ctx.turn]
    needs_rows = ctx.params["needs"] == "ledger"
    asked = {e.n for e in window.request} if is_drafting(window) else set()
    shown = readable(window)
    first: dict[str, Observation] = {}
    """The newest reading of each resource that another can point to."""
    edits: list[Edit] = []
    for entry in results(window):
        for row in ctx.facts.observations(entry.n):
            if row.key is None or row.content is None or row.effect != "read" or row.since > ctx.turn:
                continue
            earlier = first.get(row.key)
            if earlier is None or earlier.content != row.content or not _holds(earlier, row):
                if entry.n in shown:
                    first[row.key] = row
                else:
                    first.pop(row.key, None)
                continue
            noted = [r for r in rows if _is_of(r, row.key)]
            if (needs_rows and not noted) or entry.n in asked:
                continue
            lines = [f"[already read at turn {earlier.turn} and unchanged: see {window.by_n[earlier.block].item.id}]"]
            text = "\n".join([*lines, *(f"- {r.line}" for r in noted)])
            if ctx.count(text) < entry.tokens:
                evidence = {"resource": row.key, "earlier": earlier.block, "rows": len(noted)}
                edits += cleared(window, entry, text, "already-read", "unchanged since", evidence, "pointer")
    return edits


def _holds(a: Observation, b: Observation) -> bool:
    return (a.first, a.last) == (b.first, b.last)


def _is_of(row: LedgerRow, key: str) -> bool:
    """Whether a ledger row's source names the resource: the end of its path, or its URL."""
    source = row.source.split(":", 1)[0] if "://" not in row.source else row.source
    name, source = key.split(":", 1)[1], source.strip().removeprefix("./")
    return bool(source) and (name == source or name.endswith("/" + source))


POLICY = Policy(
    name="already-read",
    title="Point to what was read already",
    source="ours, for findings ledgers",
    plan=plan,
    phase="point",
    params=(
        Param("needs", "ledger", "only where the ledger holds something of the source, or always",
              choices=("ledger", "nothing"), type="choice"),
    ),
    examples=("already-read", "already-read:needs=nothing"),
)  # fmt: skip
