"""Which conversation a line belongs to: the file's own, or a sub-agent's written into the same file."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from ctxview.loaders.claude_code.lane import Lane
from ctxview.loaders.claude_code.lines import Node
from ctxview.loaders.claude_code.tree import Tree
from ctxview.loaders.shapes import as_dict, as_list, as_str, title_of
from ctxview.loaders.taken import Taken
from ctxview.model import SessionStart

FORMAT: Final = "claude-code"


def is_sub_agents(value: dict[str, Any]) -> bool:
    """Whether a line is a sub-agent's, in its own file or in another session's."""
    return value.get("isSidechain") is True or isinstance(value.get("parent_tool_use_id"), str)


class Lanes:
    """The lanes of one file. Session ids stay unique over the trace's files through `taken`."""

    def __init__(
        self,
        file: str,
        tree: Tree,
        taken: Taken,
        agents: Mapping[str, tuple[str, str]],
        calls: Mapping[str, str],
    ) -> None:
        self._file = file
        self._tree = tree
        self._taken = taken
        self._agents = agents
        """Agent id -> (session, call id) that started it, by the call's result."""
        self._calls = calls
        """Agent id -> id of the call that started it, by its metadata."""
        self._by_session: dict[str, Lane] = {}
        self._by_call: dict[str, Lane] = {}
        """Id of the call that started a sub-agent -> its lane, in logs whose lines name the call."""
        self._starts: dict[Lane, SessionStart] = {}
        self._prompts: dict[str, deque[str]] = {}
        """Prompt of calls that start a sub-agent -> ids of those whose sub-agent has not been seen, or the last one."""
        self.agent: str | None = None
        """The agent id, when the whole file is one sub-agent's."""
        self.main: Lane | None = None

    @property
    def all(self) -> list[Lane]:
        return list(self._starts)

    def parent_of(self, value: dict[str, Any]) -> Node | None:
        """The node above a line; when it was never logged or not named, the previous line of the lane."""
        uuid = value.get("parentUuid")
        if uuid is None and ("parentUuid" in value or value.get("subtype") == "compact_boundary"):
            return None
        found = self._tree.get(uuid)
        if found is not None:
            return found
        call = value.get("parent_tool_use_id")
        if isinstance(call, str):
            lane = self._by_call.get(call)
        else:
            lane = self._newest_sidechain() if self._is_aside(value) else self.main
        return lane.tip if lane is not None else None

    def lane_for(self, value: dict[str, Any], parent: Node | None) -> tuple[Lane, SessionStart | None]:
        """A line's lane; with the session's first event when the line starts it."""
        if not self._starts and value.get("isSidechain") is True and as_str(value.get("agentId")):
            self.agent = as_str(value.get("agentId"))
        aside = self._is_aside(value)
        lane = self._by_session.get(parent.session) if parent is not None else None
        if aside:
            if parent is None:  # a compaction starts a new tree of the conversation that it names
                below = self._tree.get(value.get("logicalParentUuid"))
                lane = self._by_session.get(below.session) if below is not None else None
            call = value.get("parent_tool_use_id")
            if isinstance(call, str):
                return self._of_call(call, value)
            if lane is None or lane is self.main:
                return self._open(value, f"{self._base(value)}/sidechain-{as_str(value.get('uuid'))[:8]}", aside=True)
            return lane, None
        if self.main is not None:
            return self.main, None
        wanted = f"agent-{self.agent}" if self.agent else self._base(value)
        lane, start = self._open(value, wanted, aside=False)
        self.main = lane
        return lane, start

    def _of_call(self, call: str, value: dict[str, Any]) -> tuple[Lane, SessionStart | None]:
        """The sub-agent that a call started, where lines name the call."""
        if call in self._by_call:
            return self._by_call[call], None
        lane, start = self._open(value, f"{self._base(value)}/sidechain-{call}", aside=True)
        self._by_call[call] = lane
        self._starts[lane] = start = replace(start, parent_call=call)
        return lane, start

    def of(self, node: Node, default: Lane) -> Lane:
        """The lane that a line was placed in."""
        return self._by_session.get(node.session, default)

    def place(self, node: Node, lane: Lane) -> None:
        node.session = lane.session

    def learn_prompts(self, message: dict[str, Any]) -> None:
        """Remember what sub-agents were asked, to know their conversations by."""
        for part in as_list(message.get("content")):
            call = as_dict(part)
            prompt = as_str(as_dict(call.get("input")).get("prompt")).strip()
            if prompt and call.get("type") == "tool_use":
                self._prompts.setdefault(prompt, deque()).append(as_str(call.get("id")))

    def closing(self, title: str | None) -> Iterator[SessionStart]:
        """What the end of the file tells of its sessions: the main one's title, and sub-agents that came before it."""
        main = self.main
        if main is None:
            return
        start = self._starts[main]
        yield replace(start, title=title_of(title or main.first_words or "") or start.title)
        for lane, start in self._starts.items():
            if lane is not main and start.parent is None:
                yield replace(start, parent=main.session)

    def name_sidechain(self, lane: Lane, node: Node) -> SessionStart | None:
        """With its first message known: a sidechain's title and the call that started it."""
        start = self._starts[lane]
        if lane is self.main and self.agent is None:
            return None
        text = next((b.text for b in node.blocks if b.text), "")
        calls = self._prompts.get(text.strip(), deque())
        call = start.parent_call or (calls.popleft() if len(calls) > 1 else next(iter(calls), None))
        self._starts[lane] = replace(start, title=title_of(text), parent_call=call)
        return self._starts[lane]

    def _is_aside(self, value: dict[str, Any]) -> bool:
        """A sub-agent's line inside another session's file."""
        return is_sub_agents(value) and self.agent is None

    def _newest_sidechain(self) -> Lane | None:
        return next((lane for lane in reversed(self._starts) if lane is not self.main), None)

    def _base(self, value: dict[str, Any]) -> str:
        if self.main is not None:
            return self.main.session
        return as_str(value.get("sessionId")) or as_str(value.get("session_id")) or PurePath(self._file).stem

    def _open(self, value: dict[str, Any], wanted: str, *, aside: bool) -> tuple[Lane, SessionStart]:
        of_file = f"{wanted}/{PurePath(self._file).stem}"
        is_free = wanted not in self._taken or of_file in self._taken
        session = self._taken.take(wanted if is_free else of_file)
        lane = self._by_session[session] = Lane(session, self._file, self._tree)
        parent, call = (self.main.session if self.main else None), None
        if not aside and self.agent is not None:
            owner = as_str(value.get("sessionId"))
            by_metadata = (owner if owner in self._taken else None, self._calls.get(self.agent))
            parent, call = self._agents.get(self.agent, by_metadata)
        version = as_str(value.get("version"))
        self._starts[lane] = SessionStart(
            session=session,
            format=FORMAT,
            parent=parent,
            parent_call=call,
            agent="sidechain" if aside else self.agent,
            client=f"{FORMAT} {version}" if version else FORMAT,
            cwd=as_str(value.get("cwd")) or None,
            joins_roles=True,
        )
        return lane, self._starts[lane]
