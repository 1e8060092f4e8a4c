"""Commands that show a file, or part of one, as it stands: `cat`, `head`, `tail`, `sed -n`, `nl`, `less`, `awk NR`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from ctxview.annotate.observations.seen import END, Span, Spans
from ctxview.annotate.observations.words import Command, Word
from ctxview.annotate.patterns import lazy

_PAGERS: Final = ("cat", "less", "more", "bat", "batcat", "nl")
_SED_RANGE: Final = lazy(r"\s*(\d{1,15})\s*(?:,\s*(\+?\d{1,15}|\$)\s*)?p\s*")
_SED_QUIT: Final = lazy(r"\s*(\d{1,15})\s*q\s*")
_AWK_RANGE: Final = lazy(
    r"\s*NR\s*>=?\s*(\d{1,15})\s*&&\s*NR\s*<=?\s*(\d{1,15})\s*(?:\{\s*print(?:\s+\$0)?\s*;?\s*\})?\s*"
)


@dataclass(frozen=True, slots=True)
class View:
    """Files shown, and which of their lines."""

    files: tuple[Word, ...]
    rule: str
    spans: Spans = ()
    """Empty for all lines."""
    numbered: bool = False


def viewed(command: Command) -> View | None:
    """What a command shows of files it names; None when it shows none, or not as they stand."""
    files, lines, numbered = _parse(command)
    if files is None or lines is None:
        return None
    inputs = tuple(files) or tuple(r.target for r in command.redirects if r.op == "<")
    if not inputs:
        return None
    name = command.words[0]
    if name == "head" and len(inputs) > 1:
        return None  # the files' heads stand between titles
    return View(inputs, f"{name} of a file", lines, numbered)


def narrow(view: View, command: Command) -> View | None:
    """`view` through the next command of its pipeline; None when that does more than choose lines."""
    files, lines, numbered = _parse(command)
    if files is None or lines is None or files or len(view.files) != 1:
        return None
    if not lines:
        return replace(view, numbered=view.numbered or numbered)
    within = view.spans[0] if len(view.spans) == 1 else (1, END) if not view.spans else None
    if within is None:
        return None
    spans = [_inside(span, within) for span in lines]
    if any(span is None for span in spans):
        return None
    return replace(view, spans=tuple(s for s in spans if s), numbered=view.numbered or numbered)


def _inside(span: Span, within: Span) -> Span | None:
    """Lines `span` of the lines `within`."""
    (x, y), (a, b) = span, within
    if a < 0:
        return None
    if x < 0:
        return (max(a, b + x + 1), b) if b != END else (x, y)
    first = a + x - 1
    last = b if y == END else min(b, a + y - 1)
    return (first, last) if first <= last else None


def _parse(command: Command) -> tuple[list[Word] | None, Spans | None, bool]:
    """Files, lines chosen and whether they are numbered; None in place of files or lines for other commands."""
    name, words = (command.words[0], command.words[1:]) if command.words else (None, [])
    if name in _PAGERS:
        return _pager(name or "", words)
    if name == "head" or name == "tail":
        files, spans = _end(name, words)
        return files, spans, False
    if name in ("sed", "gsed"):
        files, spans = _sed(words)
        return files, spans, False
    if name in ("awk", "gawk") and words and words[0] is not None:
        match = _AWK_RANGE.fullmatch(words[0])
        if match:
            first = int(match[1]) + (">=" not in words[0])
            last = int(match[2]) - ("<=" not in words[0])
            return words[1:], ((first, last),) if first <= last else None, False
    return None, None, False


def _pager(name: str, words: list[Word]) -> tuple[list[Word] | None, Spans | None, bool]:
    options = [w for w in words if w is not None and w.startswith("-") and w != "-"]
    files = [w for w in words if w is None or not w.startswith("-")]
    if name == "nl":
        if files and "-b" in options and files[0] == "a":
            files = files[1:]
        return files, (), True
    if any(re.match(r"-\w*[AetTv]", o) for o in options if not o.startswith("--")):
        return None, None, False
    return files, (), name == "cat" and any(re.match(r"-\w*[nb]", o) for o in options)


def _end(name: str | None, words: list[Word]) -> tuple[list[Word] | None, Spans | None]:
    """`head` and `tail`: by lines only."""
    count = "10"
    files: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word is None or not word.startswith("-") or word == "-":
            if word is not None and name == "tail" and re.fullmatch(r"\+\d+", word):
                count = word
            else:
                files.append(word)
        elif word in ("-n", "--lines"):
            count = (words[at] if at < len(words) else None) or ""
            at += 1
        elif match := re.fullmatch(r"-n?([+-]?\d+)|--lines=([+-]?\d+)", word):
            count = match[1] or match[2]
        elif word not in ("-q", "-f", "-F"):
            return None, None
    if not re.fullmatch(r"[+-]?\d{1,15}", count):
        return None, None
    number = abs(int(count))
    if name == "head":
        return files, ((1, number),) if number and not count.startswith("-") else None
    if count.startswith("+"):
        return files, ((max(1, number), END),)
    return files, ((-number, -1),) if number else None


def _sed(words: list[Word]) -> tuple[list[Word] | None, Spans | None]:
    """`sed -n 'a,bp'` and `sed Nq`."""
    quiet = False
    scripts: list[Word] = []
    files: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("-n", "--quiet", "--silent"):
            quiet = True
        elif word == "-e" or word == "-ne":
            quiet = quiet or word == "-ne"
            scripts.append(words[at] if at < len(words) else None)
            at += 1
        elif word is not None and word.startswith("-") and word not in ("-E", "-r", "-u", "--"):
            return None, None
        elif word in ("-E", "-r", "-u", "--"):
            continue
        elif scripts:
            files.append(word)
        else:
            scripts.append(word)
    if any(script is None for script in scripts):
        return None, None
    parts = [p for script in scripts for p in re.split(r"[;\n]", script or "") if p.strip()]
    if not quiet:
        quit_ = _SED_QUIT.fullmatch(parts[0]) if len(parts) == 1 else None
        return (files, ((1, int(quit_[1])),)) if quit_ and int(quit_[1]) else (None, None)
    spans = []
    for part in parts:
        if _SED_QUIT.fullmatch(part):
            continue
        match = _SED_RANGE.fullmatch(part)
        if match is None or not int(match[1]):
            return None, None
        first = int(match[1])
        last = first if match[2] is None else END if match[2] == "$" else int(match[2].lstrip("+"))
        spans.append((first, first + last if (match[2] or "").startswith("+") else max(first, last)))
    return (files, tuple(sorted(spans))) if spans else (None, None)
