"""Usage over the lines of one response: input counters never differ, `output_tokens` grows in older clients."""

from __future__ import annotations

from dataclasses import replace

from ctxview.model import Usage


def merge_usage(earlier: Usage | None, later: Usage | None, *, stopped: bool) -> Usage | None:
    """What is known after one more line: each counter as that line says it, else as it was said before. `stopped`: a
    stop reason was logged, so the output count is final."""
    if later is None:
        return replace(earlier, partial=False) if earlier and stopped else earlier
    if earlier is None:
        return replace(later, partial=not stopped)
    return Usage(
        input=_newest(earlier.input, later.input),
        cache_read=_newest(earlier.cache_read, later.cache_read),
        cache_write=_newest(earlier.cache_write, later.cache_write),
        output=max((n for n in (earlier.output, later.output) if n is not None), default=None),
        reasoning=_newest(earlier.reasoning, later.reasoning),
        partial=not stopped,
    )


def _newest(earlier: int | None, later: int | None) -> int | None:
    return earlier if later is None else later
