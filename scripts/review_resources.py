"""Prints the resources found in traces, for reading: `python scripts/review_resources.py FILE... [--every N]`.

For each observation: file and line of its block, effect, key, lines, state at the end, and the call it rests on, so
that a person can judge each line. Texts stay on this screen; nothing is written.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that it also runs from a plain checkout

from ctxview.annotate.observations import ObservationFinder, Resources
from ctxview.loaders import detect
from ctxview.loaders.discover import discover
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.model import Block, Event, Observation, SessionStart
from ctxview.reconstruct import Arrival, SessionBuilder
from ctxview.text import one_line


class _Session:
    """A session's blocks, numbered as reconstruction numbers them, and what is found in them."""

    def __init__(self, start: SessionStart) -> None:
        self._contents: dict[str, int] = {}
        self.blocks: list[Block] = []
        self.finder = ObservationFinder(cwd=start.cwd)
        self.builder = SessionBuilder(start, self._keep, self._arrive)

    def _keep(self, text: str) -> int:
        return self._contents.setdefault(text, len(self._contents))

    def _arrive(self, arrival: Arrival) -> None:
        self.blocks.append(arrival.block)
        self.finder.see(arrival.block, arrival.n, arrival.turn)

    def feed(self, event: Event) -> None:
        if isinstance(event, SessionStart):
            self.finder.cwd = event.cwd or self.finder.cwd
        self.builder.feed(event)  # type: ignore[arg-type]


def sessions(paths: list[Path]) -> Iterator[_Session]:
    """Every session of the traces at `paths`."""
    files, _ = discover(paths)
    groups: dict[str, tuple[Loader, list[SourceFile]]] = {}
    for file in files:
        loader = detect(file)
        if loader is not None:
            groups.setdefault(loader.name, (loader, []))[1].append(file)
    for loader, group in groups.values():
        found: dict[str, _Session] = {}
        for event in loader.load(Source(tuple(group))):
            name = getattr(event, "session", None)
            if isinstance(event, SessionStart) and name not in found:
                found[event.session] = _Session(event)
            elif name in found and not hasattr(event, "severity"):
                found[name].feed(event)
        yield from found.values()


def _line(session: _Session, row: Observation, resources: Resources) -> str:
    block = session.blocks[row.block]
    call = session.blocks[row.call] if row.call is not None else block
    lines = "" if row.first is None else f" {row.first}-{row.last}"
    state = resources.state(row, 2**30)
    where = f"{Path(block.origin.file).name}:{block.origin.line}"
    return (
        f"{where}  {row.effect}{lines}  {one_line(row.key or '-', 120)}  {state}  "
        f"<- {call.tool} {one_line(call.text, 160)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the resources found in traces.")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="print every n-th observation")
    parser.add_argument("--events", action="store_true", help="print calls without a resource as well")
    given = parser.parse_args()
    effects: Counter[str] = Counter()
    printed = 0
    for path in given.paths:
        for session in sessions([path]):
            observations, changes = session.finder.drain()
            resources = Resources(observations, changes)
            effects.update(row.effect for row in observations)
            for row in observations:
                if row.key is None and not given.events:
                    continue
                printed += 1
                if printed % given.every == 0:
                    print(_line(session, row, resources))
    print(", ".join(f"{effect} {count}" for effect, count in effects.most_common()) or "no observations")


if __name__ == "__main__":
    main()
