"""What a stack costs and loses, turn by turn and over the run: one place, for recorded and alternate windows alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ctxview.annotate.observations.rules import DEFAULT
from ctxview.model import BlockRow
from ctxview.policies.facts import Facts
from ctxview.replay.guard import BudgetUnsatisfiable
from ctxview.replay.needed import NeededLater, needed_later
from ctxview.replay.pairs import orphans_by_turn, provider_error
from ctxview.replay.prefix import cached_prefixes
from ctxview.replay.prepared import prepared
from ctxview.replay.presence import READABLE, Presence, presence
from ctxview.window import SessionView

BUST_SHARE: Final = 0.05
BUST_TOKENS: Final = 2_000
"""A cache bust: more than this share, and at least this many tokens, of the window before were not read again."""
_COMPONENTS: Final = {
    "system": "system", "tools": "system", "user": "user", "image": "user", "note": "user", "summary": "synthetic",
    "assistant": "assistant", "thinking": "reasoning", "tool_call": "call", "tool_result": "result",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TurnCost:
    """One turn's numbers. Tokens are the view's sizes: recorded, or simulated for another stack."""

    turn: int
    tokens: int
    cached: int
    """Tokens of the head that the window before had too."""
    cuts: int
    headroom: int | None
    """Tokens left to the model's context size; None when that is not known."""
    pins_present: int
    pins_required: int
    orphans: int
    superseded: int
    """Blocks whose content something newer took the place of."""
    stale: int


@dataclass(frozen=True, slots=True)
class Totals:
    peak: int
    input: int
    billed: int
    """Input with tokens read from and written to a prompt cache weighted by their factors."""
    cuts: int
    saved: int
    """Input of the recorded windows minus this input."""
    cache_busts: int
    orphans: int
    """Blocks that were orphaned in any window that was sent."""
    lost: Mapping[str, int | None]
    first_failure: int | None
    """First turn on which a required pin is absent, an orphan stands, or the budget or the limit is exceeded."""
    regret: int
    """Tokens of dropped blocks that were fetched again."""
    fired: bool
    needed: bool
    """False when no layer ever acted, or when all of them save size and everything would have fit half the limit."""


@dataclass(frozen=True)
class Metrics:
    view: SessionView
    turns: tuple[TurnCost, ...]
    totals: Totals
    needed_later: tuple[NeededLater, ...]
    provider_error: str | None
    """What a provider would have answered to the first window with an orphan; None without orphans."""
    fired: Mapping[str, int]

    def components(self, turn: int) -> dict[str, int]:
        """Counted tokens of a window: system, user, assistant, reasoning, call, result, synthetic."""
        found = dict.fromkeys(("system", "user", "assistant", "reasoning", "call", "result", "synthetic"), 0)
        for span in self.view.spans_at(turn):
            block = self.view.blocks[span.block]
            found["synthetic" if _is_put_in(self.view, block) else _COMPONENTS[block.kind]] += span.tokens
        return found

    def breaks_at(self, turn: int) -> str | None:
        """Id of the first block of the window of `turn` that the window before did not have there; None at turn 1, and
        where the window before is gone on with to the last block."""
        if turn < 2:
            return None
        before, after = self.view.spans_at(turn - 1), self.view.spans_at(turn)
        for index, span in enumerate(after):
            old = before[index] if index < len(before) else None
            if old is None or (old.block, old.content, old.form) != (span.block, span.content, span.form):
                return self.view.blocks[span.block].id if index < len(before) else None
        return None


def measure(
    recorded: SessionView,
    view: SessionView,
    facts: Facts,
    *,
    failures: Sequence[BudgetUnsatisfiable] = (),
    fired: Mapping[str, int] | None = None,
    volatile: Collection[int] = (),
    saves_size: bool = True,
    read: float = 0.1,
    write: float = 1.25,
) -> Metrics:
    """Measure `view`, a stack's windows of the session of `recorded`. `read` and `write` weigh cached tokens."""
    blocks = len(recorded.blocks)
    shared = prepared(recorded)
    prefixes = cached_prefixes(view.spans, view.now, volatile)
    pins = presence(view, facts, blocks)
    orphans = orphans_by_turn(view, shared.items)
    states = _states(view, blocks)
    cuts: dict[int, int] = {}
    for cut in view.cuts:
        cuts[cut.turn] = cuts.get(cut.turn, 0) + 1
    limit = recorded.limit
    turns = []
    billed, busts, before = 0.0, 0, 0
    for turn in range(1, view.last + 1):
        tokens = view.size(turn)
        cached = min(tokens, _scaled(view, turn, prefixes[turn])) if turn > 1 else 0
        billed += cached * read + (tokens - cached) * write
        missed = before - cached
        busts += turn > 1 and missed > BUST_SHARE * before and missed >= BUST_TOKENS
        before = tokens
        turns.append(
            TurnCost(
                turn=turn,
                tokens=tokens,
                cached=cached,
                cuts=cuts.get(turn, 0),
                headroom=None if limit is None else limit - tokens,
                pins_present=pins.present[turn],
                pins_required=pins.required[turn],
                orphans=len(orphans.get(turn, ())),
                superseded=states["superseded"][turn],
                stale=states["stale"][turn],
            )
        )
    sizes = [t.tokens for t in turns]
    needed, regret = needed_later(view, facts, shared)
    has_fired = any((fired or {}).values())
    first_orphan = min(orphans, default=None)
    totals = Totals(
        peak=max(sizes, default=0),
        input=sum(sizes),
        billed=round(billed),
        cuts=sum(t.cuts for t in turns),
        saved=sum(recorded.size(t) for t in range(1, recorded.last + 1)) - sum(sizes),
        cache_busts=busts,
        orphans=len(frozenset().union(*orphans.values())) if orphans else 0,
        lost=pins.lost,
        first_failure=_first_failure(pins, first_orphan, failures, turns, limit),
        regret=regret,
        fired=has_fired,
        needed=has_fired and (not saves_size or limit is None or 2 * _everything(recorded) >= limit),
    )
    error = provider_error(view, first_orphan, orphans[first_orphan]) if first_orphan is not None else None
    return Metrics(view, tuple(turns), totals, tuple(needed), error, fired or {})


def _is_put_in(view: SessionView, block: BlockRow) -> bool:
    return view.base is not None and block.n >= len(view.base.blocks)


def _scaled(view: SessionView, turn: int, counted: int) -> int:
    """A head's tokens as the view sizes windows: what was never logged is mostly system text, so it is part of it."""
    if not counted:
        return 0
    sizes = view.tokens(turn)
    return round(view.factor(turn) * counted) + max(0, sizes.unlogged or 0)


def _everything(recorded: SessionView) -> int:
    """Tokens of the whole history at the end, as far as they were logged, and the largest recorded window if larger."""
    arrived = sum(b.tokens for b in recorded.blocks if not b.inserted)
    return max(arrived, recorded.peak[1] if recorded.peak else 0)


def _first_failure(
    pins: Presence,
    first_orphan: int | None,
    failures: Sequence[BudgetUnsatisfiable],
    turns: Sequence[TurnCost],
    limit: int | None,
) -> int | None:
    over = next((t.turn for t in turns if limit is not None and t.tokens > limit), None)
    budget = min((f.turn for f in failures), default=None)
    found = [t for t in (pins.first_absence, first_orphan, budget, over) if t is not None]
    return min(found, default=None)


def _states(view: SessionView, blocks: int) -> dict[str, list[int]]:
    """Blocks in each window whose content is superseded or stale, for turns 0 .. now."""
    deltas = {state: [0] * (view.now + 2) for state in ("superseded", "stale")}
    known = view.facts
    ages = set((DEFAULT.stale_after if known.stale_after is None else known.stale_after).values())
    changed: dict[int, set[int]] = {}
    for change in known.changes:
        changed.setdefault(change.block, set()).add(change.since)
    for n, rows in known.resources.by_block.items():
        if n >= blocks or all(row.key is None for row in rows):
            continue
        borders = {row.since for row in rows} | {row.turn + age for row in rows for age in ages}
        borders |= changed.get(n, set())
        marks = sorted(t for t in borders if t <= view.now)
        for start, end in zip(marks, [*marks[1:], view.now + 1]):
            now = known.change_at(n, start)
            if now is None or now.state not in deltas:
                continue
            for span in view.life(n):
                a, b = max(start, span.start), min(end, span.end)
                if a < b and (span.form in READABLE or span.content == view.blocks[n].content):
                    deltas[now.state][a] += 1
                    deltas[now.state][b] -= 1
    return {state: _running(values) for state, values in deltas.items()}


def _running(deltas: Sequence[int]) -> list[int]:
    found, total = [], 0
    for delta in deltas[:-1]:
        total += delta
        found.append(total)
    return found
