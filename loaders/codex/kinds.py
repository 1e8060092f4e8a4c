"""Which lines, items and events of a rollout there are, and which of them stand in no window."""

from __future__ import annotations

from typing import Final

KNOWN_LINES: Final = frozenset(
    {"session_meta", "turn_context", "world_state", "inter_agent_communication_metadata", "session_state"}
)
"""Settings, and baselines that the client compares with: what the model sees of them comes as messages."""

CONVERSATION: Final = frozenset({"response_item", "compacted", "inter_agent_communication"})
"""Lines that change the window; the others report on it."""

LINE_TYPES: Final = KNOWN_LINES | CONVERSATION | {"event_msg"}

CALL_TYPES: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
"""Calls that the client answers."""

SERVED_TYPES: Final = frozenset({"web_search_call", "image_generation_call"})
"""Calls that the provider answers within the same response."""

RESULT_TYPES: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)

SUMMARY_TYPES: Final = frozenset({"compaction", "compaction_summary", "context_compaction"})

KNOWN_ITEMS: Final = frozenset({"ghost_snapshot", "compaction_trigger", "other"})
"""Items that the client does not send."""

ITEM_TYPES: Final = (
    CALL_TYPES | SERVED_TYPES | RESULT_TYPES | SUMMARY_TYPES | KNOWN_ITEMS | {"message", "reasoning", "agent_message"}
)

MIRRORS: Final = {
    "user_message": "user",
    "agent_message": "assistant",
    "agent_reasoning": "reasoning",
    "agent_reasoning_raw_content": "reasoning",
}
"""Events that repeat an item for the screen, and whose words they are."""

KNOWN_EVENTS: Final = frozenset(
    {
        "agent_message_content_delta",
        "agent_message_delta",
        "agent_reasoning_delta",
        "agent_reasoning_raw_content_delta",
        "agent_reasoning_section_break",
        "apply_patch_approval_request",
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_resume_begin",
        "collab_resume_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "context_compacted",
        "conversation_path",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "elicitation_request",
        "entered_review_mode",
        "error",
        "exec_approval_request",
        "exec_command_begin",
        "exec_command_end",
        "exec_command_output_delta",
        "exited_review_mode",
        "get_history_entry_response",
        "guardian_assessment",
        "guardian_warning",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "image_generation_end",
        "item_completed",
        "item_started",
        "list_custom_prompts_response",
        "list_skills_response",
        "mcp_list_tools_response",
        "mcp_startup_complete",
        "mcp_startup_update",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "model_verification",
        "patch_apply_begin",
        "patch_apply_end",
        "patch_apply_updated",
        "plan_delta",
        "plan_update",
        "raw_response_item",
        "realtime_conversation_closed",
        "realtime_conversation_realtime",
        "realtime_conversation_started",
        "reasoning_content_delta",
        "reasoning_raw_content_delta",
        "request_permissions",
        "request_user_input",
        "session_configured",
        "shutdown_complete",
        "skills_update_available",
        "stream_error",
        "sub_agent_activity",
        "task_complete",
        "task_started",
        "terminal_interaction",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "token_count",
        "turn_aborted",
        "turn_complete",
        "turn_diff",
        "turn_started",
        "undo_completed",
        "undo_started",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
"""Events for the screen, about the session, and `token_count`."""
