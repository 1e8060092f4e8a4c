"""A session's title, from the bookkeeping lines that name one."""

from __future__ import annotations

from typing import Any

from ctxview.loaders.claude_code.tree import Tree
from ctxview.loaders.shapes import as_str


class Titles:
    """The person's own title first, then the client's, then a `summary` line whose leaf is a line of this file (such
    lines may name other sessions)."""

    def __init__(self) -> None:
        self._custom = ""
        self._made = ""
        self._summaries: list[tuple[str, str]] = []

    def see(self, kind: str, value: dict[str, Any]) -> None:
        if kind == "custom-title":
            self._custom = as_str(value.get("customTitle")) or self._custom
        elif kind == "ai-title":
            self._made = as_str(value.get("aiTitle")) or self._made
        elif kind == "summary":
            self._summaries.append((as_str(value.get("leafUuid")), as_str(value.get("summary"))))

    def best(self, tree: Tree) -> str | None:
        of_this = next((text for leaf, text in reversed(self._summaries) if leaf in tree), "")
        return self._custom or self._made or of_this or None
