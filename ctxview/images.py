"""What an image block is, from the first bytes of its data: loaders call this, so it needs nothing but the model.

It prevents the mistake of reading an image as text: a 36 KB picture is 16 tokens for a vision model and 33,000 as
base64. Only the header is decoded, and data that is cut off or lies gives no size, never an error.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from struct import unpack_from
from typing import Final

from ctxview.model import Image

_HEAD: Final = 4096
"""Base64 characters decoded first: every header but a JPEG's behind a long profile or preview fits."""
_SEGMENTS: Final = 4096
"""JPEG segments looked at before giving up: real files have a few dozen, hostile ones millions."""
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},", re.IGNORECASE)
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]+")
_NOT_FILL: Final = re.compile(rb"[^\xff]")
_JPEG_SIZES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of the frame headers that state a size; the three left out share their range and do not."""


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) in pixels from the head of a PNG, JPEG, GIF or WebP file.

    None when the format is another, the data ends before the size, or a side is 0. Never raises.
    Source: the PNG, JPEG (ITU T.81), GIF89a and WebP container specifications.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        size = _png(data)
    elif data.startswith(b"\xff\xd8"):
        size = _jpeg(data)
    elif data.startswith((b"GIF87a", b"GIF89a")):
        size = unpack_from("<HH", data, 6) if len(data) >= 10 else None
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        size = _webp(data)
    else:
        size = None
    if size is None or not all(size):
        return None
    width, height = size
    return width, height


def image_facts(media_type: str, base64_text: str) -> Image:
    """Return the facts of an image logged as base64, decoding only as much as its size needs.

    A leading `data:...;base64,` is skipped, and names the type where `media_type` is empty. Whitespace and the URL-safe
    alphabet are read too. `bytes` is the decoded size; width and height are None when unreadable. Never raises.
    """
    start = 0
    if base64_text[:5].lower() == "data:" and (url := _DATA_URL.match(base64_text)):
        media_type = media_type or url[1] or ""
        start = url.end()
    blank = sum(base64_text.count(char, start) for char in " \t\r\n=")
    size = None
    for head in _heads(base64_text, start):
        size = image_size(head)
        if size or not head.startswith(b"\xff\xd8"):
            break
    width, height = size or (None, None)
    return Image(media_type, width, height, (len(base64_text) - start - blank) * 3 // 4)


def _heads(text: str, start: int) -> Iterator[bytes]:
    """Yield ever longer beginnings of the decoded data; the last one is all of it."""
    length = _HEAD
    while True:
        ascii_head = text[start : start + length].encode("ascii", "ignore").translate(_STANDARD)
        clean = _NOT_BASE64.sub(b"", ascii_head)
        usable = len(clean) - (len(clean) % 4 == 1)
        yield binascii.a2b_base64(clean[:usable] + b"=" * (-usable % 4))
        if start + length >= len(text):
            return
        length *= 16


def _png(data: bytes) -> tuple[int, ...] | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    return unpack_from(">II", data, 16)


def _jpeg(data: bytes) -> tuple[int, ...] | None:
    at = 2
    for _ in range(_SEGMENTS):
        at = data.find(b"\xff", at)
        if at < 0:
            return None
        code = _NOT_FILL.search(data, at)
        if code is None or code.end() + 2 > len(data):
            return None
        at = code.start()
        marker = data[at]
        if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD7:
            at += 1
            continue
        if marker in (0xD9, 0xDA):
            return None
        if marker in _JPEG_SIZES:
            return unpack_from(">HH", data, at + 4)[::-1] if at + 8 <= len(data) else None
        at += 1 + max(2, int.from_bytes(data[at + 1 : at + 3], "big"))
    return None


def _webp(data: bytes) -> tuple[int, ...] | None:
    chunk = data[12:16]
    if chunk == b"VP8X" and len(data) >= 30:
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if chunk == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 " and len(data) >= 30 and data[23:26] == b"\x9d\x01\x2a":
        width, height = unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
