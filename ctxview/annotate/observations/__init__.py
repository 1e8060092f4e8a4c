"""Observations: what each block says of which resource, what took its place, and questions to these facts.

Feed `ObservationFinder` a session's blocks in order of arrival; ask `Resources` about the rows it gives.
"""

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
