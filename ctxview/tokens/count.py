"""Counting the tokens of any text: exactly, in bounded time, without ever raising.

It prevents a transcript from stopping the count: text that spells a control token is plain text here, a run that the
tokenizer's regex cannot digest is cut up, and without a vocabulary there is an estimate that says it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ctxview.errors import UsageError
from ctxview.text import replace_surrogates
from ctxview.tokens.vocab import ENCODINGS, VocabularyUnavailable, load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding

PIECE: Final = 65_536
"""Characters after which a long text is cut, at the next safe boundary."""
REACH: Final = 16_384
"""Characters looked through for that boundary; without one the cut is made anyway."""
_SHORT: Final = 256
_REMEMBERED: Final = 8192

# Where both tokenizers' patterns always start a new word, whatever stands around: a cut here changes no count.
# Neither pattern looks back, and a look ahead (for the end of a run of spaces) never crosses these places:
# before a space that follows no space; after a letter or digit, before a mark, space or line break (not before an
# apostrophe: 's belongs to its word); between a letter and a digit; after a line break, before a letter or digit.
_WORD: Final = "A-Za-z0-9\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
SAFE_BOUNDARY: Final = re.compile(
    r"(?<=\S)(?= )"
    rf"|(?<=[{_WORD}])(?=[\x00-&(-/:-@\[-`{{-\x7f\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])"
    r"|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
    rf"|(?<=\n)(?=[{_WORD}])"
)

# gpt-4, gpt-4-turbo and gpt-4-32k, not gpt-4o, gpt-4.1 or gpt-4.5; gpt-3.5 and Azure's spelling gpt-35.
_CL100K_MODEL: Final = re.compile(r"(?:^|[/:])(?:gpt-4(?![\w.])|gpt-3\.?5(?!\d))", re.IGNORECASE)


class Counter:
    """Counts tokens in one encoding. The vocabulary loads at the first count; threads may share a counter.

    Counts equal tiktoken's `encode(text, disallowed_special=())`. The one exception: a run of more than 16,384
    characters without a safe boundary (one letter or space repeated, say) may be cut every 65,536, because on such runs
    tiktoken slows down or fails; each cut can change the count by a token or two.
    """

    def __init__(self, encoding: str = "o200k_base") -> None:
        """Raises UsageError when `encoding` is not one of `ENCODINGS`."""
        if encoding not in ENCODINGS:
            raise UsageError(f"Unknown encoding {encoding!r}.", f"Use one of {', '.join(ENCODINGS)}.")
        self.encoding: Final = encoding
        self._loaded: Encoding | None = None
        self._reason: str | None = None
        self._short = lru_cache(maxsize=_REMEMBERED)(self._count)

    def __reduce__(self) -> tuple[type[Counter], tuple[str]]:
        return Counter, (self.encoding,)

    @property
    def estimated(self) -> bool:
        """True when no vocabulary was available and every count is an estimate. Loads the vocabulary if need be."""
        return self._vocabulary() is None

    @property
    def reason(self) -> str | None:
        """Why counts are estimates, as part of a sentence for a person; None when they are exact."""
        self._vocabulary()
        return self._reason

    def count(self, text: str) -> int:
        """Return the number of tokens in `text`. Special-token text counts as it is written; never raises."""
        return self._short(text) if len(text) <= _SHORT else self._count(text)

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Return the number of tokens of each text, in order; see `count`."""
        return [self.count(text) for text in texts]

    def _vocabulary(self) -> Encoding | None:
        if self._loaded is None and self._reason is None:
            try:
                self._loaded = load_encoding(self.encoding)
            except VocabularyUnavailable as error:
                self._reason = str(error)
        return self._loaded

    def _count(self, text: str) -> int:
        vocabulary = self._vocabulary()
        if vocabulary is None:
            return estimate_tokens(text)
        if len(text) <= PIECE:
            return _count_piece(vocabulary, text)
        # Before cutting, so that no cut can part the halves of a surrogate pair.
        text, _ = replace_surrogates(text)
        total, last, tokens = 0, "", 0
        for piece in pieces(text):
            # One character repeated, the slowest text there is, makes equal pieces.
            if piece != last:
                last, tokens = piece, _count_piece(vocabulary, piece)
            total += tokens
        return total


def pieces(text: str, size: int = PIECE, reach: int = REACH) -> Iterator[str]:
    """Yield `text` in pieces of at most `size` + `reach` characters, cut at safe boundaries wherever there is one.

    A stretch of `reach` characters or fewer without a boundary is never cut.
    """
    start = 0
    while len(text) - start > size:
        wanted = start + size
        # One character more may be seen: the pattern looks at what follows a boundary.
        found = SAFE_BOUNDARY.search(text, wanted, wanted + reach + 1)
        if found is None and len(text) - wanted <= reach:
            break
        end = found.start() if found else wanted
        yield text[start:end]
        start = end
    yield text[start:]


def _count_piece(vocabulary: Encoding, text: str) -> int:
    try:
        return len(vocabulary.encode(text, disallowed_special=()))
    except ValueError:
        return estimate_tokens(text)
    except BaseException as panic:
        # tiktoken's Rust core reports some failures as a panic, which derives from BaseException only.
        if type(panic).__module__ != "pyo3_runtime":
            raise
        return estimate_tokens(text)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` has without a vocabulary: its UTF-8 bytes / 4, rounded up.

    For ASCII that is the usual characters / 4. Bytes, because a character of other scripts is nearer to a token each.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def encoding_for(model: str | None) -> str:
    """Return the name of the encoding to count `model` in: cl100k_base for the gpt-4 and gpt-3.5 families.

    o200k_base for all else: gpt-4o, 4.1, 4.5, 5, gpt-oss and the o-series use that vocabulary, and for other vendors,
    whose own is not public, it is the nearest offered. Provider prefixes (`openai/`, `ft:`) are skipped.
    Source: `tiktoken.model`.
    """
    return "cl100k_base" if model and _CL100K_MODEL.search(model) else "o200k_base"
