"""What a shell's command line writes into documents: heredocs, `echo`, `printf`, `tee` and patches.

Only text that the line itself holds is known. What a program prints or changes (`sort a > b.md`, `sed -i`) is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ctxview.annotate.observations.patches import BEGIN, hunks_of
from ctxview.annotate.observations.words import Command, Pipeline, Word, pipelines

_ADDS: Final = (">>", "1>>", "&>>")
_WRITES: Final = (">", "1>", "&>", *_ADDS)


def written_by(line: str) -> Iterator[tuple[str, str, str | None]]:
    """Each file that `line` writes: its path as named there, the new text, and the text that it takes the place of;
    that is empty for an addition and None for all that stood there."""
    if BEGIN in line:
        for path, hunks in hunks_of(line):
            yield from ((path, new, old) for old, new in hunks)
    elif ">" in line or "tee" in line:
        for pipeline in pipelines(line, {}):
            yield from _written(pipeline)


def _written(pipeline: Pipeline) -> Iterator[tuple[str, str, str | None]]:
    first, *others = pipeline.commands
    text = _text(first)
    if text is None or any(not _is_tee(command) for command in others):
        return
    for command in pipeline.commands:
        for redirect in command.redirects:
            if redirect.op in _WRITES and redirect.target:
                yield redirect.target, text, "" if redirect.op in _ADDS else None
        if _is_tee(command):
            adds = any(word in ("-a", "--append") for word in command.words)
            for word in command.words[1:]:
                if word and not word.startswith("-"):
                    yield word, text, "" if adds else None


def _is_tee(command: Command) -> bool:
    return command.words[:1] == ["tee"]


def _text(command: Command) -> str | None:
    """What a command prints, where its line holds that."""
    name = command.words[0] if command.words else None
    if command.heredoc is not None:
        return command.heredoc if name in (None, "cat", "tee") else None
    if name == "echo":
        return _echoed(command.words[1:])
    if name == "printf" and len(command.words) == 2:
        text = command.words[1]
        return None if text is None or "%" in text else _unescaped(text)
    return None


def _echoed(words: Sequence[Word]) -> str | None:
    flags = 0
    while flags < len(words) and words[flags] in ("-e", "-n", "-ne", "-en"):
        flags += 1
    known = [word for word in words[flags:] if word is not None]
    if len(known) < len(words) - flags:
        return None
    text = " ".join(known)
    return _unescaped(text) if any("e" in (flag or "") for flag in words[:flags]) else text


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")
