"""Captured calls and the conversations they make, while those are being found out.

It prevents a call from staying with a conversation that it turns out not to belong to: a call knows its thread, and
what was noted of a call follows it when its thread is split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ctxview.loaders.captures.kinship import Asked
from ctxview.loaders.captures.wire import Dialect


@dataclass(slots=True, eq=False)
class Step:
    """One captured call's place: what the second walk over the log needs to know."""

    thread: Thread
    file: int
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
    goes_on: bool = True
    """It goes on with the thread's previous call, so far as one can tell: it holds that one's answer or its summary."""
    after: Step | None = None
    """The thread's next call."""
    again: tuple[Step, ...] = ()
    """The steps that repeat this one."""


@dataclass(slots=True, eq=False)
class Thread:
    """A conversation under construction."""

    number: int
    root: int
    """Number of the thread that it was split off from; its own where it was not."""
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
    """Ids of the tool calls it has seen ..."""
    last_calls: frozenset[str] = frozenset()
    """... and of those in the last response."""
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
    starter: Step | None = None
    """The call whose answer started it."""
    parent_call: str | None = None
    parent_session: str | None = None
    agent: str | None = None
    limit: int | None = None
    client: str | None = None
    used: int = 0
    """When it was last gone on with, in calls of the log."""
    indexed: set[str] = field(default_factory=set)
    """The part of `calls` that can be looked up."""

    @property
    def parent(self) -> Thread | None:
        """The conversation that started it."""
        return self.starter.thread if self.starter is not None else None

    def split(self, step: Step, asked: Asked, number: int) -> Thread | None:
        """Give the calls after `step`, which `asked` goes on with, a thread of their own: they are of another run.

        None when there are none.
        """
        after = step.after
        if after is None:
            return None
        other = replace(
            self, number=number, file=after.file, count=0, indexed=set(), tools=set(self.tools), made=set(self.made),
            calls={*self.last_asked.calls, *self.last_calls},
        )  # fmt: skip
        moved: Step | None = after
        while moved is not None:
            for each in (moved, *moved.again):
                each.thread = other
            other.count += 1
            moved = moved.after
        step.after, self.last = None, step
        self.count -= other.count
        self.size, self.answered = 0, True
        self.calls.clear()  # what the request holds of them is noted with it
        self.made &= asked.compactions
        return other


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a window starts with."""

    call: Step | None
    """The latest call whose window and answer it starts with."""
    length: int
    """So many messages those are."""
    mark: int
    """Hash of all the window."""


class Answered:
    """Finds the call that a window goes on with word for word, however many others started as it did."""

    def __init__(self) -> None:
        self._calls: dict[int, Step] = {}

    def beginning(self, sent: Sequence[str], scope: str) -> Beginning:
        """Of a window of messages with these marks."""
        found: Step | None = None
        mark, length = hash(scope), 0
        for count, message in enumerate(sent, 1):
            mark = hash((mark, message))
            if mark in self._calls:
                found, length = self._calls[mark], count
        return Beginning(found, length, mark)

    def add(self, step: Step, window: int, answer: Sequence[str]) -> None:
        """Remember what came back for the window of that hash; an empty answer tells nothing."""
        if answer:
            for message in answer:
                window = hash((window, message))
            self._calls[window] = step
