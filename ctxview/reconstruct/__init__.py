"""Events to spans: rebuilds what sat in the window at every turn from what a loader says."""

from ctxview.reconstruct.builder import Arrival, Built, SessionBuilder
from ctxview.reconstruct.course import Course
from ctxview.reconstruct.unexplained import Fall, find_unexplained

__all__ = ["Arrival", "Built", "Course", "Fall", "SessionBuilder", "find_unexplained"]
