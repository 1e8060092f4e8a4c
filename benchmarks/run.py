"""Every benchmark in one table: `python -m benchmarks.run [--big] [load|facts|queries|replay|tui ...]`.

Rows are ratios where they can be, so that a slow machine measures the program and not itself. `--big` generates and
reads a gigabyte, which takes minutes.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.row import Row

PARTS = ("load", "facts", "queries", "replay", "tui")


def rows(part: str, folder: Path, big: bool) -> Iterator[Row]:
    module = importlib.import_module(f"benchmarks.{part}")
    if part == "load":
        yield from module.rows(folder, big=big)
    else:
        yield from module.rows(folder) if part == "facts" else module.rows()


def main(words: list[str]) -> int:
    big = "--big" in words
    parts = [word for word in words if not word.startswith("-")] or list(PARTS)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="ctxview-bench-") as folder:
        for part in parts:
            for row in rows(part, Path(folder), big):
                print(row.line(), flush=True)
                missed += not row.is_met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
