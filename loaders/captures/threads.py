"""Which conversation each captured request belongs to.

One log holds the main conversation, title and summary side calls, and sub-agents, all under one session id. It
prevents them from being taken for one window that jumps back and forth: a request joins the thread whose history it
goes on with, and a compaction goes on with the thread it compacted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from ctxview.loaders.anthropic_content import is_continuation, is_reminder, parts
from ctxview.loaders.captures.blocks import BILLING_HEADER, digest, message_parts, part_keys, wire_role
from ctxview.loaders.captures.exchanges import Exchange
from ctxview.loaders.shapes import as_dict, as_list, as_str, compact_json, title_of, without
from ctxview.loaders.usage import anthropic_usage

_SUMMARY: Final = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_LATEST: Final = 8
"""So many of a request's last messages are looked at for an answer that some thread gave."""
_PEERS: Final = 50
"""So many threads of one system prompt are looked at for a compaction."""
_PROBE_CHARS: Final = 200
"""So much of a summary must stand in the next request's first message to call that a compaction."""


@dataclass(slots=True)
class Step:
    """One captured call's place: what the second walk over the log needs to know."""

    thread: Thread
    number: int
    """Counts the thread's calls from 0."""
    repeats: bool = False
    """The same body again, after an attempt without an answer: the same call."""
    known: bool = False
    """The same response of the same request was logged before: nothing new at all."""
    cut: bool = False
    """The thread was compacted between the previous call and this one."""
    summary: str | None = None
    """The text that carries the summary, when `cut`."""
    instruction: str | None = None
    """The text that asked for a summary, when the next call shows that this one made it."""


@dataclass(slots=True)
class Thread:
    """A conversation under construction."""

    number: int
    file: int
    session: str | None
    system: str
    first_user: str
    family: str
    title: str | None
    tools: set[str]
    sent: list[str] = field(default_factory=list)
    """Message digests of its last request ..."""
    opening: list[str] = field(default_factory=list)
    answer: str | None = None
    """... and of the response."""
    body: str = ""
    answered: bool = False
    calls: set[str] = field(default_factory=set)
    """Ids of the tool calls it has seen."""
    texts: list[str] = field(default_factory=list)
    """User texts of the last message of its last request."""
    reply_text: str = ""
    last: Step | None = None
    count: int = 0
    size: int = 0
    """Largest window: recorded tokens, or messages where nothing was recorded."""
    parent: Thread | None = None
    parent_call: str | None = None
    agent: str | None = None
    used: int = 0
    """When it was last gone on with, in calls of the log."""
    indexed: set[str] = field(default_factory=set)
    """The part of `calls` that can be looked up."""


@dataclass(frozen=True, slots=True)
class _Request:
    system: str
    family: str
    tools: frozenset[str]
    sent: list[str]
    first_user: str
    opening: list[str]
    """Texts of the first message that are not reminders."""
    calls: frozenset[str]
    body: str


class Threads:
    """Joins requests to threads, in log order."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self._where: dict[str, dict[int, Thread]] = {}
        self._prompts: dict[str, tuple[Thread, str, str | None]] = {}
        self._responses: dict[tuple[str, str], Thread] = {}
        """Thread by response id and body: one response can be in several logs."""
        self._clock = 0

    def place(self, exchange: Exchange, file: int) -> Step:
        """The step that `exchange` is."""
        request = _request(exchange.body)
        message = exchange.reply.message if exchange.reply is not None else {}
        response = (as_str(message.get("id")), request.body)
        if response[0] and response in self._responses:
            return Step(self._responses[response], 0, known=True)
        best, cut = self._find(request, exchange.session)
        if best is not None and best.last is not None and best.body == request.body and not best.answered:
            step = Step(best, best.last.number, repeats=True)
        else:
            thread = best if best is not None else self._new(request, exchange, file)
            step = Step(thread, thread.count)
            if cut and thread.last is not None:
                step.cut = True
                step.summary = next((text for text in request.opening if is_continuation(text)), None)
                step.summary = step.summary or (request.opening[0] if request.opening else None)
                thread.last.instruction = thread.texts[-1] if thread.texts else None
            thread.count += 1
            thread.last = step
        self._responses[response] = step.thread
        self._remember(step.thread, request, exchange)
        return step

    def _find(self, request: _Request, session: str | None) -> tuple[Thread | None, bool]:
        best: Thread | None = None
        best_score, best_cut = 0, False
        for thread in self._candidates(request):
            if session and thread.session and session != thread.session:
                continue
            score, cut = _score(thread, request)
            if score > best_score:
                best, best_score, best_cut = thread, score, cut
        return best, best_cut

    def _candidates(self, request: _Request) -> list[Thread]:
        """Threads that could score, the one used last first: so that a log of many small calls stays linear."""
        keys = [f"start {request.sent[0] if request.sent else ''}", f"user {request.first_user}"]
        keys += [f"call {call}" for call in request.calls]
        keys += [f"answer {digest}" for digest in request.sent[-_LATEST:]]
        found: dict[int, Thread] = {}
        for key in keys:
            found.update(self._where.get(key, {}))
        peers = self._where.get(f"system {request.system}", {})
        recent = list(peers)[-_PEERS:]
        found.update((number, peers[number]) for number in recent)
        return sorted(found.values(), key=lambda thread: -thread.used)

    def _index(self, thread: Thread, request: _Request) -> None:
        keys = [f"start {request.sent[0] if request.sent else ''}", f"user {request.first_user}"]
        if thread.answer:
            keys.append(f"answer {thread.answer}")
        for key in [*keys, f"system {request.system}", *(f"call {call}" for call in thread.calls - thread.indexed)]:
            self._where.setdefault(key, {})[thread.number] = thread
        thread.indexed |= thread.calls
        self._clock += 1
        thread.used = self._clock

    def _new(self, request: _Request, exchange: Exchange, file: int) -> Thread:
        thread = Thread(
            number=len(self.all) + 1,
            file=file,
            session=exchange.session,
            system=request.system,
            first_user=request.first_user,
            family=request.family,
            title=next((title for text in request.opening if (title := title_of(text))), None),
            tools=set(request.tools),
        )
        for text in request.opening:
            if text in self._prompts:
                thread.parent, thread.parent_call, thread.agent = self._prompts[text]
        self.all.append(thread)
        return thread

    def _remember(self, thread: Thread, request: _Request, exchange: Exchange) -> None:
        reply = exchange.reply
        content = reply.message.get("content") if reply is not None else None
        thread.session = thread.session or exchange.session
        thread.system, thread.family = request.system, request.family
        thread.tools |= request.tools
        thread.sent, thread.opening, thread.body = request.sent, request.opening, request.body
        thread.answered = bool(content)
        thread.calls |= request.calls
        thread.answer, thread.reply_text = None, ""
        if content:
            found = message_parts("assistant", content)
            thread.answer = digest("assistant", *part_keys("assistant", found))
            thread.calls |= {part.call_id for part in found if part.kind == "tool_call" and part.call_id}
            thread.reply_text = "\n".join(part.text for part in found if part.kind == "assistant")
        thread.texts = _last_user_texts(exchange.body)
        self._index(thread, request)
        usage = anthropic_usage(reply.message.get("usage")) if reply is not None else None
        thread.size = max(thread.size, (usage.prompt if usage else None) or len(request.sent))
        for block in as_list(content):
            item = as_dict(block)
            prompt, call = as_str(as_dict(item.get("input")).get("prompt")), as_str(item.get("id"))
            if item.get("type") == "tool_use" and prompt and call:
                agent = as_str(item["input"].get("subagent_type")) or None
                self._prompts[prompt] = (thread, call, agent)


def _score(thread: Thread, request: _Request) -> tuple[int, bool]:
    """How well the request goes on with the thread (0: not at all), and whether that is by compaction."""
    expected = [*thread.sent, thread.answer] if thread.answer else thread.sent
    common = 0
    for ours, theirs in zip(expected, request.sent):
        if ours != theirs:
            break
        common += 1
    common = max(common, _goes_on_at(thread, request))
    shared = bool(thread.calls & request.calls)
    compacted = _is_compaction(thread, request)
    same_system = thread.system == request.system
    shorter = len(request.sent) < len(thread.sent)
    if common >= 2 or (shared and (common or same_system)):
        second_run = shorter and common == len(request.sent) and not shared
        return (0, False) if second_run else (10 + common, compacted)
    if not same_system or thread.family != request.family:
        return 0, False
    if thread.tools and request.tools and not thread.tools & request.tools:
        return 0, False
    if compacted:
        return 9 + common, True
    if common:  # only the first message: sent again or edited, unless a long thread seems to start afresh
        return (0 if shorter else 10 + common), False
    same_start = bool(request.first_user) and thread.first_user == request.first_user
    return (5 if same_start and not shorter else 0), False


def _goes_on_at(thread: Thread, request: _Request) -> int:
    """Where in the request the thread's last answer stands, right after what it answered: a window that slid."""
    if thread.answer is None or not thread.sent or thread.answer not in request.sent:
        return 0
    at = request.sent.index(thread.answer)
    follows = at > 0 and request.sent[at - 1] == thread.sent[-1]
    return at + 1 if follows or len(thread.reply_text) >= _PROBE_CHARS else 0


def _is_compaction(thread: Thread, request: _Request) -> bool:
    """A fresh window whose opening carries a summary that the thread's last window did not have."""
    fresh = [text for text in request.opening if text not in thread.opening]
    if not thread.sent or not fresh:
        return False
    if any(is_continuation(text) for text in fresh):
        return True
    match = _SUMMARY.search(thread.reply_text)
    probe = "".join((match[1] if match else thread.reply_text).split())[:_PROBE_CHARS]
    return len(probe) == _PROBE_CHARS and any(probe in "".join(text.split()) for text in fresh)


def _request(body: dict[str, Any]) -> _Request:
    sent: list[str] = []
    calls: set[str] = set()
    opening: list[str] = []
    for message in as_list(body.get("messages")):
        role = wire_role(message)
        found = message_parts(role, as_dict(message).get("content"))
        sent.append(digest(role, *part_keys(role, found)))
        calls |= {part.call_id for part in found if part.kind == "tool_call" and part.call_id}
        if role == "user" and not opening:
            opening = [part.text for part in found if part.kind == "user" and not is_reminder(part.text)]
    system = body.get("system")
    texts = [] if system is None else [part.text for part in parts("system", system)]
    tools = (as_dict(tool) for tool in as_list(body.get("tools")))
    stable = {**without(body, "metadata"), "system": [text for text in texts if not text.startswith(BILLING_HEADER)]}
    return _Request(
        system=digest(*(text for text in texts if not text.startswith(BILLING_HEADER))),
        family=_family(as_str(body.get("model"))),
        tools=frozenset(as_str(tool.get("name")) or compact_json(tool) for tool in tools),
        sent=sent,
        first_user=digest(*opening) if opening else "",
        opening=opening,
        calls=frozenset(calls),
        body=digest(compact_json(stable)),
    )


def _family(model: str) -> str:
    """`claude-opus-4-8` and `claude-3-opus-20240229` are both opus."""
    return next((name for name in ("opus", "sonnet", "haiku") if name in model), model)


def _last_user_texts(body: dict[str, Any]) -> list[str]:
    for message in reversed(as_list(body.get("messages"))):
        if wire_role(message) == "user":
            found = message_parts("user", as_dict(message).get("content"))
            return [part.text for part in found if part.kind == "user" and not is_reminder(part.text)]
    return []
