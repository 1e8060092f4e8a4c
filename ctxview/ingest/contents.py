"""Texts of a trace, each kept once: a key per text, its count, and the row in the store, batch by batch.

The texts of a batch are dropped as soon as they are counted and stored, so memory is bounded by the batch and by 16
bytes of digest per distinct text.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Final

from ctxview.store import Store
from ctxview.text import replace_surrogates
from ctxview.tokens import Counter

_BATCH_CHARS: Final = 8_000_000


class Contents:
    """Content keys count from 0 in order of first sight."""

    def __init__(self, store: Store, counter: Counter) -> None:
        self._store = store
        self._counter = counter
        self._keys: dict[bytes, int] = {}
        self._waiting: list[str] = []
        self._waiting_chars = 0
        self.tokens = array("q")
        """Counted tokens by key; shorter than the keys while a batch waits."""

    def keep(self, text: str) -> int:
        """The key of `text`, new or known."""
        text, _ = replace_surrogates(text)
        digest = blake2b(text.encode(), digest_size=16).digest()
        key = self._keys.get(digest)
        if key is None:
            key = self._keys[digest] = len(self._keys)
            self._waiting.append(text)
            self._waiting_chars += len(text)
        return key

    @property
    def is_full(self) -> bool:
        """Whether the waiting batch should be settled now."""
        return self._waiting_chars >= _BATCH_CHARS or len(self._waiting) >= 20_000

    def settle(self) -> None:
        """Count and store the texts that wait: afterwards `tokens` covers every key given out."""
        texts, self._waiting, self._waiting_chars = self._waiting, [], 0
        counts = self._counter.count_many(texts)
        first = len(self.tokens)
        estimated = self._counter.estimated
        self._store.add_contents(
            (key, text, len(text), count, estimated)
            for key, (text, count) in enumerate(zip(texts, counts, strict=True), first)
        )
        self.tokens.extend(counts)

    @property
    def estimated(self) -> bool:
        """Whether counts are estimates, because no vocabulary was at hand."""
        return self._counter.estimated
