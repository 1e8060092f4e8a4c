"""Which conversation each captured request belongs to.

One log holds the main conversation, title and summary side calls, and sub-agents, all under one session id. It
prevents them from being taken for one window that jumps back and forth: a request joins the thread whose history it
goes on with, and a compaction goes on with the thread it compacted.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any, Final

import orjson

from ctxview.loaders.captures.kinship import Asked, asked_of, carries, goes_on, score, summary_in
from ctxview.loaders.captures.names import ANTHROPIC
from ctxview.loaders.captures.past import Past
from ctxview.loaders.captures.steps import Answered, Beginning, Step, Thread
from ctxview.loaders.captures.wire import Exchange, Message, Reply, digest
from ctxview.loaders.shapes import as_str, title_of

_LATEST: Final = 8
"""So many of a request's last messages are looked at for an answer that some thread gave."""
_PEERS: Final = 50
"""So many threads, those used last, are looked at of all that have one thing in common with a request."""
_PROMPT_KEYS: Final = ("prompt", "message", "task", "instructions")
"""Arguments under which a call that starts a sub-agent has what the agent is told."""


class Threads:
    """Joins requests to threads, in log order."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self.wanted: Counter[str] = Counter()
        """How often each response is gone on with by id."""
        self.referred: set[str] = set()
        """Ids of the items that requests refer to."""
        self._where: dict[str, dict[int, Thread]] = {}
        self._prompts: dict[str, tuple[Step, str, str | None]] = {}
        self._responses: dict[tuple[str, str], Step] = {}
        """Step by response id and body: one response can be in several logs."""
        self._past: Past[str] = Past()
        self._of_response: dict[str, Step] = {}
        self._answered = Answered()
        self._marks: dict[str, str] = {}
        self._clock = 0

    def place(self, exchange: Exchange, file: int, scope: str) -> Step:
        """The step that `exchange` is; threads of different scopes have nothing to do with each other."""
        sent, reply = exchange.request, exchange.reply or Reply()
        response = (reply.id, sent.body)
        if reply.id and response in self._responses:
            return Step(self._responses[response].thread, file, known=True)
        self.referred.update(message.refers for message in sent.messages if message.refers)
        going_on = self._past.knows(sent.previous)
        window = self._past.window(sent.previous, self._interned(sent.messages))
        if sent.previous is not None:
            self.wanted[sent.previous] += 1
        asked = asked_of(exchange, window.all() if window.before is not None else list(window.items))
        start = self._answered.beginning(asked.sent if asked.whole else (), scope)
        named = self._of_response.get(sent.previous or "") if going_on else None
        best: Thread | None
        if named is not None:
            best, cut = named.thread, window.starts_compacted
            asked.compactions |= frozenset() if cut else named.thread.last_asked.compactions
            follows = named is named.thread.last
            self._continue(named, asked)
        else:
            best, cut = self._find(asked, exchange.session, scope)
            if start.call is not None and _is_rightful(start, best, asked, exchange.session):
                best, cut = start.call.thread, False
                self._continue(start.call, asked)
            follows = cut or best is None or _is_continued(best, start, asked)
        step = self._step(best, cut, asked, exchange, file, scope)
        step.goes_on = follows
        ids = [reply.id or None, reply.keeps]
        compaction = next((n for n, message in enumerate(reply.messages) if message.compaction), None)
        marks = self._interned(reply.messages)
        if compaction is not None:
            compaction -= sum(not message.mark for message in reply.messages[:compaction])
        self._past.answer(window, marks, ids, compaction)
        first = step.thread.last or step  # where it repeats a call, that one
        self._of_response.update((id_, first) for id_ in ids if id_)
        self._responses[response] = step
        if asked.whole:
            self._answered.add(first, start.mark, marks)
        self._remember(step, asked, exchange)
        return step

    def _continue(self, step: Step, asked: Asked) -> None:
        """Make `step` the last of its thread, unless what followed it there is the same run, gone back in."""
        if step.after is None or step.after.goes_on:
            return
        other = step.thread.split(step, asked, len(self.all) + 1)
        if other is not None:
            self.all.append(other)
            self._index(other, other.last_asked)

    def _step(self, best: Thread | None, cut: bool, asked: Asked, exchange: Exchange, file: int, scope: str) -> Step:
        same = best is not None and best.last_asked.body == asked.body
        if best is not None and best.last is not None and same and not best.answered:
            step = Step(best, file, repeats=True)
            best.last.again += (step,)
            return step
        thread = best if best is not None else self._new(asked, exchange, file, scope)
        step = Step(thread, file)
        if thread.last is not None:
            thread.last.after = step
        if cut and thread.last is not None:
            step.cut = True
            step.summary = summary_in(thread, asked) or None
            if step.summary and carries(step.summary, thread.reply_text):
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
        for key in [*keys, f"system {asked.system}"]:
            found.update(islice(reversed(self._where.get(key, {}).items()), _PEERS))
        return sorted(found.values(), key=lambda thread: -thread.used)

    def _index(self, thread: Thread, asked: Asked) -> None:
        keys = [f"start {asked.sent[0] if asked.sent else ''}", f"user {asked.first_user}"]
        keys += [f"answer {mark}" for mark in thread.answers[-1:]]
        keys += [f"made {key}" for key in thread.made]
        for key in [*keys, f"system {asked.system}", *(f"call {call}" for call in thread.calls - thread.indexed)]:
            peers = self._where.setdefault(key, {})
            peers.pop(thread.number, None)
            peers[thread.number] = thread  # at the end, where the one used last is
        thread.indexed |= thread.calls
        self._clock += 1
        thread.used = self._clock

    def _new(self, asked: Asked, exchange: Exchange, file: int, scope: str) -> Thread:
        number = len(self.all) + 1
        thread = Thread(number, number, file, scope, exchange.dialect, exchange.session, asked)
        self.all.append(thread)
        return thread

    def _remember(self, step: Step, asked: Asked, exchange: Exchange) -> None:
        thread, reply = step.thread, exchange.reply or Reply()
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
        thread.last_calls = frozenset(call for message in reply.messages for call in message.calls)
        thread.calls |= thread.last_calls
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
                self._note_prompt(step, part.call_id, part.text)

    def _introduce(self, thread: Thread) -> None:
        """Title and parent, from the first texts that are not the client's."""
        if thread.title is None:
            thread.title = next((title for text in thread.opening if (title := title_of(_task(text)))), None)
        thread.first_user = digest(*thread.opening) if thread.opening else ""
        for text in thread.opening:
            step, call, agent = self._prompts.get(text, (None, "", None))
            if thread.starter is None and step is not None and step.thread.root < thread.root:
                thread.starter, thread.parent_call, thread.agent = step, call, agent or thread.agent

    def _note_prompt(self, step: Step, call: str, arguments: str) -> None:
        if not any(f'"{key}"' in arguments for key in _PROMPT_KEYS):
            return
        given = _object(arguments)
        agent = as_str(given.get("subagent_type")) or as_str(given.get("agent_type")) or None
        for key in _PROMPT_KEYS:
            if prompt := as_str(given.get(key)):
                self._prompts.setdefault(prompt, (step, call, agent))


def _is_continued(thread: Thread, start: Beginning, asked: Asked) -> bool:
    """Whether the request goes on with the thread's last call, so far as one can tell."""
    return (start.call is not None and thread.last is start.call) or goes_on(thread, asked, start.length)


def _is_rightful(start: Beginning, best: Thread | None, asked: Asked, session: str | None) -> bool:
    """Whether the request goes on with the call that it repeats, and not with the last one of `best`.

    A client may have changed what it sent in between: then the request still holds the answer it got to that.
    """
    call = start.call
    if call is None or (best is not None and best.last is call):
        return False
    thread, after = call.thread, call.after
    if session and thread.session and session != thread.session:
        return False
    is_held = any(each.last is not call and goes_on(each, asked, start.length) for each in (thread, best or thread))
    return not is_held and (after is None or not after.goes_on)


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
