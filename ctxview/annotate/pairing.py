"""Calls and results inside one window: which are orphaned, which stand twice, and which make one turn group.

Providers reject a window in which a result lacks its call or a call its result, so the question is asked of every
window, recorded or not, in this one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxview.model import BlockRow


@dataclass(frozen=True, slots=True)
class Pairing:
    """Block numbers (`BlockRow.n`) of one window by what is wrong with them."""

    orphan_calls: frozenset[int]
    """Tool calls without a result."""
    orphan_results: frozenset[int]
    """Tool results without an earlier call."""
    duplicates: frozenset[int]
    """Second and later copies of one call or one result."""

    @property
    def orphans(self) -> frozenset[int]:
        return self.orphan_calls | self.orphan_results


def pair(blocks: Sequence[BlockRow], *, pending: bool = False) -> Pairing:
    """Pair the calls and results of one window, given in window order.

    `pending`: the window has not been sent yet, so calls after its last non-assistant block may still be answered
    and are no orphans.
    """
    calls: dict[str, BlockRow] = {}
    answered: set[str] = set()
    duplicates: set[int] = set()
    first_results: dict[str, BlockRow] = {}
    lost: set[int] = set()
    unanswered: set[int] = set()
    for block in blocks:
        if block.call_id is None:
            continue
        if block.kind == "tool_call":
            earlier = calls.get(block.call_id)
            if earlier is not None and (earlier.tool, earlier.content) == (block.tool, block.content):
                duplicates.add(block.n)
            else:  # some gateways give an id out again for another call
                if earlier is not None and block.call_id not in answered:
                    unanswered.add(earlier.n)
                calls[block.call_id] = block
                answered.discard(block.call_id)
        elif block.kind == "tool_result":
            first = first_results.setdefault(block.call_id, block)
            if block.call_id in answered:
                # A result of several parts (text and image) is several blocks of one record, not a copy.
                if not _same_record(first, block):
                    duplicates.add(block.n)
            elif block.call_id in calls:
                answered.add(block.call_id)
            else:
                lost.add(block.n)
    open_calls = unanswered | {call.n for call_id, call in calls.items() if call_id not in answered}
    if pending:
        open_calls -= set(_trailing_assistant(blocks))
    return Pairing(frozenset(open_calls), frozenset(lost), frozenset(duplicates))


def _same_record(a: BlockRow, b: BlockRow) -> bool:
    """Whether two blocks stand in the same record of the log."""
    return (a.file, a.line, a.message) == (b.file, b.line, b.message)


def _trailing_assistant(blocks: Sequence[BlockRow]) -> Iterable[int]:
    for block in reversed(blocks):
        if block.role != "assistant":
            return
        yield block.n
