"""What every replay of one session shares: its items, the changes of both bases, the texts that policies write.

Made once per view and kept as long as the view lives, so that toggling a policy costs the policy alone.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ctxview.policies.items import Item
from ctxview.replay.base import history_base, recorded_base
from ctxview.replay.change import Delta
from ctxview.replay.items import items_of
from ctxview.replay.texts import Texts
from ctxview.window import SessionView


class Prepared:
    """A session made ready. `texts` only grows; equal texts have one key."""

    def __init__(self, view: SessionView) -> None:
        self.texts = Texts(view.texts)
        self.items: list[Item] = items_of(view.blocks, view.row.joins_roles, self.texts)
        self.recorded: dict[int, Delta] | None = None
        self.history: dict[int, Delta] | None = None

    def base(self, view: SessionView, name: str) -> dict[int, Delta]:
        """The changes by turn of the recorded window or of the history."""
        if name == "recorded":
            if self.recorded is None:
                self.recorded = recorded_base(view, self.items)
            return self.recorded
        if self.history is None:
            self.history = history_base(view, self.items)
        return self.history


_known: WeakKeyDictionary[SessionView, Prepared] = WeakKeyDictionary()


def prepared(view: SessionView) -> Prepared:
    """The session's preparation, made at the first question."""
    found = _known.get(view)
    if found is None:
        found = _known[view] = Prepared(view)
    return found
