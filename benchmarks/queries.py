"""The window at a turn, by SQL and in Python, on a session of 70,000 turns."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator

from benchmarks.row import Row
from ctxview.model import NEVER, BlockRow, SessionRow, SpanRow, TurnRow
from ctxview.store import Store

TURNS = 70_000
BLOCKS_PER_TURN = 4
STAY = 60
"""Turns a block stands in the window."""
_WINDOW = "select index, id, kind, tool, tokens, form from v_window where session = 's'"


def rows() -> Iterator[Row]:
    store = _store()
    rng = random.Random(3)
    turns = [rng.randrange(1, TURNS) for _ in range(60)]
    nothing = _median(lambda _: store.ask("select 1"), turns)
    window = _median(lambda t: store.ask(f"{_WINDOW} and turn = {t:d} order by index"), turns)
    yield Row("window at a turn ÷ `select 1`, 70,000 turns", "<=", 10, window / nothing, f"{window * 1e3:.1f} ms")
    view = store.view("s")
    view.window(1)
    python = _median(view.window, turns)
    yield Row("the same in Python ÷ `select 1`", "<=", 10, python / nothing, f"{python * 1e3:.1f} ms")


def _median(ask: Callable[[int], object], turns: list[int]) -> float:
    times = []
    for turn in turns:
        start = time.perf_counter()
        ask(turn)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _store() -> Store:
    store = Store.memory()
    store.add_sessions([SessionRow("s", None, None, None, "bench", None, None, None, None, False, None, None)])
    store.add_contents([(0, "text", 4, 1, False)])
    blocks, spans = [], []
    for n in range(TURNS * BLOCKS_PER_TURN):
        turn = n // BLOCKS_PER_TURN
        blocks.append(_block(n, turn))
        end = NEVER if n % 50 == 0 and n < 2000 else turn + 1 + STAY
        spans.append(SpanRow(n, float(n), turn + 1, end, "verbatim", 0, 20, None))
    store.add_blocks("s", blocks)
    store.add_spans("s", spans)
    store.add_turns("s", [_turn(t) for t in range(1, TURNS + 1)])
    store.finish()
    return store


def _block(n: int, turn: int) -> BlockRow:
    return BlockRow(
        n=n, id=f"b{n}", message=f"m{n}", role="user", kind="user", tool=None, call_id=None, is_error=False, content=0,
        tokens=20, estimated=False, chars=4, preview="text", turn=turn, file="f", line=n, origin_id=None, at=None,
        injected=False, inherited=False, human=False, inserted=False, note=None, image=None,
    )  # fmt: skip


def _turn(turn: int) -> TurnRow:
    return TurnRow(
        turn=turn, call=f"c{turn}", model=None, client=None, at=None, fidelity="exact", missing=(), input=10,
        cache_read=None, cache_write=None, output=1, reasoning=None, output_partial=False, stop_reason=None, error=None,
        inherited=False, file="f", line=turn,
    )  # fmt: skip
