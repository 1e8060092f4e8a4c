"""The terminal interface through a pseudo-terminal: first paint, turn and cursor keys, search, memory.

    python -m benchmarks.tui [--turns 5000] [--blocks 100000] [--keys 150] [--json]

The trace is made up and written to a store file by another process beforehand, so that what is measured is the
interface: its own start, its own keys and its own memory. `measure` returns the same figures as plain values.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that it also runs as a script

from benchmarks.row import Row

ROOT: Final = Path(__file__).resolve().parent.parent
SIZES: Final = ((80, 24), (160, 45))
LIMITS: Final = {"first_paint_ratio": 1.15, "turn_key_p95_ms": 50.0, "memory_mb": 150.0}
"""From the performance targets: the figures a run is held against."""

_EMPTY_APP: Final = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("painted-now")
Empty().run()
"""
_SHOW: Final = """
import sys
from ctxview.focus import Focus
from ctxview.tui import run
def open_trace(progress):
    from pathlib import Path
    from ctxview.ingest.trace import Trace
    from ctxview.store import Store
    return Trace("big.jsonl", Store.open(Path(sys.argv[1])))
sys.exit(run(open_trace, "big.jsonl", Focus(turn=100)))
"""
"""What the measured process runs: the interface on a store file, and nothing of this file."""


# ------------------------------------------------------------------------------------------------------- the trace


def make_store(path: Path, turns: int, blocks: int) -> None:
    """A session of `turns` turns and `blocks` blocks with a compaction about every 120 turns."""
    from ctxview.model import (
        NEVER,
        BlockRow,
        CutRow,
        EditRow,
        FileRow,
        SessionRow,
        SpanRow,
        Stretch,
        TurnRow,
    )  # fmt: skip
    from ctxview.store import Store
    from ctxview.window.texts import PREVIEW_CHARS

    dice = random.Random(7)
    words = ("alpha", "bravo", "scheduler", "config", "token", "window", "budget", "retry", "error", "passed", "value")
    texts: list[str] = []
    block_rows: list[BlockRow] = []
    open_spans: dict[int, SpanRow] = {}
    done: list[SpanRow] = []
    edits: list[EditRow] = []
    cuts: list[CutRow] = []
    turn_rows: list[TurnRow] = []
    shapes = (("assistant", "assistant", None), ("assistant", "tool_call", "Bash"), ("tool", "tool_result", "Bash"))
    whole = 0
    every = max(2, turns // 42)
    per_turn = max(1, blocks // turns)

    def add(turn: int, role: Any, kind: Any, tool: str | None, call: str | None) -> None:
        nonlocal whole
        n = len(block_rows)
        text = " ".join(dice.choices(words, k=int(dice.lognormvariate(3.2, 1.0)) + 3))
        if n % 9_973 == 0:
            text += f" needle-{n}"
        tokens = max(1, len(text) // 4)
        whole += tokens
        texts.append(text)
        block_rows.append(BlockRow(
            n=n, id=f"b{n:06d}", message=f"m{n}", role=role, kind=kind, tool=tool, call_id=call, is_error=False,
            content=n, tokens=tokens, estimated=False, chars=len(text), preview=text[:PREVIEW_CHARS], turn=turn,
            file="big.jsonl", line=n + 1, origin_id=None, at="2026-03-01T09:00:05Z", injected=False, inherited=False,
            human=kind == "user", inserted=kind == "summary", note=None, image=None,
        ))  # fmt: skip
        open_spans[n] = SpanRow(n, float(n), turn + 1, NEVER, "verbatim", n, tokens, None)

    add(0, "user", "user", None, None)
    for turn in range(1, turns + 1):
        if turn % every == 0:
            for n in [n for n, s in open_spans.items() if s.start < turn and n % 50]:
                why = "summarised by the client"
                edits.append(EditRow(len(edits), turn, "recorded", "compact", why, n, "drop", None, (), {}, len(cuts)))
                span = open_spans.pop(n)
                whole -= span.tokens
                done.append(replace(span, end=turn, ended_by=len(edits) - 1))
            add(turn - 1, "user", "summary", None, None)
            cuts.append(CutRow(len(cuts), turn, "compact", "auto", whole * 3, whole, 100, 10, 50, "big.jsonl", turn))
        turn_rows.append(TurnRow(
            turn, f"call{turn}", "claude-demo-5", "made up", "2026-03-01T09:00:10Z", "reconstructed",
            ("system", "tools"), 10, whole + 5_000, None, 200, None, False, "end_turn", None, False, "big.jsonl", turn,
        ))  # fmt: skip
        for i in range(per_turn):
            role, kind, tool = shapes[i % 3]
            add(turn, role, kind, tool, None if tool is None else f"toolu_{turn}_{i // 3}")
    row = SessionRow("s-big", None, None, None, "made up", "1.0", "A big session", "/repo", 1_000_000, True, None, None)
    with Store.create(path) as store:
        store.add_files([FileRow("big.jsonl", "made up", 1, 1, 1, 0, {}, {}, 0)])
        store.add_sessions([row])
        store.add_contents((i, t, len(t), block_rows[i].tokens, False) for i, t in enumerate(texts))
        store.add_blocks("s-big", block_rows)
        store.add_turns("s-big", turn_rows)
        store.add_spans("s-big", [*done, *open_spans.values()])
        store.add_edits("s-big", edits)
        store.add_cuts("s-big", cuts)
        store.add_audit("s-big", [Stretch(1, turns, 1.0, 5_000, (), 0.01, 0.03, "claude-demo-5")])
        store.finish()


# -------------------------------------------------------------------------------------------------------- the pty


class Terminal:
    """A process on a pseudo-terminal of a size."""

    def __init__(self, arguments: Sequence[str], size: tuple[int, int]) -> None:
        self.seen = b""
        self.started = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": paths}
            env.pop("NO_COLOR", None)
            os.execve(sys.executable, [sys.executable, *arguments], env)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def until(self, pattern: bytes, seconds: float = 60.0) -> float:
        """Seconds since the start at which what was written matches a pattern."""
        end = time.perf_counter() + seconds
        while re.search(pattern, self.seen) is None:
            if time.perf_counter() > end:
                raise TimeoutError(f"{pattern!r} was not written; the last was {self.seen[-300:]!r}")
            self._read(0.05)
        return time.perf_counter() - self.started

    def quiet(self, seconds: float = 0.03) -> None:
        """Read until nothing more comes, and forget it."""
        while self._read(seconds):
            pass
        self.seen = b""

    def _read(self, seconds: float) -> bool:
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            self.seen += os.read(self._fd, 65536)
        except OSError:
            return False
        return True

    def press(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def key(self, keys: bytes, pattern: bytes) -> float:
        """Milliseconds from a key to the pattern that shows it was drawn."""
        self.quiet()
        start = time.perf_counter()
        self.press(keys)
        self.until(pattern)
        return (time.perf_counter() - start) * 1e3

    def memory(self) -> float:
        """Resident memory in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)


def _part(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _paints(shown: Sequence[str], size: tuple[int, int], runs: int) -> tuple[float, float]:
    """Seconds to this interface's first paint, and their ratio to those of an empty Textual app started just before:
    medians of several pairs, so that one start in a quick moment of the machine does not decide."""
    empty: list[float] = []
    ours: list[float] = []
    for _ in range(runs):
        for arguments, pattern, found in ((["-c", _EMPTY_APP], b"painted-now", empty), (shown, "›".encode(), ours)):
            terminal = Terminal(arguments, size)
            try:
                found.append(terminal.until(pattern))
            finally:
                terminal.close()
    return median(ours), median(own / other for own, other in zip(ours, empty, strict=True))


def measure(turns: int = 5_000, blocks: int = 100_000, keys: int = 150, starts: int = 16) -> dict[str, Any]:
    """Build the trace, run everything, and return plain values."""
    if not hasattr(os, "fork"):
        raise SystemExit("needs a pseudo-terminal")
    with tempfile.TemporaryDirectory(prefix="ctxview-bench-") as folder:
        path = Path(folder) / "big.duckdb"
        build = [sys.executable, __file__, "--build", str(path), "--turns", str(turns), "--blocks", str(blocks)]
        subprocess.run(build, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
        shown = ["-c", _SHOW, str(path)]
        found: dict[str, Any] = {"turns": turns, "blocks": blocks, "keys": keys, "limits": LIMITS, "sizes": {}}
        for size in SIZES:
            found["sizes"]["{}x{}".format(*size)] = _measure_size(shown, size, keys, starts)
    return found


def _measure_size(shown: Sequence[str], size: tuple[int, int], keys: int, starts: int) -> dict[str, float]:
    first, ratio = _paints(shown, size, starts)
    terminal = Terminal(shown, size)
    try:
        data = terminal.until(rb"turn 100/")
        time.sleep(1.5)
        turns = [terminal.key(b"l", rb"%d" % turn + rb"/") for turn in range(101, 101 + keys)]
        terminal.quiet()
        start = time.perf_counter()
        last = 100 + keys
        for turn in range(last + 1, last + 61):  # a held key, 30 times a second
            terminal.press(b"l")
            time.sleep(max(0.0, start + (turn - last) / 30 - time.perf_counter()))
        sent = time.perf_counter()
        terminal.until(rb"%d/" % (last + 60))
        lag = (time.perf_counter() - sent) * 1e3
        terminal.press(b"\x1b[H")  # Home
        terminal.quiet(0.3)
        cursor = [terminal.key(b"j", "▌".encode()) for _ in range(min(keys, 100))]
        memory = terminal.memory()
        terminal.press(b"/")
        terminal.quiet(0.5)
        search = terminal.key(b"needle-99730\r", rb"1 of 1 hit in 1 block")
        searched = terminal.memory()
    finally:
        terminal.close()
    return {
        "first_paint_s": round(first, 3),
        "first_paint_ratio": round(ratio, 3),
        "data_shown_s": round(data, 3),
        "turn_key_p50_ms": round(_part(turns, 0.5), 1),
        "turn_key_p95_ms": round(_part(turns, 0.95), 1),
        "held_key_lag_ms": round(lag, 1),
        "cursor_key_p50_ms": round(_part(cursor, 0.5), 1),
        "cursor_key_p95_ms": round(_part(cursor, 0.95), 1),
        "search_session_ms": round(search, 1),
        "memory_mb": round(memory, 1),
        "memory_after_search_mb": round(searched, 1),
    }


def rows() -> Iterator[Row]:
    """The figures that have a limit, for `benchmarks.run`."""
    found = measure()
    for size, figures in found["sizes"].items():
        what = f"{found['turns']:,} turns, {found['blocks']:,} blocks, {size}"
        data = f"data shown after {figures['data_shown_s']:.2f} s"
        yield Row(f"tui: first paint / empty Textual app, {size}", "<=", LIMITS["first_paint_ratio"],
                  figures["first_paint_ratio"], data)  # fmt: skip
        held = f"p50 {figures['turn_key_p50_ms']:.0f}, lag of a held key {figures['held_key_lag_ms']:.0f} ms"
        yield Row(f"tui: turn key to redraw, p95 ms, {size}", "<=", LIMITS["turn_key_p95_ms"],
                  figures["turn_key_p95_ms"], f"{held}; {what}")  # fmt: skip
        yield Row(f"tui: resident memory, MB, {size}", "<=", LIMITS["memory_mb"], figures["memory_mb"], what)


def table(found: dict[str, Any]) -> str:
    """The figures as text, with the limit where there is one."""
    names = list(next(iter(found["sizes"].values())))
    lines = [f"{found['turns']:,} turns, {found['blocks']:,} blocks"]
    lines.append(f"{'':26}" + "".join(f"{size:>10}" for size in found["sizes"]))
    for name in names:
        values = [found["sizes"][size][name] for size in found["sizes"]]
        limit = LIMITS.get(name)
        verdict = "" if limit is None else f"   limit {limit:g}: {'ok' if max(values) <= limit else 'OVER'}"
        lines.append(f"{name:26}" + "".join(f"{v:>10}" for v in values) + verdict)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5_000)
    parser.add_argument("--blocks", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=150)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build:
        make_store(arguments.build, arguments.turns, arguments.blocks)
        return 0
    found = measure(arguments.turns, arguments.blocks, arguments.keys)
    print(json.dumps(found, indent=2) if arguments.json else table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
