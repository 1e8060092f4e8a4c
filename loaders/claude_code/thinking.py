"""Which thinking stands in the window once the person has spoken again: some models keep it, some drop it.

Measured against recorded usage (formats.md section 0, rule 2): Opus 4.5 and 4.6 keep it, Sonnet 4.5 drops it. Newer
models are taken to keep it, older ones to drop it; a name that says no version keeps everything, so that nothing is
taken away on a guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ctxview.loaders.claude_code.lines import Node

_NAME: Final = re.compile(r"claude-(?P<family>opus|sonnet|haiku)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?!\d)")
_OLD_NAME: Final = re.compile(r"claude-3(-\d)?-(opus|sonnet|haiku)")
_KEEPS_FROM: Final = {"opus": (4, 5), "sonnet": (4, 6), "haiku": (4, 6)}


def keeps_thinking(model: str | None) -> bool:
    """Whether `model` still sees thinking from before the person's last message."""
    name = model or ""
    if _OLD_NAME.search(name):
        return False
    match = _NAME.search(name)
    if match is None:
        return True
    version = (int(match["major"]), int(match["minor"] or 0))
    return version >= _KEEPS_FROM[match["family"]]


class Thinking:
    """The lines in one conversation's window that hold thinking."""

    def __init__(self) -> None:
        self._new: dict[Node, None] = {}
        """From after the person's last message."""
        self._old: dict[Node, None] = {}
        """From before it."""
        self._unlogged: dict[Node, None] = {}
        """Those whose text was not logged."""
        self._human_waiting = False
        """Whether the person has spoken since the last call."""

    @property
    def is_unlogged(self) -> bool:
        """Whether the window holds thinking whose text was not logged."""
        return bool(self._unlogged)

    def arrive(self, node: Node) -> None:
        """A line enters the window."""
        if node.human:
            self._human_waiting = True
            self._old |= self._new
            self._new = {}
        if node.thinking and not node.forgotten:
            self._new[node] = None
            if node.unlogged:
                self._unlogged[node] = None

    def leave(self, node: Node) -> None:
        """A line leaves the window."""
        for group in (self._new, self._old, self._unlogged):
            group.pop(node, None)

    def drop(self, keeps_thinking: bool) -> Collection[Node]:
        """Before a call: forget what the model's API leaves out of it, and tell whose thinking that is."""
        human, self._human_waiting = self._human_waiting, False
        if keeps_thinking or not human:
            return ()
        gone, self._old = self._old, {}
        for node in gone:
            node.forgotten = True
            self._unlogged.pop(node, None)
        return gone
