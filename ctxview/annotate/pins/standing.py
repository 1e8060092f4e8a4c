"""What stands by its place alone: the system text, the tool schemas, memory files, and the goal."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import lazy
from ctxview.model import Block

_HEAD_CHARS: Final = 500
_FILE: Final = (
    r"(?:(?:CLAUDE(?:\.local)?|AGENTS?|GEMINI|MEMORY|WARP|copilot-instructions)(?:\.md)?"
    r"|\.?(?:cursor|cline|windsurf)rules)"
)
_MEMORY: Final = lazy(
    rf"Contents of [^\n]*(?:{_FILE}\b|/rules/|/memory/)|#\s*claudeMd\b|\[[^\]\n]*{_FILE} LOADED\]"
    rf"|^\s*#?\s*{_FILE} instructions for\b|<user_instructions>|<INSTRUCTIONS>|<project_(?:instructions|doc)>"
    r"|<agents?_md>|<claude_md>"
)
_GOAL_MARK: Final = lazy(r"<\w*context\s+source=\"goal\">|<goal>|<user_goal>|<objective>")
_COMMAND: Final = lazy(r"\s*<command-message>")
_ARGS: Final = lazy(r"<command-args>(.+?)</command-args>", re.DOTALL)
_CLIENT_TAG: Final = lazy(r"<(?:ide_\w+|system-reminder|environment_context|command-|local-command"
    r"|permissions|turn_aborted)")
_SUMMARY_ORDERS: Final = (
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
    "Your task is to create a detailed summary of",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
)
"""Known by their words: that a summary comes of it, the log tells later, if at all."""
_LISTING: Final = lazy(r"\s*<(?:skills_instructions|available_skills)>|Available agent types\b")
_AFTER_LISTING: Final = lazy(r"^#+[ \t]+How to use\b", re.MULTILINE)
_SAVED: Final = "Approved command prefix saved:"
_SLASH: Final = lazy(r"/[\w:-]+\s*$")
_SERVERS: Final = lazy(r"\s*(?:<system-reminder>\s*)?#+ MCP Server Instructions\b")
_SKILL: Final = "Base directory for this skill:"
_HOOKS: Final = lazy(
    r"\s*<system-reminder>\s*(?:Session(?:Start|End)|UserPromptSubmit|(?:Pre|Post|Sub)\w+)(?::\S+)? hook additional"
)
_FEW_CHARS: Final = 1_000
_REMINDER_ENDS: Final = "</system-reminder>"
_LOADED: Final = "\n<system-reminder>\nInstructions from: "
_TAIL_CHARS: Final = 40
_RESULT_ENDS: Final = ("</content>", "</file>", "</entries>", "</output>")
"""What closes a result's own content, in front of what the client adds to it."""


def is_memory(block: Block) -> bool:
    """A memory file's text: standing instructions that a client puts into the window by itself."""
    if block.tool == "nested_memory":
        return True
    head = block.text[:_HEAD_CHARS]
    marked = (
        "<" in head or "Contents of " in head or "claudeMd" in head or " LOADED]" in head or " instructions for" in head
    )
    return marked and _MEMORY.search(head) is not None


def is_marked_goal(block: Block) -> bool:
    """A client's own goal block."""
    return "<" in block.text and _GOAL_MARK.search(block.text, 0, _HEAD_CHARS) is not None


def command_words(block: Block) -> str:
    """What the person typed behind a slash command that is a prompt; empty for the client's own commands."""
    if not _COMMAND.match(block.text):
        return ""
    found = _ARGS.search(block.text)
    return found[1].strip() if found else ""


def is_prompt_command(block: Block) -> bool:
    """A slash command that expands to a prompt; the client's own (`/clear`) are written the other way round."""
    return _COMMAND.match(block.text) is not None


def is_expansion(block: Block) -> bool:
    """A text that a client puts in by itself: behind a slash command, what that expands to."""
    return (
        block.injected
        and block.tool is None
        and block.role == "user"
        and not _CLIENT_TAG.match(block.text.lstrip())
    )


def is_servers_instructions(block: Block) -> bool:
    """What the servers of tools ask of the agent, as the client puts it in."""
    return (block.tool or "").startswith("mcp_instructions") or (
        block.injected and _SERVERS.match(block.text) is not None
    )


def is_skill(block: Block) -> bool:
    """The text of a skill that was invoked, or is put back after a compaction."""
    return block.tool == "invoked_skills" or (block.injected and block.text.startswith(_SKILL))


def is_hooks_order(block: Block) -> bool:
    """What a hook tells the agent in a few words: long ones bring context."""
    return len(block.text) <= _FEW_CHARS and (
        (block.tool or "").startswith("hook_")
        or (block.tool is None and _HOOKS.match(block.text) is not None)
    )


def memory_in_result(text: str) -> str:
    """The memory file that a client puts behind what a tool returned; empty where there is none.

    A file that is shown may hold such words itself: only what stands behind the end of the content counts.
    """
    if not text[-_TAIL_CHARS:].rstrip().endswith(_REMINDER_ENDS):
        return ""
    at = text.rfind(_LOADED)
    if at < 0 or not text[max(0, at - 20) : at].rstrip().endswith(_RESULT_ENDS):
        return ""
    return text[at + len("\n<system-reminder>\n") :].rstrip().removesuffix(_REMINDER_ENDS)


def without_offers(text: str) -> str:
    """`text` without a list of skills or agents at its start: what their authors say of them lays down nothing until
    one is used. What is said behind it on how to use them stays."""
    if _LISTING.match(text) is None:
        return text
    behind = _AFTER_LISTING.search(text)
    return text[behind.start() :] if behind else ""


def is_saved_approval(block: Block) -> bool:
    """A client's note that the person lets commands run that start so."""
    return block.text.startswith(_SAVED)


def is_empty(block: Block) -> bool:
    """A text that asks for nothing: blank, or a client's warm-up call."""
    return block.text.strip() in ("", "Warmup")


def is_typed(block: Block) -> bool:
    """Words of the person, not what an editor or a client put beside them, nor its own order to write a summary."""
    if not (block.human and block.kind == "user"):
        return False
    text = block.text.lstrip()
    match text[:1]:
        case "<":
            return not _CLIENT_TAG.match(text)
        case "/":
            return not _SLASH.match(text)
        case _:
            return not text.startswith(_SUMMARY_ORDERS)
