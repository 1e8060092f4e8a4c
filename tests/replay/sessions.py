"""Sessions made in memory: a script of what arrives and when, as the view that a replay starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ctxview.annotate import Facts
from ctxview.model import (
    Block,
    BlockRow,
    Call,
    CallEnd,
    Cut,
    Edit,
    Event,
    Observation,
    Origin,
    Pin,
    ResourceChange,
    SessionRow,
    SessionStart,
    SpanRow,
    Usage,
)
from ctxview.reconstruct.builder import SessionBuilder
from ctxview.window import SessionView

SESSION = "s"


def words(text: str) -> int:
    """A counter that tests can follow: one token per word."""
    return len(text.split())


def view_of(
    events: Iterable[Event],
    *,
    count: Callable[[str], int] = words,
    facts: Facts | None = None,
    limit: int | None = None,
    joins_roles: bool = False,
) -> SessionView:
    """The recorded view of one session's events, with the real builder and no store."""
    texts: list[str] = []
    keys: dict[str, int] = {}
    blocks: list[BlockRow] = []

    def keep(text: str) -> int:
        if text not in keys:
            keys[text] = len(texts)
            texts.append(text)
        return keys[text]

    def arrive(arrival) -> None:  # type: ignore[no-untyped-def]
        block: Block = arrival.block
        row = BlockRow(
            arrival.n, block.id, block.message, block.role, block.kind, block.tool, block.call_id, block.is_error,
            arrival.content, count(block.text), False, len(block.text), block.text[:240], arrival.turn,
            block.origin.file, block.origin.line, block.origin.id, block.at, block.injected, block.inherited,
            block.human, block.inserted, block.note, None,
        )  # fmt: skip
        blocks.append(row)

    start = SessionStart(SESSION, "test", joins_roles=joins_roles)
    builder = SessionBuilder(start, keep, arrive)
    for event in events:
        builder.feed(event)  # type: ignore[arg-type]
    built = builder.finish()
    sizes: dict[int, int] = {}
    spans: list[SpanRow] = []
    for span in built.spans:
        if span.content not in sizes:
            sizes[span.content] = count(texts[span.content])
        spans.append(replace(span, tokens=sizes[span.content]))
    row = SessionRow(SESSION, None, None, None, "test", None, None, None, limit, joins_roles, None, None)
    return SessionView(row, built.turns, blocks, spans, built.edits, built.cuts, (), texts.__getitem__, facts=facts)


class Script:
    """Writes a session's events line by line. Every method returns the id of the block that it made."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.count = 0
        self.turn = 0

    def block(self, role: str, kind: str, text: str, message: str | None = None, **more: object) -> str:
        self.count += 1
        block_id = f"b{self.count}"
        self.events.append(
            Block(SESSION, block_id, role, kind, text, Origin("f", self.count), message or block_id, **more)  # type: ignore[arg-type]
        )
        return block_id

    def system(self, text: str) -> str:
        return self.block("system", "system", text)

    def user(self, text: str) -> str:
        return self.block("user", "user", text, human=True)

    def call(self, prompt: int | None = None) -> str:
        """A model call: what follows until the next one is its answer and what comes of it."""
        self.turn += 1
        self.events.append(Call(SESSION, f"t{self.turn}", Origin("f", self.count), "model"))
        if prompt is not None:
            self.events.append(CallEnd(SESSION, f"t{self.turn}", Usage(input=prompt)))
        return f"m{self.turn}"

    def say(self, text: str, message: str | None = None) -> str:
        return self.block("assistant", "assistant", text, message or f"m{self.turn}")

    def think(self, text: str, message: str | None = None) -> str:
        return self.block("assistant", "thinking", text, message or f"m{self.turn}")

    def use(self, call_id: str, tool: str = "read", text: str = "{}", message: str | None = None) -> str:
        return self.block("assistant", "tool_call", text, message or f"m{self.turn}", tool=tool, call_id=call_id)

    def result(self, call_id: str, text: str, message: str | None = None, tool: str = "read") -> str:
        return self.block("tool", "tool_result", text, message, tool=tool, call_id=call_id)

    def cut(self, gone: Sequence[str], kind: str = "compact", rule: str | None = None) -> None:
        edits = tuple(Edit(SESSION, "drop", b, rule or kind, "the client cut") for b in gone)
        self.events.append(Cut(SESSION, f"c{self.count}", kind, Origin("f", self.count), edits=edits))  # type: ignore[arg-type]

    def edits(self) -> list[Edit]:
        """What the client did so far."""
        cuts = (e.edits if isinstance(e, Cut) else (e,) for e in self.events)
        return [e for some in cuts for e in some if isinstance(e, Edit)]

    def view(self, **options: object) -> SessionView:
        return view_of(self.events, **options)  # type: ignore[arg-type]


def with_facts(
    view: SessionView,
    pins: Iterable[Pin] = (),
    observations: Iterable[Observation] = (),
    changes: Iterable[ResourceChange] = (),
) -> SessionView:
    """The same view with other facts."""
    return SessionView(
        view.row, list(view.turns), view.blocks, view.spans, list(view.edits), list(view.cuts), view.audit, view.text,
        facts=Facts(tuple(pins), tuple(observations), tuple(changes)),
    )  # fmt: skip


def shown(view: SessionView, turn: int) -> list[tuple[str, str, str]]:
    """Id, form and text of every block of a window."""
    return [(w.block.id, w.span.form, view.text(w.span.content)) for w in view.window(turn)]


def ids(view: SessionView, turn: int) -> list[str]:
    return [w.block.id for w in view.window(turn)]
