"""Which loaders there are, and which of them reads a file.

A new format is one module and one line in `LOADERS`; other packages add theirs through the entry-point group
`ctxview.loaders`. Prevents formats from being guessed by file name, and a broken plug-in from breaking the rest.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ctxview.loaders.captures import LITELLM_LOADER as LITELLM
from ctxview.loaders.captures import LOADER as CAPTURES
from ctxview.loaders.captures import OPENAI_LOADER as OPENAI_REQUESTS
from ctxview.loaders.chat import LOADER as CHAT
from ctxview.loaders.claude_code import LOADER as CLAUDE_CODE
from ctxview.loaders.codex import LOADER as CODEX
from ctxview.loaders.records import first_record, utf8_head
from ctxview.loaders.source import Loader, SourceFile
from ctxview.loaders.unknown import explain_unknown

__all__ = ["ENTRY_POINTS", "LOADERS", "all_loaders", "detect", "explain_unknown", "plugin_faults"]

LOADERS: Final[tuple[Loader, ...]] = (
    CLAUDE_CODE,
    CODEX,
    CAPTURES,
    OPENAI_REQUESTS,
    LITELLM,
    CHAT,
)
"""In detection order: the more particular a format's marks, the earlier."""

ENTRY_POINTS: Final = "ctxview.loaders"
"""The entry-point group of other packages' loaders; each entry names a `Loader`."""

_SURE_ENOUGH: Final = 0.5
"""Confidence below which a file is nobody's."""
_CERTAIN: Final = 0.9
"""Confidence at which no other loader is asked."""


def all_loaders() -> tuple[Loader, ...]:
    """`LOADERS`, then those of other packages, which are imported at the first call. Raises nothing."""
    return LOADERS + _plugins()[0]


def plugin_faults() -> tuple[str, ...]:
    """A sentence about each entry point that gave no usable loader."""
    return _plugins()[1]


def detect(file: SourceFile) -> Loader | None:
    """The loader most sure of `file`, the first of equals; None when none is sure enough. Raises OSError.

    Loaders see the file's beginning as UTF-8 without a byte order mark, whatever it is on disk; when none of them knows
    it, they see it from its first line that is a record, as the lines above may be torn.
    """
    head, _ = utf8_head(file.head())
    best = _surest(head, file.name)
    if best is None and (start := first_record(head)):
        best = _surest(head[start:], file.name)
    return best


def _surest(head: bytes, name: str) -> Loader | None:
    best: Loader | None = None
    most = 0.0
    for loader in all_loaders():
        confidence = _confidence(loader, head, name)
        if confidence >= _SURE_ENOUGH and confidence > most:
            best, most = loader, confidence
        if most >= _CERTAIN:
            break  # looking on costs more than reading a small trace
    return best


def _confidence(loader: Loader, head: bytes, name: str) -> float:
    if loader in LOADERS:
        return loader.sniff(head, name)
    try:
        return loader.sniff(head, name)
    except Exception:  # noqa: BLE001 - other people's code: a fault in it must not hide the file from our own loaders
        return 0.0


@cache
def _plugins() -> tuple[tuple[Loader, ...], tuple[str, ...]]:
    from importlib.metadata import entry_points  # here: it takes longer to import than all of this package

    found: list[Loader] = []
    faults: list[str] = []
    taken = {loader.name for loader in LOADERS}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: (entry.name, entry.value)):
        try:
            loader = entry.load()
        except Exception as error:  # noqa: BLE001 - other people's code may raise anything while it is imported
            faults.append(f"loader {entry.name} ({entry.value}) cannot be imported: {error!r}")
            continue
        if not isinstance(loader, Loader):
            faults.append(f"loader {entry.name} ({entry.value}) is a {type(loader).__name__}, not a Loader")
        elif loader.name in taken:
            faults.append(f"loader {entry.name} ({entry.value}) has the name of another loader, {loader.name}")
        else:
            taken.add(loader.name)
            found.append(loader)
    return tuple(found), tuple(faults)
