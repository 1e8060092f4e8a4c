"""Codex's own token counting: which `token_count` events report a call, and what it took.

It prevents the two mistakes that every first reading of a rollout makes: adding the cached part to a prompt that holds
it already, and adding up events that repeat the last one (some versions write each twice, and more on rate limits).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ctxview.loaders.shapes import as_count, as_dict
from ctxview.model import Usage

Totals: TypeAlias = tuple[int | None, ...]

_COUNTERS: Final = (
    "input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens",
    "total_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """What one `token_count` event says."""

    usage: Usage | None
    """Of the call that just ended; None where the event reports none."""
    estimate: int | None
    """The client's own estimate of the window, after it has changed it."""
    limit: int | None


class Meter:
    """The running total of one session: an event reports a call only when it has changed."""

    def __init__(self) -> None:
        self._totals: Totals | None = None

    def read(self, payload: dict[str, Any]) -> Report:
        info = as_dict(payload.get("info"))
        limit = as_count(info.get("model_context_window")) or None
        last = _counters(info.get("last_token_usage"))
        total = _counters(info.get("total_token_usage"))
        marks = total if any(n is not None for n in total) else last
        if not info or all(n is None for n in marks):
            return Report(None, None, limit)
        before, self._totals = self._totals, marks
        if all(n is None for n in last):
            last = tuple((b or 0) - (a or 0) for a, b in zip(before or (None,) * len(marks), marks))
        if not last[0] or last[0] < 0:
            return Report(None, last[-1], limit)
        if marks == before:
            return Report(None, None, limit)
        return Report(_usage(last), None, limit)


def totals_of(payload: dict[str, Any]) -> Totals | None:
    """The running totals of an event, to know it by; None where it has none."""
    info = as_dict(payload.get("info"))
    total = _counters(info.get("total_token_usage"))
    return total if any(n is not None for n in total) else None


def _counters(value: Any) -> Totals:
    usage = as_dict(value)
    return tuple(as_count(usage.get(name)) for name in _COUNTERS)


def _usage(counters: Totals) -> Usage:
    """As disjoint parts. Where the cached part exceeds the prompt, the writer counts exclusively."""
    prompt, cached, written, output, reasoning, _ = counters
    inside = (cached or 0) + (written or 0)
    fresh = prompt - inside if prompt is not None and prompt >= inside else prompt
    return Usage(input=fresh, cache_read=cached, cache_write=written, output=output, reasoning=reasoning)
