"""An image's size is read from its first bytes; cut, foreign or hostile data gives no size and never an error."""

from __future__ import annotations

import base64
import struct
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.images import image_facts, image_size
from ctxview.model import Image
from ctxview.tokens import image_tokens


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 50)) + chunk(b"IEND", b"")


def segment(marker: int, data: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def jpeg(width: int, height: int, before: bytes = b"", sof: int = 0xC0) -> bytes:
    frame = struct.pack(">BHHB", 8, height, width, 3) + b"\x01\x22\x00\x02\x11\x01\x03\x11\x01"
    tables = segment(0xC4, b"\x00" * 20) + segment(0xDB, b"\xff\xc0" * 32)
    return (
        b"\xff\xd8"
        + segment(0xE0, b"JFIF\0")
        + before
        + tables
        + segment(sof, frame)
        + segment(0xDA, b"\0")
        + b"\xff\xd9"
    )


def riff(body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body + b"\0" * 20


FILES = {
    "png": png(120, 100),
    "jpeg": jpeg(120, 100),
    "jpeg progressive": jpeg(120, 100, sof=0xC2),
    "jpeg with fill bytes": jpeg(120, 100, before=b"\xff\xff\xff" + segment(0xE1, b"x")),
    "gif87": b"GIF87a" + struct.pack("<HH", 120, 100) + b"\0" * 10,
    "gif89": b"GIF89a" + struct.pack("<HH", 120, 100) + b"\0" * 10,
    "webp lossy": riff(b"VP8 " + struct.pack("<I", 30) + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 120 | 0x4000, 100)),
    "webp lossless": riff(b"VP8L" + struct.pack("<I", 30) + b"\x2f" + struct.pack("<I", 119 | 99 << 14 | 1 << 28)),
    "webp extended": riff(b"VP8X" + struct.pack("<I", 10) + b"\0" * 4 + b"\x77\0\0\x63\0\0"),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_each_format_states_its_size(data: bytes):
    assert image_size(data) == (120, 100)


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_cut_anywhere_it_gives_the_size_or_none(data: bytes):
    assert {image_size(data[:end]) for end in range(len(data) + 1)} == {None, (120, 100)}


@given(st.sampled_from(sorted(FILES)), st.binary(max_size=60), st.integers(0, 40))
def test_damaged_data_never_raises(name: str, noise: bytes, at: int):
    data = FILES[name]
    size = image_size(data[:at] + noise + data[at + len(noise) :])
    assert size is None or all(side > 0 for side in size)


@pytest.mark.parametrize("data", [b"", b"\xff", b"<svg/>", png(0, 5), jpeg(5, 0), b"BM" + b"\0" * 60])
def test_no_size_is_none(data: bytes):
    assert image_size(data) is None


def test_a_jpeg_size_behind_long_profiles_is_found():
    data = jpeg(640, 480, before=segment(0xE1, b"\xff\xc0" * 30_000) * 3)
    facts = image_facts("image/jpeg", base64.b64encode(data).decode())
    assert facts == Image("image/jpeg", 640, 480, len(data))


@pytest.mark.parametrize("filler", [b"\xff\xd0", b"\xff\xff", b"\xff\xe0\0\0", b"\xff\0", b"xx"])
def test_a_hostile_jpeg_is_given_up_fast(filler: bytes):
    start = time.process_time()
    assert image_facts("image/jpeg", base64.b64encode(b"\xff\xd8" + filler * 2_000_000).decode()).width is None
    assert time.process_time() - start < 2


@pytest.mark.parametrize("extra", range(4))
def test_bytes_is_the_decoded_size(extra: int):
    data = png(120, 100) + b"x" * extra
    encoded = base64.b64encode(data).decode()
    assert image_facts("image/png", encoded) == Image("image/png", 120, 100, len(data))
    assert image_facts("image/png", encoded.rstrip("=")) == Image("image/png", 120, 100, len(data))


def test_line_breaks_the_url_safe_alphabet_and_data_urls_are_read():
    data = jpeg(120, 100, before=segment(0xE1, b"\xfb\xff\xfe" * 2000))
    expected = Image("image/jpeg", 120, 100, len(data))
    assert image_facts("image/jpeg", base64.encodebytes(data).decode()) == expected
    assert image_facts("image/jpeg", base64.urlsafe_b64encode(data).decode()) == expected
    url = "data:image/jpeg;base64," + base64.b64encode(data).decode()
    assert image_facts("", url) == expected
    assert image_facts("image/jpeg", url) == expected


@given(st.text(max_size=80))
def test_text_that_is_no_base64_never_raises(text: str):
    for prefix in ("", "/9j/", "iVBORw0KGgo", "data:", "data:image/png;base64,"):
        facts = image_facts("image/png", prefix + text)
        assert facts.bytes >= 0
        assert (facts.width is None) == (facts.height is None)


def test_a_36_kilobyte_png_is_16_tokens_and_not_its_base64():
    data = png(120, 100)
    data += b"\0" * (36_180 - len(data))
    encoded = base64.b64encode(data).decode()
    assert len(encoded) == 48_240
    facts = image_facts("image/png", encoded)
    assert facts.bytes == 36_180
    assert image_tokens("claude-demo-5", facts.width, facts.height) == 16
