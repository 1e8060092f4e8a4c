"""The rows that say what a block holds of which resource, each written down where what stands of the resource is kept.

It prevents a row from being found without what it does to those before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxview.annotate.observations.ask import Ask, Target
from ctxview.annotate.observations.rules import Dependency
from ctxview.annotate.observations.seen import Spans, Text, hull
from ctxview.annotate.observations.standing import Standing
from ctxview.annotate.observations.worktree import WorkTree
from ctxview.model import Effect, Evidence, Observation


@dataclass(slots=True)
class Pending:
    """A call whose result has not come."""

    n: int
    """Its block's number."""
    turn: int
    ask: Ask
    request: str
    """Hash of what an event asks for; empty for others."""
    keeps_folder: bool
    """Its shell stands next where it stood last."""


class Rows:
    """The rows of one session, in the order in which they became known."""

    def __init__(self, dependencies: tuple[Dependency, ...] = ()) -> None:
        self.found: list[Observation] = []
        self.standing = Standing(dependencies)
        self.worktree = WorkTree(self.standing)

    def note(self, n: int, key: str, effect: Effect, turn: int, spans: Spans, text: Text | None, rule: str) -> None:
        """A client tells of a file unasked, in block `n`."""
        first, last = hull(spans)
        row = Observation(
            n, key, effect, turn, turn + 1, None, first, last, text.hash if text else None, "stated", rule
        )
        self.found.append(row)
        if effect == "change":
            self.worktree.change(key)
        self.standing.add(row, spans, text)

    def seen(self, pending: Pending, target: Target, spans: Spans, text: Text | None, n: int, turn: int) -> None:
        """Block `n` shows these lines of the target."""
        self.stand(n, target, pending, turn, spans, text, text.hash if text else None, rule=target.rule)

    def changed(
        self,
        pending: Pending,
        target: Target,
        ack: int | None,
        turn: int,
        spans: Spans = (),
        evidence: Evidence | None = None,
    ) -> None:
        """A write or an edit is confirmed, by block `ack` where that says no more than so."""
        text = target.text
        hashed = text.hash if text else None
        if target.rule in ("git checkout", "git restore"):
            self.worktree.restore(target.key)
        else:
            self.worktree.change(target.key)
        self.stand(pending.n, target, pending, turn, spans, text, hashed, rule=target.rule, evidence=evidence)
        if ack is not None:
            self.add(
                ack,
                target.key,
                "ack",
                pending,
                turn,
                rule="answers a write" if target.effect == "write" else "answers an edit",
            )
            self.standing.acknowledge(target.key, pending.n, ack)

    def stand(
        self,
        n: int,
        target: Target,
        pending: Pending,
        turn: int,
        spans: Spans = (),
        text: Text | None = None,
        hashed: str | None = None,
        *,
        rule: str,
        evidence: Evidence | None = None,
    ) -> None:
        """A row that takes the place of others, or stands until one takes its own. `hashed` is the whole content's."""
        row = self.add(n, target.key, target.effect, pending, turn, spans, hashed, rule, evidence or target.evidence)
        self.standing.add(row, spans, text, target.question)

    def add(
        self,
        n: int,
        key: str | None,
        effect: Effect,
        pending: Pending,
        turn: int,
        spans: Spans = (),
        content: str | None = None,
        rule: str = "",
        evidence: Evidence = "matched",
    ) -> Observation:
        """A row alone; of several ranges it holds the first and the last line, and its rule all of them."""
        first, last = hull(spans)
        if len(spans) > 1:
            rule = f"{rule}, of these lines {', '.join(f'{a}-{b}' for a, b in spans)}"
        call = pending.n if pending.n != n else None
        row = Observation(n, key, effect, pending.turn, turn + 1, call, first, last, content, evidence, rule)
        self.found.append(row)
        return row

    def event(self, pending: Pending, n: int, turn: int) -> None:
        """Block `n` answers a call that is about no resource that can be told."""
        request = pending.request or None
        self.add(n, None, "event", pending, turn, content=request, rule=pending.ask.rule)
