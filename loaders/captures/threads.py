"""Which conversation each captured request belongs to.

One log holds the main conversation, title and summary side calls, and sub-agents, all under one session id. It
prevents them from being taken for one window that jumps back and forth: a request joins the thread whose history it
goes on with, and a compaction goes on with the thread it compacted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from ctxview.loaders.captures.kinship import Asked, asked_of, score, summary_in
from ctxview.loaders.captures.names import ANTHROPIC
from ctxview.loaders.captures.past import Past
from ctxview.loaders.captures.wire import Dialect, Exchange, Message, Reply, digest
from ctxview.loaders.shapes import as_str, title_of

_LATEST: Final = 8
"""So many of a request's last messages are looked at for an answer that some thread gave."""
_PEERS: Final = 50
"""So many threads of one system prompt are looked at for a compaction."""
_PROMPT_KEYS: Final = ("prompt", "message", "task", "instructions")
"""Arguments under which a call that starts a sub-agent has what the agent is told."""


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
    """The text that carries the summary, when `cut` and where it is readable."""
    instruction: str | None = None
    """The text that asked for a summary, when the next call shows that this one made it."""
    hands_over: bool = False
    """The compaction in its answer is what the next call's window starts with."""


@dataclass(slots=True)
class Thread:
    """A conversation under construction."""

    number: int
    file: int
    scope: str
    dialect: Dialect
    session: str | None
    last_asked: Asked
    """Its last request ..."""
    answers: list[str] = field(default_factory=list)
    """... and the marks of the response."""
    title: str | None = None
    tools: set[str] = field(default_factory=set)
    opening: list[str] = field(default_factory=list)
    begun: bool = False
    """Something was answered: later user texts are not its opening."""
    answered: bool = False
    calls: set[str] = field(default_factory=set)
    """Ids of the tool calls it has seen."""
    first_user: str = ""
    made: set[str] = field(default_factory=set)
    """Keys of the compactions that its responses made ..."""
    last_made: set[str] = field(default_factory=set)
    """... and of those in the last one."""
    reply_text: str = ""
    last: Step | None = None
    count: int = 0
    size: int = 0
    """Largest window: recorded tokens, or messages where nothing was recorded."""
    parent: Thread | None = None
    parent_call: str | None = None
    parent_session: str | None = None
    agent: str | None = None
    limit: int | None = None
    client: str | None = None
    used: int = 0
    """When it was last gone on with, in calls of the log."""
    indexed: set[str] = field(default_factory=set)
    """The part of `calls` that can be looked up."""


class Threads:
    """Joins requests to threads, in log order."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self.wanted: Counter[str] = Counter()
        """How often each response is gone on with by id."""
        self.referred: set[str] = set()
        """Ids of the items that requests refer to."""
        self._where: dict[str, dict[int, Thread]] = {}
        self._prompts: dict[str, tuple[Thread, str, str | None]] = {}
        self._responses: dict[tuple[str, str], Thread] = {}
        """Thread by response id and body: one response can be in several logs."""
        self._past: Past[str] = Past()
        self._of_response: dict[str, Thread] = {}
        self._marks: dict[str, str] = {}
        self._clock = 0

    def place(self, exchange: Exchange, file: int, scope: str) -> Step:
        """The step that `exchange` is; threads of different scopes have nothing to do with each other."""
        sent, reply = exchange.request, exchange.reply or Reply()
        response = (reply.id, sent.body)
        if reply.id and response in self._responses:
            return Step(self._responses[response], 0, known=True)
        self.referred.update(message.refers for message in sent.messages if message.refers)
        going_on = self._past.knows(sent.previous)
        window = self._past.window(sent.previous, self._interned(sent.messages))
        if sent.previous is not None:
            self.wanted[sent.previous] += 1
        asked = asked_of(exchange, window.all() if window.before is not None else list(window.items))
        best, cut = self._of_response.get(sent.previous or ""), False
        if best is not None and going_on:
            cut = window.starts_compacted
            asked.compactions |= frozenset() if cut else best.last_asked.compactions
        else:
            best, cut = self._find(asked, exchange.session, scope)
        step = self._step(best, cut, asked, exchange, file, scope)
        ids = [reply.id or None, reply.keeps]
        compaction = next((n for n, message in enumerate(reply.messages) if message.compaction), None)
        marks = self._interned(reply.messages)
        if compaction is not None:
            compaction -= sum(not message.mark for message in reply.messages[:compaction])
        self._past.answer(window, marks, ids, compaction)
        self._of_response.update((id_, step.thread) for id_ in ids if id_)
        self._responses[response] = step.thread
        self._remember(step.thread, asked, exchange)
        return step

    def _step(self, best: Thread | None, cut: bool, asked: Asked, exchange: Exchange, file: int, scope: str) -> Step:
        same = best is not None and best.last_asked.body == asked.body
        if best is not None and best.last is not None and same and not best.answered:
            return Step(best, best.last.number, repeats=True)
        thread = best if best is not None else self._new(asked, exchange, file, scope)
        step = Step(thread, thread.count)
        if cut and thread.last is not None:
            step.cut = True
            step.summary = summary_in(thread, asked) or None
            if step.summary:
                thread.last.instruction = thread.last_asked.texts[-1] if thread.last_asked.texts else None
            thread.last.hands_over = bool(thread.last_made & asked.compactions) or not asked.whole
        thread.count += 1
        thread.last = step
        return step

    def _interned(self, messages: tuple[Message, ...]) -> list[str]:
        """The marks that are compared; a mark that stands in many windows is held once."""
        return [self._marks.setdefault(message.mark, message.mark) for message in messages if message.mark]

    def _find(self, asked: Asked, session: str | None, scope: str) -> tuple[Thread | None, bool]:
        best: Thread | None = None
        best_score, best_cut = 0, False
        for thread in self._candidates(asked):
            if thread.scope != scope or (session and thread.session and session != thread.session):
                continue
            same = session is not None and session == thread.session and thread.dialect != ANTHROPIC
            points, cut = score(thread, asked, same_thread=same)  # Anthropic's clients give sub-agents the same id
            if points > best_score:
                best, best_score, best_cut = thread, points, cut
        return best, best_cut

    def _candidates(self, asked: Asked) -> list[Thread]:
        """Threads that could score, the one used last first: so that a log of many small calls stays linear."""
        keys = [f"start {asked.sent[0] if asked.sent else ''}", f"user {asked.first_user}"]
        keys += [f"call {call}" for call in asked.calls]
        keys += [f"answer {mark}" for mark in asked.sent[-_LATEST:]]
        keys += [f"made {key}" for key in asked.compactions]
        found: dict[int, Thread] = {}
        for key in keys:
            found.update(self._where.get(key, {}))
        peers = self._where.get(f"system {asked.system}", {})
        recent = list(peers)[-_PEERS:]
        found.update((number, peers[number]) for number in recent)
        return sorted(found.values(), key=lambda thread: -thread.used)

    def _index(self, thread: Thread, asked: Asked) -> None:
        keys = [f"start {asked.sent[0] if asked.sent else ''}", f"user {asked.first_user}"]
        keys += [f"answer {mark}" for mark in thread.answers[-1:]]
        keys += [f"made {key}" for key in thread.made]
        for key in [*keys, f"system {asked.system}", *(f"call {call}" for call in thread.calls - thread.indexed)]:
            self._where.setdefault(key, {})[thread.number] = thread
        thread.indexed |= thread.calls
        self._clock += 1
        thread.used = self._clock

    def _new(self, asked: Asked, exchange: Exchange, file: int, scope: str) -> Thread:
        thread = Thread(len(self.all) + 1, file, scope, exchange.dialect, exchange.session, asked)
        self.all.append(thread)
        return thread

    def _remember(self, thread: Thread, asked: Asked, exchange: Exchange) -> None:
        reply = exchange.reply or Reply()
        thread.session = thread.session or exchange.session
        thread.client = thread.client or exchange.client
        thread.parent_session = thread.parent_session or exchange.parent
        thread.agent = thread.agent or exchange.agent
        thread.limit = exchange.limit or thread.limit
        thread.tools |= asked.tools
        if asked.whole or not thread.begun:
            thread.opening = asked.opening if asked.whole else thread.opening + asked.opening
            self._introduce(thread)
        thread.begun = (thread.begun and not asked.whole) or asked.begun or bool(reply.messages)
        thread.last_asked = asked
        thread.answered = reply.done
        thread.calls |= asked.calls
        thread.calls.update(call for message in reply.messages for call in message.calls)
        thread.last_made = {message.keys[0] for message in reply.messages if message.compaction}
        thread.made |= thread.last_made
        thread.answers = [message.mark for message in reply.messages if message.mark]
        parts = [part for message in reply.messages for part in message.parts]
        thread.reply_text = "\n".join(part.text for part in parts if part.kind == "assistant")
        self._index(thread, asked)
        prompt = reply.usage.prompt if reply.usage else None
        thread.size = max(thread.size, prompt or len(asked.sent))
        for part in parts:
            if part.kind == "tool_call" and part.call_id:
                self._note_prompt(thread, part.call_id, part.text)

    def _introduce(self, thread: Thread) -> None:
        """Title and parent, from the first texts that are not the client's."""
        if thread.title is None:
            thread.title = next((title for text in thread.opening if (title := title_of(_task(text)))), None)
        thread.first_user = digest(*thread.opening) if thread.opening else ""
        for text in thread.opening:
            parent, call, agent = self._prompts.get(text, (thread, "", None))
            if thread.parent is None and parent.number < thread.number:
                thread.parent, thread.parent_call, thread.agent = parent, call, agent or thread.agent

    def _note_prompt(self, thread: Thread, call: str, arguments: str) -> None:
        if not any(f'"{key}"' in arguments for key in _PROMPT_KEYS):
            return
        given = _object(arguments)
        agent = as_str(given.get("subagent_type")) or as_str(given.get("agent_type")) or None
        for key in _PROMPT_KEYS:
            if prompt := as_str(given.get(key)):
                self._prompts.setdefault(prompt, (thread, call, agent))


def _object(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text.encode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _task(text: str) -> str:
    """The task in a text that explains tools before it comes to that."""
    head, mark, rest = text.partition(" NEW TASK DESCRIPTION -")
    return rest.partition("\n")[2] if mark and head else text
