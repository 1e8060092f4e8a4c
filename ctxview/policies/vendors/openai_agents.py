"""OpenAI Agents SDK: tool outputs older than the last user turns become previews."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.items import Entry
from ctxview.policies.parts import cleared, request_groups, results, user_turns
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window


def _preview(entry: Entry, most: int) -> str:
    text = entry.text()
    preview = text[:most]
    return f"[Trimmed: {entry.item.tool or 'tool'} output — {len(text)} chars → {len(preview)} char preview]\n{preview}"


def _trim(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    spoken = user_turns(window)
    if len(spoken) < params["turns"]:
        return []
    border = window.messages[spoken[-params["turns"]]].entries[0].pos
    asked = request_groups(window)
    edits: list[Edit] = []
    for entry in results(window):
        if entry.pos >= border or entry.item.group in asked or entry.item.row.chars <= params["over"]:
            continue
        key = ("trimmed", entry.n, entry.content, params["preview"])
        shorter, size = ctx.once(key, partial(_preview, entry, params["preview"]))
        if size < entry.tokens:
            chars = entry.item.row.chars
            evidence = {"chars": chars, "over": params["over"]}
            reason = f"{chars:,} characters, before the last {params['turns']} user turns"
            edits += cleared(window, entry, shorter, "trimmed", reason, evidence, "truncated")
    return edits


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="openai-agents-trimmer",
        title="OpenAI Agents: tool output trimmer",
        source="openai-agents ToolOutputTrimmer",
        plan=_trim,
        phase="rewrite",
        params=(
            Param("turns", 2, "newest user turns that stay as they are", low=1),
            Param("over", 500, "characters above which an output is trimmed", low=0),
            Param("preview", 200, "characters that stay", low=0),
        ),
        examples=("openai-agents-trimmer:turns=2",),
    ),
)
