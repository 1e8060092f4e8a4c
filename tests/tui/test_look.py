"""Two pictures: the main screen on a large and on a small terminal. Behaviour is tested elsewhere."""

from __future__ import annotations

import time

from fake import PLAIN, FakeTrace, make_trace, make_view, opener
from running import NARROW, WIDE

from ctxview.focus import Focus
from ctxview.tui.app import CtxviewApp


def _app() -> CtxviewApp:
    trace = FakeTrace("trace.jsonl", (make_view(texts=PLAIN), make_trace().views[1]), (), ())
    return CtxviewApp(opener(trace), "trace.jsonl", Focus(turn=10, block="b000000"))


async def _loaded(pilot) -> None:
    end = time.monotonic() + 10
    while pilot.app.main is None and time.monotonic() < end:
        await pilot.pause(0.05)
    await pilot.pause(0.2)


def test_main_screen_wide(snap_compare):
    assert snap_compare(_app(), terminal_size=WIDE, run_before=_loaded)


def test_main_screen_narrow(snap_compare):
    assert snap_compare(_app(), terminal_size=NARROW, run_before=_loaded)
