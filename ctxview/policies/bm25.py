"""BM25: how well each of a few texts answers a query, from words alone, computed locally."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"\w+")
_K1: Final = 1.2
_B: Final = 0.75


def words(text: str) -> Counter[str]:
    """The words of a text, lower case, with their counts."""
    return Counter(_WORD.findall(text.lower()))


def scores(query: Counter[str], texts: Sequence[Counter[str]]) -> list[float]:
    """The BM25 score of each text, none below 0."""
    if not texts:
        return []
    lengths = [sum(text.values()) for text in texts]
    mean = sum(lengths) / len(texts) or 1.0
    found = [0.0] * len(texts)
    for word in query:
        holding = sum(word in text for text in texts)
        if not holding:
            continue
        rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for i, text in enumerate(texts):
            count = text.get(word, 0)
            if count:
                found[i] += rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[i] / mean))
    return found
