"""Formatters and fixers: the files that a command rewrites, if there is anything in them to rewrite.

It prevents a file from counting as it was read after `black a.py`, and as changed where the program's own words say
that it was left as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ctxview.annotate.observations.ask import Target, names
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.words import Word
from ctxview.annotate.patterns import lazy


@dataclass(frozen=True, slots=True)
class _Program:
    writes: frozenset[str] = frozenset()
    """Options of which one makes it write; empty where it writes without."""
    spares: frozenset[str] = frozenset()
    """Options with which it writes nothing."""


_PROGRAMS: Final = {
    "autopep8": _Program(names("-i --in-place"), names("-d --diff")),
    "black": _Program(spares=names("--check --diff -c --code")),
    "clang-format": _Program(names("-i"), names("-n --dry-run")),
    "eslint": _Program(names("--fix")),
    "gofmt": _Program(names("-w")),
    "gofumpt": _Program(names("-w")),
    "goimports": _Program(names("-w")),
    "isort": _Program(spares=names("-c --check --check-only --df --diff -d --stdout")),
    "prettier": _Program(names("-w --write")),
    "ruff check": _Program(names("--fix --fix-only"), names("--diff")),
    "ruff format": _Program(spares=names("--check --diff")),
    "rustfmt": _Program(spares=names("--check --emit")),
    "terraform fmt": _Program(spares=names("-check --check -write=false --write=false")),
    "yapf": _Program(names("-i --in-place"), names("-d --diff")),
}
FIRST_WORDS: Final = frozenset(name.split()[0] for name in _PROGRAMS)
_LAUNCHERS: Final = names(
    """
    npx bunx pnpx uvx npm pnpm yarn bun uv poetry pipenv pdm hatch pipx python python3 exec dlx run tool x
    """
)
"""Words that stand in front of a program that they run."""
_FILE_OPTIONS: Final = names(
    """
    --config -c --config-path --settings-path --settings-file --sp --settings --ignore-path --plugin --parser --ext
    --stdin-filename --stdin-filepath --exclude --extend-exclude --force-exclude --include --skip --output-file -o
    --rulesdir --resolve-plugins-relative-to --cache-file --cache-location --assume-filename --style -srcdir
    """
)
"""Options whose next word may look like a file, and is none to rewrite."""
_FILE: Final = lazy(r"(?:[^*?{},!]*/)?[^/*?{},!]+\.[A-Za-z][A-Za-z0-9]{0,9}")
"""A file by its extension; no folder, and no pattern that the program itself resolves."""
_LEFT: Final = ("left unchanged", "already formatted")
_REFORMATTED: Final = lazy(r"^reformatted ([^\n]+)$", re.MULTILINE)
_COUNTED: Final = lazy(r"\d files? reformatted")
_FIXED: Final = lazy(r"\(\d+ fixed|^Fixed \d+ error", re.MULTILINE)
_PRETTY: Final = lazy(r"^([^\n]+?) [\d.]+ms \((?:unchanged|cached)\)[ \t]*$", re.MULTILINE)


def formatted(words: Sequence[Word]) -> tuple[str, list[Word]] | None:
    """The program that a command runs, and the files it names to rewrite; None for other commands, and for those that
    only say what they would do."""
    rest = _program(words)
    if rest is None or rest[0] is None:
        return None
    name = rest[0]
    if name not in _PROGRAMS:
        name = f"{name} {rest[1]}" if len(rest) > 1 else name
    program = _PROGRAMS.get(name)
    if program is None:
        return None
    options = {part for word in rest if word is not None and word[:1] == "-" for part in (word, word.partition("=")[0])}
    writes = not program.writes or not program.writes.isdisjoint(options)
    if not writes or not program.spares.isdisjoint(options):
        return None
    named = zip(rest[1:], rest)
    return name, [w for w, before in named if w and before not in _FILE_OPTIONS and w[0] != "-" and _FILE.fullmatch(w)]


def _program(words: Sequence[Word]) -> list[Word] | None:
    """The words from the program's name on, which stands there without folder and version."""
    is_launched = False
    for at, word in enumerate(words):
        if word is None:
            return None
        if is_launched and word.startswith("-"):
            continue
        name = word.rpartition("/")[2].partition("@")[0]
        if name not in _LAUNCHERS:
            return [name, *words[at + 1 :]] if name in FIRST_WORDS else None
        is_launched = True
    return None


def left_alone(targets: Iterable[Target], shown: str, cwd: str | None) -> set[str]:
    """Keys of those targets of which each program says, in what was `shown`, that it had nothing to rewrite."""
    asked = [target for target in targets if target.programs]
    if not asked:
        return set()
    rewritten = {file_key(match[1], cwd) for match in _REFORMATTED.finditer(shown)}
    spared = {file_key(match[1], cwd) for match in _PRETTY.finditer(shown)}
    left_some = any(map(shown.__contains__, _LEFT))
    left_all = left_some and not rewritten and _COUNTED.search(shown) is None
    checked = "All checks passed!" in shown and _FIXED.search(shown) is None

    def is_left(program: str, key: str) -> bool:
        if program == "prettier":
            return key in spared
        if program == "ruff check":
            return checked
        if program in ("black", "ruff format"):
            return left_all or (left_some and bool(rewritten) and key not in rewritten)
        return False

    return {target.key for target in asked if all(is_left(program, target.key) for program in target.programs)}


def rewritten_though_failed(targets: Iterable[Target], shown: str, cwd: str | None) -> list[Target]:
    """Those targets of which a program says that it rewrote them, in a line that failed: a fixer leaves something to be
    done by hand, or what ran after it failed."""
    asked = [target for target in targets if target.programs]
    if not asked:
        return asked
    said = {"ruff check"} if _FIXED.search(shown) else set()
    if _COUNTED.search(shown):
        said |= {"black", "ruff format"}
    left = left_alone(asked, shown, cwd)
    return [target for target in asked if not said.isdisjoint(target.programs) and target.key not in left]
