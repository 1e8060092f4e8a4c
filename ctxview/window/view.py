"""One session as spans, and the questions views ask of it: the window at a turn, its size, its changes, a block's life.

A recorded and an alternate window differ only in the spans given here, so every face shows both the same way and a
number shown twice comes from one function.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice, pairwise
from typing import Final, TypeVar

from ctxview.annotate import Facts, Pairing, find_pins, pair
from ctxview.errors import UsageError
from ctxview.model import (
    KINDS,
    NEVER,
    BlockRow,
    CutRow,
    EditRow,
    Pin,
    ResourceChange,
    SessionRow,
    SpanRow,
    Stretch,
    TurnRow,
)
from ctxview.window.limits import limit_of
from ctxview.window.search import Hit, Hits, Needle
from ctxview.window.table import Sorted, column, find, in_order, pick

_Row = TypeVar("_Row")

PREVIEW_CHARS: Final = 160
_PREVIEWS: Final = 2_048
"""First characters of other forms than the block's own that are kept."""
_NEAR: Final = 64
"""Blocks between a call and its result, at most, where one is looked for: agents make so many calls at once."""
_CHECKPOINT: Final = 128
"""Turns between remembered windows, at least: bounds the spans one window query has to look at."""
_SCANS: Final = 100
"""Questions that are answered by going through all spans, where quick answers are postponed."""
_LONE: Final = -1
_ODD: Final = -2
"""Instead of a partner: the block is no call and no result; other blocks have its call id, or none that fits."""

_READ: Final = 2_048
_READ_CHARS: Final = 4_000_000
"""Texts and characters that are read at once: many cost less, few let another thread have its turn in between."""


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
    """recorded - round(factor x counted), factor 1 before calibration: what was sent and never logged."""
    limit: int | None


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


class SessionView:
    """A session's blocks, turns, edits and cuts, and one stack's spans. Turns start at 1; `now` follows the last."""

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
    ) -> None:
        """`texts_many` reads several texts at once, where their source can; it may leave out unknown keys."""
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
        self._texts = texts
        self._texts_many = texts_many
        self._previews: dict[int, str] = {}
        self._scans_left = 0
        self._starts: Sequence[int] = column(self.spans, "start")
        self._ends: Sequence[int] = column(self.spans, "end")
        self._places: Sequence[float] = column(self.spans, "pos")
        self._blocks: Sequence[int] = column(self.spans, "block")

    # ------------------------------------------------------------- being made

    def postpone(self) -> None:
        """Answer by going through all spans at first, as it takes less time for one window than what quick answers
        need takes to be made."""
        self._scans_left = _SCANS

    def _scan(self) -> bool:
        """Whether to answer by going through all spans."""
        self._scans_left = max(0, self._scans_left - 1)
        return self._scans_left > 0

    def settle(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Make all that quick answers need: call it in a thread. False when `stop()` turned true before the end."""
        for name in ("limit", "_ending", "_checkpoints", "_stays", "_loose", "counted_series", "sizes"):
            if stop():
                return False
            getattr(self, name)
        self._scans_left = 0
        return True

    # ------------------------------------------------------------------ turns

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

    # ----------------------------------------------------------------- window

    def spans_at(self, turn: int) -> list[SpanRow]:
        """The spans of the window at `turn`, in window order."""
        return pick(self.spans, self.standing(turn))

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
        block = self.blocks[span.block]
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
            stays = self.life(block.n)
            if not stays:
                continue
            span = next((s for s in reversed(stays) if s.start <= turn), stays[0])
            row = self.stand(span, Pairing(frozenset(), frozenset(), frozenset()), turn, len(rows))
            if not span.start <= turn < span.end:
                row = replace(row, states=("absent", *(state for state in row.states if state != "rolling")))
            rows.append(row)
        return tuple(rows)

    def pairing(self, turn: int, spans: Sequence[SpanRow] | None = None) -> Pairing:
        """Orphans and duplicates of the window at `turn`."""
        if spans is None:
            numbers = [self._blocks[i] for i in self.standing(turn)]
        else:
            numbers = [s.block for s in spans]
        if self._scan():
            asked = self._unmatched(numbers)
        else:
            loose = self._loose
            asked = [n for n in numbers if loose[n]]
        found = pair(pick(self.blocks, asked))
        if turn < self.now or not found.orphan_calls:
            return found
        waiting = set()  # calls that may still be answered: nothing but what a policy recites follows them
        own = len(self.base.blocks) if self.base is not None else len(self.blocks)
        for n in reversed(numbers):
            if n < own and self.blocks[n].role != "assistant":
                break
            waiting.add(n)
        return replace(found, orphan_calls=found.orphan_calls - waiting)

    @property
    def irregular(self) -> Sequence[int]:
        """Numbers of the calls and results that do not come and leave as whole pairs: no other is ever an orphan."""
        return [n for n, is_loose in enumerate(self._loose) if is_loose]

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

    def ended_at(self, turn: int) -> list[SpanRow]:
        """The spans that `turn` is the first not to hold, those that no call ever saw included, in order of start."""
        if self._scan():
            return pick(self.spans, [i for i, end in enumerate(self._ends) if end == turn])
        return pick(self.spans, self._ending.of(turn))

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

    def life(self, block: int) -> tuple[SpanRow, ...]:
        """All spans of a block, oldest first."""
        return tuple(pick(self.spans, self._spans_of(block)))

    def block(self, block_id: str) -> BlockRow:
        """A block by id or by a unique prefix. Raises UsageError."""
        found = find(self.blocks, "id", block_id)
        if found is not None:
            return self.blocks[found]
        matches = [n for n, key in enumerate(column(self.blocks, "id")) if key.startswith(block_id)]
        if len(matches) == 1:
            return self.blocks[matches[0]]
        cause = "is the start of several blocks" if matches else "names no block"
        raise UsageError(f"{block_id!r} {cause} in session {self.row.session}", "see `ctxview show` for the ids")

    def tool_of(self, block: BlockRow) -> str | None:
        """The tool of a call or result; where a log names it at the call alone, it is looked for a little before."""
        if block.tool is not None or block.call_id is None:
            return block.tool
        near = pick(self.blocks, range(max(0, block.n - _NEAR), block.n))
        return next((b.tool for b in reversed(near) if b.kind == "tool_call" and b.call_id == block.call_id), None)

    def preview(self, span: SpanRow) -> str:
        """The first characters of a span's text, unsafe ones included: pass it through `one_line`."""
        block = self.blocks[span.block]
        if span.content == block.content:
            return block.preview
        found = self._previews.get(span.content)
        if found is None:
            if len(self._previews) >= _PREVIEWS:
                self._previews = {}
            found = self._previews[span.content] = self.text(span.content)[:PREVIEW_CHARS]
        return found

    def text(self, content: int) -> str:
        """The text behind a content key, as logged: pass it through `safe_text` before showing it."""
        return self._texts(content)

    def texts_many(self, contents: Collection[int]) -> Mapping[int, str]:
        """The texts behind several content keys, read at once."""
        if self._texts_many is not None:
            return self._texts_many(contents)
        return {content: self._texts(content) for content in contents}

    def find(self, query: str, turn: int | None = None, stop: Callable[[], bool] = lambda: False) -> Hits:
        """The blocks of the window at `turn` whose whole text holds `query`, letter case aside; with None, all blocks
        that ever stood in a window.

        It reads every such text: call it in a thread. When `stop()` turns true it ends early, with what it has.
        """
        contents: Sequence[int] = column(self.spans, "content")
        if turn is None:
            indexes: Sequence[int] = [i for i in range(len(self.spans)) if self._starts[i] < self._ends[i]]
        else:
            indexes = self.standing(turn)
        needle, counts = Needle(query), dict[int, int]()
        for keys in self._batches(indexes, contents) if query else ():
            if stop():
                break
            for content, text in self.texts_many(keys).items():
                if count := needle.count(text):
                    counts[content] = count
        spans = pick(self.spans, [i for i in indexes if contents[i] in counts])
        if turn is None:  # of a block that left and came back, the first stay
            stays = {(s.block, s.content): s for s in reversed(spans)}
            spans = sorted(stays.values(), key=lambda s: (s.block, s.start))
        return Hits(query, turn, tuple(Hit(s, counts[s.content]) for s in spans))

    @property
    def texts(self) -> Callable[[int], str]:
        """The look-up behind `text`, for what outlives the view."""
        return self._texts

    # ------------------------------------------------------------------ sizes

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
        if self._scan():
            tokens = column(self.spans, "tokens")
            return sum(tokens[i] for i in self.standing(turn))
        return sum(series[turn] for series in self.counted_series.values())

    def tokens(self, turn: int) -> Tokens:
        """All sizes of the window at `turn`."""
        call = self.turn(turn)
        recorded = call.recorded if call and self.base is None else None
        counted = self.counted(turn)
        fitted = self.stretch(min(turn, self.last))
        scaled = round(self.factor(turn) * counted)
        unlogged = None if recorded is None else recorded - scaled
        if self.base is not None:
            unlogged = self.base.tokens(turn).unlogged
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
        return scaled if self.base is None else scaled + (sizes.unlogged or 0)

    @cached_property
    def sizes(self) -> Sequence[int]:
        """`size` of turns 0 .. now (index 0 is unused)."""
        sizes = list(self._scaled)
        for call in (self.base or self).turns[: self.last]:
            if call.recorded is None:
                continue
            if self.base is None:
                sizes[call.turn] = call.recorded
            else:
                sizes[call.turn] += call.recorded - self.base._scaled[call.turn]
        return sizes

    @cached_property
    def _scaled(self) -> Sequence[int]:
        """factor x counted of turns 0 .. now, factor 1 before calibration."""
        counted = [sum(parts) for parts in zip(*self.counted_series.values())][: self.now + 1]
        scaled = list(counted)
        for fitted in reversed(self.audit):  # the first that covers a turn counts
            for turn in range(max(1, fitted.start), min(fitted.end, self.last) + 1):
                scaled[turn] = round(fitted.factor * counted[turn])
        scaled[self.now] = round(self.factor(self.now) * counted[self.now])
        return scaled

    def occupancy(self) -> tuple[int | None, str]:
        """Tokens that stand now, and where the number is from: recorded, post-cut, counted or unknown."""
        newest = self.turns[-1] if self.turns else None
        cut = next((c for c in reversed(self.cuts) if c.kind in ("compact", "clear") and c.turn == self.now), None)
        has_usage = any(t.recorded is not None for t in self.turns)
        if cut is not None and has_usage:
            return (cut.after, "post-cut") if cut.after is not None else (None, "unknown")
        recorded = next((t.recorded for t in reversed(self.turns) if t.recorded is not None), None)
        if newest is not None and recorded is not None:
            return recorded, "recorded"
        return (self.counted(self.now), "counted") if self.blocks else (None, "unknown")

    @cached_property
    def counted_series(self) -> Mapping[str, Sequence[int]]:
        """Counted tokens of each kind for turns 0 .. now (index 0 is unused and 0)."""
        deltas: dict[str, array[int]] = {kind: array("q", bytes(8 * (self.now + 2))) for kind in KINDS}
        by_block = [deltas[kind] for kind in column(self.blocks, "kind")]
        now = self.now
        for block, start, end, tokens in zip(self._blocks, self._starts, self._ends, column(self.spans, "tokens")):
            if start >= end or start > now:
                continue
            delta = by_block[block]
            delta[start] += tokens
            if end <= now:
                delta[end] -= tokens
        return {kind: array("q", accumulate(delta)) for kind, delta in deltas.items()}

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
        """How well the window of `turn` is known; for `now`, what holds of the whole session."""
        call = self.turn(turn)
        return call.fidelity if call else self.fidelity

    def missing_at(self, turn: int) -> tuple[str, ...]:
        """What the log never held of the window of `turn`; for `now`, what the newest call lacked."""
        call = self.turn(turn) or (self.turns[-1] if self.turns else None)
        return tuple(call.missing) if call else ()

    @property
    def pins(self) -> Mapping[int, Pin]:
        """The most important pin of each pinned block, whenever it holds."""
        return self.facts.first_by_block

    # ---------------------------------------------------------------- details

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

    @cached_property
    def _partners(self) -> Sequence[int]:
        """By block: the result that answers a call and the call that a result answers, else _LONE or _ODD."""
        if self.base is not None:
            known = len(self.base.blocks)
            own = self.blocks[known:]
            partners = array("i", self.base._partners)
            partners.extend([_LONE] * len(own))
            copied = {block.call_id for block in own if block.kind in ("tool_call", "tool_result")} - {None}
            if copied:  # a copy stands beside what it was made from
                for block in self.blocks:
                    if block.call_id in copied and block.kind in ("tool_call", "tool_result"):
                        partners[block.n] = _ODD
            return partners
        kinds, ids = column(self.blocks, "kind"), column(self.blocks, "call_id")
        partners = array("i", [_LONE]) * len(self.blocks)
        first: dict[str, int] = {}
        for n, (kind, call) in enumerate(zip(kinds, ids)):
            if call is None or kind not in ("tool_call", "tool_result"):
                continue
            partners[n] = _ODD
            other = first.setdefault(call, n)
            if other in (n, _ODD):
                continue
            if partners[other] == _ODD and (kinds[other], kind) == ("tool_call", "tool_result"):
                partners[n], partners[other] = other, n
                continue
            if partners[other] != _ODD:
                partners[partners[other]] = partners[other] = _ODD
            first[call] = _ODD
        return partners

    def _unmatched(self, numbers: Sequence[int]) -> list[int]:
        """The calls and results of a window, by its blocks in order, that are not one call before its one result."""
        partners = self._partners
        place = dict(zip(numbers, range(len(numbers))))
        found = []
        for at, n in enumerate(numbers):
            partner = partners[n]
            if partner == _LONE:
                continue
            other = place.get(partner, _LONE)
            if other < 0 or (other > at) != (partner > n):
                found.append(n)
        return found

    @cached_property
    def _loose(self) -> Sequence[int]:
        """By block, 1 for a call or result that does not come and leave as a whole pair, as nearly all do."""
        partners = self._partners
        loose = bytearray(map((-1).__gt__, partners))  # _ODD
        first, indexes = self._stays
        starts, ends, places = self._starts, self._ends, self._places
        for call, result in enumerate(partners):
            if result <= call:
                continue
            low, high = first[call], first[result]
            if first[call + 1] - low == first[result + 1] - high == 1:
                a, b = indexes[low], indexes[high]
                is_whole = ends[a] == ends[b] and places[a] < places[b]
                if is_whole and (starts[a] == starts[b] or max(starts[a], starts[b]) <= 1):
                    continue
            loose[call] = loose[result] = 1
        return loose

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

    def _batches(self, indexes: Iterable[int], contents: Sequence[int]) -> Iterator[list[int]]:
        """The content keys of some spans in rising order, in lists that are read at once."""
        sizes = column(self.blocks, "chars")
        chars = {contents[i]: sizes[self._blocks[i]] for i in indexes}
        keys: list[int] = []
        waiting = 0
        for content in sorted(chars):
            keys.append(content)
            waiting += chars[content]
            if len(keys) >= _READ or waiting >= _READ_CHARS:
                yield keys
                keys, waiting = [], 0
        if keys:
            yield keys

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


def _fixed(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Rows that nobody can change. A sequence that makes its rows when they are read stays as it is."""
    return tuple(rows) if isinstance(rows, list) else rows


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
