"""What was drafted by when: documents and sections from write and edit calls, and the final answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

from ctxview.annotate.observations.asks import commands_of, is_shell
from ctxview.annotate.observations.patches import BEGIN, hunks_of
from ctxview.annotate.observations.results import is_command_answer
from ctxview.annotate.observations.shell import fenced_command
from ctxview.ledger.commands import written_by
from ctxview.ledger.outcomes import failed_calls
from ctxview.model import BlockRow
from ctxview.window import SessionView
from ctxview.window.table import column, pick

_DOCUMENTS: Final = frozenset({".md", ".markdown", ".txt", ".rst", ".tex", ".html", ".adoc", ".docx", ".org"})
_SECTION_TOOLS: Final = re.compile(
    r"(write|draft|add|update|replace|edit|append)_?(section|chapter|report|document|draft)$"
)
_WRITE_TOOLS: Final = re.compile(r"(write|create|save)_?(file)?$|^create$|^str_replace_(based_)?edit(or)?(_tool)?$")
_EDIT_TOOLS: Final = re.compile(
    r"^(edit|multi_?edit|str_replace|replace_in_file|edit_file|insert|insert_text|append|append_(to_)?file|apply_patch)$"
)
_ADDS: Final = re.compile("append")
_PATH_KEYS: Final = ("file_path", "path", "filename", "file")
_TEXT_KEYS: Final = ("content", "text", "body", "file_text", "markdown")


@dataclass(frozen=True, slots=True)
class Change:
    """What one write did to a section or document."""

    new: str
    old: str | None = None
    """The text that it took the place of; empty for an addition, None for all that stood there."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One call that wrote drafted text, or the final answer."""

    turn: int
    """The turn whose answer wrote it: in the draft from the next turn on."""
    block: int
    section: str
    """Section, or the document's path."""
    changes: tuple[Change, ...]
    is_final: bool = False
    """The final answer, or the write of a whole document."""


class Written:
    """What stands written, section by section. Of a document that the session never wrote whole, the parts that it
    wrote are known."""

    def __init__(self) -> None:
        self._parts: dict[str, list[str]] = {}

    def add(self, draft: Draft) -> None:
        for change in draft.changes:
            parts = self._parts.setdefault(draft.section, [])
            at = next((i for i, part in enumerate(parts) if change.old and change.old in part), None)
            if change.old is None:
                parts[:] = [change.new]
            elif at is not None:
                parts[at] = parts[at].replace(change.old, change.new, 1)
            else:
                parts[:] = [part for part in parts if part not in change.old]
                parts.append(change.new)

    @property
    def text(self) -> str:
        return "\n\n".join(part for parts in self._parts.values() for part in parts)


@dataclass(frozen=True, slots=True)
class Drafts:
    """All drafts of a session, in order."""

    items: tuple[Draft, ...]

    def text_at(self, turn: int) -> str:
        """What stands written in the window of `turn`: the newest text of each section and document."""
        written = Written()
        for draft in self.before(turn):
            written.add(draft)
        return written.text

    def before(self, turn: int) -> tuple[Draft, ...]:
        """The drafts that the window of `turn` knows."""
        return tuple(d for d in self.items if d.turn < turn)


def find_drafts(view: SessionView) -> Drafts:
    """Sections, documents and, when the session wrote something, its last answer."""
    answers = _answers(view)
    tools = column(view.blocks, "tool")
    may_write = {tool for tool in set(tools) if tool and _may_write(tool)}
    named = pick(view.blocks, [n for n, tool in enumerate(tools) if n in answers or tool in may_write])
    writers = [b for b in named if b.n in answers or b.kind == "tool_call"]
    texts = view.texts_many({b.content for b in writers}) if writers else {}
    found: dict[int, list[Draft]] = {}
    for block in writers:
        text, tool = texts.get(block.content, ""), block.tool or ""
        commands = [fenced_command(text) or ""] if block.n in answers else commands_of(tool, text)
        written = _by_commands(commands, block) if commands else _drafts(_plain_name(tool), _arguments(text), block)
        found[block.n] = list(written)
    failed = failed_calls(view, [b for b in writers if found[b.n]], answers)
    items = [draft for n, drafts in found.items() if n not in failed for draft in drafts]
    answer = _final_answer(view)
    if answer is not None and answer.block not in answers and items:
        items.append(answer)
    return Drafts(tuple(items))


def _may_write(tool: str) -> bool:
    name = _plain_name(tool)
    return is_shell(tool) or any(tools.search(name) for tools in (_SECTION_TOOLS, _WRITE_TOOLS, _EDIT_TOOLS))


def _plain_name(tool: str) -> str:
    return tool.rsplit("__", 1)[-1].lower()


def _answers(view: SessionView) -> dict[int, BlockRow]:
    """Answers of the agent whose command its harness ran, each with the message that brought the output."""
    kinds = column(view.blocks, "kind")
    heard = [n for n, (said, answer) in enumerate(pairwise(kinds), 1) if said == "assistant" and answer == "user"]
    return {block.n - 1: block for block in pick(view.blocks, heard) if is_command_answer(block.preview)}


def _by_commands(commands: Iterable[str], block: BlockRow) -> Iterator[Draft]:
    for command in commands:
        for path, new, old in written_by(command):
            if _is_document(path):
                yield Draft(block.turn, block.n, str(PurePath(path)), (Change(new, old),), is_final=old is None)


def _drafts(name: str, arguments: Mapping[str, Any], block: BlockRow) -> Iterator[Draft]:
    path = _first(arguments, _PATH_KEYS)
    if name == "apply_patch":
        patch = next((v for v in arguments.values() if isinstance(v, str) and BEGIN in v), "")
        for changed, hunks in hunks_of(patch):
            if _is_document(changed):
                changes = tuple(Change(new, old) for old, new in hunks)
                yield Draft(block.turn, block.n, changed, changes, is_final=any(c.old is None for c in changes))
    elif _SECTION_TOOLS.search(name):
        text = _first(arguments, _TEXT_KEYS)
        section = _first(arguments, ("section", "heading", "title", "chapter"))
        if text:
            change = Change(text, "" if _ADDS.match(name) else None)
            yield Draft(block.turn, block.n, section or path or name, (change,))
    elif _is_document(path):
        changes = tuple(_edits(arguments))
        text = _first(arguments, _TEXT_KEYS)
        if changes:
            yield Draft(block.turn, block.n, path, changes)
        elif text:
            adds = _ADDS.match(name) is not None
            yield Draft(block.turn, block.n, path, (Change(text, "" if adds else None),), is_final=not adds)


def _is_document(path: str) -> bool:
    return PurePath(path).suffix.lower() in _DOCUMENTS


def _edits(arguments: Mapping[str, Any]) -> Iterator[Change]:
    """The replacements and insertions of an edit call; none in a call that writes a whole document."""
    listed = arguments.get("edits")
    for edit in listed if isinstance(listed, list) else (arguments,):
        if not isinstance(edit, dict):
            continue
        old, new = edit.get("old_string", edit.get("old_str")), edit.get("new_string", edit.get("new_str"))
        added = edit.get("insert_text", new if "insert_line" in edit else None)
        if isinstance(old, str) and isinstance(new, str):
            yield Change(new, old)
        elif isinstance(added, str):
            yield Change(added, "")


def _final_answer(view: SessionView) -> Draft | None:
    """The newest answer of the session, when nothing but text was in it. It is the final one after the last call only:
    before that nobody could know that none would follow."""
    for block in reversed(view.blocks):
        if block.kind == "tool_call":
            return None
        if block.kind == "assistant" and not block.injected:
            return Draft(view.last, block.n, "final answer", (Change(view.text(block.content)),), is_final=True)
    return None


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"input": text}  # a patch stands as it is
    return value if isinstance(value, dict) else {}


def _first(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((v for k in keys if isinstance(v := arguments.get(k), str) and v), "")
