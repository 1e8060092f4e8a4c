"""What a view shows, in one value: the TUI's state, the CLI's flags, the dashboard's URL and a walkthrough's stop."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

NOW: Final = -1
"""`Focus.turn` for what stands after the newest call, where nobody has counted the turns yet."""


@dataclass(frozen=True, slots=True)
class Focus:
    """A permalink. `turn` is 1-based, or one past the last turn for what stands now (`NOW` before a trace is
    read); None means the last turn."""

    session: str | None = None
    turn: int | None = None
    block: str | None = None
    stack: str = "recorded"
    base: str | None = None
    query: str | None = None

    def command(self, *traces: str) -> str:
        """The shell command that opens this focus on the trace in files `traces` (cli.md, PERMALINK)."""
        words = ["ctxview", *traces]
        for flag, value in (("--session", self.session), ("--turn", self.turn), ("--block", self.block)):
            if value is not None:
                words += [flag, str(value)]
        words += ["--stack", self.stack]
        for flag, value in (("--base", self.base), ("--query", self.query)):
            if value is not None:
                words += [flag, value]
        return shlex.join(words)
