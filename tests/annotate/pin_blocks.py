"""Blocks as a loader would yield them, for tests of what is found in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from ctxview.annotate.pins import DEFAULT, PinFinder, PinRules
from ctxview.loaders import detect
from ctxview.loaders.discover import discover
from ctxview.loaders.source import Source
from ctxview.model import Block, Call, CallEnd, Cut, Edit, Kind, Origin, Pin, Role, SessionStart, Snapshot
from ctxview.reconstruct import Arrival, SessionBuilder

_ids = count()
_ROLES: dict[Kind, Role] = {
    "system": "system",
    "tools": "system",
    "assistant": "assistant",
    "thinking": "assistant",
    "tool_call": "assistant",
    "tool_result": "tool",
}


def block(
    kind: Kind,
    text: str,
    *,
    tool: str | None = None,
    call: str | None = None,
    error: bool = False,
    human: bool | None = None,
) -> Block:
    number = next(_ids)
    return Block(
        session="s",
        id=f"b{number}",
        role=_ROLES.get(kind, "user"),
        kind=kind,
        text=text,
        origin=Origin("t.jsonl", number),
        message=f"m{number}",
        tool=tool,
        call_id=call,
        is_error=error,
        injected=kind == "note",
        human=kind == "user" if human is None else human,
    )


def person(text: str) -> Block:
    return block("user", text)


def agent(text: str) -> Block:
    return block("assistant", text)


def call(tool: str, arguments: object, call_id: str) -> Block:
    return block("tool_call", json.dumps(arguments), tool=tool, call=call_id)


def result(text: str, call_id: str = "", *, error: bool = False) -> Block:
    return block("tool_result", text, call=call_id or None, error=error)


def numbered(blocks: Iterable[Block]) -> list[tuple[Block, int, int]]:
    """Each block with its number and turn, where every run of the agent's blocks is one call."""
    rows, turn, before = [], 0, ""
    for n, one in enumerate(blocks):
        if one.role == "assistant" and before != "assistant":
            turn += 1
        before = one.role
        rows.append((one, n, turn))
    return rows


def pins_of(*blocks: Block, rules: PinRules = DEFAULT) -> tuple[Pin, ...]:
    """All pins, those included that ended at once."""
    finder = PinFinder(rules)
    for row in numbered(blocks):
        finder.see(*row)
    return finder.pins


def kinds_of(*blocks: Block) -> set[str]:
    """The kinds found in the last block."""
    return {p.kind for p in pins_of(*blocks) if p.block == len(blocks) - 1}


def arrivals(path: Path) -> list[tuple[str, Arrival]]:
    """What arrived in each session of a trace, in order."""
    files, _ = discover([path])
    loader = detect(files[0])
    assert loader is not None, path
    builders: dict[str, SessionBuilder] = {}
    rows: list[tuple[str, Arrival]] = []
    for event in loader.load(Source(tuple(files))):
        if isinstance(event, SessionStart) and event.session not in builders:
            name = event.session

            def arrive(arrival: Arrival, name: str = name) -> None:
                rows.append((name, arrival))

            builders[name] = SessionBuilder(event, hash, arrive)
        elif isinstance(event, SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot):
            builders[event.session].feed(event)
    return rows


def pins_in(path: Path, rules: PinRules = DEFAULT) -> list[tuple[Arrival, Pin]]:
    """Every pin of a trace with the arrival of its block."""
    finders: dict[str, PinFinder] = {}
    seen: dict[tuple[str, int], Arrival] = {}
    for session, arrival in arrivals(path):
        finder = finders.setdefault(session, PinFinder(rules))
        finder.see(arrival.block, arrival.n, arrival.turn)
        seen[session, arrival.n] = arrival
    return [(seen[session, pin.block], pin) for session, finder in finders.items() for pin in finder.pins]
