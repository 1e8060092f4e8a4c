"""Observations: what each block says of which resource, what took its place, and questions to these facts.

Feed `ObservationFinder` a session's blocks in order of arrival; ask `Resources` about the rows it gives.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ctxview.annotate.observations.finder import ObservationFinder
    from ctxview.annotate.observations.queries import (
        Repeat,
        Reread,
        Resources,
        current,
        stale_by_age,
        state_at,
        versions_in,
        wasteful_rereads,
    )
    from ctxview.annotate.observations.rules import DEFAULT, Dependency, ResourceRules, ToolRule

__all__ = [
    "DEFAULT",
    "Dependency",
    "ObservationFinder",
    "Repeat",
    "Reread",
    "ResourceRules",
    "Resources",
    "ToolRule",
    "current",
    "stale_by_age",
    "state_at",
    "versions_in",
    "wasteful_rereads",
]

_HOME: Final = {
    "ObservationFinder": "finder",
    "Repeat": "queries",
    "Reread": "queries",
    "Resources": "queries",
    "current": "queries",
    "stale_by_age": "queries",
    "state_at": "queries",
    "versions_in": "queries",
    "wasteful_rereads": "queries",
    "DEFAULT": "rules",
    "Dependency": "rules",
    "ResourceRules": "rules",
    "ToolRule": "rules",
}
"""Where each name lives. It is looked up when it is first used: whoever shows facts needs none of the rules that find
them, and compiling those takes longer than opening a trace."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
