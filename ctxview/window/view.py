"""One session as spans, and the questions views ask of it: the window at a turn, its changes, a block's life.

A recorded and an alternate window differ only in the spans given here, so every face shows both the same way and a
number shown twice comes from one function.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ctxview.annotate import Pairing
from ctxview.model import NEVER, BlockRow, CutRow, EditRow, Pin, ResourceChange, SpanRow
from ctxview.window.pairs import Pairs
from ctxview.window.sizes import Sizes
from ctxview.window.table import Sorted, column, pick
from ctxview.window.texts import Texts


@dataclass(frozen=True, slots=True)
class WindowBlock:
    """A block as it stands in one window."""

    block: BlockRow
    span: SpanRow
    index: int
    """Position among the window's blocks, from 0."""
    position: int | None
    """Position of its wire message, from 0; None for tool schemas, which are sent outside the messages."""
    states: tuple[str, ...]
    pin: Pin | None
    change: ResourceChange | None
    """What superseded it or made it stale; None while what it says of its resource is current."""
    entered: int
    """First turn of this unbroken stay, whatever the form."""
    leaves: int | None
    """First turn whose window no longer holds it; None when it stays to the end."""
    left_by: EditRow | None


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one block between two neighbouring windows."""

    turn: int
    what: str
    """`+` entered, `-` left, `~` changed form."""


class SessionView(Sizes, Pairs, Texts):
    """A session's blocks, turns, edits and cuts, and one stack's windows."""

    def settle(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Make all that quick answers need: call it in a thread. False when `stop()` turned true before the end."""
        for name in ("limit", "_ending", "_checkpoints", "_stays", "_loose", "counted_series", "sizes"):
            if stop():
                return False
            getattr(self, name)
        self._scans_left = 0
        return True

    def window(self, turn: int) -> tuple[WindowBlock, ...]:
        """What was sent at `turn`, in order; for `now`, what stands after the newest call."""
        spans = self.spans_at(turn)
        pairing = self.pairing(turn, spans)
        positions = self._positions(spans)
        return tuple(self.stand(s, pairing, turn, i, positions[i]) for i, s in enumerate(spans))

    def stand(
        self, span: SpanRow, pairing: Pairing, turn: int, index: int = 0, position: int | None = None
    ) -> WindowBlock:
        """One block of the window at `turn`, for a view that has its spans and shows few of many."""
        block, span = self.blocks[span.block], self.as_of(span, turn)
        entered, leaves, left_by = self._stay(span)
        pin = self.facts.pin_at(block.n, turn)
        change = self.facts.change_at(block.n, turn)
        states = _states(block, span, pairing, pin, change)
        return WindowBlock(block, span, index, position, states, pin, change, entered, leaves, left_by)

    def states(self, span: SpanRow, pairing: Pairing, turn: int) -> tuple[str, ...]:
        """The states of one block of the window at `turn`, without the rest of what `stand` tells."""
        block = self.blocks[span.block]
        pin, change = self.facts.pin_at(block.n, turn), self.facts.change_at(block.n, turn)
        return _states(block, span, pairing, pin, change)

    def history(self, turn: int) -> tuple[WindowBlock, ...]:
        """Every block that had arrived by `turn`, in order of arrival, with its stay at `turn` or the last before."""
        rows: list[WindowBlock] = []
        for block in self.blocks:
            if block.turn >= turn:
                break
            row = self.stay_at(block.n, turn, len(rows))
            if row is not None:
                rows.append(row)
        return tuple(rows)

    def stay_at(self, block: int, turn: int, index: int = 0) -> WindowBlock | None:
        """A block as it stands at `turn`, else as it stood last, absent; None for one without any stay."""
        stays = self.life(block)
        if not stays:
            return None
        span = next((s for s in reversed(stays) if s.start <= turn), stays[0])
        row = self.stand(span, Pairing(frozenset(), frozenset(), frozenset()), turn, index)
        if span.start <= turn < span.end:
            return row
        return replace(row, states=("absent", *(state for state in row.states if state != "rolling")))

    def messages(self, turn: int) -> int:
        """Number of wire messages in the window, the system prompt being one and tool schemas none."""
        positions = [p for p in self._positions(self.spans_at(turn)) if p is not None]
        return positions[-1] + 1 if positions else 0

    def changes(self, turn: int) -> dict[int, Change]:
        """Block number -> what changed between the windows of `turn` - 1 and `turn`."""
        if turn > 1:  # only spans with an end at `turn` can differ
            low, high = bisect_left(self._starts, turn), bisect_right(self._starts, turn)
            before = {s.block: s for s in self.ended_at(turn) if s.start < turn}
            after = {s.block: s for s in pick(self.spans, range(low, high)) if s.end > turn}
        else:
            before, after = {}, {s.block: s for s in self.spans_at(turn)}
        found = {n: Change(turn, "+") for n in after.keys() - before.keys()}
        found |= {n: Change(turn, "-") for n in before.keys() - after.keys()}
        for n in before.keys() & after.keys():
            if (before[n].content, before[n].form) != (after[n].content, after[n].form):
                found[n] = Change(turn, "~")
        return found

    def edits_at(self, turn: int) -> tuple[EditRow, ...]:
        """The edits between the windows of `turn` - 1 and `turn`."""
        return tuple(pick(self.edits, self._edits_by_turn.of(turn)))

    def doubt(self, block: int, turn: int) -> str | None:
        """Why a block of the window at `turn` may not have been in it after all; None where nothing says so."""
        return next((e.reason for e in self._doubts.get(block, ()) if e.turn <= turn), None)

    def cut_sizes(self, cut: CutRow) -> tuple[int | None, int | None]:
        """Tokens before and after a cut: as the log states them, else as the turns around it were recorded.

        For another stack's cuts: the simulated sizes of the windows around it.
        """
        if self.base is not None:
            return (self.size(cut.turn - 1) if cut.turn > 1 else None), self.size(cut.turn)
        before, after = self.turn(cut.turn - 1), self.turn(cut.turn)
        return (
            cut.before if cut.before is not None else before.recorded if before else None,
            cut.after if cut.after is not None else after.recorded if after else None,
        )

    @property
    def user_turns(self) -> int:
        """Messages the person typed."""
        human, inherited = column(self.blocks, "human"), column(self.blocks, "inherited")
        typed = [n for n, (is_human, is_old) in enumerate(zip(human, inherited)) if is_human and not is_old]
        return len({(b.file, b.line) for b in pick(self.blocks, typed)})

    @property
    def fidelity(self) -> str | None:
        """`exact` when every turn is; `simulated` for another stack's windows; None without turns."""
        if not self.turns:
            return None
        if self.base is not None:
            return "simulated"
        return "exact" if all(t.fidelity == "exact" for t in self.turns) else "reconstructed"

    def fidelity_at(self, turn: int) -> str | None:
        """How well the window of `turn` is known. `now` was never sent, so that no request shows it: it is what the
        newest call and its answer make."""
        call = self.turn(turn)
        if call is None:
            return "reconstructed" if self.fidelity == "exact" else self.fidelity
        return call.fidelity

    def missing_at(self, turn: int) -> tuple[str, ...]:
        """What the log never held of the window of `turn`; for `now`, what the newest call lacked."""
        call = self.turn(turn) or (self.turns[-1] if self.turns else None)
        return tuple(call.missing) if call else ()

    @property
    def pins(self) -> Mapping[int, Pin]:
        """The most important pin of each pinned block, whenever it holds."""
        return self.facts.first_by_block

    @cached_property
    def _edits_by_turn(self) -> Sorted:
        return Sorted(column(self.edits, "turn"))

    @cached_property
    def _doubts(self) -> dict[int, list[EditRow]]:
        found: dict[int, list[EditRow]] = {}
        tags = [n for n, action in enumerate(column(self.edits, "action")) if action == "tag"]
        for edit in pick(self.edits, tags):
            if edit.block is not None:
                found.setdefault(edit.block, []).append(edit)
        return found

    def _stay(self, span: SpanRow) -> tuple[int, int | None, EditRow | None]:
        """First turn, end and ending edit of the unbroken run of spans around `span`."""
        stays = self.life(span.block)
        if len(stays) == 1:
            first = last = span
        else:
            first = last = span
            for earlier, later in reversed(list(pairwise(stays))):
                if later == first and earlier.end == later.start and earlier.start < earlier.end:
                    first = earlier
            for earlier, later in pairwise(stays):
                if earlier == last and earlier.end == later.start:
                    last = later
        left_by = self.edits[last.ended_by] if last.ended_by is not None and last.end != NEVER else None
        return first.start, None if last.end == NEVER else last.end, left_by

    def _positions(self, spans: Sequence[SpanRow]) -> list[int | None]:
        """Wire-message position of each span's block."""
        positions: list[int | None] = []
        position, previous = -1, None
        for block in pick(self.blocks, [span.block for span in spans]):
            if block.kind == "tools":
                positions.append(None)
                continue
            key = block.role if self.row.joins_roles and block.role != "system" else block.message
            if key != previous:
                position += 1
                previous = key
            positions.append(position)
        return positions


def _states(
    block: BlockRow, span: SpanRow, pairing: Pairing, pin: Pin | None, change: ResourceChange | None
) -> tuple[str, ...]:
    states = ["pinned" if pin else "rolling"]
    if change is not None:
        states.append(change.state)
    if block.n in pairing.duplicates:
        states.append("duplicate")
    if block.n in pairing.orphans:
        states.append("orphan")
    if span.form == "placeholder":
        states.append("cleared")
    if block.inherited:
        states.append("inherited")
    if block.injected:
        states.append("injected")
    if block.note == "text not recorded":
        states.append("not-recorded")
    return tuple(states)
