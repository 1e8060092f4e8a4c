"""What a loader reads from: the files of one trace, whatever they are (a file, a directory's files, a pipe).

It prevents loaders from opening paths of their own making: every byte comes from a `SourceFile` listed here.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ctxview.model import Event

HEAD_BYTES = 256 * 1024
"""How much of a file detection may look at."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One readable file. `path` is None for bytes that came through a pipe, which are then in `data`."""

    name: str
    """As shown to the user and in every Origin."""
    path: Path | None = None
    data: bytes | None = None

    @property
    def size(self) -> int:
        """Bytes at this moment; 0 for a file that is gone."""
        if self.data is not None:
            return len(self.data)
        try:
            return self.path.stat().st_size if self.path is not None else 0
        except OSError:
            return 0

    def open(self) -> BinaryIO:
        """A fresh binary stream from the start. Raises OSError."""
        if self.data is not None:
            return io.BytesIO(self.data)
        assert self.path is not None
        return self.path.open("rb")

    def head(self) -> bytes:
        """The first `HEAD_BYTES` bytes. Raises OSError."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one trace that one loader understands, in the order the user named them."""

    files: tuple[SourceFile, ...]


@dataclass(frozen=True, slots=True)
class Loader:
    """A transcript format. `sniff` looks at a file's head, never at its name alone; 0.0 means not mine, 1.0 surely."""

    name: str
    title: str
    """One line for `ctxview formats`."""
    sniff: Callable[[bytes, str], float]
    """(head, file name) -> confidence."""
    load: Callable[[Source], Iterator[Event]]
