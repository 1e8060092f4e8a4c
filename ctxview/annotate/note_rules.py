"""Which tools take notes, and which of their arguments hold what: how rows of a ledger are read from calls.

It prevents an agent's own note-taking tool, whatever its name, from being a call like any other.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Final

from ctxview.annotate.patterns import lazy

_NOTE_TOOLS: Final = lazy(
    r"(^|_)(append_ledger|ledger|add_ledger|(add|append|save|take|write|record|make)_?(note|notes|finding|findings|memo)"
    r"|note|notes|notebook_note|remember|memorize|record_finding|store_memory|save_memory"
    r"|memory|memory_(add|insert|store|append|replace)|add_memory|create_memory|add_memories|create_memories"
    r"|create_entities|add_observations)$"
)
_FINDING: Final = (
    "finding", "claim", "fact", "note", "title", "subject", "text", "content", "memory", "body",
    "new_content", "file_text", "insert_text", "new_str",
)  # fmt: skip
_VALUE: Final = ("value", "number", "result", "amount", "answer", "data")
_SOURCE: Final = ("source", "sources", "cite", "citation", "reference", "origin", "file", "path", "url")
_SECTION: Final = ("section", "chapter", "heading", "topic", "category", "label", "entityName")


@dataclass(frozen=True, slots=True)
class NoteRules:
    """What a project adds to the usual names. Its names of arguments go before the usual ones."""

    tools: tuple[str, ...] = ()
    """Names, or patterns with `*` and `?`, with or without the server's name in front (`mcp__server__name`)."""
    finding: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    section: tuple[str, ...] = ()

    def takes_notes(self, tool: str | None) -> bool:
        """Whether calls of this tool write the ledger."""
        if not tool:
            return False
        name = tool.rsplit("__", 1)[-1]
        if any(fnmatchcase(tool, pattern) or fnmatchcase(name, pattern) for pattern in self.tools):
            return True
        return _NOTE_TOOLS.search(name.lower()) is not None

    @property
    def finding_keys(self) -> tuple[str, ...]:
        return self.finding + _FINDING

    @property
    def value_keys(self) -> tuple[str, ...]:
        return self.value + _VALUE

    @property
    def source_keys(self) -> tuple[str, ...]:
        return self.source + _SOURCE

    @property
    def section_keys(self) -> tuple[str, ...]:
        return self.section + _SECTION

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> NoteRules:
        """What `to_json` wrote."""
        return cls(**{name: tuple(words) for name, words in json.loads(text).items()})
