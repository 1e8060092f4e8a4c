"""What a command line was found to do so far, and where its shell stands.

It prevents a relative path from being taken for a file, once the line went to a folder that it does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ctxview.annotate.observations.ask import GitStep, Target
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.seen import text_of
from ctxview.annotate.observations.words import Word


@dataclass(slots=True)
class ShellState:
    """Of one command line, as it is read from left to right."""

    cwd: str | None
    targets: list[Target] = field(default_factory=list)
    printing: int = 0
    """Pipelines that print something."""
    absent: list[str] = field(default_factory=list)
    sweep: str | None = None
    git: list[GitStep] = field(default_factory=list)
    before_stash: int = 0
    """Targets that stand before the newest `git stash`."""
    removed: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    values: dict[str, Word] = field(default_factory=dict)
    moved: bool = False
    lost: bool = False
    """The shell stands where the line does not say, so that a relative path means nothing."""

    def key(self, word: Word) -> str | None:
        if word is None or word in ("", "-") or (self.lost and not word.startswith(("/", "~"))):
            return None
        return None if word.startswith("/dev/") else file_key(word, self.cwd)

    def change(self, word: Word, effect: Literal["write", "edit"], rule: str, text: Word = None) -> None:
        key = self.key(word)
        if key is not None:
            written = text_of(text) if effect == "write" and text is not None else None
            self.targets.append(Target(key, effect, rule, text=written))

    def reformat(self, word: Word, program: str) -> None:
        key = self.key(word)
        if key is not None:
            self.targets.append(Target(key, "edit", program, evidence="inferred", programs=(program,)))
