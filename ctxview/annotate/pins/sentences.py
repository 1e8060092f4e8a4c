"""Sentences of a text that somebody wrote, without what was pasted into it.

Rules about wishes and prohibitions read sentences. Code, logs, quotations and tables are left out here, once, so that a
pasted `never` is not taken for an order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxview.annotate.patterns import lazy
from ctxview.annotate.pins.matching import Candidates, Vocabulary
from ctxview.values import dataclass

_LONGEST: Final = 1_500
"""A longer run without a full stop is data, not a sentence."""
_CLOSERS: Final = "\"')]*_ "
"""What may stand behind a question mark."""
_FEW: Final = 2
_MOST_CHARS: Final = 200_000
"""Of one block; no instruction is longer, and a hostile one is cut here."""

_PASTED: Final = lazy(
    r"""\s*(?:
      >(?!=)                                             # a quotation
    | [$❯➜]\s                                            # a shell prompt
    | \|.*\|\s*$                                         # a table
    | (?:\+|-|@@)?\s*\d+\s*[|│→]                          # numbered source lines
    | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d                   # a log line
    | \[\d\d:\d\d:\d\d
    | (?:at\s\S+\s\(|File\s".*",\sline\s\d|Traceback\b|\S*(?:Error|Exception):\s)
    | (?:\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\]?:?\s|(?:error|warning|info|fatal)(?:\[\w+\])?:\s)
    | </?[\w-]+(?:\s[^>]*)?>\s*$                         # a lone tag
    | (?:import|from|def|class|function|const|let|var|return|if\s\(|for\s\(|public|private)\s.*[;:{(]\s*$
    | [\]\[{}();,]+\s*$
    )""",
    re.VERBOSE,
)
_PASTED_WORDS: Final = ("at", "File", "Traceback", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")
"""A line that starts with a letter was pasted only if it starts with one of these, holds a colon or ends like code."""
_PASTED_LETTERS: Final = frozenset(word[0] for word in _PASTED_WORDS)
_TAG: Final = lazy(r"<(?:(?<=[.!?>]<)(?<!\.\.<)|(?<=^<))/?[a-z][a-z_-]*>", re.MULTILINE)
"""Tags with which a prompt marks its parts: what is in front and behind are two sentences. A pattern that starts with
a letter of its own is searched for many times faster than one that starts by looking back."""
_FILE: Final = lazy(r"<file_content\b.*?(?:</file_content>|\Z)", re.DOTALL)
"""A file that a client puts into a message."""
_LIST_MARK: Final = lazy(r"\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)]\s+|[a-zA-Z][.)]\s+|#{1,6}\s+)")
_WRAPS: Final = frozenset("abcdefghijklmnopqrstuvwxyz(\"'`")
"""How the continuation of a wrapped line starts."""
_PIECE: Final = lazy(
    r"""\s*(?=\S)(
      (?: [^.!?…]++
        | [.!?…](?!["')\]*_`]*\s+["'(\[*_`“]*\w)          # within a word, or at the end
        | \.(?=\s)(?: (?<=\.\.\.) | (?<=\b[A-Z]\.) | (?<=\be\.g\.) | (?<=\bi\.e\.) | (?<=\betc\.) | (?<=\bvs\.)
          | (?<=\bcf\.) | (?<=\bapprox\.) | (?<=\bincl\.) | (?<=\bresp\.) | (?<=\bno\.) | (?<=\bfig\.)
          | (?<=\bMr\.) | (?<=\bMrs\.) | (?<=\bDr\.) | (?<=\bSt\.) )
      )*+
      (?:[.!?…]["')\]*_`]*+)?
    )""",
    re.VERBOSE,
)
"""A sentence of a paragraph with the marks that close it."""
_MASKED: Final = lazy(
    r"`[^`]*`|\"[^\"]{1,400}\"|“[^”]{1,400}”|«[^»]{1,400}»|'(?<!\w')[^']{8,400}'(?!\w)|https?://\S+"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """As written, on one line, without a list mark."""
    low: str
    """The same in lower case, without emphasis, and with quotations, inline code and addresses replaced by `«…»`: what
    rules match."""
    asks: bool
    candidates: Candidates = 0
    """The rules whose key words it holds: no other matches it."""
    first: bool = False
    """Whether it opens the text; False where not all sentences were asked for."""


def sentences(text: str, known: Vocabulary) -> list[Sentence]:
    """The sentences of `text`, in order, each with its candidates among the rules of `known`."""
    found: list[Sentence] = []
    for paragraph in _paragraphs(text[:_MOST_CHARS]):
        has_marks = _has_marks(paragraph)
        found += _split(paragraph, has_marks, known, known.candidates(folded(paragraph, has_marks)), not found)
    return found


def sentences_that_match(text: str, known: Vocabulary) -> Iterator[Sentence]:
    """Those that have candidates, in order. A paragraph without is not cut into sentences at all."""
    for paragraph in _paragraphs(text[:_MOST_CHARS]):
        has_marks = _has_marks(paragraph)
        candidates = known.candidates(folded(paragraph, has_marks))
        if candidates:
            for sentence in _split(paragraph, has_marks, known, candidates):
                if sentence.candidates:
                    yield sentence


def _split(
    paragraph: str, has_marks: bool, known: Vocabulary, candidates: Candidates, first: bool = False
) -> list[Sentence]:
    """The paragraph's sentences. `candidates` are its own: of few sentences none is asked again for fewer."""
    found = []
    pieces = _pieces(paragraph)
    few = len(pieces) <= _FEW or not candidates
    for piece in pieces:
        low = (plain(piece) if has_marks else piece).lower()
        asks = ("?" in piece or "？" in piece) and _asks(piece)
        found.append(Sentence(piece, low, asks, candidates if few else known.candidates(low), first))
        first = False
    return found


def _asks(piece: str) -> bool:
    return piece.rstrip(_CLOSERS).endswith(("?", "？"))


def from_the_end(text: str) -> Iterator[Sentence]:
    """The sentences of `text`, the last one first. None is made before it is asked for."""
    parts = [text] if "```" in text or "~~~" in text else text.split("\n\n")
    for part in reversed(parts):
        for paragraph in reversed(_paragraphs(part)):
            for piece in reversed(_pieces(paragraph)):
                yield Sentence(piece, plain(piece).lower(), ("?" in piece or "？" in piece) and _asks(piece))


def _pieces(paragraph: str) -> list[str]:
    """The paragraph cut after each sentence."""
    if not ("." in paragraph[:-1] or "?" in paragraph[:-1] or "!" in paragraph[:-1] or "…" in paragraph[:-1]):
        return [paragraph] if len(paragraph) <= _LONGEST else []
    pieces: list[str] = _PIECE.findall(paragraph)
    if "`" in paragraph:
        pieces = _rejoined(pieces)
    return [piece for piece in pieces if len(piece) <= _LONGEST]


def _rejoined(pieces: list[str]) -> list[str]:
    """The pieces, those put together again that were cut within inline code (`` `1. 2. 3.` ``)."""
    found: list[str] = []
    is_open = False
    for piece in pieces:
        if is_open or (found and found[-1][-1] == "`" and piece[0].islower()):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
        is_open ^= piece.count("`") % 2 == 1
    return found if not is_open else pieces


def _has_marks(text: str) -> bool:
    """Whether `plain` can be any other text."""
    return (
        "*" in text
        or '"' in text
        or "`" in text
        or text.count("'") > 1
        or "://" in text
        or "__" in text
        or not text.isascii()
    )


def folded(paragraph: str, has_marks: bool = True) -> str:
    """A paragraph in lower case. All words of its sentences' `low` are words of it: what it lacks, none of them has."""
    if not has_marks:
        return paragraph.lower()
    low = _without_emphasis(paragraph).lower()
    return low.replace("http", " http") if "://" in low else low


def plain(text: str) -> str:
    """`text` without emphasis, quotations and inline code replaced, so that only the writer's own words are left."""
    text = _without_emphasis(text)
    if "`" in text or '"' in text or "'" in text or "://" in text or "“" in text or "«" in text:
        return _MASKED.sub("«…»", text)
    return text


def _without_emphasis(text: str) -> str:
    if "*" in text or "’" in text or "__" in text:
        return text.replace("*", "").replace("’", "'").replace("__", "")
    return text


def _paragraphs(text: str) -> list[str]:
    """Lines, with the continuation of a wrapped line joined to it; what was pasted is left out."""
    if "<!--" in text:
        text = _without_comments(text)
    if "<file_content" in text:
        text = _FILE.sub("\n", text)
    if "</" in text:
        text = _TAG.sub("\n", text)
    fenced = "```" in text or "~~~" in text
    in_code = False
    found: list[str] = []
    held = ""
    for line in text.split("\n"):
        stripped = line.strip()
        if fenced and stripped.startswith(("```", "~~~")):
            in_code = not in_code
        elif not in_code and stripped and not _is_pasted(line, stripped):
            opens = stripped[0]
            mark = None if opens.isalpha() and stripped[1:2] not in (".", ")") else _LIST_MARK.match(line)
            if held:
                wraps = len(held) >= 40 and held[-1] not in ".!?:;" and held[:2] != "//"
                if mark is None and wraps and opens in _WRAPS:
                    held = f"{held} {stripped}"
                    continue
                found.append(held)
            held = line[mark.end() :].strip() if mark else stripped
            continue
        if held:
            found.append(held)
            held = ""
    if held:
        found.append(held)
    return found


def _without_comments(text: str) -> str:
    """`text` without HTML comments: notes of its author to those who edit it."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[at:start])
        at = end + len("-->")
    return "".join(kept) + text[at:]


def _is_pasted(line: str, stripped: str) -> bool:
    opens = stripped[0]
    if opens.isalpha():
        suspect = (
            ":" in stripped
            or stripped[-1] in ";{("
            or (opens in _PASTED_LETTERS and stripped.startswith(_PASTED_WORDS))
        )
    elif stripped[1:2] == " ":
        suspect = opens not in "-*•#" or stripped[2:3].isdigit()
    else:
        suspect = stripped[1:3] != ". "
    return suspect and _PASTED.match(line) is not None
