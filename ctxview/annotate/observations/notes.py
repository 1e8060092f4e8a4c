"""What a client tells the model of files unasked: a file was changed from outside or by a command, or attached.

Only these. Instruction files (`nested_memory`) are not observations: a policy that prunes old readings must never
take the rules away. A reference left by a compaction holds no content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ctxview.annotate.patterns import lazy

_CHANGED: Final = lazy(
    r"^(?:Note: )?(?:[Tt]he file |File )?(?P<path>`[^`\n]{1,1000}`|\"[^\"\n]{1,1000}\"|'[^'\n]{1,1000}'"
    r"|(?:/|~|[A-Za-z]:[\\/])[^\n]{0,1000}?"
    r"|(?:(?<=Note: )|(?<=ile )|(?=\S*[./\\]))[.\w]\S{0,1000}) was "  # a word alone is a file where it is called one
    r"(?:changed outside|modified, either by the user or by a linter|modified (?:by the user|externally|outside)"
    r"|changed (?:by the user|on disk|externally)|deleted (?:outside|by the user|on disk|externally))"
    r"(?P<rest>[^\n]*)(?:\n|\Z)",
    re.MULTILINE,
)
_CALLED: Final = lazy(
    r"Called the (?:Read|View) tool with the following input: "
    r"\{[^\n]*?\"(?:file_path|path)\"\s*:\s*\"((?:[^\"\\]|\\.)+)\"[^\n]*"
)
_BY_COMMAND: Final = lazy(
    r"\n?\[This command modified \d+ files? you've previously read: (?P<paths>[^\n]{1,4000}?)"
    r"(?:\. Call Read before editing\.)?\]\s*\Z"
)
_RESULT: Final = "Result of calling the Read tool:"
_NUMBERED: Final = lazy(r"[ \t]*\d+[\t→]")


@dataclass(frozen=True, slots=True)
class Note:
    path: str
    changed: bool
    """True for a change from outside, False for an attached file."""
    body: str
    """The lines shown, with their numbers where the client gives them."""


def notes_in(text: str) -> Iterator[Note]:
    """The notes in an injected text, in order."""
    if any(map(text.__contains__, (" was changed ", " was modified", " was deleted "))):
        for match in _CHANGED.finditer(text):
            yield Note(match["path"].strip("`'\""), True, _shown(text[match.end() :]))
    if _RESULT in text:
        head, _, body = text.partition(_RESULT)
        calls = list(_CALLED.finditer(head))
        if len(calls) == 1:
            yield Note(_unescaped(calls[0][1]), False, _attached(body))


def modified_by_command(text: str) -> list[str]:
    """Files that a command changed beside what it was asked, as Claude Code says at the end of its output."""
    if not text.rstrip().endswith("]"):
        return []
    match = _BY_COMMAND.search(text, max(0, len(text) - 5000))
    return [path.strip() for path in match["paths"].split(", ") if path.strip()] if match else []


def _shown(text: str) -> str:
    """The numbered lines that follow a note, up to the first line that is not numbered."""
    lines = []
    for line in text.split("\n"):
        if _NUMBERED.match(line):
            lines.append(line)
        elif lines or line.strip():
            break
    return "\n".join(lines)


def _attached(body: str) -> str:
    body = body.removeprefix("\n")
    end = body.find("</system-reminder>")
    body = (body[:end] if end >= 0 else body).strip("\n")
    stripped = body.strip()
    if stripped.startswith('"') and stripped.endswith('"') and "\n" not in stripped and len(stripped) > 1:
        return _unescaped(stripped[1:-1])
    return body


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
