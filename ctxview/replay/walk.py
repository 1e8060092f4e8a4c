"""One walk over a session's turns: the base's changes through every layer, repair and guard into the record.

`walk` hands every change of every turn on. `sweep` does the same for layers that keep a plan up to date, and leaves
out what arrives quietly: its cost goes with what the layers change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from ctxview.policies.policy import Context
from ctxview.replay.change import Delta
from ctxview.replay.guard import Guard
from ctxview.replay.layer import Few, Runner
from ctxview.replay.prepared import Base
from ctxview.replay.record import Record
from ctxview.replay.repair import Repair
from ctxview.replay.shedding import Shedding
from ctxview.replay.stepped import Stepped


def walk(
    base: Base,
    steps: Sequence[tuple[Runner, Context]],
    record: Record,
    overheads: Sequence[int],
    limits: Sequence[int | None],
    mending: tuple[Repair, Guard] | None,
    sent: Callable[[int, int], None],
) -> list[int]:
    """The size of each window from turn 1 to `now`. `sent(turn, unlogged)` is called when a window is ready."""
    now, deltas, sizes = base.now, base.deltas, []
    for turn in range(1, now + 1):
        delta = deltas.get(turn, {})
        overhead = overheads[turn]
        for run, ctx in steps:
            ctx.turn = turn
            ctx.overhead = overhead
            ctx.limit = limits[turn]
            ctx.is_now = turn == now
            delta = run.update(delta, ctx)
        if mending is not None:
            repair, guard = mending
            delta = repair.update(turn, delta, base.pending if turn == now else ())
            delta = guard.update(delta, base.requests[turn])
        if delta:
            record.apply(turn, delta)
        sizes.append(record.tokens + overhead)
        sent(turn, overhead)
    return sizes


def sweep(
    base: Base,
    steps: Sequence[tuple[Stepped, Context]],
    record: Record,
    overheads: Sequence[int],
    mending: tuple[Repair, Guard] | None,
) -> list[int]:
    """The size of each window from turn 1 to `now`. `record` was begun with the base's ground."""
    now, ground = base.now, base.ground
    tokens = [0] * (now + 1)
    """By turn: what it adds to or takes from what the base has."""
    shedding = _shedding(base, steps, record, mending is not None)
    end = len(base.stretch.arrivals)
    stops = shedding.turns if shedding is not None else _stops(base, steps, mending is not None)
    told = 0
    """The newest turn of the stretch that the layers know of."""
    for turn in _visited(chain(stops, range(end, now + 1)), mending[1] if mending is not None else None):
        arrivals = ground.arrivals[turn]
        if shedding is None and told < turn - 1 < end:
            for run, _ in steps:
                run.miss(base.stretch.arrivals[told + 1 : turn])
        told = turn
        if shedding is not None:
            shedding.until(turn, tokens)
            if turn == end:
                shedding.end()
                shedding = None
        before = record.tokens
        delta: Delta = base.deltas[turn] if arrivals is None else {}
        is_quiet = arrivals is not None
        for run, ctx in steps:
            ctx.turn = turn
            ctx.overhead = overheads[turn]
            ctx.is_now = turn == now
            if shedding is not None:
                delta = shedding.on(turn, ctx)
                continue
            if arrivals is None or delta:
                if is_quiet:
                    delta = {**base.deltas.get(turn, {}), **delta}
                    is_quiet = False
                delta = run.update(delta, ctx)
                continue
            edits = run.arrive(arrivals, ctx)
            few = run.few(edits) if edits and len(steps) == 1 else None
            if few is None:
                delta = run.take(edits, ctx)
            elif not _done(few, turn, base, record, mending):
                ns, why, renewed = few
                delta = dict.fromkeys(ns, (None, why))
                if renewed is not None:
                    delta[renewed[0].n] = renewed
        if mending is not None and (delta or turn in base.touchy or mending[1].holds):
            repair, guard = mending
            if is_quiet and turn in base.loose:
                delta = {**base.loose[turn], **delta}
            delta = repair.update(turn, delta, base.pending if turn == now else ())
            request = base.requests[turn]
            if turn in base.touchy or guard.holds or any(e.n in delta for e in request):
                delta = guard.update(delta, request)
        if delta:
            record.coming = ground.coming[turn]
            record.apply(turn, delta)
        tokens[turn] += record.tokens - before
    if shedding is not None:
        shedding.until(now + 1, tokens)
    return list(map(sum, zip(ground.tokens[1:], accumulate(tokens[1:]), overheads[1:])))


def _visited(stops: Iterable[int], guard: Guard | None) -> Iterator[int]:
    """The stops, and every turn that follows one on which the guard holds something: it has to let go of it."""
    turn = 0
    for stop in stops:
        while guard is not None and guard.holds and turn + 1 < stop:
            turn += 1
            yield turn
        turn = stop
        yield turn


def _stops(base: Base, steps: Sequence[tuple[Stepped, Context]], mended: bool) -> Sequence[int]:
    """The turns of the first stretch to stop at."""
    everything = range(1, len(base.stretch.arrivals))
    wanted = set(base.touchy) if mended else set[int]()
    for run, ctx in steps:
        heeded = run.heeds(base.stretch, ctx)
        if heeded is None:
            return everything
        wanted.update(heeded)
    return sorted(turn for turn in wanted if turn in everything)


def _shedding(
    base: Base, steps: Sequence[tuple[Stepped, Context]], record: Record, mended: bool
) -> Shedding | None:
    if len(steps) != 1:
        return None
    run, ctx = steps[0]
    shed = run.shed(base.stretch, ctx)
    return None if shed is None else Shedding(run, shed, base, record, mended)


def _done(few: Few, turn: int, base: Base, record: Record, mending: tuple[Repair, Guard] | None) -> bool:
    """Whether drops and a renewal could be recorded as they are: what leaves is older than the newest request, and
    whole groups of it."""
    ns, why, renewed = few
    arrivals = base.ground.arrivals[turn]
    if not record.stood(ns[-1], turn):
        return False
    if mending is not None:
        repair, guard = mending
        is_touchy = turn in base.touchy or guard.holds
        if is_touchy or not arrivals or max(ns) >= arrivals[0].n or repair.take(ns):
            return False
    record.coming = base.ground.coming[turn]
    record.drop(turn, ns, why, renewed)
    return True
