"""Pi's compaction: the newest 20,000 tokens stay, cut at a legal point; a summary names the files touched before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ctxview.policies.digest import is_digest
from ctxview.policies.edits import Edit
from ctxview.policies.items import Entry
from ctxview.policies.parts import digest_of, folded, request_groups
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_FILES: Final = re.compile(r"^files (read|modified): (.+)$", re.MULTILINE)


def _when(tokens: int, ctx: Context) -> bool:
    window = ctx.params["window"] or ctx.limit
    return window is not None and tokens > window - int(ctx.params["reserve"])


def _compact(window: Window, ctx: Context) -> Sequence[Edit]:
    entries = [e for e in window if not e.is_fixed]
    kept, start = 0, len(entries)
    while start and kept < ctx.params["keep"]:
        start -= 1
        kept += entries[start].tokens
    while start < len(entries) and entries[start].kind == "tool_result":
        start += 1  # a tool result cannot come first
    asked = request_groups(window)
    groups = {e.item.group for e in entries[start:]} | asked
    gone = [e for e in entries[:start] if e.item.group not in groups]
    files = _files(gone, ctx)
    text = "\n".join([digest_of(window, gone), *files])
    evidence = {"tokens": ctx.size(window), "keep": ctx.params["keep"]}
    return folded(window, gone, text, "compacted", f"before the newest {ctx.params['keep']:,} tokens", evidence)


def _files(gone: Sequence[Entry], ctx: Context) -> list[str]:
    """The files that were read and modified, one line each; an earlier summary's among them."""
    found: dict[str, dict[str, None]] = {"read": {}, "modified": {}}
    for entry in gone:
        if is_digest(entry):
            for word, names in _FILES.findall(entry.text()):
                found[word] |= dict.fromkeys(names.split(", "))
        for row in ctx.facts.observations(entry.n):
            is_file = row.key is not None and row.key.startswith("file:") and row.since <= ctx.turn
            if is_file and row.effect in ("read", "write", "edit"):
                found["read" if row.effect == "read" else "modified"][(row.key or "")[5:]] = None
    return [f"files {word}: {', '.join(names)}" for word, names in found.items() if names]


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        name="pi-compact",
        title="Pi: compaction, with a digest",
        source="pi source: reserve 16,384 tokens, keep at least 20,000 recent ones",
        plan=_compact,
        mode="sticky",
        when=_when,
        params=(
            Param("keep", 20_000, "newest tokens that stay at least", low=1),
            Param("reserve", 16_384, "tokens below the context size at which it compacts", low=0),
            Param("window", None, "context size in tokens; none for the model's", low=1),
        ),
        stable_head=True,
        examples=("pi-compact:keep=20000",),
    ),
)
