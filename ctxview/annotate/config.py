"""`ctxview.toml`: what a project says about its own traces. Here: how it is read, and its `[pins]` table,

    [pins]
    off = ["question"]                     # kinds not looked for
    on = ["plan"]                          # kinds that are off unless asked for
    denial_markers = ["REFUSED:"]          # how a tool result starts that refuses an action

    [pins.phrases]                         # further words of the person, by kind: plain, or a regex between slashes
    constraint = ["hands off", "/keep .* frozen/"]

and its `[ledger]` table, for what the agent notes down.

    [ledger]
    tools = ["record_*"]                   # tools that take notes, next to the usual ones
    finding = ["claim"]                    # arguments that hold a row's parts, before the usual ones
    value = ["figure"]
    source = ["where"]
    section = ["part"]

A mistake in it is an error that names the file, the line where it is known, the key and the fix; a table of another
name is a warning. No setting is passed over in silence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast, get_args

from ctxview.annotate.note_rules import NoteRules
from ctxview.annotate.pins.rules import OFF_BY_DEFAULT, Phrase, PinRules
from ctxview.errors import UsageError
from ctxview.model import PinKind

_KINDS: Final[tuple[PinKind, ...]] = get_args(PinKind)
_KEYS: Final = ("off", "on", "denial_markers", "phrases")
_LEDGER_KEYS: Final = ("tools", "finding", "value", "source", "section")
_TABLES: Final = ("pins", "resources", "ledger")
_LONGEST: Final = 300
_NESTED: Final = re.compile(r"\((?:[^()\\]|\\.)*(?<!\\)[*+}|](?:[^()\\]|\\.)*\)[*+{]")
"""A repeated group that repeats or branches inside: such a pattern can take for ever on a text made for it."""


@dataclass(frozen=True, slots=True)
class Config:
    """One `ctxview.toml`. Its other tables (`[resources]`, ...) are read by whoever they concern."""

    path: Path
    tables: Mapping[str, Any]
    source: str
    """The file's text, to name lines."""

    def line_of(self, key: str) -> int | None:
        """The first line that sets `key`; None when it cannot be told."""
        found = re.search(rf"^[ \t]*(?:\[[^\]\n]*\b)?\"?{re.escape(key)}\"?[ \t]*[=\].]", self.source, re.MULTILINE)
        return self.source.count("\n", 0, found.start()) + 1 if found else None

    def located(self, error: UsageError) -> UsageError:
        """`error` with the file and the line of the first setting that it names in quotes or brackets."""
        named = re.findall(r"'([^'\n]+)'", error.cause) + re.findall(r"\[([^]\n]+)\]", error.cause)
        line = next((at for name in named if (at := self.line_of(name.rpartition(".")[2])) is not None), None)
        return UsageError(f"{self.path}{f', line {line}' if line else ''}: {error.cause}", error.fix)

    def error(self, key: str, cause: str, fix: str) -> UsageError:
        line = self.line_of(key.rpartition(".")[2])
        return UsageError(f"{self.path}{f', line {line}' if line else ''}: {key}: {cause}", fix)


def read_config(path: Path) -> Config:
    """Raises UsageError when the file cannot be read or is not TOML."""
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", "give a text file in UTF-8, or remove it") from error
    try:
        return Config(path, tomllib.loads(source), source)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        last = source.rstrip().count("\n") + 1 if "end of document" in str(error) else None
        line = at[1] if at else last
        where = f", line {line}" if line else ""
        fix = "mend the TOML there; texts stand in quotes, lists in [ ]"
        raise UsageError(f"{path}{where}: {error}", fix) from error
    except RecursionError:
        raise UsageError(f"{path}: lists or tables are nested too deeply", "write it flatter") from None
    except ValueError:  # Python reads no number of more digits
        raise UsageError(f"{path}: a number has thousands of digits", "shorten it, or write it as a text") from None


def pin_rules(config: Config | None) -> PinRules:
    """The rules that `[pins]` asks for; the defaults without one. Raises UsageError."""
    table = config.tables.get("pins", {}) if config else {}
    if config is None or table == {}:
        return PinRules()
    if not isinstance(table, dict):
        raise config.error("pins", "is not a table", "write it as a table: [pins]")
    for key in table:
        if key not in _KEYS:
            raise config.error(f"pins.{key}", "is no setting", _suggest(key, _KEYS))
    off = _kinds(config, table, "off")
    on = _kinds(config, table, "on")
    both = off & on
    if both:
        raise config.error("pins.on", f"{min(both)} is in `on` and in `off`", "keep it in one of the two")
    return PinRules(
        off=frozenset((OFF_BY_DEFAULT - on) | off),
        phrases=tuple(_phrases(config, table.get("phrases", {}))),
        denial_markers=_texts(config, table, "denial_markers"),
    )


def note_rules(config: Config | None) -> NoteRules:
    """The rules that `[ledger]` asks for; the defaults without one. Raises UsageError."""
    table = config.tables.get("ledger", {}) if config else {}
    if config is None or table == {}:
        return NoteRules()
    if not isinstance(table, dict):
        raise config.error("ledger", "is not a table", "write it as a table: [ledger]")
    for key in table:
        if key not in _LEDGER_KEYS:
            raise config.error(f"ledger.{key}", "is no setting", _suggest(key, _LEDGER_KEYS))
    return NoteRules(**{key: _texts(config, table, key, "ledger") for key in _LEDGER_KEYS})


def unknown_tables(config: Config) -> Iterable[tuple[int | None, str]]:
    """What the file sets and nothing reads: the line where it is known, and what to say of it."""
    for key in config.tables:
        if key not in _TABLES:
            kind = "table" if isinstance(config.tables[key], dict) else "setting"
            yield config.line_of(key), f"{key!r} is no {kind} that ctxview reads: {_suggest(key, _TABLES)}"


def _texts(config: Config, table: Mapping[str, Any], key: str, prefix: str = "pins") -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise config.error(f"{prefix}.{key}", "is not a list of texts", f'for example {key} = ["..."]')
    return tuple(value)


def _kinds(config: Config, table: Mapping[str, Any], key: str) -> frozenset[PinKind]:
    for name in _texts(config, table, key):
        if name not in _KINDS:
            raise config.error(f"pins.{key}", f"{name!r} is no kind of pin", _suggest(name, _KINDS))
    return frozenset(cast(list[PinKind], table.get(key, [])))


def _phrases(config: Config, table: object) -> Iterable[Phrase]:
    if not isinstance(table, dict):
        raise config.error("pins.phrases", "is not a table", "write it as a table: [pins.phrases]")
    for kind in table:
        if kind not in _KINDS:
            raise config.error(f"pins.phrases.{kind}", "is no kind of pin", _suggest(kind, _KINDS))
        for text in _texts(config, table, kind, "pins.phrases"):
            yield Phrase(cast(PinKind, kind), _pattern(config, kind, text), text)


def _pattern(config: Config, kind: str, text: str) -> re.Pattern[str]:
    key = f"pins.phrases.{kind}"
    if len(text) > _LONGEST:
        raise config.error(key, f"a phrase is longer than {_LONGEST} characters", "shorten it")
    if len(text) < 3 or not (text.startswith("/") and text.endswith("/")):
        start, end = (r"\b" if text[0].isalnum() else ""), (r"\b" if text[-1].isalnum() else "")
        return re.compile(start + r"\s+".join(map(re.escape, text.split())) + end, re.IGNORECASE)
    if _NESTED.search(text):
        raise config.error(key, f"{text} repeats a group that repeats or branches", "write it plainer")
    try:
        return re.compile(text[1:-1], re.IGNORECASE)
    except re.error as error:
        raise config.error(key, f"{text} is no regular expression: {error}", "mend it, or write it plain") from error


def _suggest(name: str, known: Iterable[str]) -> str:
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
