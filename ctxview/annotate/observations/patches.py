"""Codex patches (`*** Begin Patch`): which files a patch adds, changes, moves and deletes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxview.annotate.observations.ask import Target
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.seen import text_of
from ctxview.annotate.patterns import lazy

BEGIN: Final = "*** Begin Patch"
_HEADER: Final = lazy(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)[ \t\r]*$", re.MULTILINE)
_HUNK: Final = re.compile(r"^@@[^\n]*$", re.MULTILINE)
_RULES: Final = {
    "Add File": "a patch adds the file",
    "Update File": "a patch changes the file",
    "Delete File": "a patch deletes the file",
    "Move to": "a patch moves a file there",
}


def patch_targets(text: str, cwd: str | None) -> list[Target]:
    """One target per file that the patches in `text` name; an added file's content is known."""
    found: dict[str, Target] = {}
    headers = list(_HEADER.finditer(text))
    for number, match in enumerate(headers):
        key = file_key(match[2], cwd)
        if key is None:
            continue
        rule = _RULES[match[1]]
        if match[1] != "Add File":
            found[key] = Target(key, "edit", rule)
            continue
        end = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        added = [line[1:] for line in text[match.end() : end].split("\n") if line.startswith("+")]
        found[key] = Target(key, "write", rule, text=text_of("\n".join(added)))
    return list(found.values())


def hunks_of(text: str) -> Iterator[tuple[str, list[tuple[str | None, str]]]]:
    """Each file that the patches in `text` add or change, as named there, and what each hunk takes and puts in its
    place; None for what an added file takes."""
    headers = list(_HEADER.finditer(text))
    for number, match in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        hunks = _HUNK.split(text[match.end() : end])
        if match[1] == "Add File":
            yield match[2], [(None, _lines(hunks[0], "+"))]
        elif match[1] == "Update File":
            yield match[2], [(_lines(hunk, " -"), _lines(hunk, " +")) for hunk in hunks if hunk.strip()]


def _lines(hunk: str, marks: str) -> str:
    return "\n".join(line[1:] for line in hunk.split("\n") if line and line[0] in marks)
