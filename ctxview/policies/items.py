"""What a policy sees of a block: static facts as an `Item`, and an `Entry` for the item as it stands in one window.

It prevents a policy from reading spans, turns or anything else that lies in a block's future.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxview.model import BlockRow, Form, Kind, Role


class Item:
    """One block, the same for every window. Treat it as frozen; it is a plain class because sessions hold 100,000s."""

    __slots__ = ("call", "group", "is_paired", "key", "n", "row", "texts", "tool")

    def __init__(
        self,
        n: int,
        row: BlockRow,
        key: str | None,
        group: int,
        call: int,
        texts: Callable[[int], str],
        tool: str | None = None,
    ) -> None:
        self.n = n
        """Number of the block in its session; inserted blocks follow the session's own."""
        self.row = row
        self.key = key
        """Neighbours with one key make one wire message; None for tool schemas, which stand outside the messages."""
        self.group = group
        """Turn group: an assistant message (all blocks of one response) and the results that answer its calls."""
        self.call = call
        """Number of the call that a result, or an image in one, answers; -1 for everything else."""
        self.is_paired = call >= 0 or row.role == "assistant" or row.kind == "tool_result"
        """Whether pairing repair has to look at it."""
        self.tool = row.tool or tool
        """The tool of a call, and of what answers it: many logs name it at the call alone."""
        self.texts = texts

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def kind(self) -> Kind:
        return self.row.kind

    @property
    def role(self) -> Role:
        return self.row.role

    @property
    def call_id(self) -> str | None:
        return self.row.call_id

    @property
    def turn(self) -> int:
        return self.row.turn

    def text(self) -> str:
        """The verbatim text, read when it is asked for."""
        return self.texts(self.row.content)

    def __repr__(self) -> str:
        return f"Item({self.n}, {self.row.id!r}, {self.row.kind!r})"


class Entry:
    """An item in one window. Treat it as frozen."""

    __slots__ = ("cause", "content", "covers", "form", "item", "n", "pos", "tokens", "volatile")

    def __init__(
        self,
        item: Item,
        pos: float,
        tokens: int,
        form: Form,
        content: int,
        covers: tuple[int, ...] = (),
        volatile: bool = False,
        cause: object = None,
    ) -> None:
        self.item = item
        self.n = item.n
        self.pos = pos
        """Order key in the window."""
        self.tokens = tokens
        self.form = form
        self.content = content
        """Content key of the text as it stands here; negative for texts that a policy wrote."""
        self.covers = covers
        """For an inserted entry: the numbers of the blocks it stands for."""
        self.volatile = volatile
        """True when the text depends on the turn: it breaks a cached prefix on every turn."""
        self.cause = cause
        """For the replay: which layer gave a block this form, with its edit; None for its own words."""

    def text(self) -> str:
        """The text as it stands in this window."""
        return self.item.texts(self.content)

    @property
    def kind(self) -> Kind:
        return self.item.row.kind

    @property
    def role(self) -> Role:
        return self.item.row.role

    @property
    def is_fixed(self) -> bool:
        """System text or a tool schema: no policy but component budgets touches it."""
        return self.item.row.kind in ("system", "tools")

    def __repr__(self) -> str:
        return f"Entry({self.n}, {self.item.row.kind!r}, pos={self.pos}, {self.form!r}, {self.tokens})"


def same(a: Entry | None, b: Entry | None) -> bool:
    """Whether two entries of one block put the same bytes at the same place."""
    if a is None or b is None:
        return a is b
    return a is b or (a.content == b.content and a.form == b.form and a.pos == b.pos)
