"""What a tool call asks for, before its result says whether it happened."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import orjson

from ctxview.annotate.observations.seen import Spans, Text, hash_json, hash_of
from ctxview.annotate.patterns import lazy
from ctxview.model import Evidence
from ctxview.values import dataclass

Args: TypeAlias = Mapping[str, Any]
"""A call's arguments by name, in lower case and without underscores, so that `filePath` and `file_path` are one."""

_HUMP = lazy(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Target:
    """One resource that a call reads or changes."""

    key: str
    effect: Literal["read", "write", "edit"]
    rule: str
    spans: Spans = ()
    """The lines asked for; empty for all."""
    sole: bool = True
    """The result shows this resource and nothing else."""
    text: Text | None = None
    """What a write writes."""
    numbered: bool = False
    """The result's lines carry their numbers."""
    returns: str | None = None
    """For a record: the result holds the record itself if it is a JSON object with this id in it."""
    question: str | None = None
    """Hash of what was asked about the resource: answers to different questions stand side by side."""
    evidence: Evidence = "matched"
    programs: tuple[str, ...] = ()
    """Formatters that changed the file if there was anything to change, and nothing else did; they may say which."""


@dataclass(frozen=True, slots=True)
class GitStep:
    """What a command line has git do with changes that are in no commit."""

    action: Literal["settle", "stash", "unstash", "forget"]
    """Commit or discard them, put them away, bring them back, or forget what was put away."""
    paths: tuple[str, ...] = ()
    """Full paths of the files and folders it is about; empty for all."""
    nth: int | None = 0
    """Which of the stashes, 0 being the newest; None for all."""
    keeps: bool = False
    """What is brought back stays put away, too."""
    undone: bool = False
    """The same line brings back what it puts away, and shows no file in between."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A tool call in this module's words. Without targets it is an event."""

    targets: tuple[Target, ...] = ()
    rule: str = "a tool without a resource"
    """Why it is an event, where it has no targets."""
    silent: bool = True
    """The result says nothing beyond the targets and their acknowledgement."""
    shell: bool = False
    absent: tuple[str, ...] = ()
    """Words that a command prints instead of a file that is not there."""
    cwd: str | None = None
    """Where the shell stands afterwards; None when it stays."""
    sweep: str | None = None
    """Why any file under version control may have changed."""
    git: tuple[GitStep, ...] = ()
    """What becomes of changes that are in no commit, in the order of the command line."""
    removed: tuple[str, ...] = ()
    """Folders that were removed with all in them."""
    patterns: tuple[str, ...] = ()
    """Patterns of the paths that were removed."""


def names(text: str) -> frozenset[str]:
    """The words of a text: long lists of tool names read better so."""
    return frozenset(text.split())


def snake(name: str) -> str:
    """A tool's name without its server's, in snake case: `mcp__files__readFile` becomes `read_file`."""
    name = name.rsplit("__", 1)[-1]
    return _HUMP.sub("_", name).lower().replace("-", "_").replace(".", "_").replace(" ", "_")


def parse(text: str) -> Any:
    """A call's arguments as logged; None when they are not JSON."""
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def by_plain_name(arguments: Any) -> Args:
    if not isinstance(arguments, dict):
        return {}
    return {_plain(key): value for key, value in arguments.items()}


@lru_cache(maxsize=1024)
def _plain(key: str) -> str:
    return key.replace("_", "").lower()


def request_of(tool: str, arguments: Any, text: str) -> str:
    """Hash that two calls share when they ask the same of the same tool."""
    body = hash_json(arguments) if arguments is not None else hash_of(text.encode("utf-8", "surrogatepass"))
    return hash_of(f"{tool}\n{body}".encode("utf-8", "surrogatepass"))


def first_text(args: Args, *names: str) -> str | None:
    """The first of the named arguments that is a text, an empty one included."""
    for name in names:
        value = args.get(name)
        if isinstance(value, str):
            return value
    return None


def whole_number(args: Args, *names: str) -> int | None:
    for name in names:
        value = args.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str) and value.strip().lstrip("-").isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31:
            return value
    return None
