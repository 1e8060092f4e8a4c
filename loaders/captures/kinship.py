"""How well a captured request goes on with a conversation, by what it repeats of it.

It prevents the rules from hiding in bookkeeping: what is compared, and how the outcomes rank, stands here alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from ctxview.loaders.captures.anthropic import BILLING_HEADER
from ctxview.loaders.captures.texts import is_context, is_summary
from ctxview.loaders.captures.wire import Exchange, Message, digest

_SUMMARY: Final = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_SUMMARY_TAGS: Final = ("<analysis>", "<summary>")
_PROBE_CHARS: Final = 200
"""So much of a summary must stand in the next request's first messages to call that a compaction."""
_FAMILIES: Final = ("opus", "sonnet", "haiku")


@dataclass(slots=True)
class Asked:
    """A request as it is compared."""

    system: str
    family: str
    tools: frozenset[str]
    sent: list[str]
    """Marks of the window's messages."""
    first_user: str
    opening: list[str]
    """User texts before the first answer that the client did not add as context."""
    begun: bool
    """It holds an answer."""
    texts: list[str]
    """Such texts of its last user message."""
    calls: frozenset[str]
    """Ids of the tool calls it holds, or holds the results of."""
    compactions: frozenset[str]
    body: str
    whole: bool
    """It names no predecessor."""


class Conversation(Protocol):
    """What is known of a thread."""

    last_asked: Asked
    answers: list[str]
    answered: bool
    tools: set[str]
    opening: list[str]
    first_user: str
    calls: set[str]
    last_calls: frozenset[str]
    made: set[str]
    reply_text: str


def asked_of(exchange: Exchange, sent: list[str]) -> Asked:
    """The request of `exchange`; `sent` are the marks of its window."""
    request = exchange.request
    calls: set[str] = set()
    opening: list[str] = []
    texts: list[str] = []
    begun = False
    for message in request.messages:
        begun = begun or message.role == "assistant"
        calls.update(part.call_id for part in message.parts if part.call_id)
        if message.role == "user":
            said = [part.text for part in message.parts if part.kind == "user" and not is_context(part.text)]
            texts = said
            opening += [] if begun else said
    beside = [part.text for part in request.system if not part.text.startswith(BILLING_HEADER)]
    leading = _leading_system(request.messages)
    return Asked(
        system=digest(*beside, *leading),
        family=next((name for name in _FAMILIES if name in request.model), request.model),
        tools=frozenset(part.tool or part.text for part in request.tools),
        sent=sent,
        first_user=digest(*opening) if opening else "",
        opening=opening,
        begun=begun,
        texts=texts,
        calls=frozenset(calls),
        compactions=frozenset(message.keys[0] for message in request.messages if message.compaction),
        body=request.body,
        whole=request.previous is None,
    )


def score(thread: Conversation, asked: Asked, *, same_thread: bool) -> tuple[int, bool]:
    """How well the request goes on with the thread (0: not at all), and whether that is by compaction.

    `same_thread`: the client gave both one id that it gives to nothing else but side calls.
    """
    before = thread.last_asked
    common = 0
    for ours, theirs in zip([*before.sent, *thread.answers], asked.sent):
        if ours != theirs:
            break
        common += 1
    common = max(common, _goes_on_at(thread, asked))
    shared = bool(thread.calls & asked.calls)
    compacted = summary_in(thread, asked) is not None
    same_system = before.system == asked.system
    shorter = len(asked.sent) < len(before.sent)
    if thread.made & asked.compactions:  # nobody else could have it
        return 30 + common, compacted
    if common >= 2 or (shared and (common or same_system)):
        second_run = shorter and common == len(asked.sent) and not shared
        return (0, False) if second_run else (10 + common, compacted)
    if not same_system or before.family != asked.family:
        return 0, False
    if thread.tools and asked.tools and not thread.tools & asked.tools:
        return 0, False
    if compacted:
        return 9 + common, True
    if common:  # only the first message: sent again or edited, unless a long thread seems to start afresh
        return (0 if shorter else 10 + common), False
    same_start = bool(asked.first_user) and thread.first_user == asked.first_user
    if same_start and not shorter:
        return 5, False
    return (4 if same_thread else 0), False  # after a warm-up, a reset, or what was never logged


def goes_on(thread: Conversation, asked: Asked, start: int) -> bool:
    """Whether the request holds the thread's last answer at message `start` or later.

    True where that answer left nothing to tell by.
    """
    if not thread.answers:
        return True
    return thread.answers[-1] in asked.sent[start:] or bool(thread.last_calls & asked.calls)


def summary_in(thread: Conversation, asked: Asked) -> str | None:
    """The text with which a compacted window opens, empty where it is opaque; None when it was not compacted."""
    if asked.compactions - thread.last_asked.compactions:
        return ""
    known = set(thread.opening)
    fresh = [text for text in asked.opening if text not in known]
    if not thread.last_asked.sent or not fresh:
        return None
    for text in fresh:
        if is_summary(text):
            return text
    match = _SUMMARY.search(thread.reply_text)
    probe = "".join((match[1] if match else thread.reply_text).split())[:_PROBE_CHARS]
    if len(probe) < _PROBE_CHARS:
        return None
    return next((text for text in fresh if probe in "".join(text.split())), None)


def carries(text: str, answer: str) -> bool:
    """Whether `text`, with which a compacted window opens, has its summary from `answer`."""
    if answer.lstrip().startswith(_SUMMARY_TAGS):  # asked for by clients; some logs hold no more than the head of it
        return True
    told, summary = "".join(text.split()), "".join(answer.split())
    if len(summary) >= _PROBE_CHARS:
        return summary[:_PROBE_CHARS] in told
    return bool(summary) and told.endswith(summary)  # a few words could stand in any text, but hardly at its end


def _goes_on_at(thread: Conversation, asked: Asked) -> int:
    """Where in the request the thread's last answer stands, right after what it answered: a window that slid."""
    before = thread.last_asked
    if not thread.answers or not before.sent or thread.answers[-1] not in asked.sent:
        return 0
    at = asked.sent.index(thread.answers[-1])
    question = at - len(thread.answers)
    follows = question >= 0 and asked.sent[question] == before.sent[-1]
    return at + 1 if follows or len(thread.reply_text) >= _PROBE_CHARS else 0


def _leading_system(messages: tuple[Message, ...]) -> list[str]:
    """System text that stands at the head of the messages."""
    texts: list[str] = []
    for message in messages:
        if message.role != "system":
            break
        texts += [part.text for part in message.parts if part.kind == "system"]
    return texts
