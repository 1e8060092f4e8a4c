"""Prints the pins found in real traces, kind by kind, so that a person can judge the rules by reading.

    python scripts/review_pins.py TRACE... [--kind constraint] [--rule never] [--sample 100] [--seed 1] [--distinct]
    python scripts/review_pins.py TRACE... --count      # a table of kinds and rules
    python scripts/review_pins.py TRACE... --speed      # microseconds per character

It shows words of the transcripts: for reading here, not for keeping. The numbers in the documentation are counts of
such readings; a rule that is right less than nine times in ten is to be switched off by default.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxview.annotate.pins import PinFinder
from ctxview.loaders import detect
from ctxview.loaders.discover import discover
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.model import Block, Call, CallEnd, Cut, Edit, Pin, SessionStart, Snapshot
from ctxview.reconstruct import Arrival, SessionBuilder
from ctxview.text import one_line


def arrivals(paths: Sequence[Path]) -> Iterator[tuple[str, Arrival]]:
    """What arrives in each session, as ingest would see it."""
    files, _ = discover(list(paths))
    groups: dict[str, tuple[Loader, list[SourceFile]]] = {}
    for file in files:
        loader = detect(file)
        if loader is not None:
            groups.setdefault(loader.name, (loader, []))[1].append(file)
    for loader, group in groups.values():
        builders: dict[str, SessionBuilder] = {}
        arrived: list[Arrival] = []
        for event in loader.load(Source(tuple(group))):
            if isinstance(event, SessionStart) and event.session not in builders:
                builders[event.session] = SessionBuilder(event, hash, arrived.append)
            elif isinstance(event, SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot):
                builders[event.session].feed(event)
            for arrival in arrived:
                yield event.session, arrival  # type: ignore[union-attr]
            arrived.clear()


def found(paths: Sequence[Path]) -> list[tuple[str, Block, Pin]]:
    """Session, block and pin, those included that ended before any window could show them."""
    finders: dict[str, PinFinder] = {}
    blocks: dict[tuple[str, int], Block] = {}
    for session, arrival in arrivals(paths):
        finder = finders.setdefault(session, PinFinder())
        finder.see(arrival.block, arrival.n, arrival.turn)
        blocks[session, arrival.n] = arrival.block
    return [(s, blocks[s, pin.block], pin) for s, finder in finders.items() for pin in finder.pins]


def speed(paths: Sequence[Path]) -> None:
    rows = [(session, a.block, a.n, a.turn) for session, a in arrivals(paths)]
    chars: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    finders: dict[str, PinFinder] = {}
    for session, block, n, turn in rows:
        finder = finders.setdefault(session, PinFinder())
        start = time.thread_time_ns()
        finder.see(block, n, turn)
        spent[block.kind] += time.thread_time_ns() - start
        chars[block.kind] += len(block.text)
    for kind, size in [*chars.most_common(), ("all", chars.total())]:
        taken = (spent.total() if kind == "all" else spent[kind]) / 1e3
        print(f"{kind:12} {size:>10,} chars  {taken / 1e3:>9.1f} ms  {taken / max(size, 1):.4f} us/char")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--kind")
    parser.add_argument("--rule", help="words that the rule's name holds")
    parser.add_argument("--sample", type=int, help="this many of them, at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--distinct", action="store_true", help="each quote once")
    parser.add_argument("--count", action="store_true", help="numbers only")
    parser.add_argument("--speed", action="store_true", help="time per character instead")
    options = parser.parse_args()
    if options.speed:
        speed(options.traces)
        return
    rows = [
        row
        for row in found(options.traces)
        if options.kind in (None, row[2].kind) and (options.rule or "") in row[2].rule
    ]
    if options.distinct:
        rows = list({(pin.kind, pin.rule, pin.quote or (s, pin.block)): (s, b, pin) for s, b, pin in rows}.values())
    if options.count:
        for (kind, rule), number in sorted(Counter((p.kind, p.rule) for _, _, p in rows).items()):
            print(f"{number:>6}  {kind:<11} {rule}")
        return
    if options.sample is not None and options.sample < len(rows):
        rows = random.Random(options.seed).sample(rows, options.sample)
    for session, block, pin in sorted(rows, key=lambda row: (row[2].kind, row[2].rule)):
        where = f"{Path(block.origin.file).name}:{block.origin.line}"
        words = one_line(pin.quote or block.text, 160)
        print(f"{pin.kind}/{pin.evidence}  [{pin.rule}]  {where} {session[-8:]} {block.kind} t{pin.since}\n    {words}")


if __name__ == "__main__":
    main()
