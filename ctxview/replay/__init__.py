"""What a recorded session would have sent under another stack of policies. No model is called."""

from ctxview.replay.engine import prepare, replay
from ctxview.replay.facts import ViewFacts, facts_of
from ctxview.replay.guard import BudgetUnsatisfiable
from ctxview.replay.metrics import Metrics, Totals, TurnCost
from ctxview.replay.needed import NeededLater
from ctxview.replay.result import Replay

__all__ = [
    "BudgetUnsatisfiable", "Metrics", "NeededLater", "Replay", "Totals", "TurnCost", "ViewFacts", "facts_of", "prepare",
    "replay",
]  # fmt: skip
