"""One layer at work: changes of its input window in, changes of its output window out.

Three ways: `Recompute` plans from the whole input every turn, `Stepped` keeps the same plan up to date by increments,
`Sticky` goes on from its own output.
"""

from __future__ import annotations

from ctxview.policies.items import Entry
from ctxview.policies.policy import Context
from ctxview.policies.stack import Layer
from ctxview.replay.change import Delta
from ctxview.replay.layer import LayerBase, Overlay, Runner, Tools
from ctxview.replay.order import Places
from ctxview.replay.stepped import Stepped
from ctxview.replay.sticky import Sticky


class Recompute(LayerBase):
    """Plans from the whole input window, every turn anew, and says what differs from the turn before."""

    def left(self, n: int) -> Entry | None:
        made = self._last.get(n)
        return self.input.by_n.get(n) if made is None else made[0]

    def update(self, delta: Delta, ctx: Context) -> Delta:
        self.input.change(delta)
        new: Overlay = {}
        if self.fires(self.input, ctx):
            edits = self.planned(self.input, ctx)
            if edits:
                new = self.checked(self.overlay(edits, self.input, ctx), self.input, ctx)
        return self.difference(delta, new, ctx.turn)


def can_sweep(layer: Layer) -> bool:
    """Whether a layer can be told of arrivals alone, with nothing to be looked at on every turn."""
    return _is_stepped(layer) and layer.budget is None


def _is_stepped(layer: Layer) -> bool:
    return layer.mode != "sticky" and layer.policy.step is not None and layer.params.get("above") is None


def runner(layer: Layer, label: str, places: Places, tools: Tools, *, naive: bool = False) -> Runner:
    """The cheapest runner with the layer's outcome. `naive` plans from scratch wherever the mode allows."""
    if layer.mode == "sticky":
        return Sticky(layer, label, places, tools)
    if _is_stepped(layer) and not naive:
        return Stepped(layer, label, places, tools)
    return Recompute(layer, label, places, tools)
