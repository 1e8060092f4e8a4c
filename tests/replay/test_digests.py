"""A summary stands for all that came before it: what earlier ones stood for, and the person's words beside them."""

from __future__ import annotations

import re

import pytest

from ctxview.model import Observation
from ctxview.policies import parse_stack
from ctxview.replay import Replay, replay
from ctxview.window import SessionView

from .sessions import Script, with_facts, words


def under(view: SessionView, stack: str) -> Replay:
    return replay(view, parse_stack(stack), count=words)


def counts(done: Replay) -> list[int]:
    """What the digests say they stand for, in order."""
    texts = [done.view.text(b.content) for b in done.view.blocks[len(done.recorded.blocks) :]]
    found = [re.search(r"\[compacted (\d+) earlier messages\]", text) for text in texts]
    assert all(found)
    return [int(match[1]) for match in found if match]


def fetching() -> SessionView:
    """A goal and 24 calls with results."""
    script = Script()
    script.user("goal goal goal")
    for number in range(24):
        script.call()
        script.use(f"c{number}", "fetch")
        script.result(f"c{number}", "word " * 30, tool="fetch")
    script.call()
    view = script.view(limit=1000)
    results = [b for b in view.blocks if b.kind == "tool_result"]
    read = [Observation(b.n, f"file:f{b.n}", "read", b.turn, b.turn + 1, content=str(b.n)) for b in results]
    return with_facts(view, (), read)


@pytest.mark.parametrize(
    "stack",
    [
        "compact-groups:max=400:keep=2", "langchain-summarize:trigger=300:keep=4",
        "openhands-condenser:max=10:first=2", "codex-compact:window=300",
        "pi-compact:window=300:reserve=0:keep=80", "anthropic-compact:trigger=300:stub=20",
    ],
)  # fmt: skip
def test_every_summary_adds_to_what_the_one_before_stood_for(stack: str) -> None:
    done = under(fetching(), stack)
    stated = counts(done)
    assert len(stated) > 1
    assert stated == sorted(set(stated))
    standing = [w for w in done.view.window(25) if w.block.n < len(done.recorded.blocks)]
    messages = {b.message for b in done.recorded.blocks} - {w.block.message for w in standing}
    assert stated[-1] == len(messages)


def talking() -> Script:
    script = Script()
    script.user("goal")
    for number in range(40):
        script.call()
        script.say("w " * 20)
        script.user(f"u{number} " * 10)
    script.call()
    return script


@pytest.mark.parametrize("stack", ["openhands-condenser:max=20:first=1", "langchain-summarize:trigger=200:keep=3"])
@pytest.mark.parametrize("joins", [False, True])
def test_a_summary_gives_way_to_the_next_where_the_person_speaks_beside_it(stack: str, joins: bool) -> None:
    """Some clients send neighbours of one role as one message: the digest goes out with the goal, and is no part of
    it."""
    done = under(talking().view(joins_roles=joins), stack)
    stated = counts(done)
    assert len(stated) > 1
    assert stated == sorted(set(stated))
    for turn in range(1, 42):
        standing = [w.block.n for w in done.view.window(turn)]
        assert sum(n >= len(done.recorded.blocks) for n in standing) <= 1, turn
    gone = 81 - sum(n < len(done.recorded.blocks) for n in standing)
    assert stated[-1] == gone
