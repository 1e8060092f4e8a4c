"""What came back for a request, out of whatever a proxy put it in: an HTTP wrapper, a body, an event stream, nothing.

It prevents a failed or broken-off call from passing for an empty answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from ctxview.loaders.captures.stream import events_of_list, events_of_text
from ctxview.loaders.shapes import as_int, as_str, as_text, dig

Join: TypeAlias = Callable[[Iterable[dict[str, Any]]], dict[str, Any]]
"""Puts a stream's events together; `complete` in the result is False when the stream broke off before its end."""

_WRAPPER: Final = frozenset(
    {"body", "body_raw", "status", "status_code", "headers", "events", "sse_events", "ws_events"}
)
_STREAMS: Final = ("body_raw", "events", "sse_events", "ws_events")
_ERROR_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer's body, whole, and what is wrong with it."""

    body: dict[str, Any]
    error: str | None = None
    broken: bool = False
    """The stream broke off, so its counters are not final."""


def answer_of(response: Any, content: str, join: Join) -> Answer:
    """The answer that `response` holds; `content` is the key under which a body has what the model said."""
    status: int | None = None
    body = response
    failure = None
    if isinstance(response, dict) and _is_wrapper(response, content):
        status = as_int(response.get("status_code", response.get("status")))
        body = response.get("body") or next((response[key] for key in _STREAMS if response.get(key)), None)
        failure = as_text(response.get("error")) or None
    body = parsed(body)
    if isinstance(body, str):
        body = join(events_of_text(body)) if "data:" in body else {"error": body}
    elif isinstance(body, list):
        body = join(events_of_list(body))
    if not isinstance(body, dict) or not body:
        where = f"HTTP {status}" if status else ""
        words = f"{where}: {failure}"[:_ERROR_CHARS].removeprefix(": ") if failure else ""
        return Answer({}, words or (f"{where}, no body logged" if status else "no response logged"))
    if status is not None and status >= 400:
        return Answer({}, f"HTTP {status}: {cause_of(body)}")
    if body.get("type") == "error" or (body.get("error") and not body.get(content)):
        return Answer({}, cause_of(body))
    broken = body.get("complete") is False
    if body.get("error"):
        return Answer(body, cause_of(body), broken)
    return Answer(body, "the response broke off" if broken else None, broken)


def is_done(answer: Answer, said: bool) -> bool:
    """Whether a request was answered: something was `said`, or an answer without a word came to its end."""
    body = answer.body
    return said or (answer.error is None and bool(body.get("id") or body.get("stop_reason")))


def cause_of(body: dict[str, Any]) -> str:
    """An error body in a few words."""
    error = body.get("error")
    words = [as_str(dig(error, "type")), as_str(dig(error, "message"))] if isinstance(error, dict) else [as_text(error)]
    return ": ".join(word for word in words if word)[:_ERROR_CHARS] or "unnamed error"


def parsed(body: Any) -> Any:
    """A body that was logged as JSON text, parsed, once or twice over; anything else as it is."""
    for _ in range(2):
        if not isinstance(body, str) or body.lstrip()[:1] not in ("{", '"'):
            break
        try:
            body = orjson.loads(body.encode("utf-8", "replace"))
        except ValueError:
            break
    return body


def _is_wrapper(response: dict[str, Any], content: str) -> bool:
    """A body of the Responses API has a `status` of its own, which is a word."""
    if content in response or (isinstance(response.get("status"), str) and "body" not in response):
        return False
    return bool(response.keys() & _WRAPPER)
