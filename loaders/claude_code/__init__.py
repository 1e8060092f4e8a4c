"""Claude Code session files (`~/.claude/projects/<project>/<session>.jsonl`) of every client version so far, and what
the client prints as `stream-json`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxview.loaders.source import Loader, Source
from ctxview.model import Event

_LINK: Final = re.compile(rb'"(parentUuid|sessionId|leafUuid|messageId|isSidechain)"\s*:')
_TYPE: Final = re.compile(
    rb'"type"\s*:\s*"(user|assistant|system|summary|attachment|progress|mode|queue-operation|file-history-snapshot'
    rb'|last-prompt|ai-title|permission-mode|file-history-delta|custom-title|bridge-session|atis-latch|pr-link)"'
)
_UUID: Final = re.compile(rb'"parentUuid"\s*:')
_OTHER: Final = re.compile(rb'"systemPayload"\s*:|"message"\s*:\s*\{\s*(?:"role"\s*:\s*"[a-z]+"\s*,\s*)?"parts"\s*:')
"""What stands in the lines of Qwen Code: it links lines in the same way, and its messages are of Gemini's shape."""
_BARE: Final = re.compile(rb'"type"\s*:\s*"(user|assistant)".*"uuid"\s*:.*"message"\s*:\s*\{\s*"', re.DOTALL)
_PRINTED: Final = re.compile(rb'"parent_tool_use_id"\s*:|"subtype"\s*:\s*"(init|compact_boundary)"')
_METADATA: Final = re.compile(rb'\s*\{[^{}\[\]]*"agentType"\s*:[^{}\[\]]*\}\s*$')
_METADATA_BYTES: Final = 4096


def sniff(head: bytes, name: str) -> float:
    """JSON lines whose objects carry a Claude Code type and its links between lines; a sub-agent's metadata."""
    if name.endswith(".meta.json"):
        return 0.95 if len(head) <= _METADATA_BYTES and _METADATA.match(head) else 0.0
    lines = [line for line in head.split(b"\n") if line.strip() and not line.lstrip().startswith(b"//")][:40]
    ours = [line for line in lines if not _OTHER.search(line)]
    for line in ours:
        if not line.lstrip(b" \xef\xbb\xbf").startswith(b"{"):
            continue
        if _UUID.search(line) and _TYPE.search(line):
            return 0.95
    marked = sum(map(_is_marked, ours))
    return 0.8 if marked and marked * 2 >= len(lines) else 0.0


def _is_marked(line: bytes) -> bool:
    return bool((_TYPE.search(line) and (_LINK.search(line) or _PRINTED.search(line))) or _BARE.search(line[:2000]))


def load(source: Source) -> Iterator[Event]:
    """The events of a trace; what reads it is imported now, and not where only the format is asked for."""
    from ctxview.loaders.claude_code.load import load as read

    return read(source)


LOADER: Final = Loader(name="claude-code", title="Claude Code session (JSONL), with sub-agents", sniff=sniff, load=load)
