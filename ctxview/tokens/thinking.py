"""How many tokens a thinking block took when the log holds only its signature.

It prevents hidden thinking from counting as nothing: some clients log an empty or shortened text, while the model's
window held all of it.
"""

from __future__ import annotations


def thinking_tokens(signature_chars: int, visible_tokens: int) -> int:
    """Return about how many tokens a thinking block holds, from the length of its signature in characters.

    (0.75 x characters - 300) / 4.2, rounded: the signature is base64 of the encrypted text plus some 300 bytes of
    envelope, at 4.2 bytes a token. Never below `visible_tokens`, the count of the logged text, and never negative.
    Source: fitted to recorded usage of Claude Code sessions; it took one from 1.59 % median error to 0.09 %.
    """
    return max(0, visible_tokens, round((0.75 * signature_chars - 300) / 4.2))
