"""What a long session has behind it, on disk: lines that left the window at a cut and may never be asked for again.

A session of a gigabyte has a million lines, and any of them can still be repeated by a resume or taken up by a rewind.
They are held by the ids they can be found by, in a few bytes each; when one is asked for, everything that was put away
with it comes back.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import IO

from ctxview.compact import CompactMap
from ctxview.loaders.claude_code.lines import Fingerprint, Node
from ctxview.model import Usage


@dataclass(slots=True)
class Past:
    """Lines that were put away together, and by what they are found."""

    session: str
    nodes: dict[str, Node] = field(default_factory=dict)
    """By uuid, those of lines in no window included; the lines hold no parents, only their uuids."""
    copies: dict[Fingerprint, dict[str | None, Node]] = field(default_factory=dict)
    """By what lines have in common with a repetition, and the uuid of their parent."""
    responses: dict[str, list[Node]] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    results: dict[str, list[tuple[Node, str]]] = field(default_factory=dict)
    hooks: dict[str, list[Node]] = field(default_factory=dict)
    usage: dict[str, Usage | None] = field(default_factory=dict)

    def marks(self) -> Iterable[Hashable]:
        """By what the lines are found, each kind of id told from the others."""
        yield from self.nodes
        yield from self.copies
        yield from (("response", key) for key in self.responses)
        yield from (("call", key) for key in self.owner.keys() | self.results.keys() | self.hooks.keys())


class Archive:
    """Parts of one file's past, in an unnamed temporary file."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: list[int | None] = []
        """Where each part starts; None once it was taken back."""
        self._where = CompactMap()

    def put(self, past: Past) -> None:
        """Keep a part. Raises OSError when there is no room, and has kept nothing then."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="ctxview-")  # noqa: SIM115 - open until the reader is done
        place = self._file.seek(0, 2)
        pickle.dump(past, self._file, pickle.HIGHEST_PROTOCOL)
        self._file.flush()
        for key in past.marks():
            self._where[key] = len(self._places)
        self._places.append(place)

    def take(self, key: Hashable) -> Past | None:
        """The part in which something is found by `key`; it is no longer here then."""
        if self._file is None:
            return None
        number = self._where.get(key)
        if number is None or (place := self._places[number]) is None:
            return None
        self._file.seek(place)
        part: Past = pickle.load(self._file)  # this process wrote it, into a file without a name
        self._places[number] = None
        return part

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
