"""How many tokens a text, an image or unlogged thinking takes: the one place that counts.

It prevents three mistakes: counting that needs the network (the vocabularies come from an installed package), counting
that stops at odd text (control-token words, a million spaces, lone surrogates), and a guess that passes for a count
(`Counter.estimated` says which it is). Importing it loads no tokenizer; the first count does.
"""

from ctxview.tokens.count import Counter, encoding_for, estimate_tokens
from ctxview.tokens.images import image_tokens
from ctxview.tokens.pool import CountingPool
from ctxview.tokens.thinking import thinking_tokens
from ctxview.tokens.vocab import ENCODINGS, VocabularyUnavailable, load_encoding

__all__ = [
    "ENCODINGS",
    "Counter",
    "CountingPool",
    "VocabularyUnavailable",
    "encoding_for",
    "estimate_tokens",
    "image_tokens",
    "load_encoding",
    "thinking_tokens",
]
