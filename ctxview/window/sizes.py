"""The sizes of a session's windows: recorded, counted and calibrated, for one turn or for all."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

from ctxview.model import KINDS, Stretch
from ctxview.window.limits import limit_of
from ctxview.window.stays import Stays
from ctxview.window.table import column


@dataclass(frozen=True, slots=True)
class Tokens:
    """The sizes of one window. Recorded, counted and calibrated are three numbers, mixed in `unlogged` alone."""

    recorded: int | None
    """As the provider counted it."""
    counted: int
    """Sum over the blocks that are in the log, by tokenizer (images and unlogged thinking by formula)."""
    calibrated: int | None
    """factor x counted, once the audit has fitted a factor for the stretch."""
    unlogged: int | None
    """recorded - round(factor x counted), factor 1 before calibration: what was sent and never logged. Below 0 where
    more was counted than the provider did. Simulated windows take it from the recorded one: all of it, or where it is
    below 0 the same share."""
    limit: int | None


class Rest(NamedTuple):
    """What a recorded size says beside the scaled count: the same for every stack's window of that turn."""

    share: float
    """1.0, or below it where more was counted than the provider did."""
    tokens: int
    """What was sent and never logged; never below 0."""
    turn: int
    """Whose call tells: the turn itself, or for one without usage the newest earlier one that has; 0 for none."""

    def size(self, scaled: int) -> int:
        """The tokens of a window whose blocks come to `scaled`."""
        return round(self.share * scaled) + self.tokens


_UNKNOWN: Final = Rest(1.0, 0, 0)


class Sizes(Stays):
    """What the windows come to in tokens."""

    @cached_property
    def limit(self) -> int | None:
        """The model's context size in tokens, by the rules of `ctxview.window.limits`."""
        if self.base is not None:
            return self.base.limit
        return limit_of(self.row, self.turns)

    def stretch(self, turn: int) -> Stretch | None:
        """The audit's fit that covers `turn`."""
        return next((s for s in self.audit if s.start <= turn <= s.end), None)

    def factor(self, turn: int) -> float:
        """Counted to recorded tokens at `turn`; 1.0 before calibration. `now` goes by the newest turn."""
        fitted = self.stretch(min(turn, self.last))
        return fitted.factor if fitted else 1.0

    def counted(self, turn: int) -> int:
        """Tokens of the window's blocks, as they were counted."""
        if self._totals is None and self._scan():
            tokens = column(self.spans, "tokens")
            return sum(tokens[i] for i in self.standing(turn))
        return self._counted[turn]

    def tokens(self, turn: int) -> Tokens:
        """All sizes of the window at `turn`."""
        call = self.turn(turn)
        recorded = call.recorded if call and self.base is None else None
        counted = self.counted(turn)
        fitted = self.stretch(min(turn, self.last))
        scaled = round(self.factor(turn) * counted)
        unlogged = None if recorded is None else recorded - scaled
        if self.base is not None:
            rest = self.base.own_rest(turn)
            unlogged = None if rest is None else rest.size(scaled) - scaled
        return Tokens(recorded, counted, scaled if fitted else None, unlogged, self.limit)

    def by_kind(self, turn: int) -> dict[str, int | None]:
        """Tokens by kind plus `unlogged`; they add up to the recorded or simulated size where that is known.

        Counted parts are scaled by the stretch's factor and rounded so that they add up to the scaled total.
        """
        counted: dict[str, int] = {kind: self.counted_series[kind][turn] for kind in KINDS}
        sizes = self.tokens(turn)
        if sizes.unlogged is None:
            return {**counted, "unlogged": None}
        parts: dict[str, int | None] = dict(_apportion(counted, round(self.factor(turn) * sum(counted.values()))))
        return {**parts, "unlogged": sizes.unlogged}

    def size(self, turn: int) -> int:
        """The best known size: recorded, else calibrated, else counted. Simulated: with what was never logged."""
        if not self._scan():
            return self.sizes[turn]
        sizes = self.tokens(turn)
        if sizes.recorded is not None:
            return sizes.recorded
        scaled = round(self.factor(turn) * sizes.counted)
        return scaled + (sizes.unlogged or 0)

    def fits(self, turn: int) -> bool:
        """Whether the window is within the limit, as far as can be told: where its size was not recorded, what the
        newest call with usage sent beside the logged blocks counts as sent again. True without a limit."""
        if self.limit is None:
            return True
        if self.own_rest(turn) is not None:
            return self.size(turn) <= self.limit
        return self.rests[min(turn, self.last)].size(self._scaled[turn]) <= self.limit

    def lacks_unlogged(self, turn: int) -> bool:
        """Whether `size` leaves out what was never logged, though other turns of the session tell of some."""
        if self.base is not None:
            return self.base.lacks_unlogged(turn)
        call = self.turn(turn)
        return self._has_unlogged and (call is None or call.recorded is None)

    @cached_property
    def _has_unlogged(self) -> bool:
        return any(rest.tokens > 0 for rest in self.rests)

    @cached_property
    def sizes(self) -> Sequence[int]:
        """`size` of turns 0 .. now (index 0 is unused)."""
        sizes = list(self._scaled)
        if self.base is None:
            for call in self.turns:
                if call.recorded is not None:
                    sizes[call.turn] = call.recorded
            return sizes
        for turn, (share, tokens, told_by) in enumerate(self.rests):
            if turn == told_by:
                sizes[turn] = round(share * sizes[turn]) + tokens
        return sizes

    def own_rest(self, turn: int) -> Rest | None:
        """What the recorded size of `turn` says beside the scaled count; None where there is none."""
        if self.base is not None:
            return self.base.own_rest(turn)
        call = self.turn(turn)
        if call is None or call.recorded is None:
            return None
        return _rest(call.recorded, round(self.factor(turn) * self.counted(turn)), turn)

    @cached_property
    def rests(self) -> Sequence[Rest]:
        """For turns 0 .. last: what the newest recorded size by then says beside the scaled count."""
        if self.base is not None:
            return self.base.rests
        found, scaled = [_UNKNOWN], self._scaled
        for call in self.turns:
            found.append(found[-1] if call.recorded is None else _rest(call.recorded, scaled[call.turn], call.turn))
        return found

    @cached_property
    def estimates(self) -> Sequence[int]:
        """`size` of turns 0 .. last, for comparing turns with each other: what was never logged does not vanish on a
        turn without usage, it is carried on from the newest call that has some."""
        sizes, scaled = self.sizes, self._scaled
        return [sizes[turn] if rest.turn == turn else rest.size(scaled[turn]) for turn, rest in enumerate(self.rests)]

    @cached_property
    def _scaled(self) -> Sequence[int]:
        """factor x counted of turns 0 .. now, factor 1 before calibration."""
        counted = self._counted
        scaled = list(counted)
        for fitted in reversed(self.audit):  # the first that covers a turn counts
            for turn in range(max(1, fitted.start), min(fitted.end, self.last) + 1):
                scaled[turn] = round(fitted.factor * counted[turn])
        scaled[self.now] = round(self.factor(self.now) * counted[self.now])
        return scaled

    @cached_property
    def _counted(self) -> Sequence[int]:
        """`counted` of turns 0 .. now."""
        if self._totals is not None:
            return self._totals
        return [sum(parts) for parts in zip(*self.counted_series.values())][: self.now + 1]

    def occupancy(self) -> tuple[int | None, str]:
        """Tokens that stand now, and where the number is from: recorded, post-cut, counted or unknown."""
        told = next((t for t in reversed(self.turns) if t.recorded is not None), None)
        if told is not None:
            # What was recorded before a cut does not stand after it, whether or not a call without usage followed.
            cuts = (c for c in reversed(self.cuts) if c.kind in ("compact", "clear") and c.turn > told.turn)
            cut = next(cuts, None)
            if cut is None:
                return told.recorded, "recorded"
            return (cut.after, "post-cut") if cut.after is not None else (None, "unknown")
        return (self.counted(self.now), "counted") if self.blocks else (None, "unknown")

    @cached_property
    def counted_series(self) -> Mapping[str, Sequence[int]]:
        """Counted tokens of each kind for turns 0 .. now (index 0 is unused and 0)."""
        return self.series(KINDS, column(self.blocks, "kind"))

    def series(self, names: Sequence[str], of: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Counted tokens of groups of blocks for turns 0 .. now. `of` names each block's group."""
        deltas: dict[str, array[int]] = {name: array("q", bytes(8 * (self.now + 2))) for name in names}
        by_block = [deltas[name] for name in of]
        now = self.now
        for block, start, end, tokens in zip(self._blocks, self._starts, self._ends, column(self.spans, "tokens")):
            if start >= end or start > now:
                continue
            delta = by_block[block]
            delta[start] += tokens
            if end <= now:
                delta[end] -= tokens
        return {name: array("q", accumulate(delta)) for name, delta in deltas.items()}

    @cached_property
    def peak(self) -> tuple[int, int] | None:
        """(turn, tokens) of the largest window; None without turns."""
        if not self.turns:
            return None
        turn = max(range(1, self.now), key=self.sizes.__getitem__)
        return turn, self.sizes[turn]

    @property
    def is_estimated(self) -> bool:
        """Whether no count of the session comes from a tokenizer."""
        return self._kinds_of_count == {True}

    @cached_property
    def _kinds_of_count(self) -> frozenset[bool]:
        """True where some count is an estimate, False where some is none."""
        if self.base is not None:
            own = self.blocks[len(self.base.blocks) :]
            return self.base._kinds_of_count | {block.estimated for block in own if block.tokens}
        blocks = zip(column(self.blocks, "tokens"), column(self.blocks, "estimated"))
        return frozenset({bool(is_estimated) for tokens, is_estimated in blocks if tokens})


def _rest(recorded: int, scaled: int, turn: int) -> Rest:
    return Rest(1.0, recorded - scaled, turn) if recorded >= scaled else Rest(recorded / scaled, 0, turn)


def _apportion(parts: Mapping[str, int], total: int) -> dict[str, int]:
    """Scale whole numbers to add up to `total` (largest remainders get the rest)."""
    whole = sum(parts.values())
    if not whole:
        return dict(parts)
    exact = {k: v * total / whole for k, v in parts.items()}
    floors = {k: int(v) for k, v in exact.items()}
    rest = total - sum(floors.values())
    for k in sorted(exact, key=lambda k: floors[k] - exact[k])[:rest]:
        floors[k] += 1
    return floors
