"""Errors a user can meet. Each carries its exit code, its cause and the fix; only `cli.main` catches them."""

from __future__ import annotations

from typing import ClassVar


class CtxviewError(Exception):
    """Base of every error meant for a user: one sentence of cause, one of what to do."""

    exit_code: ClassVar[int] = 1

    def __init__(self, cause: str, fix: str = "") -> None:
        super().__init__(cause)
        self.cause = cause
        self.fix = fix


class UsageError(CtxviewError):
    """The command's words are off: an unknown session, turn, option or format."""

    exit_code = 2


class UnreadableError(CtxviewError):
    """Nothing of the input could be read as a transcript."""

    exit_code = 3
