"""Codex CLI rollouts (`~/.codex/sessions/<date>/rollout-*.jsonl`) of every layout so far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.loaders.codex.kinds import ITEM_TYPES, LINE_TYPES
from ctxview.loaders.outline import Outline
from ctxview.loaders.source import Loader, Source
from ctxview.model import Event


def sniff(head: bytes, name: str) -> float:
    """JSON lines of `type` and `payload`; in 2025, a bare line about the session and bare items after it.

    The log of the client's own screen (`ts`, `dir`, `kind`) is no rollout.
    """
    if not head.lstrip(b" \t\r\n").startswith((b"{", b"//")):
        return 0.0
    outline = Outline(head)
    if outline.has("ts", "dir", "kind"):
        return 0.0
    types = outline.values("type")
    if outline.has("payload") and types & LINE_TYPES:
        return 0.95
    if outline.has("id", "timestamp", "instructions") and not outline.any("messages", "payload"):
        return 0.9 if outline.has("record_type") or types & ITEM_TYPES else 0.6
    return 0.85 if outline.values("record_type") == {"state"} and types & ITEM_TYPES else 0.0


def load(source: Source) -> Iterator[Event]:
    """The events of a trace; what reads it is imported now, and not where only the format is asked for."""
    from ctxview.loaders.codex.load import load as read

    return read(source)


LOADER: Final = Loader(name="codex", title="Codex CLI rollout (JSONL)", sniff=sniff, load=load)
