"""Loaders: one module or folder per format, and the registry that tells which of them reads a file.

Names are looked up when they are first used: opening a trace that was read before needs no loader, and importing all of
them takes longer than opening it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxview.loaders.registry import ENTRY_POINTS, LOADERS, all_loaders, detect, explain_unknown, plugin_faults

__all__ = ["ENTRY_POINTS", "LOADERS", "all_loaders", "detect", "explain_unknown", "plugin_faults"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from ctxview.loaders import registry

    return getattr(registry, name)
