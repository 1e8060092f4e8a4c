"""Dropped blocks that were needed later: read again, asked again, or quoted by an answer that could not see them.

What the recorded session did after the drop is the evidence; it is not re-simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ctxview.model import Observation, SpanRow
from ctxview.policies.facts import Facts
from ctxview.replay.prepared import Prepared
from ctxview.replay.presence import READABLE
from ctxview.window import SessionView

_MOST_CHARS: Final = 4_000_000
"""Text above which quotes are not looked for: it would take longer than a person waits."""
_CONTENT: Final = ("read", "write")


@dataclass(frozen=True, slots=True)
class NeededLater:
    block: str
    dropped: int
    """First turn whose window no longer shows it."""
    used: int
    """The turn whose answer needed it."""
    how: str
    """`read again`, `asked again` or `quoted: <word>`."""


def needed_later(view: SessionView, facts: Facts, shared: Prepared) -> tuple[list[NeededLater], int]:
    """The list by turn of use, and the tokens of what was fetched again."""
    shown = _Shown(view)
    blocks = len(shared.items)
    found: dict[int, NeededLater] = {}
    regret = 0
    for row, earlier in _rereads(facts, blocks):
        gone = shown.gone_by(earlier.block, row.turn)
        if gone is not None and earlier.block not in found:
            how = "read again" if row.key is not None else "asked again"
            found[earlier.block] = NeededLater(view.blocks[earlier.block].id, gone, row.turn, how)
            regret += view.blocks[earlier.block].tokens
    for block, gone, used, word in _quotes(view, shown, shared):
        found.setdefault(block, NeededLater(view.blocks[block].id, gone, used, f"quoted: {word}"))
    return sorted(found.values(), key=lambda f: (f.used, f.dropped, f.block)), regret


class _Shown:
    """When each block's own text stood in a window."""

    def __init__(self, view: SessionView) -> None:
        self._view = view

    def stands(self, block: int, turn: int) -> bool:
        return any(s.start <= turn < s.end and self._is_own(block, s) for s in self._view.life(block))

    def gone_by(self, block: int, turn: int) -> int | None:
        """Since when it does not stand at `turn` although it did, or should have, before; None when it stands."""
        if self.stands(block, turn):
            return None
        stays = [s for s in self._view.life(block) if s.start <= turn]
        ends = [s.end for s in stays if s.end <= turn and self._is_own(block, s)]
        if not ends:  # it was replaced before any call saw it
            return min((max(1, s.start) for s in stays), default=None)
        return max(ends)

    def _is_own(self, block: int, span: SpanRow) -> bool:
        return span.form in READABLE or span.content == self._view.blocks[block].content


def _rereads(facts: Facts, blocks: int) -> Iterator[tuple[Observation, Observation]]:
    """Each reading with the newest earlier one of the same content; each event done again with the one before it."""
    last: dict[tuple[str | None, str | None, int | None, int | None], Observation] = {}
    for n in range(blocks):
        for row in facts.observations(n):
            if row.content is None or (row.key is not None and row.effect not in _CONTENT):
                continue
            key = (row.key, row.content, row.first, row.last)
            earlier = last.get(key)
            if earlier is not None and row.effect != "write":
                yield row, earlier
            last[key] = row


def _quotes(view: SessionView, shown: _Shown, shared: Prepared) -> Iterator[tuple[int, int, int, str]]:
    """(block, gone since, turn, word): an answer used a distinctive word that stood nowhere in the window it answers,
    and had stood in a dropped block. What the agent wrote itself is no source, but while it stands it is a place."""
    items = shared.items
    if sum(item.row.chars for item in items) > _MOST_CHARS:
        return
    if not any(s.block < len(items) and (s.end <= view.last or s.form not in READABLE) for s in view.spans):
        return
    sources: dict[str, list[int]] = {}
    written: dict[str, list[int]] = {}
    uttered: dict[str, int] = {}
    """The newest turn that said a word: what an answer says twice it quotes once."""
    found: list[tuple[int, int, int, str]] = []
    for item in items:
        block = item.row
        if block.role == "assistant":
            for word in shared.said(item):
                known = sources.get(word)
                if known and uttered.get(word) != block.turn:
                    uttered[word] = block.turn
                    if not any(shown.stands(n, block.turn) for n in (*known, *written.get(word, ()))):
                        gone = [
                            (g, n) for n in known
                            if (g := shown.gone_by(n, block.turn)) is not None and not _is_past(view, n, block.turn)
                        ]  # fmt: skip
                        if gone:
                            since, n = max(gone)
                            found.append((n, since, block.turn, word))
        place = written if block.role == "assistant" else sources
        for word in shared.words(item):
            place.setdefault(word, []).append(block.n)
    if found:
        places = _Places(view, shared)
        yield from (quote for quote in found if not places.hold(quote[3], quote[2]))


class _Places:
    """Where a word stands as a part of other words, in a placeholder or in a text that a policy wrote; and what the
    model knows from the tool schemas, which most logs never hold."""

    def __init__(self, view: SessionView, shared: Prepared) -> None:
        self._schema = shared.schema_words
        stays: dict[int, list[tuple[int, int]]] = {}
        for span in view.spans:
            if span.start < span.end:
                stays.setdefault(span.content, []).append((span.start, span.end))
        texts = view.texts_many(stays)
        self._texts = [(texts[content], stretches) for content, stretches in stays.items()]
        self._stays: dict[str, list[tuple[int, int]]] = {}
        """Word -> the stays of the texts that hold it."""

    def hold(self, word: str, turn: int) -> bool:
        if word in self._schema:
            return True
        if word not in self._stays:
            self._stays[word] = [stay for text, stretches in self._texts if word in text for stay in stretches]
        return any(start <= turn < end for start, end in self._stays[word])


def _is_past(view: SessionView, block: int, turn: int) -> bool:
    """Whether something newer had taken the place of what a block says: to quote it was the mistake, not a need."""
    change = view.facts.change_at(block, turn)
    return change is not None and change.state == "superseded"
