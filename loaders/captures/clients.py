"""Who sent a request: the client, its id of the conversation, and the conversation that started this one.

It prevents ids from being looked for in one client's headers only; most of them put theirs somewhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ctxview.loaders.captures.answers import parsed
from ctxview.loaders.shapes import as_dict, as_str, dig

_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,79}")
_AN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,119}")
_AGENT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_ .-]{0,59}")


@dataclass(frozen=True, slots=True)
class Client:
    """What headers and body say of the sender."""

    name: str | None = None
    session: str | None = None
    parent: str | None = None
    agent: str | None = None


def client_of(headers: dict[str, str], body: dict[str, Any]) -> Client:
    """The sender; `headers` with lower-case names. What the body says goes first: a connection serves many bodies."""
    told = as_dict(body.get("client_metadata"))
    turn = as_dict(parsed(told.get("x-codex-turn-metadata")))
    connection = as_dict(parsed(headers.get("x-codex-turn-metadata")))
    session = (
        headers.get("x-claude-code-session-id"),
        _user_session(body),
        told.get("thread_id"),
        turn.get("thread_id"),
        headers.get("thread-id"),
        told.get("session_id"),
        headers.get("session-id"),
        headers.get("conversation_id"),
        headers.get("session_id"),
    )
    parent = (
        told.get("x-codex-parent-thread-id"),
        turn.get("parent_thread_id"),
        None if turn else connection.get("parent_thread_id"),
        None if told else headers.get("x-codex-parent-thread-id"),
    )
    agent = (turn.get("subagent_kind"), told.get("x-openai-subagent"), headers.get("x-openai-subagent"))
    return Client(
        name=_name(headers.get("user-agent", "")),
        session=_match(_SESSION, session),
        parent=_match(_SESSION, parent),
        agent=_match(_AGENT, agent),
    )


def identifier(value: Any) -> str | None:
    """`value` when it can be an id."""
    return value if isinstance(value, str) and _AN_ID.fullmatch(value) else None


def _match(pattern: re.Pattern[str], values: tuple[Any, ...]) -> str | None:
    return next((value for value in values if isinstance(value, str) and pattern.fullmatch(value)), None)


def _user_session(body: dict[str, Any]) -> Any:
    """Claude Code's session, from the user id it makes up."""
    user = as_str(dig(body, "metadata", "user_id"))
    if user.lstrip()[:1] == "{":
        return dig(parsed(user), "session_id")
    return user.rpartition("_session_")[2] if "_session_" in user else None


def _name(agent: str) -> str | None:
    """`claude-cli/2.1.195 (external, cli)` as `claude-cli 2.1.195`."""
    name, slash, version = agent.split(" ")[0].partition("/")
    return f"{name} {version}"[:60] if slash and name else None
