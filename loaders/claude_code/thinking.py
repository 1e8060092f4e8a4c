"""Which models keep earlier thinking in the window once the person has spoken again.

Measured against recorded usage (formats.md section 0, rule 2): Opus 4.5 and 4.6 keep it, Sonnet 4.5 drops it. Newer
models are taken to keep it, older ones to drop it; a name that says no version keeps everything, so that nothing is
taken away on a guess.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"claude-(?P<family>opus|sonnet|haiku)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?!\d)")
_OLD_NAME: Final = re.compile(r"claude-3(-\d)?-(opus|sonnet|haiku)")
_KEEPS_FROM: Final = {"opus": (4, 5), "sonnet": (4, 6), "haiku": (4, 6)}


def keeps_thinking(model: str | None) -> bool:
    """Whether `model` still sees thinking from before the person's last message."""
    name = model or ""
    if _OLD_NAME.search(name):
        return False
    match = _NAME.search(name)
    if match is None:
        return True
    version = (int(match["major"]), int(match["minor"] or 0))
    return version >= _KEEPS_FROM[match["family"]]
