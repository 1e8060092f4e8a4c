"""Blocks that policies put in: each gets a number after the session's own, and keeps it from turn to turn."""

from __future__ import annotations

from ctxview.model import BlockRow
from ctxview.policies.edits import Insert
from ctxview.policies.items import Item
from ctxview.replay.texts import Texts

_PREVIEW_CHARS = 240


class Inserted:
    """All blocks put in during one replay, by layer and key."""

    def __init__(self, first: int, joins_roles: bool, texts: Texts) -> None:
        self._first = first
        self._joins_roles = joins_roles
        self._texts = texts
        self._items: dict[tuple[str, str], Item] = {}
        self._keys: list[str] = []
        self.rows: list[BlockRow] = []

    def key(self, n: int) -> str:
        """The key under which its policy put a block in."""
        return self._keys[n - self._first]

    def item(self, layer: str, edit: Insert, content: int, tokens: int, turn: int) -> Item:
        known = self._items.get((layer, edit.key))
        if known is not None:
            return known
        n = self._first + len(self.rows)
        block_id = f"{layer}:{edit.key}"
        row = BlockRow(
            n=n,
            id=block_id,
            message=block_id,
            role=edit.role,
            kind=edit.kind,
            tool=None,
            call_id=None,
            is_error=False,
            content=content,
            tokens=tokens,
            estimated=False,
            chars=len(edit.text),
            preview=edit.text[:_PREVIEW_CHARS],
            turn=turn - 1,
            file="",
            line=0,
            origin_id=None,
            at=None,
            injected=True,
            inherited=False,
            human=False,
            inserted=True,
            note=f"put in by {layer}",
            image=None,
        )
        self.rows.append(row)
        self._keys.append(edit.key)
        # A summary counts as a message even where it goes out joined to another: a later one has to be able to tell it
        # from the person's words.
        joins = self._joins_roles and edit.role != "system" and edit.kind != "summary"
        key = edit.role if joins else block_id
        item = self._items[layer, edit.key] = Item(n, row, key, n, -1, self._texts)
        return item
