"""Which items of a rollout make one response, and which usage is its.

A response's items may come before its `token_count` or after it, depending on the version; tool results may lie
between. So a response begins at whichever comes first, takes the items up to the next input, and the first usage that
nothing but results of its own calls separates from it.
"""

from __future__ import annotations


class Responses:
    """The response under way, if any."""

    def __init__(self) -> None:
        self.is_open = False
        self.is_reported = False
        """Its usage is known."""
        self._takes_items = False
        """No input has come since."""
        self._takes_usage = False
        """No input but its own calls' results has come since."""

    def output(self) -> bool:
        """An item that the model wrote comes; True when it begins a response."""
        begins = not self.is_open or not self._takes_items
        if begins:
            self._begin()
        return begins

    def input(self, *, is_result: bool) -> None:
        """An item for the model comes."""
        self._takes_items = False
        self._takes_usage = self._takes_usage and is_result

    def usage(self) -> bool:
        """A report of usage comes; True when it begins a response, whose items follow."""
        begins = not self.is_open or self.is_reported or not self._takes_usage
        if begins:
            self._begin()
        else:
            self._takes_items = False
        self.is_reported = True
        return begins

    def end(self) -> None:
        """The conversation was changed: what comes belongs to another response."""
        self.is_open = False

    def _begin(self) -> None:
        self.is_open = self._takes_items = self._takes_usage = True
        self.is_reported = False
