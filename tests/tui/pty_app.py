"""Run by test_pty.py in a terminal of its own: shows the made-up trace with hostile or with plain texts."""

from __future__ import annotations

import sys

from fake import HOSTILE, PLAIN, FakeTrace, make_trace, make_view

from ctxview.tui import run


def open_trace(progress):
    texts = HOSTILE if sys.argv[1] == "hostile" else PLAIN
    view = make_view(texts=texts)
    return FakeTrace("trace.jsonl", (view,), make_trace().files, make_trace().issues)


sys.exit(run(open_trace, "trace.jsonl"))
