"""A log of tool calls and results, and what is found in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctxview.annotate.observations import DEFAULT, ObservationFinder, ResourceRules, Resources
from ctxview.loaders import detect
from ctxview.loaders.discover import discover
from ctxview.loaders.source import Source
from ctxview.model import (
    Block,
    Call,
    CallEnd,
    Cut,
    Edit,
    Kind,
    Observation,
    Origin,
    ResourceChange,
    ResourceState,
    Role,
    SessionStart,
    Snapshot,
)
from ctxview.reconstruct import Arrival, SessionBuilder

ROOT = Path(__file__).resolve().parents[2]
Row = tuple[Block, int, int]
"""A block, its number and its turn."""


@dataclass(slots=True)
class Found:
    """What a session's observations are, and the blocks they stand on."""

    blocks: list[Block]
    observations: tuple[Observation, ...]
    changes: tuple[ResourceChange, ...]

    @property
    def resources(self) -> Resources:
        return Resources(self.observations, self.changes)

    def by_origin(self, id_: str) -> int:
        """Number of the block that the log's record `id_` holds."""
        return next(n for n, block in enumerate(self.blocks) if block.origin.id == id_)

    def state(self, id_: str, turn: int) -> ResourceState | None:
        return self.resources.state_at(self.by_origin(id_), turn)

    def rows_and_changes(self) -> tuple[tuple[Observation, ...], tuple[ResourceChange, ...]]:
        return self.observations, self.changes

    def rows(self) -> list[tuple[str | None, str, tuple[int | None, int | None]]]:
        """Key, effect and lines of each observation."""
        return [(row.key, row.effect, (row.first, row.last)) for row in self.observations]

    def live(self, key: str) -> list[Observation]:
        """What nothing has superseded or made stale."""
        return [row for row in self.observations if row.key == key and self.resources.state(row, 10**6) == "live"]


@dataclass(slots=True)
class Log:
    """Calls one after another, each in a turn of its own unless it is said to be parallel."""

    cwd: str | None = "/w"
    rules: ResourceRules = DEFAULT
    rows: list[Row] = field(default_factory=list)
    turn: int = 0

    def add(self, kind: Kind, text: str, *, role: Role = "user", **more: object) -> int:
        n = len(self.rows)
        block = Block("s", f"b{n}", role, kind, text, Origin("t", n + 1, f"b{n}"), **more)  # type: ignore[arg-type]
        self.rows.append((block, n, self.turn))
        return n

    def call(self, tool: str, arguments: object, *, parallel: bool = False, id_: str | None = None) -> int:
        """A tool call; returns its block number. A text stands for arguments that are not JSON."""
        self.turn += not parallel
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return self.add("tool_call", text, role="assistant", tool=tool, call_id=id_ or f"c{len(self.rows)}")

    def result(self, text: str, *, of: int | None = None, error: bool = False) -> int:
        """The answer to the newest call, or to the call in block `of`."""
        calls = [n for block, n, _ in self.rows if block.kind == "tool_call"]
        call = self.rows[calls[-1] if of is None else of][0]
        return self.add("tool_result", text, role="tool", call_id=call.call_id, is_error=error)

    def do(self, tool: str, arguments: object, answer: str, *, error: bool = False) -> tuple[int, int]:
        """A call and its result: their block numbers."""
        call = self.call(tool, arguments)
        return call, self.result(answer, of=call, error=error)

    def read(self, path: str, text: str, first: int = 1, **more: object) -> int:
        """A reading by Claude Code's Read tool: the block number of its result."""
        return self.do("Read", {"file_path": path, **more}, number(text, first))[1]

    def bash(self, command: str, answer: str = "", *, error: bool = False) -> tuple[int, int]:
        return self.do("Bash", {"command": command}, answer, error=error)

    def note(self, text: str) -> int:
        return self.add("note", text, injected=True)

    def find(self, upto: int | None = None) -> Found:
        """What is found in the first `upto` blocks."""
        finder = ObservationFinder(self.rules, self.cwd)
        rows = self.rows[:upto]
        for block, n, turn in rows:
            finder.see(block, n, turn)
        observations, changes = finder.drain()
        return Found([block for block, _, _ in rows], observations, changes)


def number(text: str, first: int = 1) -> str:
    """A text with line numbers, as Claude Code's Read tool shows it."""
    return "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(text.split("\n"), first))


def lines(first: int, last: int, word: str = "line") -> str:
    return "\n".join(f"{word} {n}" for n in range(first, last + 1))


def read_trace(path: Path) -> list[tuple[SessionStart, list[Row]]]:
    """Each session of a trace with its blocks, numbered as reconstruction numbers them."""
    files, _ = discover([path])
    loader = detect(files[0])
    assert loader is not None
    found: dict[str, tuple[SessionStart, list[Row]]] = {}
    builders: dict[str, SessionBuilder] = {}

    def taker(rows: list[Row]) -> Callable[[Arrival], None]:
        def take(arrival: Arrival) -> None:
            # The finder must not need more of a text than it is given now, so the rows may hold it.
            rows.append((arrival.block, arrival.n, arrival.turn))

        return take

    contents: dict[str, int] = {}
    for event in loader.load(Source(tuple(files))):
        if isinstance(event, SessionStart) and event.session not in found:
            found[event.session] = (event, [])
            keep = lambda text: contents.setdefault(text, len(contents))  # noqa: E731
            builders[event.session] = SessionBuilder(event, keep, taker(found[event.session][1]))
        elif isinstance(event, SessionStart):
            start, rows = found[event.session]
            found[event.session] = (replace(start, cwd=event.cwd or start.cwd), rows)
        elif isinstance(event, Block | Call | CallEnd | Edit | Cut | Snapshot):
            builders[event.session].feed(event)
    return list(found.values())


def find_in(start: SessionStart, rows: list[Row], rules: ResourceRules = DEFAULT) -> Found:
    finder = ObservationFinder(rules, start.cwd)
    for block, n, turn in rows:
        finder.see(block, n, turn)
    observations, changes = finder.drain()
    return Found([block for block, _, _ in rows], observations, changes)


def only_session(path: Path) -> Found:
    ((start, rows),) = read_trace(path)
    return find_in(start, rows)
