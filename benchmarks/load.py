"""Reading a trace: speed against parsing and counting alone, memory, the database's size, a second opening."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchmarks.inputs import write_session
from benchmarks.row import Row
from ctxview.ingest.inputs import find_inputs
from ctxview.ingest.load import read_inputs
from ctxview.store import Store
from ctxview.tokens import Counter

MB = 1_000_000


def rows(folder: Path, *, big: bool) -> Iterator[Row]:
    """Every row about loading. `big` adds the gigabyte."""
    trace = write_session(folder / "50.jsonl", 50 * MB)
    size = trace.stat().st_size
    parse, texts = _parse(trace)
    counting = _count(texts)
    alone = parse + counting
    structure = _read(trace, "estimate")
    speed = size / MB
    one = _read(trace, "one")
    two = _read(trace, "workers")
    yield Row(
        "exact load, one process ÷ (parse + tiktoken alone)", ">=", 0.85, alone / one, f"{speed / one:.1f} MB/s"
    )
    yield Row("exact load, workers ÷ the same", ">=", 1.2, alone / two, f"{speed / two:.1f} MB/s")
    yield Row("structure only ÷ parse alone", ">=", 0.6, parse / structure, f"{speed / structure:.1f} MB/s")
    yield from _database(folder, trace, texts)
    yield from _openings(folder)
    if big:
        yield from _memory(folder)


def _parse(trace: Path) -> tuple[float, list[str]]:
    """Seconds to parse every line, and the distinct texts that our reading finds in the trace."""
    start = time.perf_counter()
    with trace.open("rb") as lines:
        for line in lines:
            orjson.loads(line)
    seconds = time.perf_counter() - start
    with read_inputs(find_inputs([str(trace)]), Store.memory(), exact=False) as read:
        answer = read.store.ask("select text from contents", rows=10**7, seconds=600)
    return seconds, [row[0] for row in answer.rows]


def _count(texts: list[str]) -> float:
    counter = Counter()
    counter.count("warm")
    start = time.perf_counter()
    counter.count_many(texts)
    return time.perf_counter() - start


def _read(trace: Path, how: str) -> float:
    """Seconds to read the trace in a fresh process, start-up excluded."""
    out = _child(["read", str(trace), how])
    return float(out["seconds"])


def _database(folder: Path, trace: Path, texts: list[str]) -> Iterator[Row]:
    place = folder / "50.duckdb"
    _child(["build", str(trace), str(place)])
    text_bytes = sum(len(t.encode()) for t in texts)
    limit = 0.3 * text_bytes + 0.01 * trace.stat().st_size
    size = place.stat().st_size
    yield Row("database ÷ (0.3 of the text + 1 % of the JSONL)", "<=", 1.0, size / limit, f"{size / MB:.1f} MB")


def _openings(folder: Path) -> Iterator[Row]:
    for megabytes, first, second in ((5, 0.9, 0.4), (50, 8.8, 3.9)):
        trace = folder / f"{megabytes}.jsonl"
        if not trace.exists():
            write_session(trace, megabytes * MB)
        with tempfile.TemporaryDirectory() as cache:
            times = [_show(trace, cache) for _ in range(3)]
        yield Row(f"{megabytes} MB session, first load ÷ {first} s", "<=", 1.0, times[0] / first, f"{times[0]:.2f} s")
        again = statistics.median(times[1:])
        yield Row(f"{megabytes} MB session, second open ÷ {second} s", "<=", 1.0, again / second, f"{again:.2f} s")


def _show(trace: Path, cache: str) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "ctxview", "show", str(trace), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CTXVIEW_CACHE": cache})
    return time.perf_counter() - start


def _memory(folder: Path) -> Iterator[Row]:
    sizes = (200, 1000)
    peaks = []
    for megabytes in sizes:
        trace = folder / f"{megabytes}.jsonl"
        if not trace.exists():
            write_session(trace, megabytes * MB)
        place = folder / "memory.duckdb"
        place.unlink(missing_ok=True)
        peaks.append(float(_child(["build", str(trace), str(place)])["peak_mb"]))
        trace.unlink()
    label = f"peak memory at {sizes[1]} MB ÷ at {sizes[0]} MB"
    yield Row(label, "<=", 1.3, peaks[1] / peaks[0], f"{peaks[0]:.0f} → {peaks[1]:.0f} MB")


def _child(words: list[str]) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-m", "benchmarks.load", *words], check=True, stdout=subprocess.PIPE)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _main(words: list[str]) -> None:
    if words[0] == "read":
        if words[2] == "one":
            import ctxview.ingest.contents as contents

            contents.POOL_FROM_BYTES = 10**18  # type: ignore[misc]  # everything in this process
        Counter().count("warm")
        start = time.perf_counter()
        read_inputs(find_inputs([words[1]]), Store.memory(), exact=words[2] != "estimate").close()
        print(json.dumps({"seconds": time.perf_counter() - start}))
        return
    store = Store.create(Path(words[2]), replace=True)
    read_inputs(find_inputs([words[1]]), store).close()
    print(json.dumps({"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    _main(sys.argv[1:])
