"""`lifetime`: blocks live for a number of turns, or until the person sets the next task.

Tool results that expire leave a line behind, so that their calls keep a result; other blocks go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Drops, Edit, Replace
from ctxview.policies.items import Entry
from ctxview.policies.parts import cleared, dropped, kinds_of, request_groups, results
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.step import Restart, Step
from ctxview.policies.window import Window, newest_request

_EXPIRED: Final = "[expired after {ttl} turns]"
_KINDS: Final = ("tool_result", "note", "summary", "image", "thinking", "assistant", "user")


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    if params["scope"] == "global":
        return []
    ttl: int = params["ttl"]
    kinds = kinds_of(params, "kinds")
    asked = request_groups(window)
    task = max((e.item.turn for e in window if e.item.row.human), default=0)
    edits: list[Edit] = []
    text = _EXPIRED.format(ttl=ttl)
    cost = ctx.count(text)
    firsts = {e.n for e in results(window)}
    gone = []
    for entry in window:
        age = ctx.turn - 1 - entry.item.turn
        ended = age >= ttl and (params["scope"] == "session" or entry.item.turn < task)
        if not ended or entry.kind not in kinds or entry.item.group in asked or ctx.pins(entry):
            continue
        if entry.kind != "tool_result":
            gone.append(entry)
        elif entry.n in firsts and entry.tokens > cost:
            edits += cleared(window, entry, text, "expired", f"{age:,} turns old", {"age": age, "ttl": ttl})
    return edits + dropped(gone, "expired", f"older than {ttl:,} turns", {"ttl": ttl})


class _Clock(Step):
    """Looks at a block when its time has come, and again when what kept it may have ended."""

    def __init__(self, params: Params) -> None:
        self._ttl: int = params["ttl"]
        self._by_task = params["scope"] == "task"
        self._is_off = params["scope"] == "global"
        self._kinds = frozenset(kinds_of(params, "kinds"))
        self._text = _EXPIRED.format(ttl=self._ttl)
        self._cost: int | None = None
        """Tokens of that text; None before the first firing."""
        self._words: tuple[str, dict[str, int]] = "", {"age": -1}
        """Reason and evidence of the last firing."""
        self._entries: list[Entry] = []
        self._due: dict[int, list[Entry]] = {}
        """Blocks to look at, by turn."""
        self._kept: list[Entry] = []
        """Blocks of the task at hand whose time has come."""
        self._task = 0
        self._parts: dict[int, list[Entry]] = {}
        """Call -> the blocks of its result, images among them."""
        self._expired: set[int] = set()
        self._groups: set[int] = set()
        """Turn groups of which something has expired."""
        self._pinned: dict[int, set[int]] | None = None
        """Turn -> blocks that are pinned from it on; None before the first turn."""

    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        if self._is_off:
            return ()
        now = ctx.turn
        if self._pinned is None:
            self._pinned = {}
            for pin in ctx.facts.all_pins():
                self._pinned.setdefault(pin.since, set()).add(pin.block)
        elif not self._expired.isdisjoint(self._pinned.get(now, ())):
            raise Restart
        due = self._due.pop(now, [])
        for entry in entries:
            item = entry.item
            if item.group in self._groups:
                raise Restart
            self._entries.append(entry)
            if item.row.human and item.turn > self._task:
                self._task = item.turn
                due += self._kept
                self._kept = []
            if item.call >= 0:
                self._parts.setdefault(item.call, []).append(entry)
            if item.row.kind in self._kinds:
                ends = item.turn + 1 + self._ttl
                if ends <= now:
                    due.append(entry)
                else:
                    self._due.setdefault(ends, []).append(entry)
        return self._expire(due, ctx) if due else ()

    def _expire(self, due: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        asked = {e.item.group for e in newest_request(self._entries)}
        edits: list[Edit] = []
        gone: list[int] = []
        for entry in due:
            item = entry.item
            if item.group in asked:
                self._due.setdefault(ctx.turn + 1, []).append(entry)
            elif self._by_task and item.turn >= self._task:
                self._kept.append(entry)
            elif pins := ctx.pins(entry):
                until = max(p.until for p in pins)
                self._due.setdefault(max(until, ctx.turn + 1), []).append(entry)
            elif item.row.kind != "tool_result":
                gone.append(entry.n)
                self._expired.add(entry.n)
                self._groups.add(item.group)
            else:
                edits += self._clear(entry, ctx)
        if gone:
            edits.append(Drops(gone, "expired", f"older than {self._ttl:,} turns", {"ttl": self._ttl}))
        return edits

    def _clear(self, entry: Entry, ctx: Context) -> Sequence[Edit]:
        parts = self._parts.get(entry.item.call, ())
        others = [e for e in parts if e is not entry] if len(parts) > 1 else []
        if self._cost is None:
            self._cost = ctx.count(self._text)
        is_first = not any(_is_result(e) and e.pos < entry.pos for e in others)
        if not is_first or not _is_result(entry) or entry.tokens <= self._cost:
            return ()
        self._expired.add(entry.n)
        self._groups.add(entry.item.group)
        age = ctx.turn - 1 - entry.item.turn
        if self._words[1]["age"] != age:  # mostly it is the same again
            self._words = f"{age:,} turns old", {"age": age, "ttl": self._ttl}
        reason, evidence = self._words
        edits: list[Edit] = [Replace(entry.n, "placeholder", self._text, "expired", reason, evidence, self._cost)]
        return [*edits, *dropped(others, "expired", reason, evidence)]


def _is_result(entry: Entry) -> bool:
    return entry.kind == "tool_result" and entry.form not in ("placeholder", "pointer")


def _step(params: Params) -> Step:
    return _Clock(params)


POLICY = Policy(
    name="lifetime",
    title="Blocks with a time to live",
    source="ours, for long sessions",
    plan=plan,
    step=_step,
    phase="rewrite",
    params=(
        Param("ttl", 20, "turns that a block lives", low=1),
        Param("scope", "session", "`task`: it also takes a new task of the person; `global`: nothing expires",
              choices=("session", "task", "global"), type="choice"),
        Param("kinds", "tool_result+note", "kinds of blocks that expire; pinned ones never do", choices=_KINDS,
              type="names"),
    ),
    saves_size=False,
    monotone=True,
    examples=("lifetime:ttl=20", "lifetime:ttl=5:scope=task:kinds=tool_result"),
)  # fmt: skip
