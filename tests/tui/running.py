"""An app that has read a made-up trace, and what its screen says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fake import FakeTrace, make_trace, opener
from textual.pilot import Pilot

from ctxview.focus import Focus
from ctxview.tui.app import CtxviewApp

NARROW = (80, 24)
WIDE = (160, 45)


class Session:
    """A running app and the questions tests ask of it."""

    def __init__(self, app: CtxviewApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self):
        assert self.app.main is not None
        return self.app.main

    @property
    def place(self) -> Focus:
        return self.main.place

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()
        while not self.app.main.scene.is_whole if self.app.main is not None else False:
            await self.app.workers.wait_for_complete()  # begun when the window had been drawn
            await self.pilot.pause()

    def lines(self) -> list[str]:
        """The screen's text, row by row."""
        return ["".join(s.text for s in strip) for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())


@asynccontextmanager
async def running(
    trace: FakeTrace | None = None, size: tuple[int, int] = NARROW, focus: Focus | None = None, open_trace=None
) -> AsyncIterator[Session]:
    app = CtxviewApp(open_trace or opener(trace or make_trace()), "trace.jsonl", focus or Focus())
    async with app.run_test(size=size) as pilot:
        session = Session(app, pilot)
        await pilot.pause()
        await session.settle()
        await pilot.pause()
        yield session
