"""What a shell's command line writes into documents: heredocs, `echo`, `printf`, `tee` and patches.

Only text that the line itself holds is known. What a program prints or changes (`sort a > b.md`, `sed -i`) is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ctxview.annotate.observations.patches import BEGIN, hunks_of
from ctxview.annotate.observations.printed import is_tee, printed
from ctxview.annotate.observations.shell_changes import file_output
from ctxview.annotate.observations.words import Command, pipelines
from ctxview.annotate.patterns import lazy

_PATCHES: Final = lazy(r"\bapply_?patch\b|\A\s*\*\*\* Begin Patch")
"""How a patch is made known: without that its words are text."""
_SHELLS: Final = ("bash", "sh", "zsh")
_DEEPEST: Final = 2


def written_by(line: str, depth: int = 0) -> Iterator[tuple[str, str, str | None]]:
    """Each file that `line` writes: its path as named there, the new text, and the text that it takes the place of;
    that is empty for an addition and None for all that stood there. What only runs if something before it failed is
    left out."""
    if BEGIN in line and _PATCHES.search(line):
        for path, hunks in hunks_of(line):
            yield from ((path, new, old) for old, new in hunks)
    elif ">" in line or "tee" in line:
        for pipeline in pipelines(line, {}):
            if pipeline.before != "||":
                yield from _written([_bare(command) for command in pipeline.commands], depth)


def _bare(command: Command) -> Command:
    return replace(command, words=command.words[1:]) if command.words[:1] == ["sudo"] else command


def _written(commands: list[Command], depth: int) -> Iterator[tuple[str, str, str | None]]:
    words = commands[0].words
    nested = words[2] if len(words) == 3 and words[0] in _SHELLS and (words[1] or "").endswith("c") else None
    if nested is not None and len(commands) == 1 and depth < _DEEPEST:
        yield from written_by(nested, depth + 1)
        return
    text = printed(commands)
    if text is None:
        return
    for command in commands:
        if is_tee(command):
            adds = any(word in ("-a", "--append") for word in command.words)
            for word in command.words[1:]:
                if word and not word.startswith("-"):
                    yield word, text, "" if adds else None
        output = file_output(command)
        if output is not None:
            path, is_added = output
            if path:
                yield path, text, "" if is_added else None
            return  # nothing is left for what comes behind it
