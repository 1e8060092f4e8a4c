"""Make docs/screenshot.svg, the picture in the README, by running the terminal interface without a terminal.

    python scripts/make_screenshot.py [TRACE] [OUT] [--turn N] [--size WxH] [--keys KEY ...]

Without TRACE: the sample `refund` at the turn whose cut took the goal away, with the cursor on the goal. Run it again
whenever the screen changes. The trace is copied first and the picture names no folder and no font of the network, so
that it is the same wherever it is made.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from ctxview.focus import Focus
from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path
from ctxview.tui.app import CtxviewApp
from ctxview.tui.notice import Notice

ROOT = Path(__file__).resolve().parent.parent


FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


async def picture(path: Path, turn: int | None, size: tuple[int, int], keys: list[str]) -> str:
    """The screen as SVG. `path` is relative to the working folder: the detail pane shows it."""
    app = CtxviewApp(lambda progress: open_trace([str(path)], progress), path.name, Focus(turn=turn))
    async with app.run_test(size=size) as pilot:
        end = time.monotonic() + 60
        while app.main is None:
            if time.monotonic() > end:
                shown = "\n".join("".join(text for text, _ in line) for line in app.start.query_one(Notice).lines)
                raise SystemExit(f"{path} was not shown within a minute:\n{shown}")
            await pilot.pause(0.05)
        await pilot.pause(0.2)
        view = app.main.scene.view
        goal = next((n for n, pin in view.pins.items() if pin.kind == "goal"), None)
        if turn is None and goal is not None:
            left = view.life(goal)[-1].end
            app.main.jump(min(left, view.last), view.blocks[goal].id)
        await pilot.press(*keys)
        await pilot.pause(0.3)
        svg = app.export_screenshot(title=f"ctxview {path.name}", simplify=True)
    return FONTS.sub("", svg).replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "docs" / "screenshot.svg")
    parser.add_argument("--turn", type=int)
    parser.add_argument("--size", default="120x30")
    parser.add_argument("--keys", nargs="*", default=[])
    args = parser.parse_args()
    width, height = (int(n) for n in args.size.split("x"))
    out = args.out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(shutil.copy(args.trace or sample_path("refund"), folder))
        os.chdir(folder)
        svg = asyncio.run(picture(Path(trace.name), args.turn, (width, height), args.keys))
        os.chdir(ROOT)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(svg, encoding="utf-8", newline="\n")
    print(out)


if __name__ == "__main__":
    main()
