"""Which line types of a Claude Code session are known to stand in no window."""

from __future__ import annotations

from typing import Final

KNOWN_TYPES: Final = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "result",
        "summary",
        "tag",
        "task-summary",
        "worktree-state",
    }
)
"""Bookkeeping: titles, file history, queues, links, progress for the screen."""

KNOWN_SYSTEM: Final = frozenset(
    {
        "agents_killed",
        "api_error",
        "api_metrics",
        "away_summary",
        "bridge_status",
        "compact_boundary",
        "informational",
        "init",
        "local_command",
        "memory_saved",
        "microcompact_boundary",
        "permission_retry",
        "scheduled_task_fire",
        "stop_hook_summary",
        "turn_duration",
    }
)
"""Subtypes of `system` lines."""

CONVERSATION: Final = frozenset({"user", "assistant", "attachment", "system"})
"""Types with a place in the tree of messages."""
