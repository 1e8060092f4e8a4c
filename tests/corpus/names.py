"""The corpus files these tests read, by name, so that tests are the same with and without the files."""

from __future__ import annotations

from typing import Final

CLAUDE_CODE: Final = tuple(
    f"claude-code/{name}"
    for name in (
        "ccviewer-main.jsonl",
        "claudemem-2.0.19-sidechain.jsonl",
        "entire-2.0.64-old.jsonl",
        "entire-2.0.76-compact-synthetic.jsonl",
        "entire-2.1.12-two-objects-one-line.jsonl",
        "entire-2.1.14-microcompact+compact.jsonl",
        "entire-2.1.29-image.jsonl",
        "entire-2.1.41-progress-subagent.jsonl",
        "entire-2.1.5-compact.jsonl",
        "entirecontext-2.1.232-2compacts-preserved.jsonl",
        "episodic-2.0.5-api-errors.jsonl",
        "openagents-1.0.29-inline-sidechains.jsonl",
        "sessionshare-general-tools.jsonl",
        "sessionshare-images-in-tool-results.jsonl",
        "sessionshare/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl",
        "spotter/258c7280-ae70-4798-800f-63464d01a85d.jsonl",
        "spotter/fa812bfe-b295-4cca-9c2f-fdf01028cb46.jsonl",
        "vscode/30530d66-todo.jsonl",
        "vscode/98b76fb9-compact-resume.jsonl",
        "vscode/b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl",
    )
)
CAPTURES: Final = tuple(
    f"anthropic-proxy/claudetap-trace_{name}.json"
    for name in ("claude", "compact_claude", "thinking_on", "webpage_claude")
)
CHAT: Final = tuple(
    f"chat-completions/{name}.json"
    for name in (
        "openhands-fncall-messages",
        "openhands-nonfncall-messages",
        "tau2-sim-7c6a3e3e",
        "taubench-gpt-4o-airline",
    )
)

PRESERVED: Final = "claude-code/entirecontext-2.1.232-2compacts-preserved.jsonl"
RESUMED_BY_ONE_MOMENT: Final = "claude-code/openagents-1.0.29-inline-sidechains.jsonl"
COMPACTED_CAPTURE: Final = "anthropic-proxy/claudetap-trace_compact_claude.json"
