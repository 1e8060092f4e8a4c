"""The one gate for text that came from a trace.

Transcripts hold terminal escapes, bidirectional overrides and invisible characters, by accident or on purpose.
Everything shown in a terminal, a page or a file passes `safe_text` first, so that such text is seen and never run.
"""

from __future__ import annotations

import re
from typing import Final

# C0 without tab and newline, DEL, C1; soft hyphen; Arabic letter mark; zero-width and bidi marks; line and paragraph
# separators; word joiner and invisible operators; bidi isolates; interlinear marks; BOM; variation-free tag
# characters; lone surrogates. Zero-width joiner (U+200D) stays: emoji sequences need it, and it moves nothing.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe_text(text: str) -> str:
    """Return `text` with every control, bidi, invisible and surrogate character as a visible escape.

    Newlines and tabs stay; CR LF becomes a newline, a lone CR is shown. Idempotent. Source: security.md rows 1, 27.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int | None = None) -> str:
    """`safe_text` on one line: newlines as `⏎`, tabs as spaces; at most `limit` characters, the last one `…`."""
    if limit is not None:
        text = text[: limit + 1]
    line = safe_text(text).replace("\n", "⏎").replace("\t", "    ")
    if limit is not None and len(line) > limit:
        return line[: max(0, limit - 1)] + "…"
    return line


def replace_surrogates(text: str) -> tuple[str, int]:
    """Return `text` with each lone surrogate as U+FFFD, and how many there were. Joined pairs stay one character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        clean, count = re.subn("[\ud800-\udfff]", "�", joined)
        return clean, count
    return text, 0
