"""Policies of providers, agents and frameworks, each with its source and its defaults.

Those that are literal and break pairing say so (`unsafe`); summaries are deterministic digests or stubs, and labelled.
"""

from __future__ import annotations

from typing import Final

from ctxview.policies.policy import Policy
from ctxview.policies.vendors import (
    agent_framework,
    anthropic,
    autogen,
    codex,
    langchain,
    openai_agents,
    opencode,
    openhands,
    pi,
    pydantic_ai,
    swe_agent,
)

VENDORS: Final[tuple[Policy, ...]] = (
    *anthropic.POLICIES,
    *langchain.POLICIES,
    *agent_framework.POLICIES,
    *autogen.POLICIES,
    *swe_agent.POLICIES,
    *openhands.POLICIES,
    *pydantic_ai.POLICIES,
    *openai_agents.POLICIES,
    *codex.POLICIES,
    *opencode.POLICIES,
    *pi.POLICIES,
)
