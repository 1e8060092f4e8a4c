"""How many tokens an image takes, by the vendors' published rules. Every number is an estimate.

It prevents an image from being counted as its base64 text, which is wrong a thousandfold.
"""

from __future__ import annotations

import re
from typing import Final

# By the name of the vendor or of its models; whatever does not match is taken by Anthropic's rule.
_OPENAI: Final = re.compile(r"(?:^|[/:])(?:openai|gpt|chatgpt|codex|o\d)", re.IGNORECASE)

_CLAUDE_EDGE: Final = 1568
_CLAUDE_MOST: Final = 1600
_OPENAI_LOW: Final = 85
_OPENAI_UNKNOWN: Final = 765
"""A 1024 x 1024 image."""


def image_tokens(
    vendor_or_model: str | None, width: int | None, height: int | None, *, low_detail: bool = False
) -> int:
    """Return about how many tokens an image of `width` x `height` pixels takes, at least 1.

    Anthropic, and any other or unknown vendor: shrink to a long edge of 1568, then width x height / 750 rounded up, at
    most 1600 (models that read larger images can take up to three times that). OpenAI: shrink into 2048 x 2048, then to
    a short side of 768; 85 + 170 per tile of 512 x 512, and 85 with `low_detail`. A side that is None or not positive
    means unknown: 1600 for Anthropic's rule, 765 for OpenAI's.
    Source: both vendors' vision guides.
    """
    openai = vendor_or_model is not None and _OPENAI.search(vendor_or_model) is not None
    if openai and low_detail:
        return _OPENAI_LOW
    if width is None or height is None or width <= 0 or height <= 0:
        return _OPENAI_UNKNOWN if openai else _CLAUDE_MOST
    return _openai(width, height) if openai else _claude(width, height)


def _claude(width: int, height: int) -> int:
    width, height = _shrink(width, height, max(width, height), _CLAUDE_EDGE)
    return min(_CLAUDE_MOST, -(-width * height // 750))


def _openai(width: int, height: int) -> int:
    width, height = _shrink(width, height, max(width, height), 2048)
    width, height = _shrink(width, height, min(width, height), 768)
    return _OPENAI_LOW + 170 * -(-width // 512) * -(-height // 512)


def _shrink(width: int, height: int, side: int, limit: int) -> tuple[int, int]:
    """Scale both sides so that `side` becomes `limit`, if it is longer."""
    if side <= limit:
        return width, height
    return max(1, round(width * limit / side)), max(1, round(height * limit / side))
