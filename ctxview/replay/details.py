"""The numbers that take a look at every block of every turn: made when somebody asks, not for totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias

from ctxview.policies.facts import Facts
from ctxview.replay.ages import oldest, unseen
from ctxview.replay.copies import contradicted
from ctxview.replay.denied import DeniedAgain, denied_again
from ctxview.replay.needed import NeededLater
from ctxview.replay.prepared import prepared
from ctxview.replay.presence import READABLE, PinStay
from ctxview.replay.repair import Mended
from ctxview.window import SessionView
from ctxview.window.table import column

Firings: TypeAlias = Mapping[int, int | None]
"""The turns on which a layer changed something, each with the tokens that its trigger saw; None without one."""
COMPONENTS: Final = ("system", "user", "assistant", "reasoning", "call", "result", "synthetic")
_COMPONENT_OF: Final = {
    "system": "system", "tools": "system", "user": "user", "image": "user", "note": "user", "summary": "synthetic",
    "assistant": "assistant", "thinking": "reasoning", "tool_call": "call", "tool_result": "result",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Details:
    """Sequences are by turn, 0 .. now; index 0 is unused."""

    components: Mapping[str, Sequence[int]]
    """Counted tokens of each of COMPONENTS. `synthetic` is what the client or a policy put in."""
    oldest: Sequence[int | None]
    """Age in turns of the oldest block, system text and tool schemas aside."""
    unseen: Sequence[int]
    """Turns for which some required pin has not been seen; 0 when all stand."""
    contradictions: Sequence[int]
    """Resources of which differing versions of the same lines stand."""
    orphans_before: Sequence[int]
    """Calls and results without each other, before pairing repair."""
    repairs: Sequence[int]
    """Blocks that pairing repair took out just before the turn."""
    fired: Sequence[Sequence[tuple[str, int | None]]]
    """Layers that changed something, each with the tokens that its trigger saw."""
    pins: Sequence[PinStay]
    """The pins that a run can lose, by block."""
    denied_again: Sequence[DeniedAgain]
    good_cuts: int
    """Blocks that a window had shown, whose text does not stand in the last one, and that nothing needed later."""


def details(
    view: SessionView,
    recorded: SessionView,
    facts: Facts,
    *,
    pins: Sequence[PinStay],
    orphans: Mapping[int, frozenset[int]],
    mended: Mapping[int, Mended],
    firings: Mapping[str, Firings],
    needed: Iterable[NeededLater],
) -> Details:
    """`pins`, `orphans` and `needed` are those of the windows of `view`; `mended` and `firings` those of its replay."""
    blocks, now = len(recorded.blocks), view.now
    items = prepared(recorded).items
    taken = [0] * (now + 1)
    left = [0] * (now + 1)
    before = 0
    for turn, what in mended.items():
        taken[turn] = what.taken
        left[turn], before = what.orphans - before, what.orphans
    fired: list[list[tuple[str, int | None]]] = [[] for _ in range(now + 1)]
    for label, turns in firings.items():
        for turn, size in turns.items():
            fired[turn].append((label, size))
    return Details(
        components=component_series(view, blocks),
        oldest=oldest(view),
        unseen=unseen(pins, now),
        contradictions=contradicted(view, blocks),
        orphans_before=[count + len(orphans.get(turn, ())) for turn, count in enumerate(accumulate(left))],
        repairs=taken,
        fired=fired,
        pins=pins,
        denied_again=denied_again(pins, items, view.last),
        good_cuts=_good_cuts(view, blocks, needed),
    )


def component_series(view: SessionView, blocks: int) -> Mapping[str, Sequence[int]]:
    """Counted tokens of each component for turns 0 .. now; blocks from number `blocks` on were put in."""
    kinds = column(view.blocks, "kind")
    return view.series(
        COMPONENTS, ["synthetic" if n >= blocks else _COMPONENT_OF[kind] for n, kind in enumerate(kinds)]
    )


def _good_cuts(view: SessionView, blocks: int, needed: Iterable[NeededLater]) -> int:
    last = view.last
    came: set[int] = set()
    stands: set[int] = set()
    own = column(view.blocks, "content")
    spans = zip(*(column(view.spans, name) for name in ("block", "start", "end", "form", "content")))
    for n, start, end, form, content in spans:
        if n < blocks and start < end and start <= last:
            came.add(n)
            if end > last and (form in READABLE or content == own[n]):
                stands.add(n)
    missed = {use.block for use in needed}
    return sum(view.blocks[n].id not in missed for n in came - stands)
