"""What a stack costs and loses, turn by turn and over the run: one place, for recorded and alternate windows alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from ctxview.annotate.observations.rules import DEFAULT
from ctxview.policies.facts import Facts
from ctxview.replay.details import Details, Firings, details
from ctxview.replay.guard import BudgetUnsatisfiable
from ctxview.replay.needed import NeededLater, needed_later
from ctxview.replay.pairs import orphans_by_turn, provider_error
from ctxview.replay.prefix import cached_prefixes
from ctxview.replay.prepared import prepared
from ctxview.replay.presence import READABLE, presence, running
from ctxview.replay.repair import Mended
from ctxview.window import SessionView

BUST_SHARE: Final = 0.05
BUST_TOKENS: Final = 2_000
"""A cache bust: more than this share, and at least this many tokens, of the window before were not read again."""
_NOTHING: Final[Mapping[str, Firings]] = MappingProxyType({})
_NO_MENDING: Final[Mapping[int, Mended]] = MappingProxyType({})
Source: TypeAlias = Literal["recorded", "counted", "simulated"]


@dataclass(frozen=True, slots=True)
class TurnCost:
    """One turn's numbers."""

    turn: int
    tokens: int
    source: Source
    """What `tokens` is: as the provider counted it, as it was counted here, or a window that was never sent."""
    carried: bool
    """The call has no usage, so what was sent and never logged is that of the newest earlier call that has some."""
    cached: int | None
    """Tokens of the head that the window before had too: counted and sized like `tokens`, no cache was asked. None
    where the log's client took something from the head that was never logged."""
    cuts: int
    headroom: int | None
    """Tokens left to the model's context size, below 0 when it is exceeded; None when that is not known."""
    pins_present: int
    pins_required: int
    orphans: int
    superseded: int
    """Blocks whose content something newer took the place of."""
    stale: int

    @property
    def fill(self) -> float | None:
        """Share of the model's context size that is used; None when that is not known."""
        return None if self.headroom is None else self.tokens / (self.tokens + self.headroom)

    @property
    def hit(self) -> float | None:
        """Share of the tokens that a prompt cache could give; None for an empty window, and where it is not known."""
        return self.cached / self.tokens if self.tokens and self.cached is not None else None


@dataclass(frozen=True, slots=True)
class Totals:
    """The run's numbers, over the windows that were sent: what stands after the last call is in none of them."""

    peak: int
    mean: int | None
    """Input per turn; None without turns."""
    input: int
    billed: int | None
    """Input with tokens read from and written to a prompt cache weighted by their factors; None where it is not known
    of some turn how many those are."""
    cuts: int
    saved: int
    """Input of the recorded windows minus this input."""
    cache_busts: int
    """Those that are certain."""
    orphans: int
    """Blocks that were orphaned in any window that was sent."""
    lost: Mapping[str, int | None]
    first: Mapping[str, int | None]
    """First turn with an `orphan`, and first turn `over` a budget or the limit."""
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
    firings: Mapping[str, Firings]
    """Layer -> the turns on which it changed something in what was sent."""
    make_details: Callable[[], Details]

    @cached_property
    def details(self) -> Details:
        """What takes a look at every turn's blocks."""
        return self.make_details()

    def components(self, turn: int) -> dict[str, int]:
        """Counted tokens of a window: system, user, assistant, reasoning, call, result, synthetic."""
        return {name: series[turn] for name, series in self.details.components.items()}

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
    firings: Mapping[str, Firings] = _NOTHING,
    mended: Mapping[int, Mended] = _NO_MENDING,
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
    unknown = {cut.turn for cut in recorded.cuts if cut.dropped is None}
    limit = recorded.limit
    sizes, rests = view.estimates, view.rests
    turns = []
    billed, busts = 0.0, 0
    for turn in range(1, view.last + 1):
        tokens = sizes[turn]
        cached = _cached(view, turn, prefixes[turn]) if turn > 1 else 0  # at most
        billed += cached * read + (tokens - cached) * write
        missed = sizes[turn - 1] - cached
        busts += turn > 1 and missed > BUST_SHARE * sizes[turn - 1] and missed >= BUST_TOKENS
        told_by = rests[turn].turn
        source: Source = "simulated" if view.base is not None else "recorded" if told_by == turn else "counted"
        turns.append(
            TurnCost(
                turn=turn,
                tokens=tokens,
                source=source,
                carried=0 < told_by < turn,
                cached=None if turn in unknown else cached,
                cuts=cuts.get(turn, 0),
                headroom=None if limit is None else limit - tokens,
                pins_present=pins.present[turn],
                pins_required=pins.required[turn],
                orphans=len(orphans.get(turn, ())),
                superseded=states["superseded"][turn],
                stale=states["stale"][turn],
            )
        )
    total = sum(t.tokens for t in turns)
    needed, regret = needed_later(view, facts, shared)
    has_fired = any(firings.values())
    first_orphan = min(orphans, default=None)
    over = _first_over(failures, turns, limit)
    totals = Totals(
        peak=max((t.tokens for t in turns), default=0),
        mean=round(total / len(turns)) if turns else None,
        input=total,
        billed=round(billed) if all(t.cached is not None for t in turns) else None,
        cuts=sum(t.cuts for t in turns),
        saved=sum(recorded.estimates[1:]) - total,
        cache_busts=busts,
        orphans=len(frozenset().union(*orphans.values())) if orphans else 0,
        lost=pins.lost,
        first={"orphan": first_orphan, "over": over},
        first_failure=min((t for t in (pins.first_absence, first_orphan, over) if t is not None), default=None),
        regret=regret,
        fired=has_fired,
        needed=has_fired and (not saves_size or limit is None or 2 * _everything(recorded) >= limit),
    )
    error = provider_error(view, first_orphan, orphans[first_orphan]) if first_orphan is not None else None
    make = partial(
        details, view, recorded, facts, pins=pins.stays, orphans=orphans, mended=mended, firings=firings, needed=needed
    )
    return Metrics(view, tuple(turns), totals, tuple(needed), error, firings, make)


def _cached(view: SessionView, turn: int, counted: int) -> int:
    """A head of `counted` tokens as the view sizes windows. What was never logged is mostly system text, so it is part
    of the head, but only as much as both windows had: what has grown of it since was sent for the first time."""
    sizes, before, now = view.estimates, view.rests[turn - 1], view.rests[turn]
    head = round(now.share * view.factor(turn) * counted) + min(before.tokens, now.tokens)
    return min(head, sizes[turn - 1], sizes[turn])


def _everything(recorded: SessionView) -> int:
    """Tokens of the whole history at the end, as far as they were logged, and the largest recorded window if larger."""
    arrived = sum(b.tokens for b in recorded.blocks if not b.inserted)
    return max(arrived, recorded.peak[1] if recorded.peak else 0)


def _first_over(failures: Sequence[BudgetUnsatisfiable], turns: Sequence[TurnCost], limit: int | None) -> int | None:
    """The first window that was sent although it exceeded a budget or the limit."""
    found = [t.turn for t in turns if limit is not None and t.tokens > limit][:1]
    return min([*found, *(f.turn for f in failures if f.turn <= len(turns))], default=None)


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
    return {state: running(values) for state, values in deltas.items()}
