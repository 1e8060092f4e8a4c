"""`stale`: a reading that nothing superseded, but that is old or of something that changed since, keeps its text and
gets a flag with the advice to read again.

`text=constant` flags it once in the same words, so that the cached prefix breaks once. `text=age` names the age, which
is another text on every turn and breaks the prefix there every time: it is one span, marked volatile.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import partial
from typing import Final

from ctxview.model import Observation, ResourceChange
from ctxview.policies.edits import Aging, Edit, Later, Replace, Restored
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.step import Step, Stretch, observing
from ctxview.policies.window import Window

CONSTANT: Final = "[stale: {why}; read it again before you rely on it]"
AGED: Final = "[stale: read {age} turns ago; read it again before you rely on it]"
TYPES: Final = ("file", "record", "url")


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    found = (_flag(entry, ctx) for entry in window if _may_be(entry))
    return [edit for edit in found if edit is not None]


def _may_be(entry: Entry) -> bool:
    return entry.form == "verbatim" and _is_answer(entry)


def _is_answer(entry: Entry) -> bool:
    """A tool's result, or what a harness answers in the user's name: words that no person wrote."""
    return entry.kind == "tool_result" or (entry.kind == "user" and entry.item.row.injected)


def _flag(entry: Entry, ctx: Context) -> Replace | None:
    found = _stale(entry, ctx)
    if found is None:
        return None
    row, change = found
    age = ctx.turn - row.turn
    text: Later | Aging
    if ctx.params["text"] == "age":
        shown = AGED.format(age=age)
        text = Aging(("stale", entry.content, row.turn), partial(_aged, entry, row.turn))
    else:
        why = change.reason if change else f"read {_threshold(row, ctx)} or more turns ago"
        shown = CONSTANT.format(why=why)
        text = Later(("stale", entry.content, shown), lambda: f"{shown}\n{entry.text()}")
    _, size = ctx.once(("stale", shown), lambda: f"{shown}\n")
    reason = change.reason if change else f"{age} turns old"
    evidence = {"resource": row.key, "turn": row.turn, "because": change.because if change else None}
    return Replace(entry.n, "flagged", text, "stale", reason, evidence, entry.tokens + size)


def _aged(entry: Entry, since: int, turn: int | None) -> str:
    return f"{AGED.format(age='some' if turn is None else turn - since)}\n{entry.text()}"


class _Watch(Step):
    """Looks at a reading when it comes, and on the turns on which it may become stale or cease to be."""

    def __init__(self) -> None:
        self._readings: dict[int, Entry] = {}
        """Results that say something of a resource, as they stand."""
        self._due: dict[int, list[int]] = {}
        """Readings to look at, by turn."""
        self._flagged: dict[int, Hashable] = {}
        """Name of the text that a flagged reading stands in."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        now = ctx.turn
        found = self._due.pop(now, [])
        for entry in entries:
            if _is_answer(entry) and ctx.facts.observations(entry.n):
                self._readings[entry.n] = entry
                turns = _turns(entry, ctx)
                if min(turns, default=now) <= now:
                    found.append(entry.n)
                for turn in turns:
                    if turn > now:
                        self._due.setdefault(turn, []).append(entry.n)
        return self._look(found, ctx)

    def reform(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        known = {entry.n: entry for entry in entries if entry.n in self._readings}
        self._readings.update(known)
        return self._look(known, ctx)

    def _look(self, numbers: Iterable[int], ctx: Context) -> Sequence[Edit]:
        edits: list[Edit] = []
        for n in numbers:
            entry, last = self._readings[n], self._flagged.pop(n, None)
            edit = _flag(entry, ctx) if _may_be(entry) else None
            if edit is not None:
                name = self._flagged[n] = edit.text if isinstance(edit.text, str) else edit.text.name
                if name != last:
                    edits.append(edit)
            elif last is not None:
                edits.append(Restored(n))
        return edits

    def heeds(self, stretch: Stretch, ctx: Context) -> Collection[int]:
        found = set()
        for turn, entry in observing(stretch, ctx.facts):
            if _is_answer(entry):
                found.add(turn)
                found.update(_turns(entry, ctx))
        return found


def _turns(entry: Entry, ctx: Context) -> set[int]:
    """The turns on which a reading's state may change."""
    found = {change.since for change in ctx.facts.changes(entry.n)}
    for row in ctx.facts.observations(entry.n):
        found.add(max(row.since, row.turn + _threshold(row, ctx)))
    return found


def _step(params: Params) -> Step:
    return _Watch()


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
    step=_step,
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
