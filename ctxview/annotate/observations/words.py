"""A shell command line as pipelines of words: enough of the shell to see which files a command names.

Nothing is run or looked up. A word whose value the line does not tell (a glob, an unknown variable, a substitution) is
None, and what depends on it is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ctxview.annotate.patterns import lazy

Word: TypeAlias = str | None

_HEREDOC: Final = lazy(
    r"<<(?P<dash>-?)[ \t]*(?P<quote>['\"\\]?)(?P<name>\w+)['\"]?(?P<rest>[^\n]*)\n(?P<body>.*?)"
    r"^[ \t]*(?P=name)(?=[ \t]*(?:[);&|\n]|\Z))",
    re.DOTALL | re.MULTILINE,
)
_HERE: Final = "\x00here"
_TOKEN: Final = lazy(
    r"""
    (?P<space>[ \t\r]+|\\\n)
  | (?P<comment>(?<![^\s;&|()])\#[^\n]*)
  | (?P<redirect>(?:(?<![^\s;&|()])[0-9])?(?:>>|>&|>\||<<<|<>|<&|[<>])|&>>?)
  | (?P<operator>&&|\|\||\|&|;;|[;|&()\n])
  | (?P<piece>
        '[^']*' | "(?:[^"\\]|\\.)*" | \$'(?:[^'\\]|\\.)*' | \\.
      | \$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\) | `[^`]*`
      | [^\s'"\\;|&<>()`$]+ | \$(?:\w+|\{[^}]*\}|.)? | ['"`]
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE: Final = lazy(r"\$(?:(\w+)|\{(\w+)\})")
_PATTERN: Final = lazy(r"[\w./~*?\[\]-]*[*?\[][\w./*?\[\]-]*")
_ASSIGNMENT: Final = lazy(r"[A-Za-z_]\w*=")
_STARTS: Final[tuple[list[Word], ...]] = ([], ["do"], ["then"], ["else"], ["{"])
"""Words behind which a command begins."""
_MOST: Final = 10
"""Words of one variable; with more of them in each of its uses a line would take too long."""
_ESCAPE: Final = lazy(r'\\([\\"$`\n])')


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


def pipelines(line: str, values: dict[str, Word]) -> Iterator[Pipeline]:
    """The pipelines of a command line, in order. `values` holds the variables known so far; assignments add to it."""
    line, bodies = _cut_heredocs(line)
    before = ""
    commands: list[Command] = [Command()]
    for kind, value in _tokens(line, values):
        command = commands[-1]
        if kind == "word":
            if isinstance(value, str) and command.words in _STARTS and _ASSIGNMENT.match(value):
                name, _, text = value.partition("=")
                values[name] = text
            else:
                command.words.append(value)
        elif kind == "pattern":
            command.words.append(None)
            command.patterns.append(value or "")
        elif kind == "unknown":  # an assignment of something that only the shell knows
            values[value or ""] = None
        elif kind.startswith("redirect "):
            if isinstance(value, str) and value.startswith(_HERE):
                command.heredoc = bodies[int(value[len(_HERE) :])]
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


def _cut_heredocs(line: str) -> tuple[str, list[Word]]:
    """The line with each heredoc as a marker word, and the texts; None for one in which the shell would substitute."""
    bodies: list[Word] = []
    if "<<" not in line:
        return line, bodies

    def cut(match: re.Match[str]) -> str:
        body = match["body"]
        if match["dash"]:
            body = "\n".join(text.lstrip("\t") for text in body.split("\n"))
        literal = bool(match["quote"]) or not ("$" in body or "`" in body or "\\" in body)
        bodies.append(body if literal else None)
        return f"< {_HERE}{len(bodies) - 1} {match['rest']}\n"

    return _HEREDOC.sub(cut, line), bodies


def _tokens(line: str, values: dict[str, Word]) -> Iterator[tuple[str, Word]]:
    pieces: list[str] = []
    redirect: str | None = None
    for match in _TOKEN.finditer(line):
        if match.lastgroup == "piece":
            pieces.append(match[0])
            continue
        if pieces:
            yield from _word(pieces, redirect, values)
            pieces, redirect = [], None
        if match.lastgroup == "redirect":
            redirect = match[0].rstrip("|") if match[0] != "<<<" else "<<<"
        elif match.lastgroup == "operator":
            redirect = None
            yield "operator", match[0]
    if pieces:
        yield from _word(pieces, redirect, values)


def _word(pieces: list[str], redirect: str | None, values: dict[str, Word]) -> Iterator[tuple[str, Word]]:
    texts = [_value(piece, values) for piece in pieces]
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
    at = 0
    for match in _VARIABLE.finditer(text):
        value = values.get(match[1] or match[2])
        if value is None:
            return None
        parts += [text[at : match.start()], value]
        at = match.end()
    rest = text[at:]
    if "$" in rest.rstrip("$") or any("$" in part for part in parts[::2]):
        return None
    return "".join([*parts, rest])
