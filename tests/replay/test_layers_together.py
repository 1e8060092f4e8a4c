"""What one layer, repair or guard does to the work of another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxview.model import Edit, Observation, Pin, ResourceChange
from ctxview.policies import parse_stack
from ctxview.replay import Replay, replay
from ctxview.window import SessionView

from .sessions import SESSION, Script, ids, shown, with_facts, words


def under(view: SessionView, stack: str, naive: bool = False) -> Replay:
    return replay(view, parse_stack(stack), count=words, naive=naive)


def number(view: SessionView, block_id: str) -> int:
    return view.block(block_id).n


def two_readings_at_once() -> SessionView:
    """A and B are read by one response, then A again."""
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    script.use("c2")
    a = script.result("c1", "content of a")
    b = script.result("c2", "the one content of b")
    script.call()
    script.use("c3")
    again = script.result("c3", "content of a again")
    script.call()
    script.say("ok")
    script.user("next")
    script.call()
    view = script.view()
    old, other, new = (number(view, n) for n in (a, b, again))
    read = [
        Observation(old, "file:A", "read", 1, 2, content="1"),
        Observation(other, "file:B", "read", 1, 2, content="2"),
        Observation(new, "file:A", "read", 2, 3, content="3"),
    ]
    change = ResourceChange(old, "file:A", 3, "superseded", new, "read again")
    return with_facts(view, (), read, [change])


@pytest.mark.parametrize("naive", [False, True])
def test_literal_supersede_takes_nothing_live_with_what_it_drops(naive: bool) -> None:
    view = under(two_readings_at_once(), "supersede:form=literal", naive).view
    texts = [text for _, _, text in shown(view, 4)]
    assert "the one content of b" in texts
    assert "content of a again" in texts
    assert "content of a" not in texts
    assert not any(e.layer == "repair" for e in view.edits)


@pytest.mark.parametrize("stack", ["keep-last-n:n=10:by=tokens", "langchain-trim:max=5:by=tokens"])
def test_the_guard_puts_a_request_back_as_the_layers_before_had_left_it(stack: str) -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    result = script.result("c1", "BIGLINE " * 3000)
    script.call()
    view = under(script.view(), f"offload:over=100:lines=0,{stack}:repair=yes").view
    kept = {block: (form, text) for block, form, text in shown(view, 2)}
    assert kept[result][0] == "pointer"
    assert view.counted(2) < 100


def test_the_guard_puts_back_the_part_of_a_result_that_stood_for_the_others() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    result = script.result("c1", "long " * 300, message="r")
    script.result("c1", "more " * 50, message="r")
    script.events[-1] = replace(script.events[-1], origin=script.events[-2].origin)  # type: ignore[type-var, union-attr]
    script.call()
    source = script.view()
    assert len(source.window(2)) == 4
    view = under(source, "offload:over=100:lines=0,keep-last-n:n=1:by=tokens:repair=yes").view
    assert [(block, form) for block, form, _ in shown(view, 2)][1:] == [(result, "pointer")]


def test_reinject_puts_back_what_a_result_without_its_call_says() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    denial = script.result("c1", "DENIED by policy: refund")
    for turn in range(4):
        script.call()
        script.say(f"say {turn}")
        script.user(f"user {turn}")
    script.call()
    view = script.view()
    pins = [
        Pin(0, "goal", "matched", "first", 1, priority=9, quote="goal"),
        Pin(number(view, denial), "denial", "matched", "denied", 2, priority=8, quote="DENIED by policy: refund"),
    ]
    done = under(with_facts(view, pins), "keep-last-n:n=3:repair=yes,reinject")
    for turn in range(2, 7):
        held = [text for _, _, text in shown(done.view, turn) if "DENIED by policy: refund" in text]
        assert len(held) == 1, turn
    assert done.metrics.totals.lost["denial"] is None


def cleared_later() -> SessionView:
    """A large result that the client clears before turn 3."""
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    result = script.result("c1", "x " * 600)
    script.call()
    script.say("a")
    script.user("b")
    script.call()
    script.events.append(
        Edit(SESSION, "replace", result, "microcompact", "cleared", text="[cleared]", form="placeholder")
    )
    script.say("c")
    script.user("d")
    script.call()
    return script.view()


def test_what_the_client_clears_is_cleared_under_a_sticky_layer_too() -> None:
    source = cleared_later()
    view = under(source, "recorded,offload:over=100:mode=sticky").view
    assert [shown(view, turn)[2][1] for turn in (2, 3)] == ["pointer", "pointer"]
    assert shown(view, 4) == shown(source, 4)
    assert shown(source, 4)[2][2] == "[cleared]"


def test_what_a_layer_before_makes_longer_stays_as_a_sticky_layer_left_it() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    result = script.result("c1", "x " * 600)
    for _ in range(4):
        script.call()
        script.say("a")
        script.user("b")
    script.call()
    view = script.view()
    view = with_facts(view, (), [Observation(number(view, result), "file:A", "read", 1, 2, content="1")])
    done = under(view, "stale:turns=2,offload:over=100:mode=sticky").view
    assert {form for turn in range(2, 6) for block, form, _ in shown(done, turn) if block == result} == {"pointer"}


@pytest.mark.parametrize("order", ["reinject,{}", "{},reinject"])
def test_a_limit_for_what_was_put_in_binds_what_is_put_in_last(order: str) -> None:
    script = Script()
    script.user("goal " + "long " * 50)
    for turn in range(6):
        script.call()
        script.say(f"x {turn}")
        script.user("go")
    script.call()
    view = with_facts(script.view(), [Pin(0, "goal", "matched", "first", 1, priority=9)])
    stack = f"keep-last-n:n=2:repair=yes,{order}"
    assert "reinject:state" in ids(under(view, stack.format("component-budgets:retrieved=100")).view, 6)
    assert "reinject:state" not in ids(under(view, stack.format("component-budgets:retrieved=10")).view, 6)
    stated = under(view, stack.format("component-budgets:retrieved=10:exceed=reject")).failures
    assert [(f.layer, f.what, f.budget, f.protected[0][0]) for f in stated] == [
        ("component-budgets", "retrieved", 10, "reinject:state")
    ]
