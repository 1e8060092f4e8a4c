"""`ctxview policies`: what a policy takes, promises and is taken from."""

from __future__ import annotations

from typing import Any, Final

from ctxview.policies import Policy
from ctxview.policies.stack import accepted, written

_FLAGS: Final = ("unsafe", "may_grow", "reorders", "idempotent", "monotone", "stable_head")


def policy_report(policy: Policy) -> dict[str, Any]:
    return {
        "name": policy.name,
        "title": policy.title,
        "source": policy.source,
        "phase": policy.phase,
        "mode": policy.mode,
        "flags": [flag for flag in _FLAGS if getattr(policy, flag)],
        "params": [
            {
                "name": param.name,
                "type": param.type,
                "default": policy.mode if param.name == "mode" else written(param.default),
                "range": param.range,
                "help": param.help,
            }
            for param in accepted(policy)
        ],
        "examples": list(policy.examples),
    }
