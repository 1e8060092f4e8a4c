"""Counting in other processes, so that a large trace is parsed and counted at the same time.

tiktoken holds the interpreter lock for most of its time, so threads gain nothing; workers are spawned processes that
each load the vocabulary once. Texts go out in batches and counts come back in the order in which batches were sent.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Final

from ctxview.tokens.count import Counter

MOST_WORKERS: Final = 2
"""Reading takes longer than counting: two workers wait for texts, more would only hold the vocabulary again."""


class CountingPool:
    """Worker processes for one encoding. The first starts at once; close the pool, or they stay."""

    def __init__(self, encoding: str, workers: int | None = None) -> None:
        self.workers = workers or max(1, min(MOST_WORKERS, (os.cpu_count() or 1) - 1))
        self._pool = ProcessPoolExecutor(
            self.workers, mp_context=get_context("spawn"), initializer=_start, initargs=(encoding, os.getpid())
        )

        self.submit([])  # so that it loads its vocabulary while the first texts are read

    def submit(self, texts: Sequence[str]) -> Future[tuple[list[int], bool]]:
        """Counts of a batch, and whether they are estimates. A worker that died raises BrokenProcessPool."""
        with _deaf():
            return self._pool.submit(_count, list(texts))

    def close(self) -> None:
        """Stop the workers without waiting for batches that nobody will read."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _deaf() -> Iterator[None]:
    """Hold Ctrl-C back: a worker that starts meanwhile never hears it, not even before it runs a line of ours."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_counter: Counter | None = None


def _start(encoding: str, parent: int) -> None:
    """Make a worker ready: its counter, deaf to Ctrl-C (the parent decides), and gone when the parent is."""
    global _counter
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    _counter = Counter(encoding)


def _follow(parent: int) -> None:
    """A parent that was killed closes nothing: its workers would wait for work forever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _count(texts: list[str]) -> tuple[list[int], bool]:
    assert _counter is not None
    return _counter.count_many(texts), _counter.estimated
