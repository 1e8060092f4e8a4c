"""Pins: blocks whose absence from a window explains a failure, found by documented rules while a session is read.

One module per family of rules; `PinFinder` feeds them. A pin depends only on blocks up to its own, so what a screen
says of turn t is the same whether the session went on or not.
"""

from ctxview.annotate.pins.finder import PinFinder
from ctxview.annotate.pins.positional import find_pins
from ctxview.annotate.pins.rules import DEFAULT, OFF_BY_DEFAULT, PRIORITY, Phrase, PinRules
from ctxview.annotate.pins.tasks import TaskItem, TaskList

__all__ = [
    "DEFAULT", "OFF_BY_DEFAULT", "PRIORITY", "Phrase", "PinFinder", "PinRules", "TaskItem", "TaskList", "find_pins",
]  # fmt: skip
