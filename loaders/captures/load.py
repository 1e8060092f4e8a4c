"""Captured requests as events: each request is the exact window of its call.

It walks a log twice: once to see which conversations it holds and which of them is the main one, and once to tell
them call by call. So a log is never held in memory, and the main session always comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.loaders.captures.envelopes import read
from ctxview.loaders.captures.litellm import folder_of, name_of
from ctxview.loaders.captures.logs import Logs
from ctxview.loaders.captures.names import LITELLM
from ctxview.loaders.captures.steps import Step, Thread
from ctxview.loaders.captures.tell import Teller
from ctxview.loaders.captures.threads import Threads
from ctxview.loaders.captures.wire import Exchange
from ctxview.loaders.source import Source
from ctxview.loaders.taken import Taken
from ctxview.model import Event, SessionStart

_NAME_CHARS: Final = 80


def load(source: Source) -> Iterator[Event]:
    """Every call of every conversation in a capture, in log order, main conversation first."""
    logs = Logs(source.files)
    threads = Threads()
    plan: list[list[Step | None]] = []
    homes: dict[str, int] = {}
    labels: list[str] = []
    for number in range(len(logs)):
        steps: list[Step | None] = []
        log = logs.open(number)
        for raw in log.walk(lambda issue: None):
            exchange = read(raw.value) if raw.status == "ok" else None
            step = None
            if isinstance(exchange, Exchange):
                home, scope = number, str(exchange.dialect)
                if exchange.dialect == LITELLM:  # the calls of one run are files of one folder
                    folder = folder_of(log.file.name)
                    home, scope = homes.setdefault(folder, number), f"{scope} {folder}"
                step = threads.place(exchange, home, scope)
            steps.append(step)
        plan.append(steps)
        labels.append(log.label[:_NAME_CHARS])
    families = list(_families(threads.all))
    names = _names(families, logs, labels)
    for thread, main in families:
        parent = thread.parent or (main if main is not thread else _parent(thread, threads.all))
        yield SessionStart(
            session=names[thread.number],
            format=thread.dialect,
            parent=names[parent.number] if parent is not None else None,
            parent_call=thread.parent_call,
            agent=thread.agent,
            client=thread.client,
            title=thread.title,
            limit=thread.limit,
        )
    teller = Teller(names, threads.wanted, threads.referred)
    for number, steps in enumerate(plan):
        yield from teller.tell(logs.open(number), steps)


def _families(threads: list[Thread]) -> Iterator[tuple[Thread, Thread]]:
    """Each thread with the main one of its group; the groups in log order, the main one at the head of its group."""
    groups: dict[str, list[Thread]] = {}
    named = {thread.file: thread for thread in reversed(threads) if thread.session}
    for thread in threads:
        owner = thread if thread.session else named.get(thread.file, thread)
        group = f"session {owner.session}" if owner.session else f"file {owner.file}"
        groups.setdefault(group, []).append(thread)
    for members in groups.values():
        own = [thread for thread in members if thread.parent is None] or members
        main = max(own, key=lambda thread: (thread.count, thread.size, -thread.number))
        yield main, main
        yield from ((thread, main) for thread in members if thread is not main)


def _parent(thread: Thread, threads: list[Thread]) -> Thread | None:
    """The conversation that the client says started this one."""
    wanted = thread.parent_session
    if wanted is None or wanted == thread.session:
        return None
    return next((other for other in threads[: thread.number - 1] if other.session == wanted), None)


def _names(families: list[tuple[Thread, Thread]], logs: Logs, labels: list[str]) -> dict[int, str]:
    """Session id by thread number: the client's own id, or the file's stem; side threads add their number."""
    names: dict[int, str] = {}
    taken = Taken()
    for thread, main in families:
        file = logs.name(main.file)
        stem = name_of(file) if main.dialect == LITELLM else logs.stem(main.file)
        base = main.session or labels[main.file] or stem or "log"
        name = base if thread is main else f"{base}-{thread.number}"
        names[thread.number] = taken.take(name)
    return names
