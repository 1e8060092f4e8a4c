"""One logged call, whichever proxy wrote it down and whichever API it speaks.

It prevents the rest of the loader from knowing the log shapes: claude-tap lines and lab packets, claude-trace pairs,
plain request-response pairs, recorded HTTP traffic, and a request body on its own all become an `Exchange`;
everything else says what it is.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from ctxview.loaders.captures import anthropic, openai_chat, responses
from ctxview.loaders.captures.answers import answer_of, parsed
from ctxview.loaders.captures.clients import Client, client_of, identifier
from ctxview.loaders.captures.litellm import is_completion, read_completion
from ctxview.loaders.captures.names import ANTHROPIC, OPENAI
from ctxview.loaders.captures.wire import Exchange, Other
from ctxview.loaders.shapes import as_dict, as_list, as_str, as_text, as_time, dig, kind_of_json

_OTHER_DIALECT: Final = re.compile(r"/completions\b|[gG]enerateContent|/v1internal|/converse|/invoke|/api/chat")
_PATH_CHARS: Final = 80
"""So much of a path is shown."""
_NO_BODY: Final = "this log holds answers without the requests they came for: it has no windows to show"


def unwrap(document: Any) -> list[Any] | None:
    """The records that a capture document holds."""
    if isinstance(document, list):
        return document
    packets = dig(document, "packets")
    return packets if isinstance(packets, list) else None


def read(value: Any) -> Exchange | Other:
    """What one record of a capture is. Never raises."""
    record = as_dict(value)
    if is_completion(record):
        return read_completion(record)
    request = record.get("request")
    if isinstance(request, dict):
        if "body" not in request and ("messages" in request or "input" in request):
            return _call(record, request, None, Client(), "response" in record)
        return _http(record, request)
    if isinstance(record.get("messages"), list) or _is_responses_body(record):
        return _call(record, record, None, Client(), "response" in record)
    if isinstance(record.get("path"), str) and "response" in record and "status" in record:
        answer = {"status": record["status"], "body": record["response"]}
        return _http({**record, "response": answer}, {"path": record["path"], "body": record.get("body")})
    return Other(as_str(record.get("type"))[:60] or f"not an exchange ({kind_of_json(value)})", known=False)


def time_of(value: Any) -> Any:
    """The time that the log gives a record, as logged; None where it has none. An answer's own is another clock's."""
    record = as_dict(value)
    request = as_dict(record.get("request"))
    times = (record.get("timestamp"), request.get("timestamp"), record.get("logged_at") if request else None)
    return next((time for time in times if time is not None and time != ""), None)


def _is_responses_body(record: dict[str, Any]) -> bool:
    return isinstance(record.get("model"), str) and isinstance(record.get("input"), (str, list))


def _http(record: dict[str, Any], request: dict[str, Any]) -> Exchange | Other:
    headers = {key.lower(): as_text(item) for key, item in as_dict(request.get("headers")).items()}
    path = _path(record, request)
    api = _api(path)
    if path is not None and api is None:
        return _other(path)
    body = _sent(request)
    if path is None and not isinstance(dig(body, "messages"), list) and not _is_responses_body(as_dict(body)):
        return Other("request without a path", known=False)
    if not isinstance(body, dict) or not body:
        answered = api is not None and bool(dig(record, "response", "body"))
        return Other("request without a body", reason=_NO_BODY if answered else None)
    return _call(record, body, api, client_of(headers, body), "response" in record)


def _call(record: dict[str, Any], body: dict[str, Any], api: str | None, client: Client, answered: bool) -> Exchange:
    """The exchange that `body` is; without an API its shape tells which one it speaks."""
    response = record.get("response")
    reply = None
    if api is None:
        openai = openai_chat.speaks_openai(body) or "choices" in as_dict(response)
        api = "chat" if openai else "messages" if "messages" in body else "responses"
    if api == "messages":
        request = anthropic.request_of(body)
        if answered:
            reply = anthropic.reply_of(answer_of(response, "content", anthropic.message_of))
    elif api == "chat":
        request = openai_chat.request_of(body)
        if answered:
            reply = openai_chat.reply_of(answer_of(response, "choices", openai_chat.completion_of), request)
    else:
        request = responses.request_of(body)
        if answered:
            asked = body.get("generate") is not False
            reply = responses.reply_of(answer_of(response, "output", responses.response_of), asked)
    known = client if client.session else client_of({}, body)
    return Exchange(
        dialect=ANTHROPIC if api == "messages" else OPENAI,
        request=request,
        reply=reply,
        at=as_time(time_of(record)) or (reply.at if reply is not None else None),
        client=client.name,
        session=known.session,
        parent=known.parent,
        agent=known.agent,
        id=identifier(record.get("request_id")),
    )


def _sent(request: dict[str, Any]) -> Any:
    """The request's body. Over a WebSocket several messages can be in one record: the last one asks for the answer."""
    asked = [e for e in as_list(request.get("ws_events")) if as_dict(e).get("type") == "response.create"]
    return asked[-1] if len(asked) > 1 else parsed(request.get("body"))


def _api(path: str | None) -> str | None:
    """Which API a path belongs to: `messages`, `chat`, `responses`, or none that has windows."""
    if path is None:
        return None
    if path.endswith("/v1/messages"):
        return "messages"
    if path.endswith("/chat/completions"):
        return "chat"
    return "responses" if path.endswith(("/responses", "/responses/compact")) else None


def _other(path: str) -> Other:
    shown = path[:_PATH_CHARS]
    if path.endswith("/v1/messages/count_tokens"):
        return Other("count_tokens")
    if _OTHER_DIALECT.search(path):
        return Other(f"other-dialect:{shown}", reason=f"requests of another API ({shown}) are not shown")
    return Other(shown.removeprefix("/v1/"))


def _path(record: dict[str, Any], request: dict[str, Any]) -> str | None:
    """The request's path without query and without ids, None when none was logged."""
    for value in (request.get("path"), request.get("url"), record.get("path")):
        if isinstance(value, str) and value:
            try:
                path = urlsplit(value).path
            except ValueError:
                path = value.split("?")[0]
            steps = (
                "*" if len(step) > 12 and re.search(r"\d", step) and ":" not in step else step
                for step in path.split("/")
            )
            return "/".join(steps).rstrip("/") or "/"
    return None
