"""What a rule says when it fires, before the finder knows the block's number and turn."""

from __future__ import annotations

from typing import Final, NamedTuple

from ctxview.model import Evidence, PinKind

QUOTE_CHARS: Final = 200


class Found(NamedTuple):
    kind: PinKind
    rule: str
    quote: str = ""
    evidence: Evidence = "matched"


def shorten(text: str) -> str:
    """`text` as a quote: at most 200 characters, the last one an ellipsis when something was left out."""
    return text if len(text) <= QUOTE_CHARS else text[: QUOTE_CHARS - 1] + "…"
