"""Texts that Codex shortens before it sends them: the middle goes, a marker stays.

Source: the client's truncation of tool outputs and of the user messages that a compaction keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from ctxview.loaders.shapes import as_count, as_dict, as_str

_BYTES_PER_TOKEN: Final = 4
_ALLOWANCE: Final = 1.2
"""The client lets a tool output be this much longer than its policy says."""
_MARKER: Final = re.compile(r"…\d+ (?:tokens|chars) truncated…")


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a tool output may be."""

    bytes: int
    in_tokens: bool


def policy_of(turn_context: dict[str, Any]) -> Policy | None:
    """The policy a turn states; None where it states none."""
    policy = as_dict(turn_context.get("truncation_policy"))
    limit = as_count(policy.get("limit"))
    mode = as_str(policy.get("mode"))
    if not limit or mode not in ("bytes", "tokens"):
        return None
    limit = int(limit * _ALLOWANCE)
    return Policy(limit * (_BYTES_PER_TOKEN if mode == "tokens" else 1), mode == "tokens")


def shortened(text: str, policy: Policy) -> str:
    """`text` within `policy`: its beginning and its end, and between them how much is gone."""
    if len(text) * 4 <= policy.bytes:
        return text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= policy.bytes:
        return text
    half = policy.bytes // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - (policy.bytes - half) :].decode("utf-8", "ignore")
    if policy.in_tokens:
        gone = f"{tokens_of(len(data) - policy.bytes)} tokens"
    else:
        gone = f"{len(text) - len(head) - len(tail)} chars"
    return f"{head}…{gone} truncated…{tail}"


def tokens_of(size: int) -> int:
    """Tokens as the client estimates them from bytes."""
    return (size + _BYTES_PER_TOKEN - 1) // _BYTES_PER_TOKEN


def bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def kept_head(text: str) -> str | None:
    """What a shortened text began with; None when it is not shortened."""
    match = _MARKER.search(text)
    return text[: match.start()] if match else None
