"""The blocks of a session that arrived: a few bytes of each, so that a captured window can be aligned with them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ctxview.compact import CompactMap
from ctxview.model import KINDS, Block, Kind, Role
from ctxview.reconstruct.align import Key

_ROLES: Final[Mapping[Role, int]] = {"system": 0, "user": 1, "assistant": 2, "tool": 3}
_KINDS: Final[Mapping[Kind, int]] = {kind: code for code, kind in enumerate(KINDS)}
# What a client re-sends or not as it likes; its coming and going is no cut.
_LOOSE: Final = frozenset(_KINDS[kind] for kind in ("note", "thinking", "system", "tools"))


def key_of(block: Block, content: int) -> Key:
    """What tells a block from others, beside its id. `content` is the key of its text."""
    return _ROLES[block.role], _KINDS[block.kind], _ref(block), content


class Arrived:
    """Numbers blocks from 0 in order of arrival, and answers by number."""

    def __init__(self) -> None:
        self._roles = bytearray()
        self._kinds = bytearray()
        self._refs = array("q")
        """Hash of the call id, or of the id of a block without text; 0 for none."""
        self._contents = array("q")
        self._chars = array("i")
        self._n = CompactMap()
        """Block number by id."""
        self._occurrences = CompactMap()
        """The highest number behind an id that was tried, by id."""
        self._message = ("", "")
        """The key of the message that is arriving, as the loader gives it and as it is told apart here."""
        self._by_key: dict[Key, list[int]] | None = None
        """Block numbers by key; made when a captured window comes."""

    def number(self, id_: str) -> int | None:
        return self._n.get(id_)

    def content(self, n: int) -> int:
        """Key of the text it arrived with."""
        return self._contents[n]

    def chars(self, n: int) -> int:
        """Length of the text it arrived with."""
        return self._chars[n]

    def key(self, n: int, content: int) -> Key:
        """Its key with the text that stands in a window now."""
        return self._roles[n], self._kinds[n], self._refs[n], content

    def is_loose(self, n: int) -> bool:
        """Whether clients re-send it or not as they like."""
        return self._kinds[n] in _LOOSE

    def add(self, block: Block, key: Key) -> int:
        """The number of a new block, whose id is told apart already."""
        n = len(self._contents)
        role, kind, ref, content = key
        self._roles.append(role)
        self._kinds.append(kind)
        self._refs.append(ref)
        self._contents.append(content)
        self._chars.append(len(block.text))
        if self._by_key is not None:
            self._by_key.setdefault(key, []).append(n)
        self._n[block.id] = n
        return n

    def alike(self, key: Key) -> Sequence[int]:
        """The numbers of blocks that arrived with this key, the oldest first."""
        if self._by_key is None:
            self._by_key = {}
            for n, content in enumerate(self._contents):
                self._by_key.setdefault(self.key(n, content), []).append(n)
        return self._by_key.get(key, ())

    def told_apart(self, block: Block) -> Block:
        """The block under an id that is still free: equal texts are told apart by occurrence, and so are messages.

        A message's key is its first block's id; its other blocks follow that one.
        """
        id_ = block.id
        if id_ in self._n:
            count = self._occurrences.get(id_) or 1
            while (name := f"{block.id}-{count + 1}") in self._n:
                count += 1
            self._occurrences[block.id] = count
            id_ = name
        if block.message == block.id:
            self._message = (block.id, id_)
        given, message = self._message
        if block.message != given:
            message = block.message
        if id_ == block.id and message == block.message:
            return block
        return replace(block, id=id_, message=message)


def _ref(block: Block) -> int:
    """What tells a block from others beside its content: its call, and where it has no text (thinking that was not
    logged) its id."""
    ref = block.call_id or (None if block.text else block.id)
    return 0 if ref is None else hash(ref) or 1
