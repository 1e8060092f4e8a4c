"""Token counters as providers report them, as disjoint parts.

It prevents the two classic mistakes: adding a cached part to a prompt count that already holds it (OpenAI's way of
counting), and taking a missing or all-zero report for a window of 0 tokens.
"""

from __future__ import annotations

from typing import Any

from ctxview.loaders.shapes import as_count, as_dict, as_list, dig
from ctxview.model import Usage


def anthropic_usage(value: Any, partial: bool = False) -> Usage | None:
    """Usage from Anthropic's three disjoint prompt counters; None when nothing or only zeros were reported.

    With `iterations` the top-level numbers are sums over server-side rounds, so the prompt is that of the last round
    of type `message`; output stays the total.
    """
    usage = prompt = as_dict(value)
    if "iterations" in usage:
        rounds = [item for item in as_list(usage["iterations"]) if dig(item, "type") == "message"]
        prompt = as_dict(rounds[-1]) if rounds else usage
    return _or_none(
        Usage(
            input=as_count(prompt.get("input_tokens")),
            cache_read=as_count(prompt.get("cache_read_input_tokens")),
            cache_write=as_count(prompt.get("cache_creation_input_tokens")),
            output=as_count(usage.get("output_tokens")),
            reasoning=as_count(dig(usage, "output_tokens_details", "thinking_tokens")),
            partial=partial,
        )
    )


def openai_usage(value: Any, partial: bool = False) -> Usage | None:
    """Usage from OpenAI-style counters, whose prompt holds the cached parts.

    Where those exceed the prompt the writer counts exclusively, and all are taken as they are. Gateways to other
    providers add what was written to the cache, under a name of their own.
    """
    usage = as_dict(value)
    prompt = as_count(usage.get("prompt_tokens", usage.get("input_tokens")))
    details = as_dict(usage.get("prompt_tokens_details")) or as_dict(usage.get("input_tokens_details"))
    read = _first(details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"))
    created = _first(details.get("cache_creation_tokens"), usage.get("cache_creation_input_tokens"))
    written = _first(created, details.get("cache_write_tokens"))
    cached = (read or 0) + (written or 0)
    output_details = as_dict(usage.get("completion_tokens_details")) or as_dict(usage.get("output_tokens_details"))
    return _or_none(
        Usage(
            input=prompt - cached if prompt is not None and cached <= prompt else prompt,
            cache_read=read,
            cache_write=written,
            output=as_count(usage.get("completion_tokens", usage.get("output_tokens"))),
            reasoning=as_count(output_details.get("reasoning_tokens")),
            partial=partial,
        )
    )


def any_usage(value: Any) -> Usage | None:
    """Usage in whichever of the two conventions its keys show."""
    usage = as_dict(value)
    openai = "prompt_tokens" in usage or "input_tokens_details" in usage
    return openai_usage(usage) if openai else anthropic_usage(usage)


def _or_none(usage: Usage) -> Usage | None:
    return usage if usage.input or usage.cache_read or usage.cache_write or usage.output else None


def _first(*values: Any) -> int | None:
    """The first of `values` that is a counter."""
    return next((number for value in values if (number := as_count(value)) is not None), None)
