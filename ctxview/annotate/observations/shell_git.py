"""What git commands change: files by name, all that is under version control, and what is put away in a stash."""

from __future__ import annotations

from typing import Final, Literal

from ctxview.annotate.observations.ask import GitStep, names
from ctxview.annotate.observations.shell_changes import remove_or_move
from ctxview.annotate.observations.shell_state import ShellState
from ctxview.annotate.observations.words import Word
from ctxview.annotate.patterns import lazy

_FILE_NAME: Final = lazy(r"\w\.[A-Za-z]\w{0,4}$")
"""A word after `git checkout` that names a file and no branch."""
_STASHES: Final = names("push save pop apply drop clear list show create store branch")
_NUMBER: Final = lazy(r"\d{1,4}")


def git_changes(rest: list[Word], state: ShellState) -> None:
    """What `git` with the words `rest` after it changes."""
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
                    state.sweep = f"git {action} restored files"
                else:
                    state.change(word, "edit", f"git {action}")
        elif words == ["."]:
            state.sweep = "git checkout restored files"
        elif _names_files(words):
            for word in words:
                state.change(word, "edit", "git checkout")
        elif words and not {"-b", "-B", "--orphan"} & set(options):
            state.sweep = "git switched to another commit"
    elif action == "switch" and not {"-c", "-C", "--create", "--orphan"} & set(options):
        state.sweep = "git switched to another commit"
    elif action == "reset" and "--hard" in options:
        state.sweep = "git reset the files"
        state.git.append(GitStep("settle"))
    elif action == "commit" and "--dry-run" not in options:
        state.git.append(GitStep("settle"))
    elif action == "stash":
        _stash(rest[1:], state)
    elif action in ("rm", "mv"):
        remove_or_move(action, [w for w in rest[1:] if w is None or not w.startswith("-")], state)


def _stash(words: list[Word], state: ShellState) -> None:
    verb = words[0] if words and words[0] in _STASHES else "push"
    plain = [w for w, before in zip(words, [None, *words]) if before not in ("-m", "--message")]
    plain = [w for w in plain if w is None or not w.startswith("-")]
    if verb in ("pop", "apply", "drop", "clear"):
        number = _NUMBER.search(plain[1] or "") if len(plain) > 1 else None
        nth = None if verb == "clear" else int(number[0]) if number else 0
        newest = state.git[-1] if state.git else None
        shown = any(target.effect == "read" for target in state.targets[state.before_stash :])
        if verb == "pop" and nth == 0 and newest is not None and newest.action == "stash" and not shown:
            state.git[-1] = GitStep("stash", newest.paths, undone=True)
        else:
            action: Literal["unstash", "forget"] = "unstash" if verb in ("pop", "apply") else "forget"
            state.git.append(GitStep(action, nth=nth, keeps=verb == "apply"))
    elif verb in ("push", "save"):
        files = [] if verb == "save" else plain[1:] if words[:1] == ["push"] else plain
        keys = [state.key(word) for word in files]
        known = () if None in keys else tuple(key.removeprefix("file:") for key in keys if key is not None)
        state.git.append(GitStep("stash", known))
        state.before_stash = len(state.targets)


def is_silent_git(words: list[Word]) -> bool:
    """Whether a git command prints nothing, or nothing beyond the files that it names."""
    if words[0] != "git" or len(words) < 2:
        return False
    if words[1] == "checkout":
        return "--" in words or _names_files(words[2:])
    return words[1] in ("add", "restore", "rm", "mv")


def _names_files(words: list[Word]) -> bool:
    """Whether `git checkout` is given files, and no branch."""
    return bool(words) and all(word is not None and _FILE_NAME.search(word) for word in words)
