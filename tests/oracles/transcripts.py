"""Neutral transcripts, made from a number, and our side of each comparison: one window under one stack."""

from __future__ import annotations

import importlib
import os
import random
from dataclasses import dataclass, field
from types import ModuleType

import pytest

from ctxview.model import EditRow
from ctxview.policies import parse_stack
from ctxview.replay import replay
from ctxview.window import SessionView
from tests.replay.sessions import Script, words

CASES = 1_000
"""Generated histories per comparison."""


@dataclass(frozen=True)
class Said:
    """One wire message: kind is system, user, answer, calls or result."""

    kind: str
    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """Id, tool and file of each call, for calls."""
    call_id: str = ""
    tool: str = "read"


@dataclass
class Made:
    view: SessionView
    ids: list[str] = field(default_factory=list)
    """Block id of each message's first block."""


def needed(name: str) -> ModuleType:
    """A package to compare with. Absent, the test is skipped, or fails where CTXVIEW_ORACLES is `required`."""
    if os.environ.get("CTXVIEW_ORACLES") == "required":
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install --group oracle")


def transcript(seed: int, *, tools: bool = True, system: bool = True) -> list[Said]:
    """A valid conversation that ends with a request."""
    chance = random.Random(seed)
    said = [Said("system", "you are helpful")] if system else []
    said.append(Said("user", "GOAL migrate billing and leave auth alone"))
    count = 0
    for step in range(chance.randint(0, 12)):
        kind = chance.random()
        if not tools or kind < 0.4:
            said.append(Said("answer", f"answer {step} " + "w " * chance.randint(0, 20)))
            said.append(Said("user", f"note {step} " + "w " * chance.randint(0, 20)))
            continue
        calls = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            count += 1
            calls.append((f"c{count}", chance.choice(("read", "grep", "bash")), f"f{chance.randint(0, 3)}"))
        said.append(Said("calls", calls=tuple(calls)))
        said += [Said("result", "x " * chance.randint(1, 60) + i, call_id=i, tool=tool) for i, tool, _ in calls]
        if chance.random() < 0.3:
            said.append(Said("user", f"go on {step}"))
    return said


def script_of(said: list[Said]) -> Script:
    """The transcript as one session whose last window holds all of it."""
    script = Script()
    for number, one in enumerate(said):
        if one.kind in ("answer", "calls"):
            script.call()
        message = f"message-{number}"
        if one.kind == "system":
            script.block("system", "system", one.text, message)
        elif one.kind == "user":
            script.block("user", "user", one.text, message, human=True)
        elif one.kind == "answer":
            script.say(one.text, message)
        elif one.kind == "calls":
            for call_id, tool, file in one.calls:
                script.use(call_id, tool, f'{{"path": "{file}"}}', message)
        else:
            script.result(one.call_id, one.text, message, one.tool)
    script.call()
    return script


def window(said: list[Said], stack: str, **options: object) -> tuple[SessionView, list[EditRow]]:
    """The last window of the transcript under a stack."""
    view = script_of(said).view(count=words, **options)
    done = replay(view, parse_stack(stack), count=words)
    return done.view, list(done.view.edits)


def numbers(view: SessionView) -> list[int]:
    """The messages of the last window by their number in the transcript; what was put in is -1."""
    found: list[int] = []
    for row in view.window(view.last):
        name = row.block.message
        number = int(name.removeprefix("message-")) if name.startswith("message-") else -1
        if not found or found[-1] != number:
            found.append(number)
    return found
