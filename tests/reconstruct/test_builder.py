"""What the builder tells apart, and what it takes back: blocks of one content, and failures of earlier attempts."""

from __future__ import annotations

from collections.abc import Iterable

from ctxview.model import Block, Call, CallEnd, Origin, SessionEvent, SessionStart, Snapshot, TurnRow, Usage
from ctxview.reconstruct import Arrival, Built, SessionBuilder
from ctxview.store import Store

HERE = Origin("f", 1)


def block(kind: str, text: str, id_: str, message: str | None = None) -> Block:
    role = "assistant" if kind in ("assistant", "thinking") else "user"
    return Block("s", id_, role, kind, text, HERE, message=message or id_)  # type: ignore[arg-type]


def window(*blocks: Block) -> Snapshot:
    return Snapshot("s", blocks, "captured request", HERE)


class Rows:
    """Takes what a builder hands on."""

    def __init__(self) -> None:
        self.turns: list[TurnRow] = []

    def take(self, turns: list[TurnRow], spans: object, edits: object) -> None:
        self.turns += turns


def build(events: Iterable[SessionEvent], rows: Rows | None = None) -> tuple[Built, list[Block]]:
    """The finished session, and its blocks as they arrived."""
    arrived: list[Arrival] = []
    builder = SessionBuilder(SessionStart("s", "test"), hash, arrived.append, rows)
    for event in events:
        builder.feed(event)
    return builder.finish(), [arrival.block for arrival in arrived]


def test_the_same_answer_again_is_a_block_and_a_message_of_its_own() -> None:
    """After the window was cut, or in a branch: no id leads to two blocks, and no message has the parts of two."""
    thought, ok = block("thinking", "", "t1"), block("assistant", "OK", "a1", message="t1")
    more = block("user", "more", "u2")
    built, blocks = build([
        window(block("user", "go", "u1")), Call("s", "c1", HERE), thought, ok,
        window(block("user", "go", "u1"), thought, ok, more), Call("s", "c2", HERE),
        window(more), Call("s", "c3", HERE), thought, ok,
        window(more, thought, ok), Call("s", "c4", HERE), thought, ok, thought, ok,
    ])  # fmt: skip
    assert [(b.id, b.message) for b in blocks if b.kind in ("thinking", "assistant")] == [
        ("t1", "t1"), ("a1", "t1"), ("t1-2", "t1-2"), ("a1-2", "t1-2"),
        ("t1-3", "t1-3"), ("a1-3", "t1-3"), ("t1-4", "t1-4"), ("a1-4", "t1-4"),
    ]  # fmt: skip
    assert [(cut.turn, cut.dropped) for cut in built.cuts] == [(3, 3)], "the copies are the answers themselves"
    assert {edit.turn for edit in built.edits} == {3}


def test_an_answer_undoes_the_failure_of_an_earlier_attempt() -> None:
    """What ended well is no failure; a failure after an answer is told, with what the answer reported."""
    failed, ended = CallEnd("s", "c1", error="HTTP 529"), CallEnd("s", "c1", Usage(input=7), "end_turn")
    for ends, error in (([failed, ended], None), ([ended, failed], "HTTP 529"), ([failed, failed], "HTTP 529")):
        built, _ = build([Call("s", "c1", HERE), *ends])
        (turn,) = built.turns
        assert turn.error == error
        assert turn.input == (7 if ended in ends else None)


def test_an_answer_that_comes_late_undoes_the_failure_too() -> None:
    """Even when the turn's row has been written meanwhile."""
    rows = Rows()
    calls = [Call("s", f"c{n}", HERE) for n in range(1, 1_001)]
    failed, ended = CallEnd("s", "c1", error="HTTP 529"), CallEnd("s", "c1", Usage(input=7), "end_turn")
    built, _ = build([calls[0], failed, *calls[1:], ended], rows)
    assert rows.turns[0].error == "HTTP 529"
    with Store.memory() as store:
        store.add_turns("s", [*rows.turns, *built.turns])
        store.amend_turns("s", built.late)
        store.finish()
        first = store._all("SELECT turn, error, input, stop_reason FROM turns ORDER BY turn LIMIT 1")
    assert first == [(1, None, 7, "end_turn")]
