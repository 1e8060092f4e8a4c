"""Texts of a trace, each kept once: a key per text, its count, and the row in the store, batch by batch.

The texts of a batch are dropped as soon as they are counted and stored, so memory is bounded by the batches under way
and by a few bytes per distinct text. Small traces are counted here; a large one in worker processes, while
parsing goes on.
"""

from __future__ import annotations

from array import array
from collections import deque
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import parent_process
from typing import Final

from ctxview.compact import CompactMap
from ctxview.store import Store
from ctxview.text import replace_surrogates
from ctxview.tokens import Counter, CountingPool, estimate_tokens

BATCH_CHARS: Final = 500_000
"""Text per batch. Together with the number of batches under way it bounds memory."""
POOL_FROM_BYTES: Final = 3_000_000
"""Size of a trace below which starting workers costs more than they save."""


@dataclass(slots=True)
class _Batch:
    texts: list[str]
    counts: Future[tuple[list[int], bool]]


class Contents:
    """Content keys count from 0 in order of first sight. `exact` False counts nothing: all sizes are estimates.

    `size`: bytes of the trace, which tell whether workers pay.
    """

    def __init__(self, store: Store, size: int, encoding: str = "o200k_base", *, exact: bool = True) -> None:
        self._store = store
        self._exact = exact
        self._counter = Counter(encoding)
        self._pool: CountingPool | None = None
        # A spawned process that runs an unguarded script again must not spawn in turn.
        if exact and size >= POOL_FROM_BYTES and parent_process() is None:
            self._pool = CountingPool(encoding)
        self._keys = CompactMap()
        self._next = 0
        self._waiting: list[str] = []
        self._waiting_chars = 0
        self._away: deque[_Batch] = deque()
        self.tokens = array("q")
        """Tokens by key, for the keys whose batch is back."""
        self.estimated = not exact
        """Whether counts are estimates: asked for, or because no vocabulary was at hand."""

    def keep(self, text: str) -> int:
        """The key of `text`, new or known."""
        key = self._keys.get(text)
        if key is None:
            key = self._keys[text] = self._next
            self._next += 1
            self._waiting.append(replace_surrogates(text)[0])
            self._waiting_chars += len(text) + 64
        return key

    def pump(self) -> bool:
        """Send off a full batch and take in those that are back; True when new counts arrived."""
        if self._waiting_chars >= BATCH_CHARS:
            self._send()
        elif not self._away:
            return False
        known = len(self.tokens)
        while self._away and (self._away[0].counts.done() or self._is_crowded()):
            self._take(self._away.popleft())
        return len(self.tokens) > known

    def settle(self) -> None:
        """Wait for every count: afterwards `tokens` covers every key given out."""
        if self._waiting:
            self._send()
        while self._away:
            self._take(self._away.popleft())

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _is_crowded(self) -> bool:
        return self._pool is not None and len(self._away) > self._pool.workers + 2

    def _send(self) -> None:
        """Let the waiting texts be counted, here or by the workers."""
        texts, self._waiting = self._waiting, []
        self._waiting_chars = 0
        if self._pool is not None:
            try:
                self._away.append(_Batch(texts, self._pool.submit(texts)))
            except BrokenProcessPool:
                self.close()
            else:
                return
        done: Future[tuple[list[int], bool]] = Future()
        done.set_result(self._count(texts))
        self._away.append(_Batch(texts, done))

    def _count(self, texts: list[str]) -> tuple[list[int], bool]:
        if not self._exact:
            return [estimate_tokens(text) for text in texts], True
        return self._counter.count_many(texts), self._counter.estimated

    def _take(self, batch: _Batch) -> None:
        try:
            counts, estimated = batch.counts.result()
        except BrokenProcessPool:  # a worker was killed: count the rest here
            self.close()
            counts, estimated = self._count(batch.texts)
        self.estimated = self.estimated or estimated
        first = len(self.tokens)
        self._store.add_contents(
            (key, text, len(text), count, estimated)
            for key, (text, count) in enumerate(zip(batch.texts, counts, strict=True), first)
        )
        self.tokens.extend(counts)
