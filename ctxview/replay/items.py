"""A session's blocks as the items that policies see: wire messages, calls with their results, turn groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxview.model import BlockRow
from ctxview.policies.items import Item


def items_of(blocks: Sequence[BlockRow], joins_roles: bool, texts: Callable[[int], str]) -> list[Item]:
    """One item per block, in the blocks' order, with what can be known when each arrives.

    A result belongs to the newest earlier call of its id: some gateways give an id out again.
    """
    found: list[Item] = []
    groups: dict[str, int] = {}
    calls: dict[str, int] = {}
    run_message, run_group = "", -1
    for n, block in enumerate(blocks):
        kind, role, message = block.kind, block.role, block.message
        key = None if kind == "tools" else role if joins_roles and role != "system" else message
        call = -1
        group = n
        if kind == "tool_result":
            answered = calls.get(block.call_id or "")
            if answered is not None:
                call = answered
                group = found[answered].group
        elif kind == "image" and found and _is_in_result(block, found[-1]):
            call, group = found[-1].call, found[-1].group
        elif role == "assistant":
            if message:
                group = groups.setdefault(message, n)
            elif run_group >= 0 and run_message == "":
                group = run_group
            if kind == "tool_call" and block.call_id is not None:
                calls[block.call_id] = n
        elif message and message == run_message and run_group >= 0 and kind not in ("system", "tools"):
            group = run_group
        run_message = message
        run_group = group if call < 0 and kind != "tool_result" else -1
        found.append(Item(n, block, key, group, call, texts, found[call].tool if call >= 0 else None))
    return found


def _is_in_result(image: BlockRow, before: Item) -> bool:
    """Whether an image came in the result before it: the same record, and the result or another image of it."""
    row = before.row
    same = (row.file, row.line, row.message) == (image.file, image.line, image.message)
    return same and before.call >= 0
