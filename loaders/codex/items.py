"""Items of the Responses API as a rollout stores them, each as the parts that the model reads.

It prevents a guess at who speaks: the person, the client (settings, instructions, reminders under the person's role or
the developer's), another agent, the model, or a tool.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ctxview.images import image_facts
from ctxview.loaders.codex.kinds import CALL_TYPES, ITEM_TYPES, RESULT_TYPES, SERVED_TYPES, SUMMARY_TYPES
from ctxview.loaders.shapes import as_dict, as_int, as_list, as_str, as_text, compact_json, without
from ctxview.model import Image, Kind, Role

NOT_RECORDED: Final = "text not recorded"

Tag: TypeAlias = Literal["user", "context", "agent", "summary", "output", "call", "result"]
"""Who an item is from: `output` is the model's, except for its calls."""

_INJECTED: Final = (
    "<environment_context", "<user_instructions", "# AGENTS.md instructions", "<permissions", "<recommended_plugins",
    "<skills_instructions", "<skill>", "<turn_aborted", "<user_shell_command", "<collaboration_mode",
    "<multi_agent_mode", "<model_switch", "<personality_spec", "<apps_instructions", "<plugins_instructions",
    "<subagent_notification", "<hook_prompt", "<user_action", "<INSTRUCTIONS>", "<realtime_conversation",
    "<environment_update", "<codex_internal_context", "<memory_context",
)  # fmt: skip
"""How the client's own texts under the person's role begin."""

_SUMMARY: Final = "Another language model started to solve this problem and produced a summary"
_BRIDGE: Final = "You were originally given instructions from a user over one or more turns."

_EXIT: Final = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_STATUS_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class Part:
    """One block to be."""

    kind: Kind
    role: Role
    text: str
    tool: str | None = None
    is_error: bool = False
    image: Image | None = None
    signature: int = 0
    injected: bool = False
    human: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One item: what it adds to the window."""

    tag: Tag
    parts: tuple[Part, ...]
    call_id: str | None = None
    answered: bool = False
    """A call that the client has to answer."""

    @property
    def is_output(self) -> bool:
        """Whether it is part of a response."""
        return self.tag in ("output", "call")

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if part.image is None)

    @property
    def images(self) -> int:
        """How many of its parts are."""
        return sum(part.image is not None for part in self.parts)

    @property
    def key(self) -> int:
        """Equal for items of equal content, within one run."""
        return hash((self.tag, self.call_id, tuple((p.kind, p.role, p.text, p.signature, p.image) for p in self.parts)))


def item_of(payload: dict[str, Any]) -> Item | None:
    """The item; None for one that is not sent to the model, or holds nothing."""
    kind = as_str(payload.get("type"))
    if kind == "message":
        item = _message(payload)
    elif kind == "reasoning":
        item = Item("output", (_reasoning(payload),))
    elif kind == "agent_message":
        item = agent_message(payload)
    elif kind in CALL_TYPES:
        item = _call(kind, payload)
    elif kind in SERVED_TYPES:
        item = Item("output", tuple(_served(kind, payload)))
    elif kind in RESULT_TYPES:
        item = _result(kind, payload)
    elif kind in SUMMARY_TYPES:
        hidden = len(as_str(payload.get("encrypted_content")))
        item = Item("summary", (Part("summary", "user", "", signature=hidden, note=NOT_RECORDED),))
    else:
        return None
    return item if item is not None and item.parts else None


def is_item(kind: str) -> bool:
    return kind in ITEM_TYPES


def is_injected(text: str) -> bool:
    """Whether a text under the person's role is the client's."""
    return text.lstrip()[:40].startswith(_INJECTED)


def is_summary(text: str) -> bool:
    """Whether a message under the person's role is a compaction's summary."""
    return text.startswith(_SUMMARY) or (text.startswith(_BRIDGE) and _SUMMARY in text)


def said(role: str, text: str) -> Item | None:
    """An item for words that stand in an event only."""
    if not text:
        return None
    if role == "user":
        return Item("user", (Part("user", "user", text, human=True),))
    kind: Kind = "thinking" if role == "reasoning" else "assistant"
    return Item("output", (Part(kind, "assistant", text),))


def agent_message(payload: dict[str, Any]) -> Item | None:
    """A message of another agent, by whichever of its two records."""
    author = as_str(payload.get("author"))
    content = payload.get("content")
    texts, hidden = [], 0
    for part in [{"text": content}] if isinstance(content, str) else as_list(content):
        texts.append(as_str(as_dict(part).get("text")))
        hidden += len(as_str(as_dict(part).get("encrypted_content")))
    text = "\n".join(text for text in texts if text)
    if not text and not hidden:
        return None
    notes = [f"from agent {author}" if author else "", "part of the text not recorded" if hidden else ""]
    note = "; ".join(filter(None, notes)) or None
    return Item("agent", (Part("note", "user", text, injected=True, signature=hidden, note=note),))


# ------------------------------------------------------------------------------------------------------------ kinds


def _message(payload: dict[str, Any]) -> Item | None:
    role = as_str(payload.get("role"))
    content = payload.get("content")
    parts = [{"text": content}] if isinstance(content, str) else as_list(content)
    if role == "assistant":
        return Item("output", tuple(_content(parts, "assistant", "assistant")))
    if role == "developer":
        return Item("context", tuple(_content(parts, "note", "system", injected=True)))
    if role != "user":
        return None
    found: list[Part] = []
    for part in _content(parts, "user", "user"):
        if part.kind == "user" and is_injected(part.text):
            found.append(Part("note", "user", part.text, injected=True))
        elif part.kind == "user" and is_summary(part.text):
            found.append(Part("summary", "user", part.text))
        else:
            found.append(part)
    if any(part.kind == "summary" for part in found):
        return Item("summary", tuple(found))
    if found and all(part.injected for part in found):
        return Item("context", tuple(found))
    return Item("user", tuple(_typed(found)))


def _typed(parts: list[Part]) -> list[Part]:
    """Mark the message's first part that the person typed."""
    first = next((p for p in parts if p.kind == "user" and p.text.strip()), None)
    first = first or next((p for p in parts if not p.injected), None)
    return [
        Part(p.kind, p.role, p.text, image=p.image, note=p.note, injected=p.injected, human=p is first) for p in parts
    ]


def _content(parts: list[Any], kind: Kind, role: Role, injected: bool = False) -> list[Part]:
    found = []
    for part in parts:
        value = as_dict(part)
        text = value.get("text", value.get("refusal"))
        if isinstance(text, str):
            if text:
                found.append(Part(kind, role, text, injected=injected))
        elif "image_url" in value or as_str(value.get("type")).endswith("image"):
            found.append(_image(value.get("image_url"), role))
        elif value.get("type") not in ("encrypted_content", None):
            found.append(Part(kind, role, compact_json(value), injected=injected))
    return found


def _image(url: Any, role: Role) -> Part:
    url = as_str(url) or as_str(as_dict(url).get("url"))
    if url[:5].lower() == "data:":
        return Part("image", role, "", image=image_facts("", url))
    return Part("image", role, "", image=Image("image", None, None, 0), note="only a reference was logged")


def _reasoning(payload: dict[str, Any]) -> Part:
    """Its plain text where there is one, else the summary shown to the person."""
    content = [as_str(as_dict(part).get("text")) for part in as_list(payload.get("content"))]
    summary = [as_str(as_dict(part).get("text")) for part in as_list(payload.get("summary"))]
    text = "\n\n".join(filter(None, content))
    if text:
        return Part("thinking", "assistant", text)
    text = "\n\n".join(filter(None, summary))
    hidden = len(as_str(payload.get("encrypted_content")))
    return Part(
        "thinking", "assistant", text, signature=hidden, note="only a summary was recorded" if text else NOT_RECORDED
    )


def _call(kind: str, payload: dict[str, Any]) -> Item:
    name = as_str(payload.get("name"))
    if kind == "local_shell_call":
        name, text = name or "local_shell", as_text(payload.get("action"))
    elif kind == "tool_search_call":
        name, text = name or "tool_search", as_text(payload.get("arguments"))
    else:
        text = as_text(payload.get("arguments") if kind == "function_call" else payload.get("input"))
    if space := as_str(payload.get("namespace")):
        name = f"{space}.{name}"
    call_id = as_str(payload.get("call_id")) or (as_str(payload.get("id")) if kind == "local_shell_call" else "")
    ours = bool(call_id) and payload.get("execution") != "server"
    return Item("call", (Part("tool_call", "assistant", text, tool=name or None),), call_id or None, ours)


def _served(kind: str, payload: dict[str, Any]) -> list[Part]:
    if kind == "web_search_call":
        text = as_text(payload.get("action"))
        return [Part("tool_call", "assistant", text, tool="web_search", note="its results are not recorded")]
    settings = compact_json(without(payload, "type", "id", "result", "status", "metadata"))
    parts = [Part("tool_call", "assistant", settings, tool="image_generation")]
    result = as_str(payload.get("result"))
    return [*parts, Part("image", "assistant", "", image=image_facts("image/png", result))] if result else parts


def _result(kind: str, payload: dict[str, Any]) -> Item:
    output: Any = payload.get("tools") if kind == "tool_search_output" else payload.get("output")
    failed = payload.get("success") is False
    if isinstance(output, dict) and ("content" in output or "body" in output):
        failed = failed or output.get("success") is False
        output = output.get("content", output.get("body"))
    elif isinstance(output, dict) and "text" in output:
        output = [output]
    images: list[Part] = []
    if isinstance(output, list) and kind != "tool_search_output":
        parts = _content(output, "tool_result", "tool")
        images = [part for part in parts if part.kind == "image"]
        text = _joined([part.text for part in parts if part.kind != "image"])
    else:
        text = as_text(output)
    failed = failed or _exit_code(text) not in (None, 0)
    parts = [Part("tool_result", "tool", text, is_error=failed)] if text or not images else []
    return Item("result", (*parts, *images), as_str(payload.get("call_id")) or None)


def _joined(texts: list[str]) -> str:
    """Texts of one result as one, each on a line of its own."""
    whole = ""
    for text in texts:
        whole += text if not whole or whole.endswith("\n") else f"\n{text}"
    return whole


def _exit_code(text: str) -> int | None:
    """The exit code that the head of a command's output states, or the metadata around it."""
    if text.startswith('{"output"'):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return as_int(as_dict(as_dict(value).get("metadata")).get("exit_code"))
    match = _EXIT.search(text[:_STATUS_CHARS])
    return as_int(int(match[1])) if match else None
