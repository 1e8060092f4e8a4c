"""Events to spans: rebuilds what sat in the window at every turn from what a loader says."""

from ctxview.reconstruct.builder import Arrival, Built, SessionBuilder
from ctxview.reconstruct.unexplained import find_unexplained

__all__ = ["Arrival", "Built", "SessionBuilder", "find_unexplained"]
