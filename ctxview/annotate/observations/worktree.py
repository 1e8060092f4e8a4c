"""Which files hold changes that are in no commit, and which of those git has put away, as far as the log tells.

It prevents `git stash` from making every file that was read look stale: git touches those with changes alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ctxview.annotate.observations import results
from ctxview.annotate.observations.ask import GitStep
from ctxview.annotate.observations.keys import file_key, is_under
from ctxview.annotate.observations.standing import Standing

_PUT_AWAY = "git stash put its changes away"
_BROUGHT_BACK = "git stash brought changes back"


class WorkTree:
    """The changed files of one session, and its stashes. What git does to them is written down in `standing`."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._changed: dict[str, None] = {}
        self._stashes: list[Collection[str]] = []
        """The newest last."""

    def change(self, key: str) -> None:
        """A file was written or edited, or is reported to have changed."""
        self._changed[key] = None

    def restore(self, key: str) -> None:
        """A file is as it was committed."""
        self._changed.pop(key, None)

    def follow(self, steps: Sequence[GitStep], folder: str | None, shown: str, n: int, turn: int) -> None:
        """What git did in `folder`, known from block `n`, which shows its words."""
        for step in steps:
            if step.action == "settle":
                self._take(folder, ())
            elif step.action == "forget":
                self._forget(step.nth)
            elif step.action == "unstash":
                self._unstash(step, folder, shown, n, turn)
            elif not step.undone and not results.says_nothing_stashed(shown):
                self._stash(step, folder, n, turn)

    def failed(self, steps: Sequence[GitStep], folder: str | None, shown: str, n: int, turn: int) -> None:
        """A command line failed: a stash in it stays, where git says so."""
        step = next((step for step in steps if step.action == "stash"), None)
        if step is not None and results.says_stashed(shown):
            self._stash(step, folder, n, turn)

    def _stash(self, step: GitStep, folder: str | None, n: int, turn: int) -> None:
        gone = self._take(folder, step.paths)
        self._stashes.append(gone)
        self._standing.outdate(gone, turn + 1, n, _PUT_AWAY)

    def _unstash(self, step: GitStep, folder: str | None, shown: str, n: int, turn: int) -> None:
        place = len(self._stashes) - 1 - (step.nth or 0)
        if place >= 0:
            back = self._stashes[place] if step.keeps else self._stashes.pop(place)
        else:  # older than the log: git names the files
            back = [key for path in results.changed_files(shown) if (key := file_key(path, folder)) is not None]
            if not back:
                self._standing.sweep(folder, turn + 1, n, _BROUGHT_BACK, tracked=True)
        self._changed |= dict.fromkeys(back)
        self._standing.outdate(back, turn + 1, n, _BROUGHT_BACK)

    def _forget(self, nth: int | None) -> None:
        if nth is None:
            self._stashes.clear()
        elif nth < len(self._stashes):
            del self._stashes[len(self._stashes) - 1 - nth]

    def _take(self, folder: str | None, paths: Collection[str]) -> list[str]:
        """Take out the changed files in `folder`, of those in `paths` if any are named."""
        inside = [key for key in self._changed if folder is None or is_under(key, folder)]
        taken = [key for key in inside if not paths or any(is_under(key, path) for path in paths)]
        for key in taken:
            del self._changed[key]
        return taken
