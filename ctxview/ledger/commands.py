"""What a shell's command line writes into documents: heredocs, `echo`, `printf`, `tee` and patches.

Only text that the line itself holds is known. What a program prints or changes (`sort a > b.md`, `sed -i`) is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.annotate.observations.patches import BEGIN, hunks_of
from ctxview.annotate.observations.printed import is_tee, printed
from ctxview.annotate.observations.words import Pipeline, pipelines

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
    text = printed(pipeline.commands)
    if text is None:
        return
    for command in pipeline.commands:
        for redirect in command.redirects:
            if redirect.op in _WRITES and redirect.target:
                yield redirect.target, text, "" if redirect.op in _ADDS else None
        if is_tee(command):
            adds = any(word in ("-a", "--append") for word in command.words)
            for word in command.words[1:]:
                if word and not word.startswith("-"):
                    yield word, text, "" if adds else None
