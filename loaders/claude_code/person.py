"""Whether the person typed some words of a user line, or the client wrote them in the person's name.

Everything that stands under the role `user` passes here, typed lines and queued commands alike, so that no notice of
the client is taken for a turn of the person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ctxview.loaders.anthropic_content import is_reminder
from ctxview.loaders.shapes import as_dict, as_str

# What the client writes into user lines by itself: echoes of its own commands, their output, interruption marks.
_ECHO: Final = re.compile(
    r"\s*(<(command-name|command-message|local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout"
    r"|bash-stderr|task-notification|user-memory-input)>|\[Request interrupted by user|Caveat: The messages below)"
)
# What an editor adds about its open file or selection. The person's words may stand behind it in the same text.
_EDITOR: Final = re.compile(r"\s*<(ide_\w+)>.*</\1>\s*", re.DOTALL)
_TYPED_MODES: Final = frozenset({"", "prompt", "bash"})
_TYPED_ORIGINS: Final = frozenset({"", "human"})


def is_typed(words: str, said: Mapping[str, Any]) -> bool:
    """`said`: the line or the queued command that holds the words, with what it says of where they come from."""
    if (
        said.get("isMeta") is True
        or said.get("isSynthetic") is True
        or as_str(said.get("commandMode")) not in _TYPED_MODES
    ):
        return False
    if as_str(as_dict(said.get("origin")).get("kind")) not in _TYPED_ORIGINS:
        return False
    return not (_ECHO.match(words) or _EDITOR.fullmatch(words) or is_reminder(words))
