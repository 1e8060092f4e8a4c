"""What a file looks like that no loader knows, in a clause for its reader.

Prevents "unknown format" as the only answer to a picture, a database or a half-written log.
"""

from __future__ import annotations

from typing import Final

from ctxview.loaders.outline import Outline
from ctxview.loaders.records import utf8_head
from ctxview.loaders.source import HEAD_BYTES, SourceFile
from ctxview.loaders.tolerant import salvage

_MAGIC: Final[tuple[tuple[int, bytes, str], ...]] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"SQLite format 3\x00", "a SQLite database"),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ\x90", "a program"),
)
"""Offset, bytes there, and what that means."""

_KEYS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (("ts", "dir", "kind"), "a Codex UI log, not a rollout"),
    (("timestamp", "type", "payload"), "a Codex rollout"),
    (("schema_version", "steps", "agent"), "an ATIF trajectory"),
    (("resourceSpans",), "OpenTelemetry spans"),
    (("info", "messages.parts"), "an opencode session"),
    (("parentUuid", "message.parts"), "a Qwen Code session"),
    (("sessionId", "projectHash"), "a Gemini CLI session"),
    (("trajectory", "history"), "a SWE-agent trajectory"),
    (("eval", "samples"), "an Inspect log"),
    (("trace", "observations"), "a Langfuse trace"),
    (("conversations.from", "conversations.value"), "ShareGPT conversations"),
    (("type", "data.copilotVersion"), "a Copilot CLI session"),
)
"""Keys that stand together in formats for which no loader was sure, and their name. The first that fits is said."""

_TEXT_CONTROLS: Final = frozenset("\t\n\r\f\x1b")


def explain_unknown(file: SourceFile) -> str:
    """What `file` looks like, e.g. `a PNG image`, for "looks like ...". Raises nothing."""
    try:
        head = file.head()
        size = file.size
    except OSError as error:
        return f"a file that cannot be read ({error.strerror or error})"
    if not head:
        return "an empty file"
    for offset, magic, meaning in _MAGIC:
        if head.startswith(magic, offset):
            return meaning
    data, utf16 = utf8_head(head)
    text = data.decode("utf-8", "ignore")
    if not text.strip("\0 \t\r\n\v\f"):
        return "binary data" if "\0" in text or not text else "a file of blank lines"
    if _is_binary(data, text):
        return "binary data"
    start = text.lstrip()
    if start.startswith(("{", "[")):
        meaning = _json_meaning(data, whole=size <= HEAD_BYTES)
        return f"{meaning}, as UTF-16 text" if utf16 else meaning
    if start[:15].lower().startswith(("<!doctype html", "<html")):
        return "a web page"
    return "UTF-16 text" if utf16 else "plain text"


def _is_binary(data: bytes, text: str) -> bool:
    """More than a tenth of a file of text is never NUL bytes, other control characters or bad UTF-8."""
    sample = text[:4096]
    controls = sum(char < " " and char not in _TEXT_CONTROLS for char in sample)
    lost = len(data) - len(text.encode())
    return controls * 10 > len(sample) or lost * 10 > len(data)


def _json_meaning(head: bytes, *, whole: bool) -> str:
    seen = Outline(head)
    for keys, meaning in _KEYS:
        if seen.has(*keys):
            return meaning
    lines = [line for line in head.split(b"\n", 20) if line.strip()]
    first = next(salvage(lines[0]))
    if len(lines) > 1 and first.readable:
        shape = "JSON lines"
    elif not whole or (first if len(lines) == 1 else next(salvage(head))).readable:
        shape = "JSON"
    else:
        return "damaged or incomplete JSON"
    if seen.any("role", "messages", "message", "messages.role"):
        return f"{shape} with messages of an unknown shape"
    return f"{shape} without messages"
