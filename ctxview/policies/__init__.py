"""Context policies: what each would do to one window. Pure; `ctxview.replay` walks sessions with them.

A new policy is one file with a `POLICY` and one line in `POLICIES`.
"""

from __future__ import annotations

from typing import Final

from ctxview.policies import (
    already_read,
    carry_decisions,
    compact_groups,
    component_budgets,
    keep_last_n,
    ledger_readback,
    lifetime,
    offload,
    pin_goal,
    pinned_rolling,
    reinject,
    retrieval,
    shed_persisted,
    stale,
    supersede,
)
from ctxview.policies import stack as _stack
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.presets import PRESETS
from ctxview.policies.stack import Layer, Stack, layer
from ctxview.policies.vendors import VENDORS

POLICIES: Final[tuple[Policy, ...]] = (
    keep_last_n.POLICY,
    pin_goal.POLICY,
    carry_decisions.POLICY,
    reinject.POLICY,
    pinned_rolling.POLICY,
    retrieval.POLICY,
    component_budgets.POLICY,
    lifetime.POLICY,
    supersede.POLICY,
    stale.POLICY,
    offload.POLICY,
    compact_groups.POLICY,
    ledger_readback.POLICY,
    shed_persisted.POLICY,
    already_read.POLICY,
    *VENDORS,
)
"""Every policy, in the order in which a list of them makes sense to a person."""


def parse_stack(text: str) -> Stack:
    """The stack that a text means. Raises UsageError naming what is wrong, the nearest right name and the range."""
    return _stack.parse(text, POLICIES, PRESETS)


__all__ = ["POLICIES", "PRESETS", "Context", "Layer", "Param", "Policy", "Stack", "layer", "parse_stack"]
