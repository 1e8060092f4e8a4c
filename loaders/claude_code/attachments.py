"""What the client put into the prompt from an `attachment` line, as far as the log shows it.

The wording the model saw is not logged, only the payload; every text made here is marked `rendering inferred`.
Source: formats.md section 1, Attachments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ctxview.loaders.shapes import as_dict, as_list, as_str, compact_json

INFERRED: Final = "rendering inferred"


def _join(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "\n".join(item for item in as_list(value) if isinstance(item, str))


def _numbered(text: str) -> str:
    """A file's content with line numbers, as the Read tool shows it."""
    return "\n".join(f"{i}\t{line}" for i, line in enumerate(text.split("\n"), 1))


def _file(a: dict[str, Any]) -> str:
    content = as_dict(a.get("content"))
    inner = as_dict(content.get("file"))
    body = as_str(inner.get("content"))
    if not body:
        whole = compact_json(content) if content else as_str(a.get("filename"))
        return _join(a.get("content")) or whole
    path = as_str(inner.get("filePath")) or as_str(a.get("filename"))
    call = compact_json({"file_path": path})
    return f"Called the Read tool with the following input: {call}\nResult of calling the Read tool:\n{_numbered(body)}"


def _nested_memory(a: dict[str, Any]) -> str:
    content = as_dict(a.get("content"))
    return f"Contents of {as_str(a.get('path'))}:\n\n{as_str(content.get('content')) or as_str(a.get('content'))}"


def _invoked_skills(a: dict[str, Any]) -> str:
    skills = [as_dict(s) for s in as_list(a.get("skills"))]
    return "\n\n".join(f"### Skill: {as_str(s.get('name'))}\n{as_str(s.get('content'))}" for s in skills)


def _todo(a: dict[str, Any]) -> str:
    items = as_list(a.get("content"))
    return "Reminder of the task list: " + compact_json(items)


def _hook(a: dict[str, Any]) -> str:
    text = _join(a.get("content"))
    return f"{as_str(a.get('hookName')) or 'hook'}: {text}" if text.strip() else ""


def _hook_success(a: dict[str, Any]) -> str:
    """What hooks of two events print is sent; those of the others say what is sent in attachments of another kind."""
    return _hook(a) if a.get("hookEvent") in (None, "SessionStart", "UserPromptSubmit") else ""


def _hook_blocking_error(a: dict[str, Any]) -> str:
    error = as_dict(a.get("blockingError"))
    text = as_str(error.get("blockingError")) or as_str(a.get("blockingError"))
    command = as_str(error.get("command"))
    source = f' from command: "{command}"' if command else ""
    return f"{as_str(a.get('hookName')) or 'a'} hook blocking error{source}: {text}" if text.strip() else ""


def _plan_mode(a: dict[str, Any]) -> str:
    path = as_str(a.get("planFilePath"))
    file = "the plan file" if a.get("planExists") is True else "the plan file, not written yet"
    return f"Plan mode is active{f'; {file}: {path}' if path else ''}"


_RENDER: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "agent_listing_delta": lambda a: _join(a.get("addedLines")) or _join(a.get("addedTypes")),
    "compact_file_reference": lambda a: f"{as_str(a.get('filename'))} was read before the conversation was compacted.",
    "date_change": lambda a: f"The date is now {as_str(a.get('newDate'))}.",
    "deferred_tools_delta": lambda a: _join(a.get("addedLines")) or _join(a.get("addedNames")),
    "edited_text_file": lambda a: f"{as_str(a.get('filename'))} was changed outside:\n{as_str(a.get('snippet'))}",
    "file": _file,
    "hook_additional_context": _hook,
    "hook_blocking_error": _hook_blocking_error,
    "hook_success": _hook_success,
    "invoked_skills": _invoked_skills,
    "mcp_instructions_delta": lambda a: _join(a.get("addedBlocks")) or _join(a.get("addedNames")),
    "nested_memory": _nested_memory,
    "plan_mode": _plan_mode,
    "skill_listing": lambda a: _join(a.get("content")),
    "task_reminder": _todo,
    "todo_reminder": _todo,
    "total_tokens_reminder": lambda a: as_str(a.get("text")),
}

UI_ONLY: Final = frozenset({"auto_mode", "command_permissions", "hook_system_message", "hook_non_blocking_error"})
"""Kinds that the client keeps to itself."""


def render(attachment: dict[str, Any]) -> str | None:
    """The text sent for an attachment; None when nothing was (a UI-only kind, an empty payload).

    A kind that no rule names is taken to be sent when it carries text.
    """
    kind = as_str(attachment.get("type"))
    if kind in UI_ONLY:
        return None
    rule = _RENDER.get(kind)
    text = rule(attachment) if rule else _join(attachment.get("content")) or as_str(attachment.get("text"))
    return text if text.strip() else None


def is_known(attachment: dict[str, Any]) -> bool:
    """Whether a rule names this kind of attachment."""
    kind = as_str(attachment.get("type"))
    return kind in _RENDER or kind in UI_ONLY or kind == "queued_command"
