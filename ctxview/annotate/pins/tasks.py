"""The agent's own list of work, whichever tool keeps it, as it stood at every turn.

Some tools write the whole list anew (TodoWrite, update_plan), some one item at a time (TaskCreate, whose id only the
result tells, and TaskUpdate). Counting calls would count a re-written item twice; items are known by id here. A call
whose result says within its turn that it failed is taken back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import orjson

from ctxview.annotate.observations.results import failed
from ctxview.annotate.patterns import lazy
from ctxview.model import Block

Status: TypeAlias = Literal["pending", "in_progress", "completed", "deleted"]

_LISTS: Final = frozenset(
    {
        "TodoWrite", "todowrite", "todo_write", "write_todos", "update_plan", "task_tracker", "update_todo_list",
        "TodoWriteTool", "manage_todo_list", "set_todos",
    }
)  # fmt: skip
"""Tools whose call carries the whole list."""
_LIST_KEYS: Final = ("todos", "plan", "task_list", "items", "tasks", "todo_list", "todoList")
_SUBJECT_KEYS: Final = ("content", "step", "title", "subject", "description", "text", "task", "name")
_STATUS: Final[Mapping[str, Status]] = {
    "pending": "pending", "todo": "pending", "not_started": "pending", "not-started": "pending", "open": "pending",
    "blocked": "pending", "in_progress": "in_progress", "in-progress": "in_progress", "active": "in_progress",
    "doing": "in_progress", "completed": "completed", "complete": "completed", "done": "completed",
    "finished": "completed", "cancelled": "deleted", "canceled": "deleted", "deleted": "deleted", "skipped": "deleted",
}  # fmt: skip
_SCRIPTS: Final = ("exec",)
"""Codex's tool that takes a program: it calls the other tools."""
_SCRIPT_CALL: Final = "tools.update_plan("
_STRING: Final = r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')"
_SCRIPT_ITEM: Final = lazy(rf"\{{((?:[^{{}}\"']|{_STRING})*+)\}}")
_SCRIPT_FIELD: Final = lazy(rf"[\"']?\b(step|status)[\"']?\s*:\s*({_STRING})")
_CREATED: Final = lazy(r"Task #(\w+) created|\"id\"\s*:\s*\"?(\w+)")
_CHECK: Final = lazy(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX~-])\]\s+(\S.*)$", re.MULTILINE)
_SUBJECT_CHARS: Final = 200
_MOST_STEPS: Final = 100
"""Calls of one turn that a refusal can still take back: each refusal goes through all of them."""
_FEWEST: Final = 2
"""Check boxes that make a list; one alone is an aside."""


@dataclass(frozen=True, slots=True)
class TaskItem:
    id: str
    """The tool's own id; without one, the place in the list, counted from 1."""
    subject: str
    status: Status
    block: int
    """Number of the block that brought the item, or its newest whole list."""

    @property
    def open(self) -> bool:
        return self.status in ("pending", "in_progress")


@dataclass(frozen=True, slots=True)
class _Step:
    """What a call did to the list."""

    call: str | None
    do: Callable[[], bool]


class TaskList:
    """Feed it the session's blocks in order of arrival; `at(turn)` tells the list as that turn's call could know it."""

    def __init__(self) -> None:
        self._items: dict[str, TaskItem] = {}
        self._waiting: dict[str, TaskItem] = {}
        """Created, and without an id until the result arrives; by call id."""
        self._since: list[int] = []
        self._versions: list[tuple[TaskItem, ...]] = []
        self._calls: set[str] = set()
        """Calls of task tools, by call id."""
        self._refused: set[str | None] = set()
        """Those of which the result says that they failed."""
        self._steps: list[_Step] = []
        """Of the newest turn; what came before stands."""
        self._before: Mapping[str, TaskItem] = {}
        """The list before these."""
        self._turn = 0
        self._written = False
        """The list is one that the agent wrote out."""

    @property
    def items(self) -> tuple[TaskItem, ...]:
        """The list now, without what was deleted."""
        return tuple(item for item in self._items.values() if item.status != "deleted")

    def at(self, turn: int) -> tuple[TaskItem, ...]:
        """The list in the window of `turn`."""
        index = bisect_right(self._since, turn)
        return self._versions[index - 1] if index else ()

    def see(self, block: Block, n: int, turn: int) -> bool:
        """Take in a block. True when the list changed."""
        if turn != self._turn:
            self._turn = turn
            if self._steps:
                self._settle()
        if block.kind == "tool_call":
            changed = self._call(block, n)
        elif block.kind == "tool_result":
            changed = block.call_id in self._calls and self._answered(block)
        elif block.kind == "assistant":
            changed = self._check_list(block, n)
        else:
            changed = False
        if changed:
            if self._since and self._since[-1] == turn + 1:
                self._versions[-1] = self.items
            else:
                self._since.append(turn + 1)
                self._versions.append(self.items)
        return changed

    def _call(self, block: Block, n: int) -> bool:
        if not keeps_tasks(block.tool, block.text):
            return False
        name = _tail(block.tool)
        if block.call_id is not None:
            if block.call_id in self._calls:
                return False  # the same call, written again by a resume
            self._calls.add(block.call_id)
        if name in _SCRIPTS:
            return self._do(block, lambda: self._replace({"plan": _script_rows(block.text)}, n))
        arguments = _object(block.text)
        if name == "TaskCreate":
            subject = _subject(arguments)
            self._waiting[block.call_id or block.id] = TaskItem("", subject, "pending", n)
            return False
        if name == "TaskUpdate":
            return self._do(block, lambda: self._update(arguments))
        return self._do(block, lambda: self._replace(arguments, n))

    def _do(self, block: Block, step: Callable[[], bool]) -> bool:
        if len(self._steps) >= _MOST_STEPS:
            self._settle()
        self._steps.append(_Step(block.call_id, step))
        return step()

    def _settle(self) -> None:
        self._before = dict(self._items)
        self._steps = []

    def _answered(self, block: Block) -> bool:
        """What the result of a call changes: it names what was created, or says that nothing was done."""
        if block.is_error or failed(block.text):
            self._refused.add(block.call_id)
        if block.call_id in self._waiting:
            return self._created(block)
        left = [step for step in self._steps if step.call != block.call_id]
        if len(left) == len(self._steps) or block.call_id not in self._refused:
            return False
        items, self._items, self._steps = self._items, dict(self._before), left
        for step in left:
            step.do()
        return self._items != items

    def _created(self, block: Block) -> bool:
        item = self._waiting.pop(block.call_id or "")
        found = _CREATED.search(block.text[:2_000])
        if block.is_error or found is None:
            return False
        created = replace(item, id=found[1] or found[2])
        return self._do(block, lambda: self._create(created))

    def _create(self, item: TaskItem) -> bool:
        self._items[item.id] = item
        return True

    def _update(self, arguments: Mapping[str, Any]) -> bool:
        known = str(arguments.get("taskId") or arguments.get("task_id") or arguments.get("id") or "").lstrip("#")
        item = self._items.get(known)
        status = _STATUS.get(str(arguments.get("status")))
        subject = arguments.get("subject")
        if item is None or (status is None and not isinstance(subject, str)):
            return False
        words = subject[:_SUBJECT_CHARS] if isinstance(subject, str) and subject else item.subject
        updated = replace(item, status=status or item.status, subject=words)
        self._items[known] = updated
        return updated != item

    def _replace(self, arguments: Mapping[str, Any], n: int) -> bool:
        rows = next((arguments[key] for key in _LIST_KEYS if arguments.get(key)), None)
        if isinstance(rows, str):
            return self._take_marks(rows, n)
        if not isinstance(rows, list):
            return False
        items: dict[str, TaskItem] = {}
        for place, row in enumerate(rows, 1):
            if isinstance(row, Mapping):
                known = str(row.get("id") or place)
                status = _STATUS.get(str(row.get("status")).lower(), "pending")
                items[known] = TaskItem(known, _subject(row), status, n)
            elif isinstance(row, str):
                items[str(place)] = TaskItem(str(place), row[:_SUBJECT_CHARS], "pending", n)
        self._items = items
        return True

    def _check_list(self, block: Block, n: int) -> bool:
        """A list in the agent's words, where no tool keeps one. All boxes ticked: only as the end of an open one."""
        is_kept = len(self._calls) > len(self._refused)
        if is_kept or not ("[ ]" in block.text or (self._written and "[x]" in block.text)):
            return False
        taken = self._take_marks(block.text, n)
        self._written = self._written or taken
        return taken

    def _take_marks(self, text: str, n: int) -> bool:
        marks = _CHECK.findall(text)
        if len(marks) < _FEWEST:
            return False
        self._items = {
            str(place): TaskItem(
                str(place), words.strip()[:_SUBJECT_CHARS], "completed" if mark in "xX" else "pending", n
            )
            for place, (mark, words) in enumerate(marks, 1)
        }
        return True


def may_keep_tasks(tool: str | None) -> bool:
    """Whether calls of this tool write the list, or can: of a program its text tells."""
    name = _tail(tool)
    return name in _LISTS or name in ("TaskCreate", "TaskUpdate") or name in _SCRIPTS


def keeps_tasks(tool: str | None, text: str) -> bool:
    """Whether a call with these arguments writes the list."""
    return may_keep_tasks(tool) and (_tail(tool) not in _SCRIPTS or _SCRIPT_CALL in text)


def _script_rows(program: str) -> list[Mapping[str, str]]:
    """The steps that a program passes on, written as its language has them."""
    rows: list[Mapping[str, str]] = []
    for item in _SCRIPT_ITEM.findall(program[program.find(_SCRIPT_CALL) :]):
        row = {name: _unquoted(literal) for name, literal in _SCRIPT_FIELD.findall(item)}
        if "step" in row:
            rows.append(row)
    return rows


def _unquoted(literal: str) -> str:
    try:
        value = orjson.loads(literal)
    except orjson.JSONDecodeError:
        return literal[1:-1]
    return value if isinstance(value, str) else literal[1:-1]


def _tail(tool: str | None) -> str:
    """A tool's own name, without the server it comes from (`mcp__server__name`)."""
    return tool.rsplit("__", 1)[-1] if tool else ""


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _subject(row: Mapping[str, Any]) -> str:
    return next((str(row[key])[:_SUBJECT_CHARS] for key in _SUBJECT_KEYS if isinstance(row.get(key), str)), "")
