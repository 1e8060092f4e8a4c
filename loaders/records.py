"""Bytes to records, for every line-based or whole-document JSON format, tolerant of real damage.

Prevents each loader from having its own idea of a line. A line ends at a newline byte and nowhere else: text may hold
U+2028, U+0085 or a vertical tab, at which `str.splitlines` would cut a record in two. One bad record costs that
record, never the file, and nothing is dropped without an issue.

Not records, and skipped without a word: blank lines and lines that start with `//`.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any, BinaryIO, Final, Literal, NamedTuple

import orjson

from ctxview.loaders.source import SourceFile
from ctxview.loaders.tolerant import Piece, count, hidden_flaws, salvage
from ctxview.model import Issue, Severity

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes. A longer line is passed over in chunks and never held in memory."""
DOCUMENT_LIMIT: Final = 512 * 1024 * 1024
"""Bytes. A longer JSON document is refused: it can only be parsed whole, and takes several times its size."""
SAME_ISSUE_LIMIT: Final = 20
"""Issues of one kind per file before the rest are only counted."""
PACK_LIMIT: Final = 4 * 1024 * 1024
"""Bytes up to which a line is compared with what orjson would write; a longer one is walked, to save the copy."""
CHUNK: Final = 1024 * 1024
"""Bytes per read."""

_BOM: Final = codecs.BOM_UTF8


class Raw(NamedTuple):
    """One record: a line of a line-based log (several when objects are glued on one line) or one JSON document.

    A named tuple, not a dataclass, because one is made per line: it takes half the time.
    """

    line: int
    """1-based physical line (split on newline bytes only); 1 for a document."""
    byte: int
    """Offset of the line's first byte."""
    value: Any
    """The parsed JSON value; None unless status is `ok`."""
    status: Literal["ok", "unreadable", "pending"]
    """`pending`: an incomplete last line without a newline: not a record, not an error."""
    end: int
    """Offset just past the line, for progress."""


def read_lines(file: SourceFile, report: Callable[[Issue], None]) -> Iterator[Raw]:
    """Yield each record of a JSON-lines file; everything odd is reported with line and byte, nothing aborts.

    Memory stays within a few times the longest line (at most `LINE_LIMIT`), whatever the file's size. Any JSON value
    counts as a record, not only an object. Started again on a file that has grown, it gives each record once more and
    the former `pending` line as the record it has become. Raises nothing: a file that cannot be read is an issue.
    """
    issues = _Issues(file.name, report)
    try:
        with file.open() as stream:
            yield from _records(stream, issues)
    except OSError as error:
        issues.add("cannot read", f"cannot be read: {error.strerror or error}", "error")
    issues.close()


def read_document(file: SourceFile, report: Callable[[Issue], None]) -> Raw | None:
    """Parse a whole file as one JSON value; None when it is not one.

    None without an issue for a file of JSON lines, which is recognised from its head, or by a line that is an object
    where the whole is no document; None with an error issue for a document that is broken, empty, too large
    (`DOCUMENT_LIMIT`) or cannot be read. Raises nothing.
    """
    issues = _Issues(file.name, report)
    try:
        with file.open() as stream:
            head = stream.read(CHUNK)
            encoding = _encoding(head)
            chunks = encoding.chunks(head, stream)
            text = next(chunks, b"")
            if _is_lines(text):
                return None
            issues.add_encoding(encoding)
            parts, size = [text], len(text)
            for chunk in chunks:
                parts.append(chunk)
                size += len(chunk)
                if size > DOCUMENT_LIMIT:
                    if first_record(parts[0]) is not None:
                        return None
                    issues.add("too large", f"a JSON document over {_mib(DOCUMENT_LIMIT)} is not read", "error")
                    return None
            end = stream.tell()
    except OSError as error:
        issues.add("cannot read", f"cannot be read: {error.strerror or error}", "error")
        return None
    text = b"".join(parts)
    del parts, chunks
    if not text.strip():
        issues.add("empty", "the file is empty", "error")
        return None
    first, *others = _document(text)
    if others and others[0].readable:
        return None
    bad = next((piece for piece in (first, *others) if not piece.readable), None)
    if bad is not None:
        if first_record(text) is not None:
            return None
        remark = bad.remarks[-1]
        issues.add(
            remark.kind, f"as one JSON document: the file {remark.text}", "error", None, encoding.skip + remark.offset
        )
        return None
    for remark in first.remarks:
        issues.add(remark.kind, remark.text, remark.severity, 1, encoding.skip + remark.offset)
    issues.close()
    return Raw(1, 0, first.value, "ok", end)


def utf8_head(head: bytes) -> tuple[bytes, bool]:
    """The beginning of a file as UTF-8 without a byte order mark, and whether it was UTF-16: for detection."""
    encoding = _encoding(head)
    return next(encoding.chunks(head, BytesIO()), b""), encoding.codec is not None


def first_record(text: bytes) -> int | None:
    """Where the first line of `text` begins that is a JSON object by itself; None where there is none, or for an array.

    A log whose first line is torn has one; a broken document has none, as its inner objects are indented or stand on a
    line with others.
    """
    start = 0 if not text.lstrip().startswith(b"[") else len(text)
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        if text.startswith(b"{", start) and _is_object(text[start:end].rstrip()):
            return start
        start = end + 1
    return None


def _is_object(line: bytes) -> bool:
    """Whether a line that begins as one is a JSON object with anything in it."""
    if not line.endswith(b"}"):
        return False
    try:
        return bool(orjson.loads(line))
    except orjson.JSONDecodeError:
        return False


# ------------------------------------------------------------------------------------------------------ records


def _records(stream: BinaryIO, issues: _Issues) -> Iterator[Raw]:
    loads = orjson.loads
    same = True  # whether the writer's spacing and escapes have been orjson's own so far
    head = stream.read(CHUNK)
    encoding = _encoding(head)
    issues.add_encoding(encoding)
    width = encoding.width
    number, end = 0, encoding.skip
    for batch in _batches(encoding.chunks(head, stream), width):
        newline = encoding.newline if batch.ended else 0
        if batch.passed_over:
            number += 1
            start, end = end, end + batch.passed_over + newline
            size = f"{_mib(batch.passed_over)}, over the limit of {_mib(LINE_LIMIT)}"
            issues.add(
                "line too long", f"line {number} is too long and was not read ({size})", "warning", number, start
            )
            yield Raw(number, start, None, "unreadable", end)
        for line in batch.lines:
            number += 1
            start = end
            end = start + width(line) + newline
            try:
                value = loads(line)
                if same and len(line) <= PACK_LIMIT:
                    # Equal as text, too: nothing lost, nothing odd. The most common case by far, and a cheap proof.
                    same = _packed(value) == line
                    if same:
                        yield Raw(number, start, value, "ok", end)
                        continue
                piece = hidden_flaws(line, value)
                if piece is None:
                    yield Raw(number, start, value, "ok", end)
                    continue
                pieces = iter((piece,))
            except orjson.JSONDecodeError as error:
                if _skipped(line):
                    continue
                pieces = salvage(line, str(error))
            yield from _odd(pieces, issues, number, start, end, not batch.ended and _may_go_on(line))
        batch.lines.clear()
        line, value = b"", None  # up to LINE_LIMIT each: not to be held while the next line is gathered


def _packed(value: Any) -> bytes:
    """`value` as orjson writes it; empty when it is nested deeper than orjson can write (254 levels), if not read."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return b""


def _odd(pieces: Iterator[Piece], issues: _Issues, number: int, start: int, end: int, torn: bool) -> Iterator[Raw]:
    for piece in pieces:
        if torn and not piece.readable and piece.remarks[-1].kind == "not JSON":
            issues.add("incomplete", "incomplete last line (the writer may still be at work)", "info", number, start)
            yield Raw(number, start, None, "pending", end)
            continue
        for remark in piece.remarks:
            text = f"line {number}{' ' if remark.kind == 'not JSON' else ': '}{remark.text}"
            issues.add(remark.kind, text, remark.severity, number, start + remark.offset)
        yield Raw(number, start, piece.value, "ok" if piece.readable else "unreadable", end)


def _skipped(line: bytes) -> bool:
    text = line.strip()
    return not text or text.startswith(b"//")


def _may_go_on(line: bytes) -> bool:
    """Whether a last line that is not JSON may be the beginning of a record, and not just something else."""
    return line.lstrip(b" \t\r\0")[:1] in (b"{", b"[", b'"')


# --------------------------------------------------------------------------------------------- lines and encodings


@dataclass(frozen=True, slots=True)
class _Batch:
    """Neighbouring lines without their newlines, after at most one line that was passed over."""

    lines: list[bytes]
    ended: bool = True
    """False for a last line without a newline."""
    passed_over: int = 0
    """Bytes of a line longer than `LINE_LIMIT`, without its newline; 0 for none."""


def _batches(chunks: Iterator[bytes], width: Callable[[bytes], int]) -> Iterator[_Batch]:
    held: list[bytes] = []  # of the line not yet ended
    size = 0
    over = 0
    for chunk in chunks:
        first = chunk.find(b"\n")
        reach = len(chunk) if first < 0 else first
        if size + reach > LINE_LIMIT:
            over += sum(width(part) for part in held) + width(chunk[:reach])
            held.clear()
        elif first < 0:
            held.append(chunk)
        size += reach
        if first < 0:
            continue
        if over:
            yield _Batch([], True, over)
            chunk = chunk[first + 1 :]
        lines = chunk.split(b"\n")
        if held:
            held.append(lines[0])
            lines[0] = b"".join(held)
        held = [lines.pop()]
        size, over = len(held[0]), 0
        if lines:
            yield _Batch(lines)
    if over:
        yield _Batch([], False, over)
    elif size:
        yield _Batch([b"".join(held)], False)


@dataclass(frozen=True, slots=True)
class _Encoding:
    """How a file's bytes become UTF-8."""

    skip: int
    """Bytes of the byte order mark."""
    codec: str | None = None
    """None for UTF-8, which needs no change."""

    @property
    def newline(self) -> int:
        """Bytes."""
        return 1 if self.codec is None else 2

    @property
    def width(self) -> Callable[[bytes], int]:
        """How many bytes of the file some UTF-8 stood for."""
        if self.codec is None:
            return len
        return lambda text: len(text.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass"))

    def chunks(self, head: bytes, stream: BinaryIO) -> Iterator[bytes]:
        """The text as UTF-8, from a stream of which `head` is already read; half a UTF-16 unit at the end is left."""
        # surrogatepass: bad UTF-16 becomes bad UTF-8, which is then reported like any other
        decoder = None if self.codec is None else codecs.getincrementaldecoder(self.codec)("surrogatepass")
        chunk = head[self.skip :]
        while chunk:
            yield chunk if decoder is None else decoder.decode(chunk).encode("utf-8", "surrogatepass")
            chunk = stream.read(CHUNK)


def _encoding(head: bytes) -> _Encoding:
    """Tell UTF-16 by its mark, or by NUL in every other byte; anything else is taken for UTF-8."""
    if head.startswith(_BOM):
        return _Encoding(len(_BOM))
    codec = None
    sample = head[:4096]
    half = len(sample) // 2
    if head.startswith(codecs.BOM_UTF16_LE):
        codec, skip = "utf-16-le", 2
    elif head.startswith(codecs.BOM_UTF16_BE):
        codec, skip = "utf-16-be", 2
    elif sample[1::2].count(0) > 0.4 * half and sample[::2].count(0) < 0.1 * half:
        codec, skip = "utf-16-le", 0
    elif sample[::2].count(0) > 0.4 * half and sample[1::2].count(0) < 0.1 * half:
        codec, skip = "utf-16-be", 0
    if codec is None:
        return _Encoding(0)
    return _Encoding(skip, codec)


# -------------------------------------------------------------------------------------------------------- documents


def _is_lines(text: bytes) -> bool:
    """Whether the beginning of a file is one whole JSON value on one line, with more after it."""
    while True:
        line, newline, text = text.lstrip().partition(b"\n")
        if not newline or not text.strip():
            return False
        if not _skipped(line):
            return all(piece.readable for piece in salvage(line))


def _document(text: bytes) -> list[Piece]:
    """The one piece a document has, or the first two of something else."""
    try:
        value = orjson.loads(text)
        return [hidden_flaws(text, value) or Piece(value, True)]
    except orjson.JSONDecodeError as error:
        return list(islice(salvage(text, str(error)), 2))


# ----------------------------------------------------------------------------------------------------------- issues


class _Issues:
    """Reports issues of one file, the first `SAME_ISSUE_LIMIT` of a kind one by one and the rest as a number."""

    def __init__(self, file: str, report: Callable[[Issue], None]) -> None:
        self._file = file
        self._report = report
        self._seen: Counter[str] = Counter()
        self._severity: dict[str, Severity] = {}

    def add(self, kind: str, reason: str, severity: Severity, line: int | None = None, byte: int | None = None) -> None:
        self._seen[kind] += 1
        self._severity[kind] = severity
        if self._seen[kind] <= SAME_ISSUE_LIMIT:
            self._report(Issue(self._file, line, byte, severity, reason))

    def add_encoding(self, encoding: _Encoding) -> None:
        if encoding.codec is not None:
            self.add("UTF-16", "not UTF-8 (looks like UTF-16): decoded as UTF-16", "info")

    def close(self) -> None:
        for kind, number in self._seen.items():
            if (more := number - SAME_ISSUE_LIMIT) > 0:
                reason = f"and {count(more, 'more issue')} of this kind: {kind}"
                self._report(Issue(self._file, None, None, self._severity[kind], reason))


def _mib(size: int) -> str:
    return f"{size / 1024 / 1024:,.1f} MiB"
