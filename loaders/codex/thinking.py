"""How much hidden thinking there is: the log holds it encrypted or not at all, and its size in the response's usage."""

from __future__ import annotations

from ctxview.loaders.codex.items import Item
from ctxview.loaders.codex.responses import Responses


class Thinking:
    """Deals the reasoning tokens of each response out to its reasoning items."""

    def __init__(self) -> None:
        self._responses = Responses()
        self._items: dict[int, int] = {}
        """Of the response under way: number of the record -> length of what it holds encrypted."""
        self._tokens: int | None = None

    def item(self, number: int, item: Item) -> dict[int, int]:
        """The next item. Returns the tokens of the items of a response that has ended."""
        ended: dict[int, int] = {}
        if not item.is_output:
            self._responses.input(is_result=item.tag == "result")
        elif self._responses.output():
            ended = self._settle()
        if any(part.kind == "thinking" for part in item.parts):
            self._items[number] = max(1, sum(part.signature for part in item.parts))
        return ended

    def usage(self, tokens: int) -> dict[int, int]:
        """The usage of a response that has ended, or is about to be told. Returns as `item` does."""
        ended: dict[int, int] = {}
        if self._responses.usage():
            ended = self._settle()
        self._tokens = tokens
        return ended

    def end(self) -> dict[int, int]:
        """The conversation ends, or is replaced. Returns as `item` does."""
        self._responses.end()
        return self._settle()

    def _settle(self) -> dict[int, int]:
        items, tokens = self._items, self._tokens
        self._items, self._tokens = {}, None
        if tokens is None or not items:
            return {}
        whole = sum(items.values())
        dealt = {number: tokens * part // whole for number, part in items.items()}
        dealt[next(iter(items))] += tokens - sum(dealt.values())
        return dealt
