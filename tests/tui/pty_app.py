"""Run by test_pty.py in a terminal of its own: a made-up trace with hostile or plain texts, or one never read."""

from __future__ import annotations

import sys
import threading

from fake import HOSTILE, PLAIN, FakeTrace, make_trace, make_view

from ctxview.tui import run

given_up = threading.Event()


def open_trace(progress):
    if sys.argv[1] == "endless":
        given_up.wait(60)
    texts = HOSTILE if sys.argv[1] == "hostile" else PLAIN
    view = make_view(texts=texts)
    return FakeTrace("trace.jsonl", (view,), make_trace().files, make_trace().issues)


sys.exit(run(open_trace, "trace.jsonl", give_up=given_up.set))
