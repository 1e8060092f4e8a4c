"""`supersede`: at most one live observation per resource; older ones are placeholders, kept in the audit trail.

In place, so that every call keeps its result and nothing moves; `form=literal` drops them instead, wherever nothing
else of the same response would have to go with them. A write is an
action: its call stays, and only the content in it gives way to a newer one. An edit alone takes nothing's place unless
asked to (`by=any`), because the text would be gone and only its change be left.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

from ctxview.model import Observation, ResourceChange
from ctxview.policies.edits import Drop, Edit, Replace
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.step import Restart, Step, Stretch, observing
from ctxview.policies.window import Window

PLACEHOLDER: Final = "[superseded file read]"
_RULE: Final = "superseded"
_CONTENT: Final = ("read", "write")
_ARGUMENTS: Final = (
    "content", "contents", "file_text", "text", "new_str", "new_string", "new_source", "code", "patch", "body",
)  # fmt: skip
"""Arguments that hold what a write writes, under their usual names."""


def replaced_by(entry: Entry, ctx: Context, window: Collection[int], newer: dict[str, list[Observation]]) -> Any:
    """What took the place of all content that a block shows, by something that stands in the window; else None.

    `newer` holds the content observations of the window by resource.
    """
    found: ResourceChange | None = None
    if entry.kind == "assistant":  # a command among the agent's words: nothing can go without them
        return None
    for row in ctx.facts.observations(entry.n):
        if row.key is None or row.effect not in _CONTENT or row.since > ctx.turn:
            continue
        found = _change(row, ctx, window, newer.get(row.key, ()))
        if found is None:
            return None
    return found


def _change(
    row: Observation, ctx: Context, window: Collection[int], newer: Sequence[Observation]
) -> ResourceChange | None:
    for change in ctx.facts.changes(row.block):
        if change.state != "superseded" or change.key != row.key or change.since > ctx.turn:
            continue
        if ctx.params["by"] == "any" and (change.because is None or change.because in window):
            return change
        if any(n.block != row.block and n.since >= change.since and _covers(n, row) for n in reversed(newer)):
            return change
    return None


def _covers(a: Observation, b: Observation) -> bool:
    if a.first is None or a.last is None:
        return True
    return b.first is not None and b.last is not None and a.first <= b.first and b.last <= a.last


def _edit(entry: Entry, change: ResourceChange, ctx: Context, siblings: Sequence[Entry]) -> Edit:
    """`siblings`: the calls of the entry's turn group."""
    params = ctx.params
    reason = f"{change.key}: {change.reason}"
    evidence = {"resource": change.key, "because": change.because, "since": change.since}
    if entry.kind == "tool_call":
        key = ("superseded", entry.n, entry.content, params["placeholder"])
        text, size = ctx.once(key, lambda: without_content(entry.text(), params["placeholder"]))
        return Replace(entry.n, "truncated", text, _RULE, reason, evidence, size)
    if params["form"] == "literal" and not any(_says_more(call, entry, ctx) for call in siblings):
        return Drop(entry.n, _RULE, reason, evidence)
    return Replace(entry.n, "placeholder", params["placeholder"], _RULE, reason, evidence)


def _says_more(call: Entry, result: Entry, ctx: Context) -> bool:
    """Whether a result's going would take more with it than its own call: pairing repair takes a batch as a whole."""
    return call.n != result.item.call or any(row.effect in _CONTENT for row in _rows(call, ctx))


def without_content(arguments: str, placeholder: str) -> str:
    """A call's arguments with what it wrote replaced; all else stays. The longest text where no argument is known."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return placeholder
    if not isinstance(values, dict):
        return placeholder
    texts = [k for k, v in values.items() if isinstance(v, str)]
    known = [k for k in texts if k.lower() in _ARGUMENTS] or sorted(texts, key=lambda k: -len(values[k]))[:1]
    return json.dumps({k: placeholder if k in known else v for k, v in values.items()}, ensure_ascii=False)


def _rows(entry: Entry, ctx: Context) -> list[Observation]:
    return [r for r in ctx.facts.observations(entry.n) if r.key is not None and r.since <= ctx.turn]


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    newer: dict[str, list[Observation]] = {}
    for entry in window:
        for row in _rows(entry, ctx):
            if row.effect in _CONTENT:
                newer.setdefault(row.key or "", []).append(row)
    calls: dict[int, list[Entry]] = {}
    for entry in window:
        if entry.kind == "tool_call":
            calls.setdefault(entry.item.group, []).append(entry)
    edits = []
    for entry in window:
        change = replaced_by(entry, ctx, window.by_n, newer)
        if change is not None:
            siblings = [e for e in calls.get(entry.item.group, ()) if e.n != entry.n]
            edits.append(_edit(entry, change, ctx, siblings))
    return edits


class _Live(Step):
    """What stands of each resource. An arrival is compared with what stands of the same one."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._window: set[int] = set()
        self._newer: dict[str, list[Observation]] = {}
        self._standing: dict[str, list[Entry]] = {}
        self._is_literal = params["form"] == "literal"
        self._calls: dict[int, list[Entry]] = {}
        """The calls of each turn group, for the literal form, which has to know what it would take with a result."""
        self._torn: set[int] = set()
        """Turn groups of which a result was dropped."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        keys: dict[str, None] = {}
        observations = ctx.facts.observations
        for entry in entries:
            if self._is_literal and entry.kind == "tool_call":
                if entry.item.group in self._torn:
                    raise Restart
                self._calls.setdefault(entry.item.group, []).append(entry)
            rows = observations(entry.n)
            if not rows:
                continue
            self._window.add(entry.n)
            for row in rows:
                if row.key is None:
                    continue
                keys[row.key] = None
                if row.effect in _CONTENT:
                    self._newer.setdefault(row.key, []).append(row)
                    self._standing.setdefault(row.key, []).append(entry)
        if not keys:
            return ()
        edits: list[Edit] = []
        for key in keys:
            standing = self._standing.get(key, [])
            for entry in standing if len(standing) > 1 or self._params["by"] == "any" else ():
                change = replaced_by(entry, ctx, self._window, self._newer)
                if change is not None:
                    siblings = [e for e in self._calls.get(entry.item.group, ()) if e.n != entry.n]
                    edits.append(_edit(entry, change, ctx, siblings))
                    if isinstance(edits[-1], Drop):
                        self._torn.add(entry.item.group)
                    self._standing[key] = [e for e in self._standing[key] if e is not entry]
        return edits

    def reform(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        return ()  # what says something of a resource says it in any form

    def heeds(self, stretch: Stretch, ctx: Context) -> Collection[int] | None:
        if self._is_literal:
            return None
        return {turn for turn, _ in observing(stretch, ctx.facts)}


def _step(params: Params) -> Step:
    return _Live(params)


POLICY = Policy(
    name="supersede",
    title="One live observation per resource",
    source="ours, against stale observations; equal to pydantic-ai-harness 0.62 DeduplicateFileReads on whole readings",
    plan=plan,
    step=_step,
    phase="rewrite",
    params=(
        Param("form", "place", "a placeholder in place, or the literal pattern that drops the result where its "
              "call stands alone",
              choices=("place", "literal"), type="choice"),
        Param("by", "content", "what takes the place of a reading: newer content, or any newer word on it, an edit's "
              "too", choices=("content", "any"), type="choice"),
        Param("placeholder", PLACEHOLDER, "what stands for the older content", type="text"),
    ),
    may_grow=True,
    saves_size=False,
    idempotent=True,
    monotone=True,
    examples=("supersede", "recorded,supersede", "supersede:by=any"),
)  # fmt: skip
