"""The agent's list of work as rows of the ledger: todo items and tasks, as its tools kept them.

An item notes what is to be done, not a value that should reach a text: nothing of it is outstanding, and what counts is
its status. Lists that the agent wrote out in words have no calls and are no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ctxview.annotate.pins import TaskItem, TaskList
from ctxview.annotate.pins.tasks import keeps_tasks, may_keep_tasks
from ctxview.ledger.rows import LedgerRow
from ctxview.model import Block, BlockRow, Origin
from ctxview.window import SessionView


class Work:
    """The items of one session, at every turn."""

    def __init__(self, view: SessionView) -> None:
        self._view = view

    def at(self, turn: int) -> tuple[LedgerRow, ...]:
        """The list as the window of `turn` could know it. A row's block is the call that brought the item, or the
        newest one that wrote the whole list."""
        tasks, noted = self._read
        return tuple(
            LedgerRow(f"T{item.id}", item.subject, "", "", noted[_key(item)], "", item.block, item.status)
            for item in tasks.at(turn)
        )

    @cached_property
    def calls(self) -> Sequence[BlockRow]:
        """The calls that wrote the list, failed ones included."""
        calls = [b for b in self._view.blocks if b.kind == "tool_call" and may_keep_tasks(b.tool)]
        texts = self._view.texts_many({call.content for call in calls}) if calls else {}
        return [call for call in calls if keeps_tasks(call.tool, texts[call.content])]

    @cached_property
    def _read(self) -> tuple[TaskList, dict[tuple[str, str], int]]:
        """The list, and the turn in which each item was noted first."""
        tasks = TaskList()
        noted: dict[tuple[str, str], int] = {}
        calls = {call.call_id for call in self.calls}
        if not calls:
            return tasks, noted
        rows = [b for b in self._view.blocks if b.kind in ("tool_call", "tool_result") and b.call_id in calls]
        texts = self._view.texts_many({row.content for row in rows})
        for row in rows:
            if tasks.see(_block(row, texts[row.content]), row.n, row.turn):
                for item in tasks.items:
                    noted.setdefault(_key(item), row.turn)
        return tasks, noted


def _key(item: TaskItem) -> tuple[str, str]:
    """One item under whatever status; a list without ids may have another one in its place later."""
    return item.id, item.subject


def _block(row: BlockRow, text: str) -> Block:
    origin = Origin(row.file, row.line, row.origin_id)
    return Block(
        "", row.id, row.role, row.kind, text, origin, tool=row.tool, call_id=row.call_id, is_error=row.is_error
    )
