"""A layer that goes on from its own output."""

from __future__ import annotations

from ctxview.model import EditRow
from ctxview.policies.items import Entry, same
from ctxview.policies.policy import Context
from ctxview.policies.stack import Layer
from ctxview.replay.change import Delta
from ctxview.replay.layer import LayerBase, Tools
from ctxview.replay.order import Places


class Sticky(LayerBase):
    """Goes on from its own output: what it did stays done."""

    def __init__(self, layer: Layer, label: str, places: Places, tools: Tools) -> None:
        super().__init__(layer, label, places, tools)
        self._mine: dict[int, Entry] = {}
        """Blocks in a form or at a place that this layer gave them, as its input has them."""
        self._gone: set[int] = set()
        """Blocks of the input that this layer dropped."""

    def update(self, delta: Delta, ctx: Context) -> Delta:
        window = self.input  # the output of the turn before, to which the input's changes come
        out: Delta = {}
        for n, (entry, why) in delta.items():
            if entry is None:
                self._gone.discard(n)
                self._mine.pop(n, None)
                window.take(n)
                out[n] = (None, why)
            elif n not in self._gone:
                changed = self._changed(entry, isinstance(why, EditRow)) if n in self._mine else entry
                if changed is not None:
                    window.put(changed)
                    out[n] = (changed, why)
        if not self.fires(window, ctx):
            return out
        edits = self.planned(window, ctx)
        if not edits:
            return out
        new = self.checked(self.overlay(edits, window, ctx, f"-{len(self.fired) + 1}"), window, ctx)
        if not new:
            return out
        self.fired[ctx.turn] = self._seen
        for n, (entry, why) in new.items():
            if entry is None:
                self._gone.add(n)
                self._mine.pop(n, None)
                window.take(n)
            else:
                if n in window.by_n:
                    self._mine.setdefault(n, window.by_n[n])
                window.put(entry)
            out[n] = (entry, why)
        return out

    def left(self, n: int) -> Entry | None:
        return self.input.by_n.get(n)

    def _changed(self, entry: Entry, by_log: bool) -> Entry | None:
        """What a change of the input makes of a block that this layer replaced or moved: the log's own edits hold, and
        so does what a layer before makes shorter still. None where the block stands as this layer left it."""
        n = entry.n
        before, mine = self._mine[n], self.input.by_n[n]
        self._mine[n] = entry
        is_longer = mine.content != before.content and entry.tokens > mine.tokens
        if same(before, entry) or (is_longer and not by_log):
            return None
        if mine.pos != before.pos and entry.pos == before.pos:
            covers, volatile, cause = entry.covers, entry.volatile, entry.cause
            return Entry(entry.item, mine.pos, entry.tokens, entry.form, entry.content, covers, volatile, cause)
        del self._mine[n]
        return entry
