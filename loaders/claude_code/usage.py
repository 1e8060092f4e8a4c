"""Usage over the lines of one response: input counters never differ, `output_tokens` grows in older clients."""

from __future__ import annotations

from dataclasses import replace

from ctxview.model import Usage


def merge_usage(earlier: Usage | None, later: Usage | None, *, stopped: bool) -> Usage | None:
    """What is known after one more line. `stopped`: a stop reason was logged, so the output count is final."""
    if later is None:
        return replace(earlier, partial=False) if earlier and stopped else earlier
    output = later.output
    if earlier is not None and earlier.output is not None:
        output = earlier.output if output is None else max(earlier.output, output)
    return Usage(later.input, later.cache_read, later.cache_write, output, later.reasoning, partial=not stopped)
