"""When and where a session's blocks stand, and the indexes that answer it quickly.

The ground of a session's view. Quick answers cost a pass over all spans first, which one window alone is not worth:
`postpone` puts that off until somebody asks many questions or calls `settle`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Final, TypeVar

from ctxview.annotate import Facts, find_pins
from ctxview.errors import UsageError
from ctxview.model import NEVER, BlockRow, CutRow, EditRow, SessionRow, SpanRow, Stretch, TurnRow
from ctxview.window.table import Sorted, column, in_order, pick

if TYPE_CHECKING:
    from ctxview.window.view import SessionView

_Row = TypeVar("_Row")

_CHECKPOINT: Final = 128
"""Turns between remembered windows, at least: bounds the spans one window query has to look at."""
_SCANS: Final = 100
"""Questions that are answered by going through all spans, where quick answers are postponed."""


class Stays:
    """A session's rows and one stack's spans. Turns start at 1; `now` follows the last."""

    def __init__(
        self,
        row: SessionRow,
        turns: Sequence[TurnRow],
        blocks: Sequence[BlockRow],
        spans: Sequence[SpanRow],
        edits: Sequence[EditRow],
        cuts: Sequence[CutRow],
        audit: Sequence[Stretch],
        texts: Callable[[int], str],
        stack: str = "recorded",
        facts: Facts | None = None,
        base: SessionView | None = None,
        texts_many: Callable[[Collection[int]], Mapping[int, str]] | None = None,
        totals: Sequence[int] | None = None,
        aged: Callable[[int, int], int] | None = None,
    ) -> None:
        """`texts_many` reads several texts at once, where their source can; it may leave out unknown keys. `totals`:
        what the windows of turns 0 .. now count, where that is known already. `aged`: the key of a text as it reads at
        a turn, where some texts depend on it."""
        self.row = row
        self.turns = _fixed(turns)
        self.blocks = _fixed(blocks)
        self.spans = in_order(spans, "start", "pos")
        self.edits = _fixed(edits)
        self.cuts = _fixed(cuts)
        self.audit = tuple(audit)
        self.stack = stack
        self.base = base
        """For the windows of another stack: the recorded view they were made from. What was sent and never logged is
        taken from there, so their sizes are simulated."""
        self.facts = facts if facts is not None else Facts(tuple(find_pins(self.blocks).values()))
        """Without facts, what can be told from the blocks' places alone."""
        self._totals = totals
        self._aged = aged
        self._texts = texts
        self._texts_many = texts_many
        self._previews: dict[int, str] = {}
        self._scans_left = 0
        self._starts: Sequence[int] = column(self.spans, "start")
        self._ends: Sequence[int] = column(self.spans, "end")
        self._places: Sequence[float] = column(self.spans, "pos")
        self._blocks: Sequence[int] = column(self.spans, "block")

    def postpone(self) -> None:
        """Answer by going through all spans at first, as it takes less time for one window than what quick answers
        need takes to be made."""
        self._scans_left = _SCANS

    def _scan(self) -> bool:
        """Whether to answer by going through all spans."""
        self._scans_left = max(0, self._scans_left - 1)
        return self._scans_left > 0

    @property
    def last(self) -> int:
        """The newest turn; 0 when no model call was logged."""
        return len(self.turns)

    @property
    def now(self) -> int:
        """What stands after the newest call: what the next call would send."""
        return len(self.turns) + 1

    def turn(self, turn: int) -> TurnRow | None:
        """The call of `turn`; None for `now`."""
        return self.turns[turn - 1] if 1 <= turn <= len(self.turns) else None

    def resolve_turn(self, word: str | int | None) -> int:
        """A turn from `N`, `last` or `now`. Raises UsageError naming the range."""
        if word in (None, "last"):
            return self.last or self.now
        if word == "now":
            return self.now
        try:
            turn = int(word)
        except (TypeError, ValueError):
            turn = -1
        if not 1 <= turn <= self.now:
            raise UsageError(
                f"no turn {word!r} in session {self.row.session}",
                f"give a turn from 1 to {self.last}, `last` or `now`",
            )
        return turn

    def spans_at(self, turn: int) -> list[SpanRow]:
        """The spans of the window at `turn`, in window order."""
        found = pick(self.spans, self.standing(turn))
        return found if self._aged is None else [self.as_of(span, turn) for span in found]

    def as_of(self, span: SpanRow, turn: int) -> SpanRow:
        """A span with the text that it has at `turn`, where that depends on the turn."""
        content = span.content if self._aged is None else self._aged(span.content, turn)
        return span if content == span.content else replace(span, content=content)

    def standing(self, turn: int) -> list[int]:
        """Indexes into `spans` of the window at `turn`, in window order."""
        ends, high = self._ends, bisect_right(self._starts, turn)
        if self._scan():
            found = [i for i, end in enumerate(islice(ends, high)) if end > turn]
        else:
            turns, low_bounds, marks = self._checkpoints
            at = bisect_right(turns, turn) - 1
            found = [i for i in marks[at] if ends[i] > turn]
            found += [i for i in range(low_bounds[at], high) if ends[i] > turn]
        found.sort(key=self._places.__getitem__)
        return found

    def ended_at(self, turn: int) -> list[SpanRow]:
        """The spans that `turn` is the first not to hold, those that no call ever saw included, in order of start."""
        if self._scan():
            return pick(self.spans, [i for i, end in enumerate(self._ends) if end == turn])
        return pick(self.spans, self._ending.of(turn))

    def life(self, block: int) -> tuple[SpanRow, ...]:
        """All spans of a block, oldest first."""
        return tuple(pick(self.spans, self._spans_of(block)))

    def _spans_of(self, block: int) -> Sequence[int]:
        """Indexes of a block's spans, oldest first."""
        if self._scan():
            return [i for i, n in enumerate(self._blocks) if n == block]
        first, indexes = self._stays
        return indexes[first[block] : first[block + 1]] if 0 <= block < len(self.blocks) else ()

    @cached_property
    def _stays(self) -> tuple[Sequence[int], Sequence[int]]:
        """The indexes of all spans, by block, and before them by block where its own begin."""
        counts = array("I", bytes(4 * (len(self.blocks) + 1)))
        for block in self._blocks:
            counts[block + 1] += 1
        return array("I", accumulate(counts)), Sorted(self._blocks).rows

    @cached_property
    def _ending(self) -> Sorted:
        """Spans by the turn that no longer holds them."""
        return Sorted(self._ends, [end != NEVER for end in self._ends])

    @cached_property
    def _checkpoints(self) -> tuple[list[int], list[int], list[array[int]]]:
        """Turns from 0 on, how many spans had begun by each, and the indexes of those that were open.

        A large window is remembered again only when half as many spans have come or gone as it had, so that all
        together cost no more than the spans.
        """
        ends, ending = self._ends, self._ending.keys
        turns, begun = [0], [bisect_right(self._starts, 0)]
        marks = [array("I", [i for i in range(begun[0]) if ends[i] > 0])]
        gone = bisect_right(ending, 0)
        for turn in range(_CHECKPOINT, self.now + 1, _CHECKPOINT):
            high, ended = bisect_right(self._starts, turn), bisect_right(ending, turn)
            if 2 * (high - begun[-1] + ended - gone) < len(marks[-1]):
                continue
            found = [i for i in marks[-1] if ends[i] > turn]
            found += [i for i in range(begun[-1], high) if ends[i] > turn]
            turns.append(turn)
            begun.append(high)
            marks.append(array("I", found))
            gone = ended
        return turns, begun, marks


def _fixed(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Rows that nobody can change. A sequence that makes its rows when they are read stays as it is."""
    return tuple(rows) if isinstance(rows, list) else rows
