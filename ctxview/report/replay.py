"""`ctxview replay`: one stack's turns, totals and what it dropped too early."""

from __future__ import annotations

from typing import Any

from ctxview.replay import Replay


def replay_report(replayed: Replay, *, read: float = 0.1, write: float = 1.25) -> dict[str, Any]:
    """The numbers, with the budget's failures and the provider's answer to a broken window."""
    metrics = replayed.measure(read=read, write=write)
    totals = metrics.totals
    return {
        "stack": replayed.stack.text,
        "turns": [
            {
                "turn": t.turn,
                "tokens": t.tokens,
                "cached": t.cached,
                "cuts": t.cuts,
                "headroom": t.headroom,
                "pins": {"present": t.pins_present, "required": t.pins_required},
                "orphans": t.orphans,
                "superseded": t.superseded,
                "stale": t.stale,
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
        },
        "needed_later": [
            {"block": use.block, "dropped": use.dropped, "used": use.used, "how": use.how}
            for use in metrics.needed_later
        ],
        "layers": [{"layer": label, "fired": count} for label, count in metrics.fired.items()],
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
