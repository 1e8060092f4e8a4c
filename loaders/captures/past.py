"""Windows that are told as a difference: a request names a response and adds to what that one's window held.

It prevents a delta from passing for a window, and a whole log's windows from being held to resolve it: links share
what came before, and only those that a later request names are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Link(Generic[T]):
    """A window, as what it adds to another."""

    before: Link[T] | None
    items: Sequence[T]
    lost: str | None = None
    """Id of the predecessor, its own or an earlier one's, that the log does not hold."""
    pruned: bool = False
    """The provider compacted it, or a window before it, by itself."""

    @property
    def starts_compacted(self) -> bool:
        """Its predecessor's answer held a compaction, and is where it starts."""
        return self.before is not None and self.before.pruned and self.before.before is None

    def all(self) -> list[T]:
        """Everything in the window, in order."""
        pieces: list[Sequence[T]] = []
        link: Link[T] | None = self
        while link is not None:
            pieces.append(link.items)
            link = link.before
        return [item for piece in reversed(pieces) for item in piece]


class Past(Generic[T]):
    """Windows by the ids under which later requests can go on with them."""

    def __init__(self, wanted: Mapping[str, int] | None = None) -> None:
        """`wanted`: how often each id will be gone on with; None when that is not known yet."""
        self._links: dict[str, Link[T]] = {}
        self._wanted = Counter(wanted) if wanted is not None else None

    def knows(self, previous: str | None) -> bool:
        """Whether a request that names `previous` can be resolved."""
        return previous in self._links

    def window(self, previous: str | None, items: Sequence[T]) -> Link[T]:
        """The window of a request that adds `items`."""
        if previous is None:
            return Link(None, items)
        before = self._links.get(previous)
        if self._wanted is not None:
            self._wanted[previous] -= 1
            if self._wanted[previous] <= 0:
                self._links.pop(previous, None)
        if before is None:
            return Link(None, items, lost=previous)
        return Link(before, items, before.lost, before.pruned)

    def answer(self, window: Link[T], items: Sequence[T], ids: Sequence[str | None], cut: int | None) -> None:
        """Remember a window and what came back for it; from the compaction at index `cut` on it is all there is."""
        wanted = [id_ for id_ in ids if id_ and (self._wanted is None or self._wanted[id_] > 0)]
        if not wanted:
            return
        if cut is None:
            link = Link(window, items, window.lost, window.pruned)
        else:
            link = Link(None, items[cut:], pruned=True)
        for id_ in wanted:
            self._links[id_] = link
