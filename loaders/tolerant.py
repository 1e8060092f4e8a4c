"""One line's bytes to JSON values, however damaged, with a remark on everything that was not plain JSON.

`orjson` reads nearly every line; what it refuses (lone surrogates, NaN, broken UTF-8, glued objects) comes here, and so
does what it accepts in silence: repeated keys, of which it keeps the last, and integers it rounds to a float.
Prevents one odd record from costing the rest of a file, and an odd record from passing as an ordinary one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from ctxview.model import Severity
from ctxview.text import one_line, replace_surrogates

MAX_DEPTH: Final = 1024
"""Levels of nesting a value may have: orjson's own limit, held for the tolerant parser too."""
_SPACE: Final = re.compile("[ \t\r\n\0]*")
_TOKEN: Final = re.compile(r'[{}]|("(?:[^"\\]|\\.)*+")(\s*:)?+', re.DOTALL)

Kind = Literal[
    "bad UTF-8", "duplicate key", "glued", "lenient", "lone surrogates", "NUL bytes", "not a number", "not JSON",
    "number too large", "too deep",
]  # fmt: skip
"""What a remark is about; equal kinds are counted together."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd about one record, worded for a person without naming the line."""

    kind: Kind
    text: str
    severity: Severity = "warning"
    offset: int = 0
    """Bytes into the line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One value of a line, or what stands where one should be."""

    value: Any
    readable: bool
    remarks: tuple[Remark, ...] = ()


def count(number: int, noun: str) -> str:
    """`1 byte`, `2 bytes`, `20,000 bytes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# ------------------------------------------------------------------------- what orjson accepted without a word


def hidden_flaws(line: bytes, value: Any) -> Piece | None:
    """Look again at a line that orjson parsed to `value`; None when it kept nothing quiet.

    Every string of the text opens and closes with a quote, and every other quote is escaped. So the text and the value
    hold equally many quotes exactly when no string was lost, and a repeated key always loses one.
    """
    kept, rounded = _quotes(value)
    if rounded:
        # perhaps an integer, which orjson makes a float; the tolerant parser keeps its digits
        piece = next(salvage(line))
        if piece.readable:
            return piece if piece.remarks else None
    escaped = line.count(rb"\u0022") if b"\\" in line else 0
    # an escaped quote, or an escaped backslash followed by text: only the scan can tell
    unclear = escaped and rb"\\u0022" in line
    if not unclear and line.count(b'"') + escaped == kept:
        return None
    remarks = _duplicates(line.decode())
    return Piece(value, True, remarks) if remarks else None


def _quotes(value: Any) -> tuple[int, bool]:
    """How many quotes `value` has as JSON text, and whether a float in it is large enough to have been an integer."""
    if isinstance(value, str):
        return 2 + value.count('"'), False
    if isinstance(value, float):
        return 0, abs(value) >= 2**63
    total = 0
    rounded = False
    todo: list[Any] = [value] if isinstance(value, dict | list) else []
    for node in todo:  # which grows meanwhile
        if type(node) is dict:
            for key in node:
                total += 2 + key.count('"')
            node = node.values()
        for item in node:
            kind = type(item)
            if kind is str:
                total += 2 + item.count('"')
            elif kind is dict or kind is list:
                todo.append(item)
            elif kind is float and not -(2.0**63) < item < 2.0**63:
                rounded = True
    return total, rounded


def _duplicates(text: str) -> tuple[Remark, ...]:
    """A remark naming each key that valid JSON `text` repeats within one object, at any depth."""
    repeated: dict[str, None] = {}
    objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        match text[token.start()]:
            case "{":
                objects.append(set())
            case "}":
                objects.pop()
            case _ if token[2] is not None:
                key: str = orjson.loads(token[1])
                if key in objects[-1]:
                    repeated[key] = None
                objects[-1].add(key)
    return tuple(_duplicate(key) for key in repeated)


def _duplicate(key: str) -> Remark:
    return Remark("duplicate key", f"duplicate key “{one_line(key, 40)}”: the last value is kept")


# ---------------------------------------------------------------------------------------- what orjson refused


def salvage(line: bytes, refused: str = "") -> Iterator[Piece]:
    """Yield each value of a line, tolerantly; the last piece is unreadable where the rest is not JSON.

    `refused` is orjson's message. Never raises; holds one value at a time.
    """
    text, remarks = _decoded(line)
    at = _past_space(text, 0, remarks)
    if "depth" in refused or "recursion" in refused.lower():
        yield Piece(None, False, (_TOO_DEEP,))
        return
    first = True
    while first or at < len(text):
        notes = _Notes(remarks)
        try:
            value, end = notes.decoder.raw_decode(text, at)
            if not _mend(value, notes):
                raise RecursionError
            value = _mended(value, notes)
        except RecursionError:
            yield Piece(None, False, (_TOO_DEEP,))
            return
        except ValueError as error:
            yield Piece(None, False, (Remark("not JSON", _cause(error, at, first)),))
            return
        after: list[Remark] = []
        end = _past_space(text, end, after)
        if end < len(text) and not isinstance(value, list | dict):
            # words that happen to begin like JSON: `"key": 1`, `2026-03-01 started`
            yield Piece(None, False, (Remark("not JSON", _cause(_extra(text, end), at, first)),))
            return
        found = notes.remarks()
        if not first:
            found.append(Remark("glued", "more than one value on this line: each is read", "info"))
        elif refused and not found and end == len(text):
            found.append(Remark("lenient", f"not strict JSON ({refused.partition(': line')[0]}): read all the same"))
        yield Piece(value, True, tuple(found))
        at, remarks, first = end, after, False


_TOO_DEEP: Final = Remark("too deep", f"nested too deep (over {MAX_DEPTH:,} levels): not read")


def _decoded(line: bytes) -> tuple[str, list[Remark]]:
    try:
        return line.decode("utf-8"), []
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1:,} of the line: bad bytes replaced by U+FFFD"
        return line.decode("utf-8", "replace"), [Remark("bad UTF-8", what, offset=error.start)]


def _past_space(text: str, at: int, remarks: list[Remark]) -> int:
    """The index of the next value; NUL bytes, which a crash leaves where text was to be written, count as space."""
    match = _SPACE.match(text, at)
    assert match is not None
    if nuls := match[0].count("\0"):
        remarks.append(Remark("NUL bytes", f"{count(nuls, 'NUL byte')} skipped"))
    return match.end()


def _extra(text: str, at: int) -> json.JSONDecodeError:
    return json.JSONDecodeError("extra data", text, at)


def _cause(error: ValueError, at: int, first: bool) -> str:
    where = "" if first else "the rest of the line "
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc):
            return f"{where}is not JSON: it ends at column {error.pos + 1:,}, too early"
        return f"{where}is not JSON: {error.msg.lower()} at column {error.pos + 1:,}"
    return f"{where}is not JSON: {one_line(str(error), 80)} after column {at:,}"


class _Notes:
    """A decoder that gives way where the stdlib's would raise, and what it gave way to."""

    def __init__(self, before: list[Remark]) -> None:
        self._before = before
        self._repeated: dict[str, None] = {}
        self._not_numbers: dict[str, None] = {}
        self._large = 0
        self.surrogates = 0
        self.controls = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_int=self._int,
            parse_float=self._float,
            parse_constant=self._constant,
            strict=False,
        )

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self._repeated[key] = None
                seen.add(key)
        return made

    def _int(self, digits: str) -> int | str:
        # Kept as text beyond 64 bits: no store column holds it, and a float would lose digits in silence. Testing the
        # length first also keeps the stdlib's limit of 4,300 digits, and the time it guards, out of reach.
        if len(digits) <= 20 and -(2**63) <= (number := int(digits)) < 2**64:
            return number
        self._large += 1
        return digits

    def _float(self, digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            self._large += 1
        return number

    def _constant(self, name: str) -> float:
        self._not_numbers[name] = None
        return float(name)

    def remarks(self) -> list[Remark]:
        """Everything noted, at most one remark of a kind but for duplicate keys."""
        found = list(self._before)
        found += [_duplicate(replace_surrogates(key)[0]) for key in self._repeated]
        if self._not_numbers:
            found.append(Remark("not a number", f"{', '.join(self._not_numbers)} is not JSON: kept as it is"))
        if self._large:
            what = f"{count(self._large, 'number')} outside 64 bits: an integer is kept as text, a float as infinity"
            found.append(Remark("number too large", what))
        if self.surrogates:
            found.append(Remark("lone surrogates", f"{count(self.surrogates, 'lone surrogate')} replaced by U+FFFD"))
        return found


def _mended(value: Any, notes: _Notes) -> Any:
    """A bare string is the one value `_mend` cannot change in place."""
    if isinstance(value, str):
        value, lone = replace_surrogates(value)
        notes.surrogates += lone
    return value


def _mend(value: Any, notes: _Notes) -> bool:
    """Replace lone surrogates in every string and key of `value`, in place; False when it is nested too deep."""
    level: list[Any] = [value] if isinstance(value, list | dict) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return False
        below: list[Any] = []
        for node in level:
            for key, item in enumerate(node) if isinstance(node, list) else list(node.items()):
                if isinstance(item, str):
                    clean, lone = replace_surrogates(item)
                    if lone:
                        notes.surrogates += lone
                        node[key] = clean
                elif isinstance(item, list | dict):
                    below.append(item)
            if isinstance(node, dict):
                _mend_keys(node, notes)
        level = below
    return True


def _mend_keys(node: dict[str, Any], notes: _Notes) -> None:
    names = [replace_surrogates(key) for key in node]
    if lone := sum(number for _, number in names):
        notes.surrogates += lone
        values = list(node.values())
        node.clear()
        node.update(zip((name for name, _ in names), values))
