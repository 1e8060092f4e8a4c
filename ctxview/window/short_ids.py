"""Block ids short enough for a column, each one what `SessionView.block` still takes for that block."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from ctxview.window.table import column
from ctxview.window.view import SessionView

_LEAST: Final = 8


def short_ids(view: SessionView, ids: Iterable[str]) -> dict[str, str]:
    """For each id of the session its shortest beginning that names no other block, of at least 8 characters. Blocks
    that a policy put in have none: they are no part of the session."""
    ordered: Sequence[str] = sorted(column((view.base or view).blocks, "id"))
    found = {}
    for block_id in ids:
        at = bisect_left(ordered, block_id)
        if ordered[at : at + 1] == [block_id]:
            beside = (*ordered[max(0, at - 1) : at], *ordered[at + 1 : at + 2])
            found[block_id] = block_id[: max([_LEAST, *(_shared(block_id, other) + 1 for other in beside)])]
    return found


def _shared(a: str, b: str) -> int:
    """Characters that two texts begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
