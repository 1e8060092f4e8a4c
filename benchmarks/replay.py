"""Replaying one stack: sessions of 10,000 and 100,000 turns, each turn a call and its result."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.row import Row
from ctxview.annotate import Facts
from ctxview.model import NEVER, BlockRow, Observation, Pin, ResourceChange, SessionRow, SpanRow, TurnRow
from ctxview.policies import parse_stack
from ctxview.replay import prepare, replay
from ctxview.window import SessionView

LIMITS = {10_000: 50, 100_000: 1000}
"""Milliseconds by turns."""
STACKS = (
    "keep-last-n", "pin-goal", "carry-decisions", "supersede", "stale", "lifetime", "compact-groups:max=20000",
)  # fmt: skip
_ROUNDS = 3


def session(turns: int) -> SessionView:
    """A goal, then `turns` calls with their results; every tenth result reads one of 50 files again."""
    blocks: list[BlockRow] = []
    observations: list[Observation] = []
    changes: list[ResourceChange] = []
    last: dict[str, int] = {}

    def add(role: str, kind: str, turn: int, message: str, tokens: int, call: str | None = None) -> int:
        n = len(blocks)
        row = BlockRow(
            n, f"b{n}", message, role, kind, "read" if call else None, call, False, n, tokens, False, 4 * tokens,  # type: ignore[arg-type]
            "", turn, "f", n, None, None, False, False, kind == "user", False, None, None,
        )  # fmt: skip
        blocks.append(row)
        return n

    add("user", "user", 0, "goal", 40)
    for turn in range(1, turns + 1):
        add("assistant", "tool_call", turn, f"m{turn}", 20, f"c{turn}")
        n = add("tool", "tool_result", turn, f"r{turn}", 200, f"c{turn}")
        if turn % 10 == 0:
            key = f"file:{turn % 500}"
            observations.append(Observation(n, key, "read", turn, turn + 1, n - 1, content=str(turn)))
            if key in last:
                changes.append(ResourceChange(last[key], key, turn + 1, "superseded", n, "read again"))
            last[key] = n
    spans = [SpanRow(b.n, float(b.n), b.turn + 1, NEVER, "verbatim", b.content, b.tokens, None) for b in blocks]
    none = (None,) * 5
    calls = [
        TurnRow(t, f"t{t}", "m", None, None, "exact", (), *none, False, None, None, False, "f", t)
        for t in range(1, turns + 1)
    ]
    facts = Facts((Pin(0, "goal", "matched", "first message"),), tuple(observations), tuple(changes))
    row = SessionRow("s", None, None, None, "test", None, None, None, 200_000, False, None, None)
    return SessionView(row, calls, blocks, spans, (), (), (), lambda content: f"text {content}", facts=facts)


def seconds(view: SessionView, stack: str) -> tuple[float, float]:
    """The best of a few replays, without and with the rows of the alternate view."""
    parsed = parse_stack(stack)
    alone = whole = float("inf")
    for _ in range(_ROUNDS):
        start = time.process_time()
        done = replay(view, parsed)
        alone = min(alone, time.process_time() - start)
        done.view  # noqa: B018  (made when it is first read)
        whole = min(whole, time.process_time() - start)
    return alone, whole


def toggles(turns: int = 10_000) -> Iterator[Row]:
    """Milliseconds of processor time from a toggle to what the window is drawn from, and on to the last part: the
    sizes of all turns, what went wrong. The session was made ready as it is once its first window is on the screen."""
    from ctxview.tui.block_list import rows_at
    from ctxview.tui.facts import breadcrumbs, make_scene, status
    from ctxview.tui.stacks import finished, make_alternate

    for stack in ("keep-last-n", "pin-goal", "supersede"):
        view = session(turns)
        scene = make_scene(view)
        status(scene, view.last)
        prepare(view)
        drawn, whole = [], []
        for _ in range(_ROUNDS):
            start = time.process_time()
            made = make_alternate(scene, parse_stack(stack))
            items, _marks = rows_at(made.scene.view, view.last)
            made.scene.view.pairing(view.last)
            breadcrumbs("trace", made.scene, view.last, False), status(made.scene, view.last)
            _seen = items.blocks, items[-50:]
            drawn.append(1000 * (time.process_time() - start))
            finished(made)
            whole.append(1000 * (time.process_time() - start))
        first = f"{drawn[0]:.0f} ms the first time"
        yield Row(f"toggle of {stack} to its window, {turns:,} turns, ms", "<=", 100, min(drawn), first)
        first = f"{whole[0]:.0f} ms the first time; in the background"
        yield Row(f"toggle of {stack} to its last part, {turns:,} turns, ms", "<=", 500, min(whole), first)


def rows() -> Iterator[Row]:
    """Milliseconds of processor time, the session being prepared; the first replay of a session is a row of its own."""
    for turns, limit in LIMITS.items():
        view = session(turns)
        start = time.process_time()
        replay(view, parse_stack("history"))
        first = time.process_time() - start
        for stack in STACKS:
            alone, whole = seconds(view, stack)
            detail = f"{1000 * whole:.0f} ms with the view, {1000 * first:.0f} ms to prepare"
            yield Row(f"replay of {stack}, {turns:,} turns, ms", "<=", limit, 1000 * alone, detail)
    yield from toggles()
