"""Shell commands: which files a command line shows, writes or changes, and which lines of them.

Only what a command shows as it stands counts as a reading: `cat f | grep x` is a search, `cat f | head -20` its first
lines. A command that names its file by a glob or a substitution stays an event.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from ctxview.annotate.observations.ask import Ask, Target, names
from ctxview.annotate.observations.formatters import FIRST_WORDS
from ctxview.annotate.observations.keys import full_path
from ctxview.annotate.observations.loops import unrolled
from ctxview.annotate.observations.patches import BEGIN, patch_targets
from ctxview.annotate.observations.seen import Span, Spans
from ctxview.annotate.observations.shell_changes import file_output, is_silent_change, make_changes, write_output
from ctxview.annotate.observations.shell_git import git_changes, is_silent_git
from ctxview.annotate.observations.shell_state import ShellState
from ctxview.annotate.observations.views import View, narrow, viewed
from ctxview.annotate.observations.words import Command, Pipeline, pipelines
from ctxview.annotate.patterns import lazy

_PREFIXES: Final = names("then do else elif if while until { ! time sudo command builtin exec nohup env")
_SILENT: Final = names(
    """
    cd pushd popd mkdir export set unset rm unlink mv cp truncate install touch chmod chown ln true : source . sleep
    alias local umask wait test [ [[ fi done } return exit shopt ulimit trap
    """
)
_NESTED: Final = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")
_CHANGES_DIRECTORY: Final = ("cd", "pushd")
_FOREIGN: Final = names("ssh docker kubectl podman wsl adb vagrant xargs find parallel")
_FENCE: Final = lazy(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_NOWHERE: Final = lazy(r">+ ?(?:/dev/null|&[0-9])|\| ?(?:head|tail) -\S+(?: \d+)?(?= *(?:$|[;&|\n)]))")
_WORD: Final = lazy(r"\w+")
_COMMANDS: Final = names(
    """
    cat sed gsed head tail nl less more bat batcat awk gawk tee perl mv cp ln install rm unlink truncate patch dd cd
    pushd
    """
) | {name.partition("-")[0] for name in FIRST_WORDS}
_GIT: Final = lazy(r"git\b[^;&|\n]*\b(?:checkout|restore|switch|reset|stash|commit|rm|mv)\b")


def _matters(line: str) -> bool:
    """Whether a command line may show or change a file; not, if its output only goes nowhere or is cut."""
    if ">" in line or "|" in line:
        line = _NOWHERE.sub("", line)
    if ">" in line or "<" in line:
        return True
    words = _WORD.findall(line)
    return not _COMMANDS.isdisjoint(words) or ("git" in words and _GIT.search(line) is not None)


def fenced_command(text: str) -> str | None:
    """The one command that an answer holds in a fence, for a harness that runs it; None for none or several."""
    found = _FENCE.findall(text)
    return found[0] if len(found) == 1 else None


def shell_ask(line: str, cwd: str | None, depth: int = 0) -> Ask:
    """The ask of one command line, run in `cwd`."""
    if BEGIN in line:
        targets = patch_targets(line, _patch_folder(line, cwd))
        return Ask(tuple(targets), rule="a command", shell=True)
    if not _matters(line):
        return Ask(rule="a command", silent=False, shell=True)
    state = ShellState(cwd)
    for pipeline in unrolled(pipelines(line, state.values), state.values):
        _read(pipeline, state, depth)
    sole = state.printing == 1
    targets = [_with_sole(t, sole) if t.effect == "read" else t for t in state.targets]
    return Ask(
        tuple(_merged(targets)),
        rule="a command",
        silent=state.printing == 0,
        shell=True,
        absent=tuple(state.absent),
        cwd=state.cwd if state.moved else None,
        sweep=state.sweep,
        git=tuple(state.git),
        removed=tuple(state.removed),
        patterns=tuple(state.patterns),
    )


def _patch_folder(line: str, cwd: str | None) -> str | None:
    moved = re.match(r"\s*cd\s+([^\s;&|'\"]+)\s*&&", line)
    return full_path(moved[1], cwd) if moved else cwd


def _with_sole(target: Target, sole: bool) -> Target:
    if sole == target.sole:
        return target
    return Target(target.key, target.effect, target.rule, target.spans, sole, numbered=target.numbered)


def _merged(targets: list[Target]) -> list[Target]:
    """One target per file and effect, in order: two ranges of one file are one reading of both."""
    found: dict[tuple[str, bool], Target] = {}
    for target in targets:
        name = (target.key, target.effect == "read")
        known = found.pop(name, None)
        if known is not None and target.effect == "read":
            spans: Spans = tuple(sorted({*known.spans, *target.spans})) if known.spans and target.spans else ()
            counted = known.numbered and target.numbered
            target = Target(target.key, "read", target.rule, spans, sole=False, numbered=counted)
        elif known is not None and target.effect == "edit" and known.effect == "write":
            target = Target(target.key, "edit", target.rule)
        elif known is not None and target.programs:  # what was certain stays so
            target = _by_both(known, target) if known.programs else known
        found[name] = target
    return list(found.values())


def _by_both(known: Target, target: Target) -> Target:
    return replace(known, programs=tuple(dict.fromkeys((*known.programs, *target.programs))))


def _read(pipeline: Pipeline, state: ShellState, depth: int) -> None:
    commands = [c for c in (_bare(c) for c in pipeline.commands) if c.words or c.redirects]
    if not commands:
        return
    name = commands[0].words[0] if commands[0].words else None
    if name in _CHANGES_DIRECTORY:
        _move(commands[0], state)
        return
    if name in _NESTED and len(commands) == 1 and _nest(commands[0], state, depth):
        return
    before = len(state.targets)
    for command in commands:
        make_changes(command, state)
        if command.words[:1] == ["git"]:
            git_changes(command.words[1:], state)
    output = file_output(commands[-1])
    if output is None:
        _show(commands, pipeline.before, state)
    else:
        write_output(commands, output, state)
    if pipeline.before == "||" and len(state.targets) > before:
        del state.targets[before:]  # it ran only if what stands before it failed


def _bare(command: Command) -> Command:
    """The command without reserved words, `sudo` and assignments in front."""
    words = command.words
    if words and words[0] == "for":
        return replace(command, words=[], patterns=[])
    at = 0
    while at < len(words):
        word = words[at]
        if not (word in _PREFIXES or (at and word is not None and re.match(r"[A-Za-z_]\w*=", word))):
            break
        at += 1
    return replace(command, words=words[at:]) if at else command


def _move(command: Command, state: ShellState) -> None:
    words = [w for w in command.words[1:] if w != "--"]
    state.moved = True
    if len(words) == 1 and words[0] is not None and words[0] != "-":
        known = state.cwd is not None and not state.lost
        if words[0].startswith(("/", "~")) or known:
            state.cwd, state.lost = full_path(words[0], state.cwd), False
            return
    state.lost = True


def _nest(command: Command, state: ShellState, depth: int) -> bool:
    """`bash -lc '...'`: the line inside is read in the same way."""
    words = command.words
    if len(words) != 3 or words[2] is None or not (words[1] or "").endswith("c") or depth > 2:
        return False
    inner = shell_ask(words[2], state.cwd, depth + 1)
    state.targets += inner.targets
    state.absent += inner.absent
    state.sweep = state.sweep or inner.sweep
    state.git += inner.git
    state.removed += inner.removed
    state.patterns += inner.patterns
    state.printing += 0 if inner.silent else 1 if any(t.sole for t in inner.targets) else 2
    return True


def _show(commands: list[Command], before: str, state: ShellState) -> None:
    """What a pipeline whose output is shown reads."""
    first = commands[0]
    name = first.words[0] if first.words else None
    if name is None and not first.words:
        return
    if before == "||" and name == "echo":
        words = [w for w in first.words[1:] if w is not None]
        state.absent.append(" ".join(words))
        return
    changes = len(commands) == 1 and (name in _SILENT or is_silent_change(first.words) or is_silent_git(first.words))
    if commands[-1].words[:1] == ["tee"] and (first.heredoc is not None or name == "echo"):
        changes = True  # it prints what the call itself says
    if changes:
        return
    state.printing += 1
    if name in _FOREIGN:
        return
    view = viewed(first)
    if view is None:
        return
    for command in commands[1:]:
        view = narrow(view, command)
        if view is None:
            return
    _add(view, state)


def _add(view: View, state: ShellState) -> None:
    keys = [state.key(word) for word in view.files]
    found = [key for key in keys if key is not None]
    if len(found) != len(keys):
        state.printing += 1
    for key in found:
        state.targets.append(
            Target(key, "read", view.rule, _spans(view.spans), len(found) == 1, numbered=view.numbered)
        )
    if len(found) > 1:
        state.printing += len(found) - 1


def _spans(spans: tuple[Span, ...] | None) -> Spans:
    return spans or ()
