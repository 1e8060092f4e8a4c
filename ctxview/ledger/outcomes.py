"""Which calls failed, so that what they noted or wrote does not count.

A result belongs to the newest call before it that has its id. One that arrives after the next call was made changes
nothing: what was known by then would be told otherwise than when it was read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ctxview.annotate.observations.results import failed, shell_payload
from ctxview.model import BlockRow
from ctxview.window import SessionView
from ctxview.window.table import column, pick


def failed_calls(
    view: SessionView, calls: Collection[BlockRow], heard: Mapping[int, BlockRow] | None = None
) -> set[int]:
    """The numbers of those `calls` that failed, by the mark of an error, its words or an exit code. `heard`: by the
    number of an answer whose command a harness ran, the message that brought the output."""
    results = dict(heard or {})
    wanted = {call.n for call in calls}
    ids = {call.call_id for call in calls}
    newest: dict[str | None, BlockRow] = {}
    for block in pick(view.blocks, [n for n, call in enumerate(column(view.blocks, "call_id")) if call in ids]):
        if block.kind == "tool_call":
            newest[block.call_id] = block
        elif block.kind == "tool_result":
            call = newest.pop(block.call_id, None)
            if call is not None and call.n in wanted and call.turn == block.turn:
                results[call.n] = block
    asked = {n: results[n] for n in wanted if n in results}
    texts = view.texts_many({block.content for block in asked.values()}) if asked else {}
    return {n for n, block in asked.items() if block.is_error or _says_failed(texts.get(block.content, ""))}


def _says_failed(text: str) -> bool:
    return failed(text) or bool(shell_payload(text).exit)
