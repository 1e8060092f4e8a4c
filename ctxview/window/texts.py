"""Looking up a session's blocks and their texts: by id, by content key, by a word in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ctxview.errors import UsageError
from ctxview.model import BlockRow, SpanRow
from ctxview.window.search import Hit, Hits, Needle
from ctxview.window.stays import Stays
from ctxview.window.table import column, find, pick

PREVIEW_CHARS: Final = 160
_PREVIEWS: Final = 2_048
"""First characters of other forms than the block's own that are kept."""
_NEAR: Final = 64
"""Blocks between a call and its result, at most, where one is looked for: agents make so many calls at once."""
_READ: Final = 2_048
_READ_CHARS: Final = 4_000_000
"""Texts and characters that are read at once: many cost less, few let another thread have its turn in between."""


class Texts(Stays):
    """A session's blocks by name, and what they say."""

    def block(self, block_id: str) -> BlockRow:
        """A block by id or by a unique prefix. Raises UsageError."""
        found = find(self.blocks, "id", block_id)
        if found is not None:
            return self.blocks[found]
        matches = [n for n, key in enumerate(column(self.blocks, "id")) if key.startswith(block_id)]
        if len(matches) == 1:
            return self.blocks[matches[0]]
        cause = "is the start of several blocks" if matches else "names no block"
        raise UsageError(f"{block_id!r} {cause} in session {self.row.session}", "see `ctxview show` for the ids")

    def tool_of(self, block: BlockRow) -> str | None:
        """The tool of a call or result; where a log names it at the call alone, it is looked for a little before."""
        if block.tool is not None or block.call_id is None:
            return block.tool
        near = pick(self.blocks, range(max(0, block.n - _NEAR), block.n))
        return next((b.tool for b in reversed(near) if b.kind == "tool_call" and b.call_id == block.call_id), None)

    def preview(self, span: SpanRow) -> str:
        """The first characters of a span's text, unsafe ones included: pass it through `one_line`."""
        block = self.blocks[span.block]
        if span.content == block.content:
            return block.preview
        found = self._previews.get(span.content)
        if found is None:
            if len(self._previews) >= _PREVIEWS:
                self._previews = {}
            found = self._previews[span.content] = self.text(span.content)[:PREVIEW_CHARS]
        return found

    def text(self, content: int) -> str:
        """The text behind a content key, as logged: pass it through `safe_text` before showing it."""
        return self._texts(content)

    def texts_many(self, contents: Collection[int]) -> Mapping[int, str]:
        """The texts behind several content keys, read at once."""
        if self._texts_many is not None:
            return self._texts_many(contents)
        return {content: self._texts(content) for content in contents}

    def find(self, query: str, turn: int | None = None, stop: Callable[[], bool] = lambda: False) -> Hits:
        """The blocks of the window at `turn` whose whole text holds `query`, letter case aside; with None, all blocks
        that ever stood in a window.

        It reads every such text: call it in a thread. When `stop()` turns true it ends early, with what it has.
        """
        contents: Sequence[int] = column(self.spans, "content")
        if turn is None:
            indexes: Sequence[int] = [i for i in range(len(self.spans)) if self._starts[i] < self._ends[i]]
        else:
            indexes = self.standing(turn)
        needle, counts = Needle(query), dict[int, int]()
        for keys in self._batches(indexes, contents) if query else ():
            if stop():
                break
            for content, text in self.texts_many(keys).items():
                if count := needle.count(text):
                    counts[content] = count
        spans = pick(self.spans, [i for i in indexes if contents[i] in counts])
        if turn is None:  # of a block that left and came back, the first stay
            stays = {(s.block, s.content): s for s in reversed(spans)}
            spans = sorted(stays.values(), key=lambda s: (s.block, s.start))
        return Hits(query, turn, tuple(Hit(s, counts[s.content]) for s in spans))

    @property
    def texts(self) -> Callable[[int], str]:
        """The look-up behind `text`, for what outlives the view."""
        return self._texts

    def _batches(self, indexes: Iterable[int], contents: Sequence[int]) -> Iterator[list[int]]:
        """The content keys of some spans in rising order, in lists that are read at once."""
        sizes = column(self.blocks, "chars")
        chars = {contents[i]: sizes[self._blocks[i]] for i in indexes}
        keys: list[int] = []
        waiting = 0
        for content in sorted(chars):
            keys.append(content)
            waiting += chars[content]
            if len(keys) >= _READ or waiting >= _READ_CHARS:
                yield keys
                keys, waiting = [], 0
        if keys:
            yield keys
