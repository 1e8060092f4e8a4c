"""Pins: blocks whose absence from a window explains a failure, found by documented rules while a session is read.

One module per family of rules; `PinFinder` feeds them. A pin depends only on blocks up to its own, so what a screen
says of turn t is the same whether the session went on or not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ctxview.annotate.pins.finder import PinFinder
    from ctxview.annotate.pins.positional import find_pins
    from ctxview.annotate.pins.rules import DEFAULT, OFF_BY_DEFAULT, PRIORITY, Phrase, PinRules
    from ctxview.annotate.pins.tasks import TaskItem, TaskList

__all__ = [
    "DEFAULT",
    "OFF_BY_DEFAULT",
    "PRIORITY",
    "Phrase",
    "PinFinder",
    "PinRules",
    "TaskItem",
    "TaskList",
    "find_pins",
]

_HOME: Final = {
    "PinFinder": "finder",
    "find_pins": "positional",
    "DEFAULT": "rules",
    "OFF_BY_DEFAULT": "rules",
    "PRIORITY": "rules",
    "Phrase": "rules",
    "PinRules": "rules",
    "TaskItem": "tasks",
    "TaskList": "tasks",
}
"""Where each name lives. It is looked up when it is first used: whoever shows facts needs none of the rules that find
them, and compiling those takes longer than opening a trace."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
