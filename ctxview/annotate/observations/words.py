"""A shell command line as pipelines of words: enough of the shell to see which files a command names.

Nothing is run or looked up. A word whose value the line does not tell (a glob, an unknown variable, a substitution) is
None, and what depends on it is not guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, TypeAlias

from ctxview.annotate.observations.ask import names
from ctxview.annotate.patterns import lazy

Word: TypeAlias = str | None

_HEREDOC: Final = lazy(
    r"(?<!<)<<(?!<)(?P<dash>-?)[ \t]*"
    r"(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\"|(?P<bare>(?:\\[^\n]|[^\s'\"\\;|&<>()$`])+))"
)
_NUL: Final = "\x00"
"""Stands in the marks of this module and of the loops. A shell cannot be given one."""
_HERE: Final = "\x00here"
_CUT: Final = lazy(r"< \x00here(\d+) |\x00end(\d+)")
_TOKEN: Final = lazy(
    r"""
    (?P<space>[ \t\r]+|\\\n|\x00end[0-9]+)
  | (?P<comment>(?<![^\s;&|()])\#[^\n]*)
  | (?P<redirect>(?:(?<![^\s;&|()])[0-9])?(?:>>|>&|>\||<<<|<>|<&|[<>])|&>>?)
  | (?P<operator>&&|\|\||\|&|;;|[;|&()\n])
  | (?P<piece>
        '[^']*' | "(?:[^"\\]|\\.)*" | \$'(?:[^'\\]|\\.)*' | \\.
      | \$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\) | `[^`]*`
      | [^\s'"\\;|&<>()`$]+ | \$(?:\w+|\{[^}]{0,300}\}|.)? | ['"`]
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE: Final = lazy(r"\$(?:(\w+)|\{(\w+)\})")
_PATTERN: Final = lazy(r"(?:[\w./~\]-]*[*?\[])+[\w./\]-]*")
_ASSIGNMENT: Final = lazy(r"[A-Za-z_]\w*=")
_STARTS: Final[tuple[list[Word], ...]] = ([], ["do"], ["then"], ["else"], ["{"])
"""Words behind which a command begins."""
_FRONT: Final = names(
    """
    do then else elif if while until { ! time sudo command builtin exec nohup env export local declare typeset readonly
    """
)
"""Words that may stand before an assignment."""
_MOST: Final = 10
"""Words of one variable; with more of them in each of its uses a line would take too long."""
LONGEST: Final = 4_000
"""Characters of a variable that are known, and that variables may add to a word: `a=$a$a` doubles it each time."""
_MOST_ADDED: Final = 1_000_000
"""Characters that variables may add to a line."""
_ESCAPE: Final = lazy(r'\\([\\"$`\n])')
_UNQUOTE: Final = lazy(r"\\(.)")


@dataclass(slots=True)
class Redirect:
    op: str
    """`>`, `>>`, `<`, `<<`, `<<<`, with the stream's number in front where one was given."""
    target: Word


@dataclass(slots=True)
class Command:
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    heredoc: Word = None
    """The heredoc's text; None without one, or when the shell would change it."""
    patterns: list[str] = field(default_factory=list)
    """Its words that are a pattern of names (`test_*.py`); among `words` they are None."""


@dataclass(slots=True)
class Pipeline:
    commands: list[Command]
    before: str
    """The operator in front: `&&`, `||`, `;` or nothing."""


@dataclass(slots=True)
class _Heredoc:
    mark: str
    """As it stands in the line: `<<'EOF'`."""
    lines: list[str]
    """Its text's, and the one that ends it."""
    text: Word
    """None where the shell would substitute."""


def pipelines(line: str, values: dict[str, Word]) -> Iterator[Pipeline]:
    """The pipelines of a command line, in order. `values` holds the variables known so far; assignments add to it."""
    line, heredocs = _cut_heredocs(line.replace(_NUL, ""))
    before = ""
    commands: list[Command] = [Command()]
    for kind, value in _tokens(line, values, heredocs):
        command = commands[-1]
        if kind == "word":
            if isinstance(value, str) and command.words in _STARTS and _ASSIGNMENT.match(value):
                name, _, text = value.partition("=")
                values[name] = text if len(text) <= LONGEST else None
            else:
                command.words.append(value)
        elif kind == "pattern":
            command.words.append(None)
            command.patterns.append(value or "")
        elif kind == "unknown":  # an assignment of something that only the shell knows
            if _is_front(command.words):
                values[value or ""] = None
            else:
                command.words.append(None)
        elif kind.startswith("redirect "):
            if isinstance(value, str) and value.startswith(_HERE):
                command.heredoc = heredocs[int(value[len(_HERE) :])].text
                command.redirects.append(Redirect("<<", None))
            else:
                command.redirects.append(Redirect(kind[9:], value))
        elif value == "|" or value == "|&":
            commands.append(Command())
        else:
            yield from _flush(commands, before)
            before, commands = value if value in ("&&", "||") else ";", [Command()]
    yield from _flush(commands, before)


def _flush(commands: list[Command], before: str) -> Iterator[Pipeline]:
    if any(c.words or c.redirects for c in commands):
        yield Pipeline(commands, before)


def _is_front(words: list[Word]) -> bool:
    """Whether an assignment may follow these words."""
    return len(words) <= _MOST and all(
        word is not None and (word in _FRONT or word.startswith("-") or _ASSIGNMENT.match(word)) for word in words
    )


def _cut_heredocs(line: str) -> tuple[str, list[_Heredoc]]:
    """The line with a marker in the place of each heredoc's mark and of its text, and what they stand for.

    A mark behind which no line ends the heredoc is none.
    """
    found: list[_Heredoc] = []
    if "<<" not in line:
        return line, found
    lines = line.split("\n")
    ends = {"": _numbers_by_text(lines)}  # by the mark's dash
    left: list[str] = []
    at = 0
    while at < len(lines):
        text = lines[at]
        at += 1
        behind: list[str] = []
        parts: list[str] = []
        done = 0
        for mark in _HEREDOC.finditer(text) if "<<" in text else ():
            dash, bare = mark["dash"], mark["bare"]
            if dash not in ends:
                ends[dash] = _numbers_by_text([text.lstrip("\t") for text in lines])
            name = mark["single"] or mark["double"] or _UNQUOTE.sub(r"\1", bare)
            numbers = ends[dash].get(name, [])
            number = bisect_left(numbers, at)
            if number == len(numbers):
                continue
            end = numbers[number]
            parts.append(f"{text[done : mark.start()]}< {_HERE}{len(found)} ")
            done = mark.end()
            behind.append(f"\x00end{len(found)}")
            body = "".join(f"{text}\n" for text in (map(_without_tabs, lines[at:end]) if dash else lines[at:end]))
            literal = bare is None or "\\" in bare or not ("$" in body or "`" in body or "\\" in body)
            found.append(_Heredoc(mark[0], lines[at : end + 1], body if literal else None))
            at = end + 1
        left += ["".join([*parts, text[done:]]), *behind]
    return "\n".join(left), found


def _numbers_by_text(lines: list[str]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(lines):
        numbers[text].append(number)
    return numbers


def _without_tabs(text: str) -> str:
    return text.lstrip("\t")


def _restored(piece: str, heredocs: list[_Heredoc]) -> str:
    """A quoted piece as it was before heredocs were cut out of it: a line for another shell, that reads them itself."""
    if _NUL not in piece:
        return piece
    return _CUT.sub(
        lambda m: heredocs[int(m[1])].mark if m[1] else "\n".join(heredocs[int(m[2])].lines),
        piece,
    )


def _tokens(line: str, values: dict[str, Word], heredocs: list[_Heredoc]) -> Iterator[tuple[str, Word]]:
    pieces: list[str] = []
    redirect: str | None = None
    room = _MOST_ADDED
    for match in chain(_TOKEN.finditer(line), (None,)):
        if match is not None and match.lastgroup == "piece":
            pieces.append(_restored(match[0], heredocs) if match[0][0] in "'\"" else match[0])
            continue
        if pieces:
            texts = [_value(piece, values) for piece in pieces]
            added = sum(len(text or "") for text in texts) - sum(map(len, pieces))
            if added > 0:
                room -= added
                texts = texts if added <= LONGEST and room >= 0 else [None]
            yield from _word(pieces, texts, redirect)
            pieces, redirect = [], None
        if match is None:
            return
        if match.lastgroup == "redirect":
            redirect = match[0].rstrip("|") if match[0] != "<<<" else "<<<"
        elif match.lastgroup == "operator":
            redirect = None
            yield "operator", match[0]


def _word(pieces: list[str], texts: list[Word], redirect: str | None) -> Iterator[tuple[str, Word]]:
    known = [text for text in texts if text is not None]
    word = "".join(known) if len(known) == len(texts) else None
    bare = [text for piece, text in zip(pieces, known) if piece[0] == "$"] if word is not None else []
    if bare and redirect is None and len(pieces) == 1:
        yield from (("word", part) for part in _taken_apart(bare[0]))
        return
    if any(text.split() != [text] for text in bare) and not _ASSIGNMENT.match(pieces[0]):
        word = None
    if redirect is not None:
        yield f"redirect {redirect}", word
    elif word is None and _ASSIGNMENT.match(pieces[0]):
        yield "unknown", pieces[0].partition("=")[0]
    elif word is None and len(pieces) == 1 and _PATTERN.fullmatch(pieces[0]):
        yield "pattern", pieces[0]
    else:
        yield "word", word


def _taken_apart(text: str) -> list[Word]:
    """The words that a shell makes of a variable outside of quotes."""
    parts = text.split()
    if len(parts) > _MOST:
        return [None]
    return [None if any(c in part for c in "*?[") else part for part in parts]


def _value(piece: str, values: dict[str, Word]) -> Word:
    if piece[0] == "'":
        return piece[1:-1]
    if piece[0] == '"':
        return _double(piece[1:-1], values)
    if piece[0] == "\\":
        return piece[1:]
    if piece[0] == "$":
        variable = _VARIABLE.fullmatch(piece)
        return values.get(variable[1] or variable[2]) if variable else None
    if piece in ("[", "[["):
        return piece
    if piece[0] == "`" or any(c in piece for c in "*?[") or ("{" in piece and "," in piece):
        return None if not _ASSIGNMENT.match(piece) or piece[0] == "`" else piece
    return piece


def _double(text: str, values: dict[str, Word]) -> Word:
    if "`" in text or "$(" in text:
        return None
    if "$" not in text:
        return _ESCAPE.sub(r"\1", text) if "\\" in text else text
    if "\\$" in text:
        return None
    parts: list[str] = []
    at = added = 0
    for match in _VARIABLE.finditer(text):
        value = values.get(match[1] or match[2])
        added += len(value or "")
        if value is None or added > LONGEST:
            return None
        parts += [text[at : match.start()], value]
        at = match.end()
    rest = text[at:]
    if "$" in rest.rstrip("$") or any("$" in part for part in parts[::2]):
        return None
    return "".join([*parts, rest])
