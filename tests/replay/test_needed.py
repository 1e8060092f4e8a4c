"""What counts as a need for a dropped block: that nothing else in the window could have told the agent the word."""

from __future__ import annotations

import pytest

from ctxview.ingest import open_trace
from ctxview.policies import parse_stack
from ctxview.replay import replay
from ctxview.replay.arguments import strings
from ctxview.sample_traces import sample_path

from .sessions import Script, words


def needs(answer: dict[str, str], *, before: str = "nothing", own: str = "", system: str = "") -> list[str]:
    """How the results of a session were needed that keeps its goal and the last two messages. The first result tells
    of `rewind_points`; `answer` is the text of turn 4 and the arguments of its call."""
    script = Script()
    script.system(f"You help. {system}")
    script.user("Goal: find it")
    script.call()
    script.use("c1", text='{"path": "src"}')
    script.result("c1", "it is called rewind_points here")
    script.call()
    script.say(own or "I see")
    script.user("and now?")
    script.call()
    script.say("a look")
    script.user(f"go on, {before}")
    script.call()
    if "thinking" in answer:
        script.think(answer["thinking"])
    script.say(answer.get("text", "so"))
    script.use("c2", text=answer.get("arguments", "{}"))
    script.result("c2", "done")
    script.call()
    script.say("end")
    done = replay(script.view(), parse_stack("pin-goal:n=2"), count=words)
    return [f"{use.used} {use.how}" for use in done.metrics.needed_later]


@pytest.mark.parametrize("answer", [
    {"text": "the name is rewind_points"}, {"arguments": '{"query": "grep rewind_points"}'},
    {"thinking": "rewind_points it was", "text": "I open rewind_points", "arguments": '{"q": "rewind_points"}'},
])  # fmt: skip
def test_a_word_that_stood_nowhere_else_is_one_quotation(answer: dict[str, str]) -> None:
    assert needs(answer) == ["4 quoted: rewind_points"]


@pytest.mark.parametrize("place", [
    {"before": "see rewind_points"}, {"before": "see lib/rewind_points.go"}, {"system": "Mind rewind_points."},
])  # fmt: skip
def test_a_word_that_stands_elsewhere_in_the_window_is_no_quotation(place: dict[str, str]) -> None:
    assert needs({"text": "the name is rewind_points"}, **place) == []


def test_what_the_agent_wrote_itself_is_a_place_while_it_stands() -> None:
    answer = {"text": "the name is rewind_points"}
    script = Script()
    script.user("Goal: find it")
    script.call()
    script.use("c1", text='{"path": "src"}')
    script.result("c1", "it is called rewind_points here")
    script.call()
    script.say("I note rewind_points")
    script.user("and now?")
    script.call()
    script.say(answer["text"])
    stack = parse_stack("pin-goal:n=2")
    assert replay(script.view(), stack, count=words).metrics.needed_later == ()
    assert needs(answer, own="I note rewind_points") == ["4 quoted: rewind_points"]  # that has left, too


def test_names_of_arguments_come_from_the_tools_schema() -> None:
    assert needs({"arguments": '{"rewind_points": 3, "more": [{"rewind_points": 4}]}'}) == []
    assert needs({"text": "with rewind_points", "arguments": '{"rewind_points": 3}'}) == []


def test_arguments_that_are_no_json_object_have_no_names() -> None:
    assert strings("*** Begin Patch", names=True) is None
    assert strings("{broken", names=False) is None
    assert strings('{"a": {"b": ["c", 4]}, "d": null}', names=True) == ["a", "b", "d"]
    assert strings('{"a": {"b": ["c", 4]}, "d": null}', names=False) == ["c", "4", "None"]


def test_to_quote_what_was_superseded_is_no_need() -> None:
    """The older version was gone from the alternate window for good reason: the quotation is the fault it prevents."""
    with open_trace([str(sample_path("stale"))], cache=False) as trace:
        done = replay(trace.view(), parse_stack("supersede"))
        quoted = [use for use in done.metrics.needed_later if use.how.startswith("quoted")]
    assert quoted == []
