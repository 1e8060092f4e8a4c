"""What stands for dropped messages: a deterministic digest. No model is called.

A digest says how many messages it stands for, which tools they used, and how many denials stay beside it. A later one
takes an earlier one's place and adds up, so that it can be read back from its own words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from ctxview.policies.items import Entry
from ctxview.policies.window import Window

KEY: Final = "digest"


@dataclass(frozen=True, slots=True)
class Tally:
    """What a digest counts."""

    messages: int = 0
    tools: Mapping[str, int] = field(default_factory=dict)
    """Calls by tool, in order of first use."""

    def plus(self, other: Tally) -> Tally:
        tools = dict(self.tools)
        for name, count in other.tools.items():
            tools[name] = tools.get(name, 0) + count
        return Tally(self.messages + other.messages, tools)

    def text(self, denials: int = 0) -> str:
        parts = [f"[compacted {self.messages} earlier messages]"]
        if self.tools:
            parts.append("tools used: " + ", ".join(f"{name} x{count}" for name, count in self.tools.items()))
        if denials:
            parts.append(f"denials preserved: {denials}")
        return " | ".join(parts)


def is_digest(entry: Entry) -> bool:
    """Whether a policy put the entry in, to stand for others."""
    return bool(entry.covers) and entry.kind == "summary"


def tally(window: Window, gone: Collection[int]) -> Tally:
    """What the dropped blocks were, the digests among them counting as what they stand for."""
    earlier = {e.n: read_tally(e.text()) for e in window if e.n in gone and is_digest(e)}
    found = Tally()
    for one in earlier.values():
        found = found.plus(one or Tally())
    whole = 0
    tools: dict[str, int] = {}
    for message in window.all_messages:
        whole += all(e.n in gone and not earlier.get(e.n) for e in message.entries)
        for e in message.entries:
            if e.kind == "tool_call" and e.n in gone:
                name = e.item.tool or "unknown"
                tools[name] = tools.get(name, 0) + 1
    return found.plus(Tally(whole, tools))


_TEXT: Final = re.compile(
    r"\[compacted (\d+) earlier messages\](?: \| tools used: (.*?))?(?: \| denials preserved: \d+)?$", re.MULTILINE
)


def read_tally(text: str) -> Tally | None:
    """The tally that a digest's text states, whatever stands before and after it; None where it states none."""
    match = _TEXT.search(text)
    if match is None:
        return None
    tools = {}
    for part in (match[2] or "").split(", "):
        name, times, count = part.rpartition(" x")
        if times and count.isdecimal():
            tools[name] = int(count)
    return Tally(int(match[1]), tools)
