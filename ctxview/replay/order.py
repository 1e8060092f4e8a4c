"""The entries of a window in order, changed one by one; and places between them for what is put in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ctxview.policies.items import Entry
from ctxview.replay.change import Delta


class Ordered:
    """Entries by order key. Appending is cheap, everything else costs one search."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.keys: list[float] = []
        """The entries' order keys, for searching."""
        self.by_n: dict[int, Entry] = {}
        self.tokens = 0

    def put(self, entry: Entry) -> None:
        """Add an entry, or give the one of its number another form or place."""
        entries = self.entries
        old = self.by_n.get(entry.n)
        self.by_n[entry.n] = entry
        self.tokens += entry.tokens
        if old is not None:
            self.tokens -= old.tokens
            index = self._index(old)
            if old.pos == entry.pos:
                entries[index] = entry
                return
            del entries[index], self.keys[index]
        pos, keys = entry.pos, self.keys
        if not keys or keys[-1] < pos:
            entries.append(entry)
            keys.append(pos)
        else:
            index = bisect_left(keys, pos)
            entries.insert(index, entry)
            keys.insert(index, pos)

    def extend(self, entries: Sequence[Entry]) -> None:
        """Add entries that come after all others, in order."""
        self.entries += entries
        self.keys += [e.pos for e in entries]
        self.by_n.update([(e.n, e) for e in entries])
        self.tokens += sum([e.tokens for e in entries])

    def change(self, delta: Delta) -> None:
        """Bring the window of the next turn about."""
        for n, (entry, _) in delta.items():
            if entry is None:
                self.take(n)
            else:
                self.put(entry)

    def take(self, n: int) -> Entry | None:
        """Remove and return the entry of a number; None when it does not stand."""
        old = self.by_n.pop(n, None)
        if old is not None:
            self.tokens -= old.tokens
            index = self._index(old)
            del self.entries[index], self.keys[index]
        return old

    def _index(self, entry: Entry) -> int:
        entries = self.entries
        if entries[-1] is entry:
            return len(entries) - 1
        index = bisect_left(self.keys, entry.pos)
        while entries[index] is not entry:  # order keys are distinct, or nearly so
            index += 1
        return index


def gap(window: Ordered, where: str, ref: int | None) -> tuple[float, float]:
    """The order keys between which an insert or a move goes."""
    entries, by_n = window.entries, window.by_n
    if not entries:
        return 0.0, 1.0
    index = len(entries)
    if where == "start":
        index = 0
    elif where == "head":
        index = next((i for i, e in enumerate(entries) if not e.is_fixed), len(entries))
    elif ref is not None and ref in by_n:
        index = bisect_left(window.keys, by_n[ref].pos) + (where == "after")
    low = entries[index - 1].pos if index else entries[0].pos - 1.0
    high = entries[index].pos if index < len(entries) else low + 1.0
    return low, high


class Places:
    """Order keys for one firing of one layer. Each layer has a part of every gap to itself."""

    def __init__(self, layer: int, layers: int) -> None:
        self._layer = layer
        self._layers = layers

    def keys(self, low: float, high: float, count: int) -> list[float]:
        """`count` ascending keys between two neighbours."""
        width = (high - low) / self._layers
        start = low + width * self._layer
        return [start + width * (k + 1) / (count + 1) for k in range(count)]
