"""The names and the values in a call's arguments: names come from the tool's schema, values from the conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def strings(arguments: str, *, names: bool) -> list[str] | None:
    """All names, or else all values as text, at any depth; None where the arguments are no JSON object."""
    if not arguments.startswith("{"):
        return None
    try:
        parsed = json.loads(arguments)
        return list(_names(parsed) if names else _values(parsed))
    except (ValueError, RecursionError):
        return None


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)
    else:
        yield str(value)
