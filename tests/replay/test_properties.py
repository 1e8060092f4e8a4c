"""What must hold for every registered policy and for stacks of them, on generated histories."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.policies import POLICIES, Policy, parse_stack
from ctxview.policies.window import newest_request
from ctxview.replay import Replay, replay
from ctxview.replay.prepared import prepared
from ctxview.window import SessionView

from .histories import HISTORIES, LONG, Turn, facts_of, session, write
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
STACKS = st.builds(
    lambda base, layers: ",".join([*base, *layers]),
    st.sampled_from([[], ["recorded"]]),
    st.lists(st.sampled_from(SAFE), min_size=1, max_size=4),
)


def run(view: SessionView, text: str, naive: bool = False) -> Replay:
    return replay(view, parse_stack(text), count=words, naive=naive)


def turns_of(view: SessionView) -> range:
    return range(1, view.now + 1)


def base_entries(view: SessionView, text: str, turn: int) -> list:  # type: ignore[type-arg]
    """The entries that the stack starts from at a turn."""
    standing = {}
    for t, delta in sorted(prepared(view).base(view, parse_stack(text).base).deltas.items()):
        if t > turn:
            break
        for n, (entry, _) in delta.items():
            if entry is None:
                standing.pop(n, None)
            else:
                standing[n] = entry
    return sorted(standing.values(), key=lambda e: e.pos)


@EXAMPLES
@given(HISTORIES, STACKS)
def test_u1_every_call_has_its_result_and_every_result_its_call(turns: list[Turn], text: str) -> None:
    view = run(session(turns), text).view
    for turn in turns_of(view):
        pairing = view.pairing(turn)
        assert not pairing.orphans, (turn, text)
        assert not pairing.duplicates, (turn, text)
        standing = {w.block.n: w.block for w in view.window(turn)}
        said: dict[str, set[str]] = {}
        for block in standing.values():
            if block.role == "assistant":
                said.setdefault(block.message, set()).add(block.kind)
        if turn <= view.last:
            assert all(kinds != {"thinking"} for kinds in said.values()), (turn, text)


@EXAMPLES
@given(HISTORIES, STACKS)
def test_u2_u3_every_block_is_kept_as_it_was_or_gone_for_a_reason(turns: list[Turn], text: str) -> None:
    source = session(turns)
    view = run(source, text).view
    own = len(source.blocks)
    for turn in turns_of(view):
        standing = {s.block: s for s in view.spans_at(turn)}
        for entry in base_entries(source, text, turn):
            span = standing.get(entry.n)
            if span is None:
                life = [s for s in view.life(entry.n) if s.start <= turn]
                assert life, (turn, entry)
                assert life[-1].ended_by is not None, (turn, entry)
                assert view.edits[life[-1].ended_by].reason
            elif span.form == "verbatim":
                assert span.content == entry.content
    for edit in view.edits:
        assert edit.layer
        assert edit.rule
        assert edit.reason
        assert edit.evidence or edit.layer == "recorded", edit
    put_in = {s.block for s in view.spans if s.block >= own}
    assert put_in <= {e.block for e in view.edits if e.action in ("insert", "move")}


@EXAMPLES
@given(HISTORIES, st.one_of(STACKS, st.sampled_from(TEXTS)), st.data())
def test_no_look_ahead(turns: list[Turn], text: str, data: st.DataObject) -> None:
    """The window of a turn is the same when the session ends with that call."""
    whole = run(session(turns), text).view
    last = data.draw(st.integers(1, len(turns)))
    cut = run(session(turns, last), text).view
    for turn in range(1, last + 1):
        assert shown(whole, turn) == shown(cut, turn), (turn, text)


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
@given(HISTORIES, STACKS)
def test_u6_the_newest_request_is_always_there(turns: list[Turn], text: str) -> None:
    source = session(turns)
    view = run(source, text).view
    for turn in turns_of(view):
        entries = base_entries(source, text, turn)
        standing = {w.block.n for w in view.window(turn)}
        calls = {e.n for e in entries if e.kind == "tool_call"}
        answered = {e.item.call for e in entries if e.n in standing and e.kind == "tool_result"}
        for entry in newest_request(entries):
            if entry.item.call < 0 and entry.kind != "tool_result":
                assert entry.n in standing, (turn, text, entry)
            elif entry.item.call in calls:
                assert entry.item.call in answered, (turn, text, entry)
        assert any(view.blocks[n].role != "system" for n in standing), (turn, text)


@EXAMPLES
@given(HISTORIES, STACKS)
def test_u7_survivors_keep_their_order(turns: list[Turn], text: str) -> None:
    if any(layer.policy.reorders for layer in parse_stack(text).layers):
        return
    source = session(turns)
    view = run(source, text).view
    for turn in turns_of(view):
        place = {e.n: i for i, e in enumerate(base_entries(source, text, turn))}
        order = [place[w.block.n] for w in view.window(turn) if w.block.n in place]
        assert order == sorted(order), (turn, text)


@EXAMPLES
@given(HISTORIES, STACKS)
def test_u8_a_budget_holds_or_is_a_named_failure(turns: list[Turn], text: str) -> None:
    source = session(turns)
    done = run(source, text)
    for layer in parse_stack(text).layers:
        if layer.budget is None:
            continue
        for turn in turns_of(source):
            size = done.sizes[turn - 1]
            if layer.policy.counts == "memory":
                size = sum(w.span.tokens for w in done.view.window(turn) if w.block.kind not in ("system", "tools"))
            if size > layer.budget:
                assert any(f.turn <= turn <= f.until and f.protected for f in done.failures), (turn, text)
    for turn in turns_of(source):
        assert done.view.counted(turn) == sum(s.tokens for s in done.view.spans_at(turn))


@pytest.mark.parametrize("text", TEXTS)
@settings(EXAMPLES, max_examples=15)
@given(turns=HISTORIES)
def test_u9_no_policy_makes_a_window_larger_unless_it_says_so(text: str, turns: list[Turn]) -> None:
    layer = parse_stack(text).layers[0]
    if layer.policy.may_grow or layer.unsafe:
        return
    source = session(turns)
    view = run(source, text).view
    for turn in turns_of(view):
        base = sum(e.tokens for e in base_entries(source, text, turn))
        assert view.counted(turn) <= base, (turn, text)


@pytest.mark.parametrize("text", TEXTS)
@settings(EXAMPLES, max_examples=15)
@given(turns=HISTORIES)
def test_declared_flags_hold(text: str, turns: list[Turn]) -> None:
    layer = parse_stack(text).layers[0]
    policy = layer.policy
    source = session(turns)
    view = run(source, text).view
    if policy.idempotent:
        twice = run(source, f"{text},{text}").view
        for turn in turns_of(view):
            assert shown(twice, turn) == shown(view, turn), turn
    if policy.monotone:
        for block in source.blocks:
            life = view.life(block.n)
            for span, later in pairwise(life):
                edit = view.edits[span.ended_by or 0]
                if edit.layer == policy.name and edit.action == "drop" and later.start >= span.end:
                    entered = [e.layer for e in view.edits_at(later.start) if e.block == block.n]
                    assert entered in (["guard"], ["repair"]), (block, span, later)
    if policy.stable_head and layer.mode == "sticky":
        for turn in range(2, view.now):
            if not view.edits_at(turn):
                before, after = shown(view, turn - 1), shown(view, turn)
                assert after[: len(before)] == before, turn


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
    rows = ((e.layer, e.rule, e.action, e.block, e.reason, e.at, e.covers, e.evidence) for e in view.edits_at(turn))
    return sorted(rows, key=repr)


@EXAMPLES
@given(LONG, st.sampled_from([text for text in TEXTS if parse_stack(text).layers[0].policy.step is not None]))
def test_increments_tell_the_same_edits_and_cuts(turns: list[Turn], text: str) -> None:
    fast, slow = run(session(turns), text), run(session(turns), text, naive=True)
    for turn in turns_of(fast.view):
        assert told(fast.view, turn) == told(slow.view, turn), (turn, text)
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
