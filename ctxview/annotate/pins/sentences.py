"""Sentences of a text that somebody wrote, without what was pasted into it.

Rules about wishes and prohibitions read sentences. Code, logs, quotations and tables are left out here, once, so that a
pasted `never` is not taken for an order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_LONGEST: Final = 1_500
"""A longer run without a full stop is data, not a sentence."""
_MOST_CHARS: Final = 200_000
"""Of one block; no instruction is longer, and a hostile one is cut here."""

_PASTED: Final = re.compile(
    r"""\s*(?:
      >(?!=)                                             # a quotation
    | [$❯➜]\s                                            # a shell prompt
    | \|.*\|\s*$                                         # a table
    | (?:\+|-|@@)?\s*\d+\s*[|│→]                          # numbered source lines
    | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d                   # a log line
    | \[\d\d:\d\d:\d\d
    | (?:at\s\S+\s\(|File\s".*",\sline\s\d|Traceback\b|\S*(?:Error|Exception):\s)
    | (?:\[?(?:ERROR|WARN|INFO|DEBUG|TRACE)\]?\s|(?:error|warning|info|fatal)(?:\[\w+\])?:\s)
    | </?[\w-]+(?:\s[^>]*)?>\s*$                         # a lone tag
    | (?:import|from|def|class|function|const|let|var|return|if\s\(|for\s\(|public|private)\s.*[;:{(]\s*$
    | [\]\[{}();,]+\s*$
    )""",
    re.VERBOSE,
)
_LIST_MARK: Final = re.compile(r"\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)]\s+|[a-zA-Z][.)]\s+|#{1,6}\s+)")
_WRAPS: Final = re.compile(r"\s*[a-z(\"'`]")
_END: Final = re.compile(r"([.!?…][\"')\]*_`]*)\s+(?=[\"'(\[*_`“]*\w)")
_ABBREVIATION: Final = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|no|fig|Mr|Mrs|Dr|St)\.|\b[A-Z]\."
    r"|\.\.\.)$")
_QUOTES: Final = re.compile("[\"`“«']|://")
_MASKED: Final = re.compile(r"`[^`]*`|\"[^\"]{1,400}\"|“[^”]{1,400}”|«[^»]{1,400}»|(?<!\w)'[^']{8,400}'(?!\w)"
    r"|https?://\S+")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """As written, on one line, without a list mark."""
    low: str
    """The same in lower case, without emphasis, and with quotations, inline code and addresses replaced by `«…»`: what
    rules match."""
    first: bool
    """Whether it opens the text."""

    @property
    def asks(self) -> bool:
        return self.text.rstrip("\"')]*_ ").endswith("?")


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of `text`, in order."""
    first = True
    for paragraph in _paragraphs(text[:_MOST_CHARS]):
        for piece in _split(paragraph):
            if len(piece) > _LONGEST:
                continue
            yield Sentence(piece, plain(piece).lower(), first)
            first = False


def plain(text: str) -> str:
    """`text` without emphasis, quotations and inline code replaced, so that only the writer's own words are left."""
    if "*" in text or "’" in text or "__" in text:
        text = text.replace("*", "").replace("’", "'").replace("__", "")
    return _MASKED.sub("«…»", text) if _QUOTES.search(text) else text


def _paragraphs(text: str) -> Iterator[str]:
    """Lines, with the continuation of a wrapped line joined to it; what was pasted is left out."""
    fenced = "```" in text or "~~~" in text
    in_code = False
    held = ""
    for line in text.split("\n"):
        if fenced and line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
            if held:
                yield held
                held = ""
            continue
        stripped = line.strip()
        if in_code or not stripped or _PASTED.match(line):
            if held:
                yield held
                held = ""
            continue
        mark = _LIST_MARK.match(line)
        if held and mark is None and len(held) >= 40 and held[-1] not in ".!?:;" and _WRAPS.match(line):
            held = f"{held} {stripped}"
            continue
        if held:
            yield held
        held = line[mark.end() :].strip() if mark else stripped
    if held:
        yield held


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        if _ABBREVIATION.search(paragraph, max(start, end.end(1) - 8), end.end(1)):
            continue
        yield paragraph[start : end.end(1)]
        start = end.end()
    if start < len(paragraph):
        yield paragraph[start:]
