"""`stale`: a reading that nothing superseded, but that is old or of something that changed since, keeps its text and
gets a flag with the advice to read again.

`text=constant` flags it once in the same words, so that the cached prefix breaks once. `text=age` names the age, which
is another text on every turn and breaks the prefix there every time: it is one span, marked volatile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ctxview.model import Observation, ResourceChange
from ctxview.policies.edits import Edit, Replace
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

CONSTANT: Final = "[stale: {why}; read it again before you rely on it]"
AGED: Final = "[stale: read {age} turns ago; read it again before you rely on it]"
TYPES: Final = ("file", "record", "url")


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    edits: list[Edit] = []
    for entry in window:
        if entry.form != "verbatim" or entry.kind != "tool_result":
            continue
        found = _stale(entry, ctx)
        if found is None:
            continue
        row, change = found
        age = ctx.turn - row.turn
        is_aged = ctx.params["text"] == "age"
        why = change.reason if change else f"read {_threshold(row, ctx)} or more turns ago"
        flag = AGED if is_aged else CONSTANT.format(why=why)
        shown = flag.format(age=age) if is_aged else flag
        text, _ = ctx.once(("stale", entry.n, entry.content, flag), partial(_flagged, flag, entry))
        tokens = entry.tokens + ctx.count(f"{shown}\n")
        reason = change.reason if change else f"{age} turns old"
        evidence = {"resource": row.key, "turn": row.turn, "because": change.because if change else None}
        edits.append(Replace(entry.n, "flagged", text, "stale", reason, evidence, tokens, is_aged))
    return edits


def _flagged(flag: str, entry: Entry) -> str:
    return f"{flag}\n{entry.text()}"


def _threshold(row: Observation, ctx: Context) -> int:
    kind = (row.key or "").partition(":")[0]
    own = ctx.params[kind] if kind in TYPES else None
    return int(own if own is not None else ctx.params["turns"])


def _stale(entry: Entry, ctx: Context) -> tuple[Observation, ResourceChange | None] | None:
    """The reading that is stale, and the change that made it so; None when it is live, superseded, or no reading."""
    rows = [r for r in ctx.facts.observations(entry.n) if r.key is not None and r.effect == "read"]
    rows = [r for r in rows if r.since <= ctx.turn]
    if not rows:
        return None
    changes = [c for c in ctx.facts.changes(entry.n) if c.since <= ctx.turn]
    if any(c.state == "superseded" for c in changes):
        return None
    change = next((c for c in changes if c.state == "stale"), None)
    if change is not None and ctx.params["depends"]:
        return rows[0], change
    old = next((r for r in rows if ctx.turn - r.turn >= _threshold(r, ctx)), None)
    return (old, None) if old is not None else None


POLICY = Policy(
    name="stale",
    title="Flag what is old",
    source="ours, against stale observations",
    plan=plan,
    phase="rewrite",
    params=(
        Param("turns", 8, "age from which a reading is stale", low=1),
        *(Param(name, None, f"the same for {name} resources", low=1) for name in TYPES),
        Param("text", "constant", "the same words on every turn, or the age in turns", choices=("constant", "age"),
              type="choice"),
        Param("depends", True, "also flag what a change elsewhere made stale", type="flag"),
    ),
    may_grow=True,
    saves_size=False,
    monotone=True,
    examples=("supersede,stale:turns=8", "recorded,stale:record=3:text=age"),
)  # fmt: skip
