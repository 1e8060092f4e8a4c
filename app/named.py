"""Which trace the dashboard shows, told by whoever starts it: never by a URL, which anyone may have written.

The launcher passes it in an environment variable; `streamlit run app/main.py -- TRACE...` passes it as arguments.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

VARIABLE: Final = "CTXVIEW_WEB_TRACE"


@dataclass(frozen=True, slots=True)
class NamedTrace:
    """The files of the trace, and where its database is kept."""

    paths: tuple[str, ...]
    db: str | None = None
    cache: bool = True

    def to_text(self) -> str:
        return json.dumps({"paths": self.paths, "db": self.db, "cache": self.cache})


def from_text(text: str) -> NamedTrace:
    """The inverse of `NamedTrace.to_text`."""
    found = json.loads(text)
    return NamedTrace(tuple(found["paths"]), found["db"], found["cache"])


def named_trace(environ: Mapping[str, str] = os.environ, argv: Sequence[str] = sys.argv) -> NamedTrace | None:
    """The trace this process was started for; None when nobody named one."""
    if environ.get(VARIABLE):
        return from_text(environ[VARIABLE])
    return NamedTrace(tuple(argv[1:])) if argv[1:] else None
