"""What a person noted about a trace, in a file beside it: `<trace>.ctxview.json`. Here: which blocks they pinned.

The file is shared with other tools and other versions, so a key that is not known here is kept as it is, a damaged file
is never written over, and a write replaces the whole file at once.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from ctxview.annotate.pins.rules import PRIORITY
from ctxview.errors import UsageError
from ctxview.model import Pin, PinKind
from ctxview.project import SIDECAR

RULE: Final = "pinned by hand"
_KINDS: Final[Mapping[str, PinKind]] = {kind: kind for kind in PRIORITY}
_MOST_BYTES: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person said of one block."""

    pin: bool
    """False unpins the block, whatever rule pinned it."""
    kind: PinKind = "user"


Marks: TypeAlias = Mapping[str, Mark]
"""By block id, of one session."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    path: Path
    data: Mapping[str, Any] = field(default_factory=dict)
    """The whole file, unknown keys included."""
    problem: str = ""
    """Why the file could not be read as it should; empty when it could, or when there is none."""

    def marks(self, session: str) -> Marks:
        """The marks of a session. What is not a mark is passed over."""
        pins = _mapping(_mapping(self.data.get("pins")).get(session))
        found = {}
        for block, value in pins.items():
            pinned = value.get("pin") if isinstance(value, dict) else value
            if isinstance(pinned, bool):
                kind = value.get("kind") if isinstance(value, dict) else None
                found[block] = Mark(pinned, _KINDS.get(kind, "user") if isinstance(kind, str) else "user")
        return found


def sidecar_path(trace: Path) -> Path:
    """The sidecar's place; for a trace that is a directory, beside the directory."""
    return trace.with_name(trace.name + SIDECAR)


def read(path: Path) -> Sidecar:
    """The sidecar at `path`. A missing one is empty; a damaged one is empty and says so. Raises nothing."""
    try:
        if not path.exists():
            return Sidecar(path)
        if not path.is_file():  # a device or a pipe would be read for ever
            return Sidecar(path, problem=f"{path}: not a regular file")
        if path.stat().st_size > _MOST_BYTES:
            return Sidecar(path, problem=f"{path}: larger than {_MOST_BYTES} bytes, not read")
        value = json.loads(path.read_bytes())  # orjson would make floats of another tool's large integers
    except FileNotFoundError:
        return Sidecar(path)
    except OSError as error:
        return Sidecar(path, problem=f"{path}: {error.strerror or error}")
    except (ValueError, RecursionError) as error:
        return Sidecar(path, problem=f"{path}: not JSON ({error})")
    if not isinstance(value, dict):
        return Sidecar(path, problem=f"{path}: not a JSON object")
    return Sidecar(path, value)


def with_mark(sidecar: Sidecar, session: str, block: str, mark: Mark | None) -> Sidecar:
    """The sidecar with one block marked; None takes the mark away, so that the rules decide again."""
    data = deepcopy(dict(sidecar.data))
    pins = _child(data, "pins")
    blocks = _child(pins, session)
    if mark is None:
        blocks.pop(block, None)
    else:
        before = blocks.get(block)
        kept = before if isinstance(before, dict) else {}
        blocks[block] = {**kept, "pin": mark.pin, "kind": mark.kind}
    if not blocks:
        del pins[session]
    return replace(sidecar, data=data)


def write(sidecar: Sidecar) -> None:
    """Write the file at once, or not at all. Raises UsageError when it cannot, or when the file there is damaged."""
    if sidecar.problem:
        raise UsageError(sidecar.problem, "repair or move the file away; nothing was written")
    try:
        body = json.dumps(sidecar.data, indent=2, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, in a block's id
        body = json.dumps(sidecar.data, indent=2).encode() + b"\n"
    try:
        handle, name = tempfile.mkstemp(dir=sidecar.path.parent, prefix=f".{sidecar.path.name}.", suffix=".tmp")
    except OSError as error:
        cause = f"{sidecar.path}: {error.strerror or error}"
        raise UsageError(cause, "pins need a folder that can be written") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(sidecar.path))
        os.replace(name, sidecar.path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise UsageError(f"{sidecar.path}: {error.strerror or error}", "nothing was written") from error


def _mode(path: Path) -> int:
    """The rights of the file that is replaced; for a new one those of the trace beside it, else the owner's alone."""
    for known in (path, path.with_name(path.name.removesuffix(SIDECAR))):
        if known.is_file():
            return stat.S_IMODE(known.stat().st_mode)
    return stat.S_IRUSR | stat.S_IWUSR


def update(path: Path, session: str, block: str, mark: Mark | None) -> Sidecar:
    """Read the file anew, mark one block, write it: what others wrote in between is kept. Raises UsageError."""
    changed = with_mark(read(path), session, block, mark)
    write(changed)
    return changed


def apply(pins: Iterable[Pin], marks: Marks, ids: Mapping[str, tuple[int, int]]) -> tuple[Pin, ...]:
    """The pins with a person's marks: unpinned blocks have none, pinned ones have theirs, `stated`, next to the found.

    `ids`: block id -> block number and turn of arrival (`BlockRow.n`, `BlockRow.turn`). A mark of an unknown block is
    kept in the file and passed over here.
    """
    known = {ids[block]: mark for block, mark in marks.items() if block in ids}
    unpinned = {n for (n, _), mark in known.items() if not mark.pin}
    kept = [pin for pin in pins if pin.block not in unpinned]
    kept += [
        Pin(n, mark.kind, "stated", RULE, since=turn + 1, priority=PRIORITY["user"])
        for (n, turn), mark in known.items()
        if mark.pin
    ]
    return tuple(sorted(kept, key=lambda p: (p.block, -p.priority, p.quote)))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _child(parent: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under `key`; whatever else stood there is moved to `<key> (damaged)`, so that nothing is lost."""
    value = parent.get(key)
    if not isinstance(value, dict):
        if value is not None:
            parent[f"{key} (damaged)"] = value
        value = parent[key] = {}
    return value
