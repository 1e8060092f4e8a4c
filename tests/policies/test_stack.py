"""Stacks as text: what is understood, what is refused and how, and that the text says it all."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.errors import UsageError
from ctxview.policies import POLICIES, PRESETS, Policy, layer, parse_stack
from ctxview.policies.policy import Param
from ctxview.policies.stack import accepted


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse_stack(text)
    return caught.value


def test_the_empty_text_and_recorded_are_the_recorded_window() -> None:
    assert parse_stack("").is_recorded
    assert parse_stack("recorded").is_recorded
    assert parse_stack("").text == "recorded"


def test_a_stack_works_on_the_history_unless_recorded_comes_first() -> None:
    assert parse_stack("pin-goal").base == "history"
    assert parse_stack("recorded,supersede").base == "recorded"
    assert parse_stack("history").text == "history"
    assert parse_stack("history,pin-goal").text == "pin-goal"


@pytest.mark.parametrize(
    "text",
    [
        "pin-goal:n=6", "recorded,supersede", "supersede,stale:turns=8,compact-groups:max=2000:trigger=0.8:keep=2",
        "keep-last-n:n=2000:by=tokens:repair=yes", "stale:file=none:text=age", "reinject:kinds=goal+constraint",
    ],
)  # fmt: skip
def test_the_canonical_text_is_what_was_written(text: str) -> None:
    assert parse_stack(text).text == text


def test_parameters_come_in_the_policys_own_order() -> None:
    assert parse_stack("compact-groups:keep=2:max=2000").text == "compact-groups:max=2000:keep=2"


def test_a_preset_means_its_stack() -> None:
    for name, text in PRESETS.items():
        assert parse_stack(name).text == parse_stack(text).text


def test_an_unknown_policy_is_named_with_the_nearest() -> None:
    error = refused("pin-gaol:n=6")
    assert "'pin-gaol'" in error.cause
    assert "did you mean 'pin-goal'?" in error.fix


def test_an_unknown_parameter_is_named_with_the_nearest_and_all() -> None:
    error = refused("compact-groups:mx=3")
    assert error.cause == "compact-groups has no parameter 'mx'"
    assert error.fix.startswith("did you mean 'max'? it has: max, trigger, keep")


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        ("pin-goal:n=0", "pin-goal:n=0 cannot be", "n takes 1 or more"),
        ("pin-goal:n=six", "pin-goal:n=six cannot be", "n takes 1 or more"),
        ("compact-groups:trigger=1.5", "compact-groups:trigger=1.5 cannot be", "trigger takes 0.1..1"),
        ("compact-groups:trigger=nan", "compact-groups:trigger=nan cannot be", "trigger takes 0.1..1"),
        ("keep-last-n:by=token", "keep-last-n:by=token cannot be", "did you mean 'tokens'? by takes messages | tokens"),
        ("pin-goal:n", "'n' of pin-goal is no parameter", "write name=value, joined by colons"),
        ("pin-goal:n=1:n=2", "pin-goal is given 'n' twice", "give each parameter once"),
        ("pin-goal,recorded", "'recorded' stands in the middle of the stack 'pin-goal,recorded'", "first"),
        ("supersede,,stale", "no policy an empty name", "`ctxview policies` lists them"),
        ("af-truncation:max=3:compact_to=9", "af-truncation: compact_to=9 is above max=3", "change one of the two"),
        ("retrieval:weights=1+2", "retrieval: weights=1+2 is not three numbers", "as 1+0.5+0.5"),
        ("naive:n=3", "'naive' takes no parameters", "give them to the policies of its stack"),
        ("recorded:x=1", "'recorded' takes no parameters", "give them"),
        ("truth:a=b,stale", "'truth' takes no parameters", "give them"),
        ("langchain-trim:start_on=robot", "langchain-trim:start_on=robot cannot be", "start_on takes human | ai"),
        ("reinject:kinds=goal+gaol", "reinject:kinds=goal+gaol cannot be", "did you mean 'goal'? kinds takes goal | "),
        ("component-budgets:reject=outputs", "reject=outputs cannot be", "did you mean 'output'? reject takes system"),
        ("lifetime:kinds=tool_call", "lifetime:kinds=tool_call cannot be", "kinds takes tool_result | note"),
        ("pin-goal:n=1_0", "pin-goal:n=1_0 cannot be", "n takes 1 or more"),
        ("pin-goal:n=٣", "pin-goal:n=٣ cannot be", "n takes 1 or more"),
        ("compact-groups:trigger=0_0.5", "compact-groups:trigger=0_0.5 cannot be", "trigger takes 0.1..1"),
    ],
)
def test_a_value_that_cannot_be_is_answered_with_the_range(text: str, cause: str, fix: str) -> None:
    error = refused(text)
    assert cause in error.cause
    assert fix in error.fix
    assert error.exit_code == 2


def values(policy: Policy, param: Param) -> st.SearchStrategy[object]:
    low, high = int(param.low or 0), int(param.high or 10_000)
    match param.type:
        case "int":
            return st.integers(low, high)
        case "float":
            return st.integers(round(10 * (param.low or 0)), round(10 * (param.high or 10))).map(lambda n: n / 10)
        case "choice":
            return st.sampled_from(param.choices)
        case "flag":
            return st.booleans()
        case "names":
            words = st.lists(st.sampled_from(param.choices), max_size=3) if param.choices else st.just(["1", "1", "1"])
            return words.map("+".join)
        case _:
            return st.text(min_size=1, max_size=30).filter(lambda t: t.isprintable())


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_every_stack_survives_the_text_and_an_url(data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from(POLICIES))
    params = data.draw(st.sets(st.sampled_from(accepted(policy))))
    given_values = {p.name: data.draw(values(policy, p)) for p in params}
    if policy.check is not None:
        defaults = {p.name: p.default for p in accepted(policy)} | given_values
        if policy.check(defaults):
            return
    begin = given_values.get("from")
    if begin is not None:
        given_values["above"] = min(begin, given_values.get("above") or 0)
    made = layer(policy, given_values)
    read = parse_stack(made.text).layers[0]
    assert read.params == made.params
    assert read.text == made.text
    assert quote(made.text, safe=":=,+%~*/") == made.text


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_every_policy_says_what_it_is_and_where_from(policy: Policy) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", policy.name)
    assert policy.title
    assert policy.source
    assert policy.examples
    for param in policy.params:
        assert param.help
        assert param.range
    for example in policy.examples:
        assert policy.name in [layer.policy.name for layer in parse_stack(example).layers], example


def test_names_are_unique() -> None:
    names = [p.name for p in POLICIES] + list(PRESETS) + ["recorded", "history"]
    assert len(names) == len(set(names))
