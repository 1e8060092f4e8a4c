"""Context policies: what each would do to one window. Pure; `ctxview.replay` walks sessions with them.

A new policy is one file with a `POLICY` and one line in `POLICIES`.
"""

from __future__ import annotations

from typing import Final

from ctxview.policies import compact_groups, keep_last_n, pin_goal, supersede
from ctxview.policies import stack as _stack
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.presets import PRESETS
from ctxview.policies.stack import Layer, Stack, layer

POLICIES: Final[tuple[Policy, ...]] = (
    keep_last_n.POLICY,
    pin_goal.POLICY,
    supersede.POLICY,
    compact_groups.POLICY,
)
"""Every policy, in the order in which a list of them makes sense to a person."""


def parse_stack(text: str) -> Stack:
    """The stack that a text means. Raises UsageError naming what is wrong, the nearest right name and the range."""
    return _stack.parse(text, POLICIES, PRESETS)


__all__ = ["POLICIES", "PRESETS", "Context", "Layer", "Param", "Policy", "Stack", "layer", "parse_stack"]
