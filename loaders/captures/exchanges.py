"""One logged request and its response, whichever proxy wrote them down.

It prevents the rest of the loader from knowing four log shapes: claude-tap lines and lab packets, claude-trace pairs,
plain request-response pairs, and a request body on its own all become an `Exchange`; everything else says what it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from ctxview.loaders.captures.stream import events_of_list, events_of_text, message_of
from ctxview.loaders.shapes import as_dict, as_int, as_list, as_str, as_text, as_time, dig, kind_of_json

_OTHER_DIALECT: Final = re.compile(
    r"/responses\b|/completions\b|[gG]enerateContent|/v1internal|/converse|/invoke|/api/chat"
)
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,79}")
_AN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,119}")
_ERROR_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call of the Messages API as it was captured."""

    body: dict[str, Any]
    reply: Reply | None
    """None for a request that waits for its answer (a body on its own)."""
    at: str | None
    client: str | None
    session: str | None
    """The client's own session id, where headers or metadata give one."""
    id: str | None
    """The log's own id of the record."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    message: dict[str, Any]
    error: str | None = None
    partial: bool = False
    """The stream broke off, so its counters are not final."""


@dataclass(frozen=True, slots=True)
class Other:
    """A record that is not such a call. `dialect` is set when it is a call of another API."""

    type: str
    known: bool = True
    dialect: str | None = None


def unwrap(document: Any) -> list[Any] | None:
    """The records that a capture document holds."""
    if isinstance(document, list):
        return document
    packets = dig(document, "packets")
    return packets if isinstance(packets, list) else None


def read(value: Any) -> Exchange | Other:
    """What one record of a capture is. Never raises."""
    record = as_dict(value)
    request = record.get("request")
    if isinstance(request, dict):
        if "messages" in request and "body" not in request:
            return _pair(record, request, record.get("response"), "response" in record)
        return _http(record, request)
    if isinstance(record.get("messages"), list):
        return _pair(record, record, record.get("response"), "response" in record)
    return Other(as_str(record.get("type"))[:60] or f"not an exchange ({kind_of_json(value)})", known=False)


def speaks_openai(body: dict[str, Any]) -> bool:
    """True when a body that has `messages` shows marks of chat completions that Anthropic's API would refuse."""
    for message in as_list(body.get("messages"))[:200]:
        if isinstance(message, dict) and (
            message.get("role") in ("tool", "developer", "function") or "tool_calls" in message
        ):
            return True
    return any(isinstance(dig(tool, "function"), dict) for tool in as_list(body.get("tools"))[:5])


def _pair(record: dict[str, Any], body: dict[str, Any], response: Any, answered: bool) -> Exchange | Other:
    if speaks_openai(body) or "choices" in as_dict(response):
        return Other("other-dialect:chat/completions", dialect="chat/completions")
    return Exchange(
        body=body,
        reply=reply_of(response) if answered else None,
        at=as_time(record.get("timestamp")),
        client=None,
        session=_session({}, body),
        id=_id(record.get("request_id")),
    )


def _http(record: dict[str, Any], request: dict[str, Any]) -> Exchange | Other:
    headers = {key.lower(): as_text(item) for key, item in as_dict(request.get("headers")).items()}
    path = _path(record, request)
    if path is not None and not path.endswith("/v1/messages"):
        if path.endswith("/v1/messages/count_tokens"):
            return Other("count_tokens")
        if _OTHER_DIALECT.search(path):
            return Other(f"other-dialect:{path}", dialect=path)
        return Other(path.removeprefix("/v1/"))
    body = _parsed(request.get("body"))
    if path is None and not isinstance(dig(body, "messages"), list):
        return Other("request without a path", known=False)
    if not isinstance(body, dict):
        return Other("request without a body")
    return Exchange(
        body=body,
        reply=reply_of(record["response"]) if "response" in record else None,
        at=as_time(record.get("timestamp")) or as_time(request.get("timestamp")) or as_time(record.get("logged_at")),
        client=_client(headers.get("user-agent", "")),
        session=_session(headers, body),
        id=_id(record.get("request_id")),
    )


def _path(record: dict[str, Any], request: dict[str, Any]) -> str | None:
    """The request's path without query and without ids, None when none was logged."""
    for value in (request.get("path"), request.get("url"), record.get("path")):
        if isinstance(value, str) and value:
            try:
                path = urlsplit(value[:2000]).path
            except ValueError:
                path = value[:2000].split("?")[0]
            steps = (
                "*" if len(step) > 12 and re.search(r"\d", step) and ":" not in step else step
                for step in path.split("/")
            )
            return "/".join(steps).rstrip("/")[:80] or "/"
    return None


def reply_of(response: Any) -> Reply:
    """The answer as a message, from an HTTP wrapper, a message, an event stream or nothing."""
    status: int | None = None
    body = response
    if isinstance(response, dict) and response.keys() & {
        "body",
        "body_raw",
        "status",
        "status_code",
        "headers",
        "events",
    }:
        status = as_int(response.get("status_code", response.get("status")))
        body = response.get("body")
        if not body:
            body = response.get("body_raw") or response.get("events")
    body = _parsed(body)
    if isinstance(body, str):
        body = message_of(events_of_text(body)) if "data:" in body else {"error": body}
    elif isinstance(body, list):
        body = message_of(events_of_list(body))
    if not isinstance(body, dict) or not body:
        return Reply({}, error=f"HTTP {status}, no body logged" if status else "no response logged")
    if status is not None and status >= 400:
        return Reply({}, error=f"HTTP {status}: {_cause(body)}")
    if body.get("type") == "error" or (body.get("error") and not body.get("content")):
        return Reply({}, error=_cause(body))
    broken = body.get("complete") is False
    if body.get("error"):
        return Reply(body, error=_cause(body), partial=broken)
    return Reply(body, error="the response broke off" if broken else None, partial=broken)


def _cause(body: dict[str, Any]) -> str:
    error = body.get("error")
    words = [as_str(dig(error, "type")), as_str(dig(error, "message"))] if isinstance(error, dict) else [as_text(error)]
    return ": ".join(word for word in words if word)[:_ERROR_CHARS] or "unnamed error"


def _parsed(body: Any) -> Any:
    """A body that was logged as JSON text, parsed; anything else as it is."""
    if isinstance(body, str) and body.lstrip()[:1] == "{":
        try:
            return orjson.loads(body.encode("utf-8", "replace"))
        except ValueError:
            return body
    return body


def _session(headers: dict[str, str], body: dict[str, Any]) -> str | None:
    user = as_str(dig(body, "metadata", "user_id"))
    named = (
        dig(_parsed(user), "session_id")
        if user.lstrip()[:1] == "{"
        else user.rpartition("_session_")[2]
        if "_session_" in user
        else None
    )
    for value in (headers.get("x-claude-code-session-id"), named):
        if isinstance(value, str) and _SESSION.fullmatch(value):
            return value
    return None


def _client(agent: str) -> str | None:
    """`claude-cli/2.1.195 (external, cli)` as `claude-cli 2.1.195`."""
    name, slash, version = agent.split(" ")[0].partition("/")
    return f"{name} {version}"[:60] if slash and name else None


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and _AN_ID.fullmatch(value) else None
