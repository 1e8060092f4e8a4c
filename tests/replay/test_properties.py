"""What must hold for every registered policy and for stacks of them, on generated histories."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

from ctxview.errors import UsageError
from ctxview.policies import POLICIES, Policy, layer, parse_stack
from ctxview.policies.stack import accepted
from ctxview.replay import Replay, replay
from ctxview.window import SessionView

from .histories import FULL, HISTORIES, LONG, Tool, Turn, facts_of, session, write
from .laws import SAFE_LAWS, UNSAFE_LAWS, Held, monotone, stable_head, turns_of
from .sessions import shown, words

EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
VARIANTS: dict[str, tuple[str, ...]] = {
    "keep-last-n": ("keep-last-n:n=3", "keep-last-n:n=30:by=tokens:system=drop"),
    "pin-goal": ("pin-goal:n=2", "pin-goal:n=1:threshold=5"),
    "carry-decisions": ("carry-decisions:n=2",),
    "reinject": ("reinject", "reinject:at=tail:what=all"),
    "pinned-rolling": ("pinned-rolling:budget=60", "pinned-rolling:budget=90:order=place"),
    "retrieval": ("retrieval:top_k=1:recent=1", "retrieval:top_k=2:recent=2:weights=1+0.5+1"),
    "component-budgets": (
        "component-budgets:history=20:output=60", "component-budgets:system=1:output=9:exceed=reject",
    ),
    "lifetime": ("lifetime:ttl=2", "lifetime:ttl=1:scope=task:kinds=tool_result+assistant+note"),
    "supersede": ("supersede", "supersede:form=literal", "supersede:by=any"),
    "stale": ("stale:turns=2", "stale:turns=1:text=age"),
    "offload": ("offload:over=30:lines=1",),
    "compact-groups": ("compact-groups:max=100:keep=1", "compact-groups:max=150:trigger=0.5:mode=recompute"),
    "shed-persisted": ("shed-persisted:max=80",),
    "already-read": ("already-read:needs=nothing",),
    "clear-tool-uses": (
        "clear-tool-uses:trigger=50:keep=1", "clear-tool-uses:trigger=1:unit=uses:keep=0:at_least=40:inputs=yes",
    ),
    "anthropic-compact": ("anthropic-compact:trigger=100:stub=5",),
    "langchain-trim": ("langchain-trim:max=3", "langchain-trim:max=60:by=tokens:start_on=human"),
    "langchain-clear-tool-uses": ("langchain-clear-tool-uses:trigger=50:keep=1:at_least=20",),
    "langchain-summarize": ("langchain-summarize:trigger=80:keep=2",),
    "af-truncation": (
        "af-truncation:max=6:compact_to=3", "af-truncation:max=90:compact_to=50:by=tokens:first_user=yes",
    ),
    "af-sliding-window": ("af-sliding-window:keep=2",),
    "autogen-buffered": ("autogen-buffered:n=3",),
    "autogen-head-and-tail": ("autogen-head-and-tail:head=2:tail=2",),
    "swe-agent-last-n": ("swe-agent-last-n:n=1", "swe-agent-last-n:n=1:polling=2"),
    "openhands-recent": ("openhands-recent:first=1:max=3",),
    "openhands-amortized": ("openhands-amortized:max=4:first=1",),
    "openhands-masking": ("openhands-masking:window=1",),
    "openhands-condenser": ("openhands-condenser:max=5:first=1",),
    "pydantic-clamp": ("pydantic-clamp:over=10:head=20:tail=20",),
    "openai-agents-trimmer": ("openai-agents-trimmer:turns=1:over=20:preview=10",),
    "codex-compact": ("codex-compact:trigger=0.3:user=30",),
    "opencode-prune": ("opencode-prune:turns=1:protect=20:minimum=10",),
    "pi-compact": ("pi-compact:keep=20:reserve=300",),
}  # fmt: skip
"""Parameters small enough for generated histories; the defaults for policies that are not named."""


def stacks_of(policy: Policy) -> tuple[str, ...]:
    texts = VARIANTS.get(policy.name, (policy.name,))
    return (*texts, f"{texts[0]}:repair=yes") if policy.unsafe else texts


TEXTS = [text for policy in POLICIES for text in stacks_of(policy)]
SAFE = [text for text in TEXTS if not parse_stack(text).layers[0].unsafe]


@st.composite
def drawn(draw: st.DrawFn) -> str:
    """Any policy with any parameters, small ones mostly."""
    policy = draw(st.sampled_from(POLICIES))
    values: dict[str, object] = {"repair": True} if policy.unsafe else {}
    for param in accepted(policy):
        if param.type in ("int", "float") and draw(st.booleans()):
            low = param.low or 0
            high = param.high if param.high is not None else low + draw(st.sampled_from([3, 150]))
            number = draw(st.integers(0, 10)) / 10 * (high - low) + low
            values[param.name] = round(number) if param.type == "int" else number
        elif param.type == "choice":
            values[param.name] = draw(st.sampled_from(param.choices))
        elif param.type == "flag" and param.name != "repair":
            values[param.name] = draw(st.booleans())
    try:
        return layer(policy, values).text
    except UsageError:  # they contradict each other
        reject()


STACKS = st.builds(
    lambda base, layers: ",".join([*base, *layers]),
    st.sampled_from([[], ["recorded"]]),
    st.lists(st.one_of(st.sampled_from(SAFE), drawn()), min_size=1, max_size=4),
)


def run(view: SessionView, text: str, naive: bool = False) -> Replay:
    return replay(view, parse_stack(text), count=words, naive=naive)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
@settings(EXAMPLES, max_examples=8)
@given(turns=HISTORIES, base=st.sampled_from(["", "recorded,"]))
def test_every_policy_alone_keeps_the_invariants_and_its_flags(policy: Policy, turns: list[Turn], base: str) -> None:
    source = session(turns)
    for text in (base + text for text in stacks_of(policy)):
        held = Held(source, run(source, text))
        (only,) = held.stack.layers
        for law in UNSAFE_LAWS if only.unsafe else SAFE_LAWS:
            law(held)
        if policy.monotone and not any(turn.client for turn in turns):
            monotone(held)
        if policy.stable_head and only.mode == "sticky":
            stable_head(held)
        if policy.idempotent:
            twice = run(source, f"{text},{text.removeprefix(base)}").view
            for turn in turns_of(source):
                assert shown(twice, turn) == shown(held.view, turn), (turn, text)


def reading(*results: str, prompt: int | None = None, crossed: bool = False) -> Turn:
    """A turn that reads the same file so many times."""
    return Turn(None, False, False, False, None, tuple(Tool(0, True, r, 0) for r in results), prompt, crossed)


COMES_BACK_SUPERSEDED = [
    reading(""), reading("", "", ""), reading("", "", "x " * 120, crossed=True), reading(prompt=5), reading(""),
]  # fmt: skip
"""Under the stack beside it a superseded reading leaves and returns, and has to say again why it is a placeholder."""


@EXAMPLES
@example(COMES_BACK_SUPERSEDED, "codex-compact:user=0:window=1:mode=recompute,supersede:by=any")
@given(HISTORIES, STACKS)
def test_stacks_keep_the_invariants(turns: list[Turn], text: str) -> None:
    source = session(turns)
    held = Held(source, run(source, text))
    for law in SAFE_LAWS:
        law(held)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_every_policy_does_something_to_a_history(policy: Policy) -> None:
    """Otherwise what is said of it here would be said of nothing."""
    source = session(FULL)
    for text in stacks_of(policy):
        done = [run(source, base + text) for base in ("", "recorded,")]
        assert any(e.layer == policy.name for d in done for e in d.view.edits) or any(d.failures for d in done), text


@EXAMPLES
@given(HISTORIES, st.one_of(STACKS, st.sampled_from(TEXTS)), st.data())
def test_no_look_ahead(turns: list[Turn], text: str, data: st.DataObject) -> None:
    """The window of a turn, and what is told of it, are the same when the session ends with that call."""
    whole = run(session(turns), text).view
    last = data.draw(st.integers(1, len(turns)))
    cut = run(session(turns, last), text).view
    for turn in range(1, last + 1):
        assert shown(whole, turn) == shown(cut, turn), (turn, text)
        assert told(whole, turn) == told(cut, turn), (turn, text)


@EXAMPLES
@given(HISTORIES, st.one_of(STACKS, st.sampled_from(TEXTS)))
def test_u4_u5_the_same_again_and_the_source_untouched(turns: list[Turn], text: str) -> None:
    source = session(turns)
    before = [shown(source, turn) for turn in turns_of(source)]
    first, second = run(source, text), run(session(turns), text)
    assert [shown(first.view, t) for t in turns_of(source)] == [shown(second.view, t) for t in turns_of(source)]
    assert list(first.view.edits) == list(second.view.edits)
    assert [shown(source, turn) for turn in turns_of(source)] == before
    assert run(source, "recorded").view is source


@EXAMPLES
@given(HISTORIES, st.one_of(STACKS, st.sampled_from(TEXTS)))
def test_increments_add_up_to_the_plan(turns: list[Turn], text: str) -> None:
    fast, slow = run(session(turns), text), run(session(turns), text, naive=True)
    for turn in turns_of(fast.view):
        assert shown(fast.view, turn) == shown(slow.view, turn), (turn, text)
        assert fast.view.counted(turn) == slow.view.counted(turn), (turn, text)
        assert fast.sizes[turn - 1] == slow.sizes[turn - 1], (turn, text)


def told(view: SessionView, turn: int) -> list[tuple[object, ...]]:
    """The edits of a turn, in no order."""
    names = {None: None} | {b.n: b.id for b in view.blocks}
    rows = ((e.layer, e.rule, e.action, names[e.block], e.reason, e.at, e.evidence) for e in view.edits_at(turn))
    return sorted(rows, key=repr)


NOTHING = Turn(None, False, False, False, None, (), None)
REWINDS = [
    replace(NOTHING, thinks=True), reading(""), NOTHING, replace(NOTHING, user="", note=True),
    replace(NOTHING, image=True, note=True, client="rewind"), NOTHING, reading("", ""), reading(""), NOTHING,
]  # fmt: skip
"""Under the policy beside it the marker stands for as many messages before the rewind as after it."""


@EXAMPLES
@example(REWINDS, "pin-goal:n=2")
@given(LONG, st.sampled_from([text for text in TEXTS if parse_stack(text).layers[0].policy.step is not None]))
def test_increments_tell_the_same_edits_and_cuts(turns: list[Turn], text: str) -> None:
    fast, slow = run(session(turns), text), run(session(turns), text, naive=True)
    for turn in turns_of(fast.view):
        assert told(fast.view, turn) == told(slow.view, turn), (turn, text)
        if not any(t.client for t in turns[:turn]):  # where the client meddled it may say anew what it covers
            news = [[e.covers for e in sorted(v.edits_at(turn), key=repr)] for v in (fast.view, slow.view)]
            assert news[0] == news[1], (turn, text)
    assert list(fast.view.cuts) == list(slow.view.cuts)
    assert fast.fired == slow.fired
    for span in fast.view.spans:
        edit = None if span.ended_by is None else fast.view.edits[span.ended_by]
        assert edit is None or (edit.turn, edit.block) == (span.end, span.block)


@EXAMPLES
@given(HISTORIES, st.one_of(STACKS, st.sampled_from(TEXTS)))
def test_renaming_call_ids_changes_nothing(turns: list[Turn], text: str) -> None:
    view = run(session(turns), text).view
    script = write(turns)
    script.events = [
        replace(e, call_id=f"renamed-{e.call_id}") if getattr(e, "call_id", None) else e  # type: ignore[type-var]
        for e in script.events
    ]
    renamed = script.view(limit=400, facts=facts_of(script.view()), count=words)
    other = run(renamed, text).view
    for turn in turns_of(view):
        assert shown(other, turn) == shown(view, turn), (turn, text)
