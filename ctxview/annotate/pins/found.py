"""What a rule says when it fires, before the finder knows the block's number and turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ctxview.model import Evidence, PinKind

QUOTE_CHARS: Final = 200
MOST_PER_BLOCK: Final = 200
"""Pins of one block: a hostile text must not fill memory with them."""


class Found(NamedTuple):
    kind: PinKind
    rule: str
    quote: str = ""
    evidence: Evidence = "matched"


def shorten(text: str) -> str:
    """`text` as a quote: at most 200 characters, the last one an ellipsis when something was left out."""
    return text if len(text) <= QUOTE_CHARS else text[: QUOTE_CHARS - 1] + "…"


def distinct(found: Iterable[Found]) -> list[Found]:
    """Each quote once for a kind; the first ones of too many."""
    firsts: dict[tuple[str, str], Found] = {}
    for one in found:
        firsts.setdefault((one.kind, one.quote), one)
    return list(firsts.values())[:MOST_PER_BLOCK]
