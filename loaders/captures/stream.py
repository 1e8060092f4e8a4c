"""The events of a streamed answer, as a proxy wrote them down: as text, as a list, or as WebSocket messages.

It prevents each API's module from reading event streams in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from ctxview.loaders.shapes import as_dict


def events_of_text(text: str) -> Iterator[dict[str, Any]]:
    """The JSON payloads of an event stream's `data:` lines; others are passed over."""
    for line in text.split("\n"):
        payload = line.strip().removeprefix("data:").strip()
        if line.lstrip().startswith("data:") and payload.startswith("{"):
            try:
                value = orjson.loads(payload.encode("utf-8", "replace"))
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def events_of_list(items: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Events logged as a list: bare payloads, or wrapped as `{event, data}` with data parsed or as text."""
    for item in items:
        data = as_dict(item).get("data", item)
        if isinstance(data, str):
            yield from events_of_text("data:" + data)
        elif isinstance(data, dict):
            yield data
