"""`above` and `from`: layers one after another until a target is met, and two borders against to and fro."""

from __future__ import annotations

import pytest

from ctxview.errors import UsageError
from ctxview.policies import POLICIES, parse_stack
from ctxview.policies.stack import layer
from ctxview.replay import Replay, replay
from ctxview.window import SessionView

from .sessions import Script, words


def _session(*results: int) -> SessionView:
    """A goal and one call and result per turn, of so many words each."""
    script = Script()
    script.user("GOAL")
    for number, size in enumerate(results):
        script.call()
        script.use(f"c{number}")
        script.result(f"c{number}", " ".join(f"w{number}" for _ in range(size)))
    return script.view()


def _run(view: SessionView, text: str) -> Replay:
    return replay(view, parse_stack(text), count=words)


def _layers(done: Replay) -> set[str]:
    return {e.layer for e in done.view.edits if e.layer not in ("repair", "guard")}


def test_a_fallback_acts_only_where_what_comes_before_it_leaves_too_much() -> None:
    view = _session(50, 50, 50, 50)
    first = "swe-agent-last-n:n=1"
    assert max(_run(view, "history").sizes) > 120 >= max(_run(view, first).sizes) > 90
    assert _layers(_run(view, f"{first},af-sliding-window:keep=1:above=120")) == {"swe-agent-last-n"}
    both = _run(view, f"{first},af-sliding-window:keep=1:above=90")
    assert "af-sliding-window" in _layers(both)
    assert both.sizes[-1] < _run(view, first).sizes[-1]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_every_policy_rests_while_the_window_is_not_above_its_border(policy) -> None:  # type: ignore[no-untyped-def]
    view = _session(50, 50, 50, 50)
    done = replay(view, type(parse_stack("history"))("history", (layer(policy, {"above": 10_000}),)), count=words)
    assert not _layers(done)
    assert [s.block for s in done.view.spans_at(view.now)] == [b.n for b in view.blocks]


def test_with_two_borders_a_layer_begins_late_and_goes_on_down_to_the_lower_one() -> None:
    view = _session(30, 30, 30, 30, 30)
    sizes = _run(view, "history").sizes
    low, high = sizes[1], sizes[3] - 1
    one = _run(view, f"af-sliding-window:keep=1:above={low}")
    two = _run(view, f"af-sliding-window:keep=1:above={low}:from={high}")
    assert one.sizes[2] < sizes[2] == two.sizes[2]
    assert two.sizes[3] == one.sizes[3] < sizes[3]


@pytest.mark.parametrize("text", ["pin-goal:from=9", "pin-goal:above=10:from=9"])
def test_an_upper_border_needs_a_lower_one(text: str) -> None:
    with pytest.raises(UsageError, match="from=9 needs an above"):
        parse_stack(text)
