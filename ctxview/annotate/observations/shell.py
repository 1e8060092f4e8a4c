"""Shell commands: which files a command line shows, writes or changes, and which lines of them.

Only what a command shows as it stands counts as a reading: `cat f | grep x` is a search, `cat f | head -20` its first
lines. A command that names its file by a glob, a loop or a substitution stays an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ctxview.annotate.observations.ask import Ask, GitStep, Target, names
from ctxview.annotate.observations.keys import file_key, full_path
from ctxview.annotate.observations.patches import BEGIN, patch_targets
from ctxview.annotate.observations.seen import Span, Spans, text_of
from ctxview.annotate.observations.views import View, narrow, viewed
from ctxview.annotate.observations.words import Command, Pipeline, Word, pipelines
from ctxview.annotate.patterns import lazy

_PREFIXES: Final = names("then do else elif if while until { ! time sudo command builtin exec nohup env")
_SILENT: Final = names(
    """
    cd pushd popd mkdir export set unset rm unlink mv cp truncate install touch chmod chown ln true : source . sleep
    alias local umask wait test [ [[ fi done } return exit shopt ulimit trap
    """
)
_TAKES_VALUES: Final = {
    "mv": names("-t --target-directory -S --suffix"),
    "cp": names("-t --target-directory -S --suffix"),
    "ln": names("-t --target-directory -S --suffix"),
    "install": names("-t --target-directory -S --suffix -m --mode -o --owner -g --group"),
    "rm": names(""),
    "unlink": names(""),
    "truncate": names("-s --size -r --reference"),
    "patch": names("-d --directory -i --input -o --output -r --reject-file -p --strip -D --ifdef -B -Y -z -F -V"),
}
"""Commands that change the files they name, and their options whose next word is no file to change."""
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
)
_FILE_NAME: Final = lazy(r"\w\.[A-Za-z]\w{0,4}$")
"""A word after `git checkout` that names a file and no branch."""
_STASHES: Final = names("push save pop apply drop clear list show create store branch")
_NUMBER: Final = lazy(r"\d{1,4}")
_GIT: Final = lazy(r"git\b[^;&|\n]*\b(?:checkout|restore|switch|reset|stash|commit|rm|mv)\b")


def _matters(line: str) -> bool:
    """Whether a command line may show or change a file; not, if its output only goes nowhere or is cut."""
    if ">" in line or "|" in line:
        line = _NOWHERE.sub("", line)
    if ">" in line or "<" in line:
        return True
    words = _WORD.findall(line)
    return not _COMMANDS.isdisjoint(words) or ("git" in words and _GIT.search(line) is not None)


@dataclass(slots=True)
class _Reading:
    """What a command line was found to do."""

    cwd: str | None
    targets: list[Target] = field(default_factory=list)
    printing: int = 0
    """Pipelines that print something."""
    absent: list[str] = field(default_factory=list)
    sweep: str | None = None
    git: list[GitStep] = field(default_factory=list)
    before_stash: int = 0
    """Targets that stand before the newest `git stash`."""
    removed: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    values: dict[str, Word] = field(default_factory=dict)
    moved: bool = False
    lost: bool = False
    """The shell stands where the line does not say, so that a relative path means nothing."""

    def key(self, word: Word) -> str | None:
        if word is None or word in ("", "-") or (self.lost and not word.startswith(("/", "~"))):
            return None
        return None if word.startswith("/dev/") else file_key(word, self.cwd)

    def change(self, word: Word, effect: Literal["write", "edit"], rule: str, text: Word = None) -> None:
        key = self.key(word)
        if key is not None:
            written = text_of(text) if effect == "write" and text is not None else None
            self.targets.append(Target(key, effect, rule, text=written))


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
    reading = _Reading(cwd)
    for pipeline in pipelines(line, reading.values):
        _read(pipeline, reading, depth)
    sole = reading.printing == 1
    targets = [_with_sole(t, sole) if t.effect == "read" else t for t in reading.targets]
    return Ask(
        tuple(_merged(targets)),
        rule="a command",
        silent=reading.printing == 0,
        shell=True,
        absent=tuple(reading.absent),
        cwd=reading.cwd if reading.moved else None,
        sweep=reading.sweep,
        git=tuple(reading.git),
        removed=tuple(reading.removed),
        patterns=tuple(reading.patterns),
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
            target = Target(target.key, "read", target.rule, spans, sole=False)
        elif known is not None and target.effect == "edit" and known.effect == "write":
            target = Target(target.key, "edit", target.rule)
        found[name] = target
    return list(found.values())


def _read(pipeline: Pipeline, reading: _Reading, depth: int) -> None:
    commands = [c for c in (_bare(c, reading.values) for c in pipeline.commands) if c.words or c.redirects]
    if not commands:
        return
    name = commands[0].words[0] if commands[0].words else None
    if name in _CHANGES_DIRECTORY:
        _move(commands[0], reading)
        return
    if name in _NESTED and len(commands) == 1 and _nest(commands[0], reading, depth):
        return
    before = len(reading.targets)
    for command in commands:
        _changes(command, reading)
    output = _file_output(commands[-1])
    if output is None:
        _show(commands, pipeline.before, reading)
    else:
        _write(commands, output, reading)
    if pipeline.before == "||" and len(reading.targets) > before:
        del reading.targets[before:]  # it ran only if what stands before it failed


def _bare(command: Command, values: dict[str, Word]) -> Command:
    """The command without reserved words, `sudo` and assignments in front."""
    words = command.words
    if words and words[0] == "for" and len(words) > 1:
        values[words[1] or ""] = None
        return replace(command, words=[], patterns=[])
    at = 0
    while at < len(words):
        word = words[at]
        if not (word in _PREFIXES or (at and word is not None and re.match(r"[A-Za-z_]\w*=", word))):
            break
        at += 1
    return replace(command, words=words[at:]) if at else command


def _move(command: Command, reading: _Reading) -> None:
    words = [w for w in command.words[1:] if w != "--"]
    reading.moved = True
    if len(words) == 1 and words[0] is not None and words[0] != "-":
        known = reading.cwd is not None and not reading.lost
        if words[0].startswith(("/", "~")) or known:
            reading.cwd, reading.lost = full_path(words[0], reading.cwd), False
            return
    reading.lost = True


def _nest(command: Command, reading: _Reading, depth: int) -> bool:
    """`bash -lc '...'`: the line inside is read in the same way."""
    words = command.words
    if len(words) != 3 or words[2] is None or not (words[1] or "").endswith("c") or depth > 2:
        return False
    inner = shell_ask(words[2], reading.cwd, depth + 1)
    reading.targets += inner.targets
    reading.absent += inner.absent
    reading.sweep = reading.sweep or inner.sweep
    reading.git += inner.git
    reading.removed += inner.removed
    reading.patterns += inner.patterns
    reading.printing += 0 if inner.silent else 1 if any(t.sole for t in inner.targets) else 2
    return True


def _file_output(command: Command) -> tuple[Word, bool] | None:
    """Where the standard output goes, and whether it is appended; None when it is shown."""
    for redirect in command.redirects:
        if redirect.op in (">", "1>", "&>", ">>", "1>>", "&>>"):
            return redirect.target, redirect.op.endswith(">>")
        if redirect.op == ">&" and redirect.target is not None and not redirect.target.isdecimal():
            return redirect.target, False
    return None


def _write(commands: list[Command], output: tuple[Word, bool], reading: _Reading) -> None:
    word, appended = output
    text = None if appended else _literal(commands)
    reading.change(word, "edit" if text is None else "write", "a redirection", text)


def _literal(commands: list[Command]) -> Word:
    """The text that the commands print, where the line itself says it: a heredoc, or `echo` of plain words."""
    first = commands[0]
    if len(commands) != 1 or not first.words:
        return None
    if first.words == ["cat"] and first.heredoc is not None:
        return first.heredoc
    if first.words[0] == "echo" and all(w is not None and "\\" not in w for w in first.words):
        words = [w for w in first.words[1:] if w is not None]
        return None if words and words[0].startswith("-") else " ".join(words)
    return None


def _changes(command: Command, reading: _Reading) -> None:
    """Files that a command changes by what it is, wherever its output goes."""
    words = command.words
    name = words[0] if words else None
    if name is None:
        return
    rest = words[1:]
    plain = [w for w in rest if w is None or not w.startswith("-")]
    if name == "tee":
        appended = "-a" in rest or "--append" in rest
        literal = None if appended else command.heredoc
        for word in plain:
            reading.change(word, "edit" if literal is None else "write", "tee", literal)
    elif name in ("sed", "gsed") and any(w is not None and re.match(r"-[nErs]*i|--in-place", w) for w in rest):
        given = any(w in ("-e", "-f", "--expression") for w in rest)
        files = [w for w, before in zip(rest, [None, *rest]) if before not in ("-e", "-f", "--expression")]
        files = [w for w in files if w != "" and (w is None or not w.startswith("-"))]
        for word in files if given else files[1:]:
            reading.change(word, "edit", "sed -i")
    elif name == "perl" and any(w is not None and re.match(r"-\w*i", w) for w in rest):
        for word in plain[1:]:
            reading.change(word, "edit", "perl -i")
    if name == "rm":
        keys = [reading.key(pattern) for pattern in command.patterns]
        reading.patterns += [key for key in keys if key is not None]
    if name == "rm" and any(w is not None and re.match(r"-\w*[rR]|--recursive", w) for w in rest):
        keys = [reading.key(word) for word in plain]
        reading.removed += [key.removeprefix("file:") for key in keys if key is not None]
    elif name in _TAKES_VALUES and "--dry-run" not in rest:
        _remove_or_move(name, list(_plain(name, rest)), reading)
    elif name == "dd":
        for word in rest:
            if word is not None and word.startswith("of="):
                reading.change(word[3:], "edit", "dd")
    elif name == "git":
        _git(rest, reading)


def _plain(name: str, rest: list[Word]) -> Iterator[Word]:
    """A command's words without its options and their values; a folder that an option names for the target comes last,
    as if it stood there."""
    folder: str | None = None
    before: Word = None
    for word in rest:
        if before in ("-t", "--target-directory") and name in ("mv", "cp", "ln", "install"):
            folder = word
        elif word is not None and word.startswith("--target-directory="):
            folder = word.partition("=")[2]
        elif (word is None or not word.startswith("-")) and before not in _TAKES_VALUES[name]:
            yield word
        before = word
    if folder is not None:
        yield f"{folder}/"


def _remove_or_move(name: str, plain: list[Word], reading: _Reading) -> None:
    if name == "patch":  # the second is the patch
        plain = plain[:1]
    if name in ("rm", "unlink", "truncate", "patch"):
        for word in plain:
            reading.change(word, "edit", name)
        return
    if len(plain) < 2:
        return
    *sources, target = plain
    if name == "mv":
        for word in sources:
            reading.change(word, "edit", "mv")
    if target is None:
        return
    into = target.endswith("/") or len(sources) > 1 or target in (".", "..")
    for word in sources if into else [target]:
        if word is not None:
            base = word.rstrip("/").rpartition("/")[2]
            reading.change(f"{target.rstrip('/') or '/'}/{base}" if into else word, "edit", name)


def _git(rest: list[Word], reading: _Reading) -> None:
    while rest and rest[0] in ("-C", "-c"):
        if rest[0] == "-C":
            return
        rest = rest[2:]
    action = rest[0] if rest else None
    options = [w for w in rest[1:] if w is not None and w.startswith("-") and w != "--"]
    if action in ("checkout", "restore"):
        if {"--staged", "-S"} & set(options) and not {"--worktree", "-W"} & set(options):
            return
        words = rest[rest.index("--") + 1 :] if "--" in rest else [w for w in rest[1:] if w not in options]
        if action == "restore" or "--" in rest:
            for word in words:
                if word in (".", "*", None):
                    reading.sweep = f"git {action} restored files"
                else:
                    reading.change(word, "edit", f"git {action}")
        elif words == ["."]:
            reading.sweep = "git checkout restored files"
        elif _names_files(words):
            for word in words:
                reading.change(word, "edit", "git checkout")
        elif words and not {"-b", "-B", "--orphan"} & set(options):
            reading.sweep = "git switched to another commit"
    elif action == "switch" and not {"-c", "-C", "--create", "--orphan"} & set(options):
        reading.sweep = "git switched to another commit"
    elif action == "reset" and "--hard" in options:
        reading.sweep = "git reset the files"
        reading.git.append(GitStep("settle"))
    elif action == "commit" and "--dry-run" not in options:
        reading.git.append(GitStep("settle"))
    elif action == "stash":
        _stash(rest[1:], reading)
    elif action in ("rm", "mv"):
        _remove_or_move(action, [w for w in rest[1:] if w is None or not w.startswith("-")], reading)


def _stash(words: list[Word], reading: _Reading) -> None:
    verb = words[0] if words and words[0] in _STASHES else "push"
    plain = [w for w, before in zip(words, [None, *words]) if before not in ("-m", "--message")]
    plain = [w for w in plain if w is None or not w.startswith("-")]
    if verb in ("pop", "apply", "drop", "clear"):
        number = _NUMBER.search(plain[1] or "") if len(plain) > 1 else None
        nth = None if verb == "clear" else int(number[0]) if number else 0
        newest = reading.git[-1] if reading.git else None
        shown = any(target.effect == "read" for target in reading.targets[reading.before_stash :])
        if verb == "pop" and nth == 0 and newest is not None and newest.action == "stash" and not shown:
            reading.git[-1] = GitStep("stash", newest.paths, undone=True)
        else:
            action: Literal["unstash", "forget"] = "unstash" if verb in ("pop", "apply") else "forget"
            reading.git.append(GitStep(action, nth=nth, keeps=verb == "apply"))
    elif verb in ("push", "save"):
        files = [] if verb == "save" else plain[1:] if words[:1] == ["push"] else plain
        keys = [reading.key(word) for word in files]
        known = () if None in keys else tuple(key.removeprefix("file:") for key in keys if key is not None)
        reading.git.append(GitStep("stash", known))
        reading.before_stash = len(reading.targets)


def _show(commands: list[Command], before: str, reading: _Reading) -> None:
    """What a pipeline whose output is shown reads."""
    first = commands[0]
    name = first.words[0] if first.words else None
    if name is None and not first.words:
        return
    if before == "||" and name == "echo":
        words = [w for w in first.words[1:] if w is not None]
        reading.absent.append(" ".join(words))
        return
    changes = len(commands) == 1 and (name in _SILENT or _is_quiet(first))
    if commands[-1].words[:1] == ["tee"] and (first.heredoc is not None or name == "echo"):
        changes = True  # it prints what the call itself says
    if changes:
        return
    reading.printing += 1
    if name in _FOREIGN:
        return
    view = viewed(first)
    if view is None:
        return
    for command in commands[1:]:
        view = narrow(view, command)
        if view is None:
            return
    _add(view, reading)


def _add(view: View, reading: _Reading) -> None:
    keys = [reading.key(word) for word in view.files]
    found = [key for key in keys if key is not None]
    if len(found) != len(keys):
        reading.printing += 1
    for key in found:
        reading.targets.append(
            Target(key, "read", view.rule, _spans(view.spans), len(found) == 1, numbered=view.numbered)
        )
    if len(found) > 1:
        reading.printing += len(found) - 1


def _spans(spans: tuple[Span, ...] | None) -> Spans:
    return spans or ()


def _is_quiet(command: Command) -> bool:
    words = command.words
    if words[0] in ("sed", "gsed", "perl"):
        return any(w is not None and re.match(r"-\w*i|--in-place", w) for w in words[1:])
    if words[0] != "git" or len(words) < 2:
        return False
    if words[1] == "checkout":
        return "--" in words or _names_files(words[2:])
    return words[1] in ("add", "restore", "rm", "mv")


def _names_files(words: list[Word]) -> bool:
    """Whether `git checkout` is given files, and no branch."""
    return bool(words) and all(word is not None and _FILE_NAME.search(word) for word in words)
