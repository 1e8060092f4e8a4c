"""The files of a capture, in the order their calls were made, opened as often as needed.

It prevents a folder of one-call files from being held in memory all at once, and from being told in the order of
their names.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from ctxview.loaders.captures.envelopes import unwrap
from ctxview.loaders.captures.litellm import is_completion, time_of
from ctxview.loaders.documents import Records
from ctxview.loaders.shapes import as_str, dig
from ctxview.loaders.source import SourceFile

_HELD_BYTES: Final = 64 * 1024 * 1024
"""Size of all the documents that stay parsed between two walks; larger ones are parsed again."""


class Log(Records):
    """One file's records."""

    def __init__(self, file: SourceFile) -> None:
        super().__init__(file, unwrap)

    @property
    def label(self) -> str:
        """What a document calls its session."""
        return as_str(dig(self.document, "session"))


class Logs:
    """All files; those of one call each come by the time of the call, after the others."""

    def __init__(self, files: tuple[SourceFile, ...]) -> None:
        self._held: dict[int, Log] = {}
        self._room = _HELD_BYTES
        self._files = list(files)
        if len(files) > 1:
            times = [self._time(file) for file in files]
            order = sorted(range(len(files)), key=lambda n: (times[n] is not None, times[n] or 0.0))
            self._files = [files[n] for n in order]

    def __len__(self) -> int:
        return len(self._files)

    def name(self, number: int) -> str:
        """The file's name."""
        return self._files[number].name

    def stem(self, number: int) -> str:
        """The file's name without folder and ending."""
        return PurePath(self.name(number)).stem

    def open(self, number: int) -> Log:
        """The file's records, to be walked."""
        if number in self._held:
            return self._held[number]
        log = Log(self._files[number])
        size = log.file.size
        if log.document is None or size <= self._room:
            self._held[number] = log
            self._room -= size if log.document is not None else 0
        return log

    @staticmethod
    def _time(file: SourceFile) -> float | None:
        document = Log(file).document
        return time_of(document) if isinstance(document, dict) and is_completion(document) else None
