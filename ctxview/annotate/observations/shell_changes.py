"""What shell commands change apart from what they show: `sed -i`, `mv`, `cp`, `rm`, `tee`, formatters, redirections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxview.annotate.observations.ask import names
from ctxview.annotate.observations.formatters import formatted
from ctxview.annotate.observations.printed import printed
from ctxview.annotate.observations.shell_state import ShellState
from ctxview.annotate.observations.words import Command, Word

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


def make_changes(command: Command, state: ShellState) -> None:
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
            state.change(word, "edit" if literal is None else "write", "tee", literal)
    elif name in ("sed", "gsed") and any(w is not None and re.match(r"-[nErs]*i|--in-place", w) for w in rest):
        given = any(w in ("-e", "-f", "--expression") for w in rest)
        files = [w for w, before in zip(rest, [None, *rest]) if before not in ("-e", "-f", "--expression")]
        files = [w for w in files if w != "" and (w is None or not w.startswith("-"))]
        for word in files if given else files[1:]:
            state.change(word, "edit", "sed -i")
    elif name == "perl" and any(w is not None and re.match(r"-\w*i", w) for w in rest):
        for word in plain[1:]:
            state.change(word, "edit", "perl -i")
    if name == "rm":
        keys = [state.key(pattern) for pattern in command.patterns]
        state.patterns += [key for key in keys if key is not None]
    if name == "rm" and any(w is not None and re.match(r"-\w*[rR]|--recursive", w) for w in rest):
        keys = [state.key(word) for word in plain]
        state.removed += [key.removeprefix("file:") for key in keys if key is not None]
    elif name in _TAKES_VALUES and "--dry-run" not in rest:
        remove_or_move(name, list(_plain(name, rest)), state)
    elif name == "dd":
        for word in rest:
            if word is not None and word.startswith("of="):
                state.change(word[3:], "edit", "dd")
    elif (found := formatted(words)) is not None:
        program, files = found
        for word in files:
            state.reformat(word, program)


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


def remove_or_move(name: str, plain: list[Word], state: ShellState) -> None:
    """What `rm`, `mv`, `cp` and their like do to the files they name."""
    if name == "patch":  # the second is the patch
        plain = plain[:1]
    if name in ("rm", "unlink", "truncate", "patch"):
        for word in plain:
            state.change(word, "edit", name)
        return
    if len(plain) < 2:
        return
    *sources, target = plain
    if name == "mv":
        for word in sources:
            state.change(word, "edit", "mv")
    if target is None:
        return
    into = target.endswith("/") or len(sources) > 1 or target in (".", "..")
    for word in sources if into else [target]:
        if word is not None:
            base = word.rstrip("/").rpartition("/")[2]
            state.change(f"{target.rstrip('/') or '/'}/{base}" if into else word, "edit", name)


def file_output(command: Command) -> tuple[Word, bool] | None:
    """Where the standard output goes in the end, and whether it is appended; None when it is shown."""
    found: tuple[Word, bool] | None = None
    for redirect in command.redirects:
        if redirect.op in (">", "1>", "&>", ">>", "1>>", "&>>"):
            found = redirect.target, redirect.op.endswith(">>")
        elif redirect.op == ">&" and redirect.target is not None and not redirect.target.isdecimal():
            found = redirect.target, False
    return found


def write_output(commands: list[Command], output: tuple[Word, bool], state: ShellState) -> None:
    """The file that a pipeline prints into is written, or changed where the line does not say what it prints."""
    word, appended = output
    text = None if appended else printed(commands)
    state.change(word, "edit" if text is None else "write", "a redirection", text)


def is_silent_change(words: list[Word]) -> bool:
    """Whether a command prints nothing, as it changes its file in place."""
    if words[0] not in ("sed", "gsed", "perl"):
        return False
    return any(w is not None and re.match(r"-\w*i|--in-place", w) for w in words[1:])
