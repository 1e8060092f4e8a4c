"""Which user texts the client wrote, not the person.

It prevents an environment report, a reminder or a command's echo from starting a user turn, and from being the title.
"""

from __future__ import annotations

from typing import Final

from ctxview.loaders.anthropic_content import is_continuation, is_reminder
from ctxview.loaders.openai_content import ENVIRONMENT_TEXTS

_HANDOVERS: Final = ("Another language model started to solve this problem and produced a summary",)
"""How clients other than Claude's start the message with which a compacted conversation goes on."""
_SPOKEN: Final = (
    "<system-reminder>",
    "[Request interrupted by user",
    "Base directory for this skill:",
    "Caveat: The messages below",
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    *ENVIRONMENT_TEXTS,
)
"""How user text starts that the client wrote for the person, or as an answer to a command."""
_CONTEXT: Final = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<collaboration_mode>",
    "<apps_instructions>",
    "<model_switch>",
)
"""How user text starts that the client adds as context."""


def is_summary(text: str) -> bool:
    """True for the text that a client starts a compacted conversation with."""
    return is_continuation(text) or text.lstrip().startswith(_HANDOVERS)


def is_context(text: str) -> bool:
    """True for text that the client adds as context: nobody said it."""
    return is_reminder(text) or text.lstrip().startswith(_CONTEXT)


def is_from_client(text: str) -> bool:
    """True for any text that the client wrote, as context or for the person."""
    return is_context(text) or text.lstrip().startswith(_SPOKEN)
