"""What was drafted by when: documents and sections from write and edit calls, and the final answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from ctxview.window import SessionView

_DOCUMENTS: Final = frozenset({".md", ".markdown", ".txt", ".rst", ".tex", ".html", ".adoc", ".docx", ".org"})
_SECTION_TOOLS: Final = re.compile(
    r"(write|draft|add|update|replace|edit|append)_?(section|chapter|report|document|draft)$"
)
_WRITE_TOOLS: Final = re.compile(r"(write|create|save)_?(file)?$|^create$|^str_replace_(based_)?edit(or)?(_tool)?$")
_EDIT_TOOLS: Final = re.compile(r"^(edit|multiedit|str_replace|replace_in_file|edit_file)$")
_PATH_KEYS: Final = ("file_path", "path", "filename", "file")
_TEXT_KEYS: Final = ("content", "text", "body", "file_text", "markdown")


@dataclass(frozen=True, slots=True)
class Draft:
    """One write of drafted text."""

    turn: int
    """The turn whose answer wrote it: in the draft from the next turn on."""
    block: int
    section: str
    """Section, or the document's path."""
    text: str
    replaces: str | None = None
    """For an edit: the text that it replaces in that document."""
    is_final: bool = False
    """The final answer, or the last write of a whole document."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """All drafts of a session, in order."""

    items: tuple[Draft, ...]

    def text_at(self, turn: int) -> str:
        """What stands written in the window of `turn`: the newest text of each section and document."""
        texts: dict[str, str] = {}
        for draft in self.items:
            if draft.turn >= turn:
                break
            if draft.replaces is not None and draft.section in texts:
                texts[draft.section] = texts[draft.section].replace(draft.replaces, draft.text, 1)
            else:
                texts[draft.section] = draft.text
        return "\n\n".join(texts.values())

    def before(self, turn: int) -> tuple[Draft, ...]:
        """The drafts that the window of `turn` knows."""
        return tuple(d for d in self.items if d.turn < turn)


def find_drafts(view: SessionView) -> Drafts:
    """Sections, documents and, when the session wrote something, its last answer."""
    failed = {b.call_id for b in view.blocks if b.kind == "tool_result" and b.is_error}
    items: list[Draft] = []
    for block in view.blocks:
        if block.kind != "tool_call" or not block.tool or block.call_id in failed:
            continue
        name = block.tool.rsplit("__", 1)[-1].lower()
        if not (_SECTION_TOOLS.search(name) or _WRITE_TOOLS.search(name) or _EDIT_TOOLS.search(name)):
            continue
        arguments = _arguments(view.text(block.content))
        draft = _draft(name, arguments, block.turn, block.n)
        if draft is not None:
            items.append(draft)
    answer = _final_answer(view)
    if answer is not None and items:
        items.append(answer)
    return Drafts(tuple(items))


def _draft(name: str, arguments: Mapping[str, Any], turn: int, block: int) -> Draft | None:
    path = _first(arguments, _PATH_KEYS)
    section = _first(arguments, ("section", "heading", "title", "chapter"))
    if _SECTION_TOOLS.search(name):
        text = _first(arguments, _TEXT_KEYS)
        return Draft(turn, block, section or path or name, text) if text else None
    if PurePath(path).suffix.lower() not in _DOCUMENTS:
        return None
    old, new = (
        arguments.get("old_string", arguments.get("old_str")),
        arguments.get("new_string", arguments.get("new_str")),
    )
    if isinstance(old, str) and isinstance(new, str):
        return Draft(turn, block, path, new, replaces=old)
    text = _first(arguments, _TEXT_KEYS)
    return Draft(turn, block, path, text, is_final=True) if text else None


def _final_answer(view: SessionView) -> Draft | None:
    """The newest answer of the session, when nothing but text was in it. It is the final one after the last call only:
    before that nobody could know that none would follow."""
    for block in reversed(view.blocks):
        if block.kind == "tool_call":
            return None
        if block.kind == "assistant" and not block.injected:
            return Draft(view.last, block.n, "final answer", view.text(block.content), is_final=True)
    return None


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _first(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((v for k in keys if isinstance(v := arguments.get(k), str) and v), "")
