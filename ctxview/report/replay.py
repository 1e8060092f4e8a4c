"""`ctxview replay`: one stack's turns, totals and what it dropped too early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxview.replay import Replay


def replay_report(replayed: Replay, *, read: float = 0.1, write: float = 1.25) -> dict[str, Any]:
    """The numbers, with the budget's failures and the provider's answer to a broken window."""
    metrics = replayed.measure(read=read, write=write)
    totals, more, last = metrics.totals, metrics.details, len(metrics.turns)
    return {
        "stack": replayed.stack.text,
        "turns": [
            {
                "turn": t.turn,
                "tokens": t.tokens,
                "cached": t.cached,
                "cuts": t.cuts,
                "source": t.source,
                "carried": t.carried,
                "hit": _share(t.hit),
                "fill": _share(t.fill),
                "headroom": t.headroom,
                "components": metrics.components(t.turn),
                "pins": {"present": t.pins_present, "required": t.pins_required, "unseen": more.unseen[t.turn]},
                "orphans": t.orphans,
                "orphans_before_repair": more.orphans_before[t.turn],
                "repairs": more.repairs[t.turn],
                "superseded": t.superseded,
                "stale": t.stale,
                "contradictions": more.contradictions[t.turn],
                "oldest": more.oldest[t.turn],
                "fired": [{"layer": layer, "trigger": size} for layer, size in more.fired[t.turn]],
            }
            for t in metrics.turns
        ],
        "totals": {
            "peak": totals.peak,
            "input": totals.input,
            "billed": totals.billed,
            "cuts": totals.cuts,
            "saved": totals.saved,
            "cache_busts": totals.cache_busts,
            "orphans": totals.orphans,
            "lost": dict(totals.lost),
            "first_failure": totals.first_failure,
            "regret": totals.regret,
            "fired": totals.fired,
            "needed": totals.needed,
            "mean": totals.mean,
            "first": {**totals.first, "contradiction": _first(more.contradictions[1 : last + 1])},
            "good_cuts": more.good_cuts,
            "denied_again": len(more.denied_again),
        },
        "needed_later": [
            {"block": use.block, "dropped": use.dropped, "used": use.used, "how": use.how}
            for use in metrics.needed_later
        ],
        "pins": [
            {
                "block": metrics.view.blocks[stay.pin.block].id,
                "pin": stay.pin.kind,
                "from": stay.start,
                "to": min(stay.end - 1, last),
                "absent": [{"from": start, "to": end - 1} for start, end in stay.gaps(last + 1)],
            }
            for stay in more.pins
            if stay.start <= last
        ],
        "denied_again": [
            {"block": again.block, "turn": again.turn, "denial": again.denial} for again in more.denied_again
        ],
        "layers": [{"layer": label, "fired": len(turns)} for label, turns in metrics.firings.items()],
        "failures": [
            {
                "layer": failure.layer,
                "what": failure.what,
                "turn": failure.turn,
                "until": failure.until,
                "budget": failure.budget,
                "tokens": failure.tokens,
                "protected": [{"block": block, "tokens": tokens} for block, tokens in failure.protected],
                "message": failure.message,
            }
            for failure in replayed.failures
        ],
        "provider_error": metrics.provider_error,
    }


def _share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _first(counts: Sequence[int]) -> int | None:
    """The first turn with any, where the counts begin at turn 1."""
    return next((turn for turn, count in enumerate(counts, 1) if count), None)
