"""What a pipeline prints, where its command line holds that: a heredoc, or `echo` and `printf` of plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.annotate.observations.words import Command, Word

_FLAGS: Final = ("-e", "-n", "-ne", "-en")


def printed(commands: Sequence[Command]) -> Word:
    """The text; None where only the programs know it. `tee` lets it pass unchanged."""
    first, *others = commands
    if any(not is_tee(command) for command in others):
        return None
    if first.heredoc is not None:
        return first.heredoc if first.words == ["cat"] or is_tee(first) else None
    if first.words[:1] == ["echo"]:
        return _echoed(first.words[1:])
    if first.words[:1] == ["printf"] and len(first.words) == 2:
        text = first.words[1]
        return None if text is None or "%" in text else _unescaped(text)
    return None


def is_tee(command: Command) -> bool:
    return command.words[:1] == ["tee"]


def _echoed(words: Sequence[Word]) -> Word:
    flags = 0
    while flags < len(words) and words[flags] in _FLAGS:
        flags += 1
    known = [word for word in words[flags:] if word is not None]
    text = " ".join(known)
    if len(known) < len(words) - flags or text.startswith("-"):
        return None
    if "\\" not in text:
        return text
    escapes = any("e" in (flag or "") for flag in words[:flags])
    return _unescaped(text) if escapes else None  # shells differ


def _unescaped(text: str) -> Word:
    text = text.replace("\\n", "\n").replace("\\t", "\t")
    return None if "\\" in text else text
