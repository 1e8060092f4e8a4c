"""Small sessions whose windows can be told by heart: pairing, guard, budgets, bases, modes, case C16."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.ingest import open_trace
from ctxview.model import Block, Edit, Origin, Pin, Place
from ctxview.policies import parse_stack
from ctxview.replay import Replay, replay
from ctxview.report.replay import replay_report
from ctxview.window import SessionView

from .sessions import SESSION, Script, ids, shown, with_facts, words

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"


def under(view: SessionView, stack: str) -> Replay:
    return replay(view, parse_stack(stack), count=words)


def agent() -> Script:
    """System, goal, three calls with results, a request."""
    script = Script()
    script.system("be brief")
    script.user("goal of the work")
    for n in (1, 2, 3):
        script.call()
        script.use(f"c{n}", text='{"n": 1}')
        script.result(f"c{n}", f"result {n} " + "x " * 20)
    script.call()
    script.say("done with it")
    script.user("well?")
    script.call()
    return script


# --------------------------------------------------------------------------------------------------------------- C16


def c16(stack: str) -> list[tuple[str, str]]:
    with open_trace([str(CASES / "C16.json")], cache=False) as trace:
        view = replay(trace.view(), parse_stack(stack)).view
        return [(w.block.kind, view.text(w.span.content)) for w in view.window(view.now)]


def test_c16_a_raw_cut_orphans_two_results() -> None:
    assert [text for kind, text in c16("keep-last-n:n=3") if kind == "tool_result"] == ["A", "B"]
    assert not any(kind == "tool_call" for kind, _ in c16("keep-last-n:n=3"))


def test_c16_a_valid_replay_keeps_the_words_and_drops_the_results() -> None:
    kept = c16("keep-last-n:n=3:repair=yes")
    assert kept == [("user", "Also check c."), ("assistant", "Checking."), ("user", "Well?")]


def test_c16_the_unanswered_message_is_always_last_and_verbatim() -> None:
    for stack in ("keep-last-n:n=1:repair=yes", "pin-goal:n=1", "pinned-rolling:budget=1", "retrieval:top_k=0"):
        assert c16(stack)[-1] == ("user", "Well?")


# -------------------------------------------------------------------------------------------------- pairing and guard


def test_a_result_without_its_call_goes_and_is_reported() -> None:
    done = under(agent().view(), "keep-last-n:n=3:repair=yes")
    assert [w.block.kind for w in done.view.window(5)] == ["system", "assistant", "user"]
    mended = [e for e in done.view.edits_at(5) if e.layer == "repair"]
    assert [e.rule for e in mended] == ["orphan-result"]
    assert all(e.reason and e.evidence for e in mended)


def test_a_batch_of_which_a_part_was_taken_goes_as_a_whole() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("a")
    script.use("b")
    script.result("a", "x " * 50)
    script.result("b", "short")
    script.user("next")
    script.call()
    view = with_facts(script.view())
    done = under(view, "keep-last-n:n=2:repair=yes")
    assert [w.block.kind for w in done.view.window(2)] == ["user"]
    assert not done.view.pairing(2).orphans


def test_a_call_without_a_result_goes_unless_it_may_still_be_answered() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.say("let me see")
    script.use("a")
    view = script.view()
    assert [w.block.kind for w in under(view, "pin-goal").view.window(2)] == ["user", "assistant", "tool_call"]
    script.user("never mind")
    script.call()
    view = script.view()
    done = under(view, "pin-goal")
    assert [w.block.kind for w in done.view.window(2)] == ["user", "assistant", "user"]
    assert [(e.layer, e.rule) for e in done.view.edits] == [("repair", "orphan-call")]


def test_thinking_that_is_left_alone_goes() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.think("hm")
    script.use("a")
    script.user("stop")
    script.call()
    done = under(script.view(), "pin-goal")
    assert [w.block.kind for w in done.view.window(2)] == ["user", "user"]
    assert {e.rule for e in done.view.edits} == {"orphan-call", "thinking-only"}


def test_a_summary_is_not_put_between_a_call_and_its_result() -> None:
    script = Script()
    script.user("goal " + "w " * 100)
    script.call()
    script.use("a")
    script.user("one more thing")
    script.result("a", "x " * 50)
    script.call()
    done = under(script.view(), "anthropic-compact:trigger=100:stub=5")
    assert [w.block.kind for w in done.view.window(2)] == ["summary", "tool_call", "tool_result"]


def test_what_is_recited_after_an_open_call_leaves_it_open() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("a")
    view = with_facts(script.view(), [Pin(0, "goal", "matched", "first", 1, priority=9)])
    done = under(view, "reinject:at=tail:what=all").view
    assert [w.block.kind for w in done.window(2)] == ["user", "tool_call", "note"]
    assert not done.pairing(2).orphans


@pytest.mark.parametrize("stack", ["reinject:at=tail:what=all", "reinject:at=tail:what=all,reinject"])
def test_what_is_put_in_goes_behind_a_pair_that_comes_back_around_it(stack: str) -> None:
    """The policy takes the newest request, the recital goes to the end of what is left, the guard puts the request
    back; on the next turn, when it is no longer the newest, the recital stands where its policy puts it."""
    script = Script()
    script.user("goal")
    script.call()
    script.use("a")
    script.user("one more thing")
    script.result("a", "x " * 50)
    script.call()
    script.say("done")
    script.user("go on")
    script.call()
    view = with_facts(script.view(), [Pin(0, "goal", "matched", "first", 1, priority=9)])
    for naive in (False, True):
        done = replay(view, parse_stack(f"pinned-rolling:budget=20,{stack}"), count=words, naive=naive).view
        kinds = [w.block.kind for w in done.window(2)]
        assert kinds[:4] == ["user", "tool_call", "user", "tool_result"]
        assert set(kinds[4:]) == {"note"}
        assert [w.block.kind for w in done.window(3) if w.block.kind != "note"] == ["user", "user", "assistant", "user"]
        assert done.window(3)[-1].block.kind == "note"


def test_unsafe_policies_show_what_a_provider_would_answer() -> None:
    done = under(agent().view(), "keep-last-n:n=3")
    assert done.metrics.turns[4].orphans == 1
    assert (done.metrics.provider_error or "").startswith("400 invalid_request_error: messages.1: unexpected")
    assert under(agent().view(), "keep-last-n:n=3:repair=yes").metrics.provider_error is None


def test_the_newest_request_comes_back_with_the_call_that_it_answers() -> None:
    done = under(agent().view(), "component-budgets:history=0:output=0")
    for turn in (2, 3, 4):
        kinds = [w.block.kind for w in done.view.window(turn)]
        assert kinds[-2:] == ["tool_call", "tool_result"], turn


def test_a_budget_that_cannot_be_kept_names_turn_blocks_and_sizes_and_the_rest_still_shows() -> None:
    view = with_facts(agent().view(), [Pin(1, "goal", "matched", "first", 1, priority=9)])
    done = under(view, "compact-groups:max=100:keep=1")
    assert done.failures == ()
    script = agent()
    script.user("word " * 300)
    script.call()
    source = with_facts(script.view(), [Pin(1, "goal", "matched", "first", 1, priority=9)])
    failing = under(source, "compact-groups:max=100")
    failure = failing.failures[0]
    assert (failure.layer, failure.what, failure.turn, failure.budget) == ("compact-groups", "window", 6, 100)
    assert failure.protected[0][1] == 300
    assert {"b1", "b2"} <= {block for block, _ in failure.protected}
    assert "compact-groups: window of " in failure.message
    assert len(failing.view.window(6)) >= 3


# -------------------------------------------------------------------------------------------------------------- bases


def cut_session() -> SessionView:
    """A compaction before turn 3 with a summary, and a rewind before turn 4."""
    script = Script()
    first = script.user("goal")
    script.call()
    answer = script.say("first answer")
    second = script.user("second")
    script.call()
    last = script.say("second answer")
    script.cut([first, answer, second, last])
    script.block("user", "summary", "what happened", inserted=True)
    asked = script.user("third")
    script.call()
    third = script.say("third answer")
    script.cut([asked, third], "rewind")
    script.user("third, better")
    script.call()
    return script.view()


def test_history_undoes_the_clients_cuts_and_keeps_rewinds() -> None:
    source = cut_session()
    assert ids(source, 4) == ["b5", "b8"]
    view = under(source, "history").view
    assert ids(view, 3) == ["b1", "b2", "b3", "b4", "b6"]
    assert ids(view, 4) == ["b1", "b2", "b3", "b4", "b8"]
    assert [e.rule for e in view.edits] == ["rewind", "rewind"]


def test_recorded_with_a_layer_keeps_the_clients_cuts() -> None:
    view = under(cut_session(), "recorded,pin-goal").view
    assert ids(view, 3) == ["b5", "b6"]
    assert {e.layer for e in view.edits} == {"recorded"}


def test_what_was_never_sent_is_no_history() -> None:
    script = Script()
    script.user("goal")
    branch = Block(SESSION, "branch", "user", "user", "other branch", Origin("f", 9), "branch", enters=False)
    script.events.append(branch)
    script.call()
    assert ids(under(script.view(), "history").view, 1) == ["b1"]


def test_a_block_that_was_put_before_others_stands_there_in_the_history() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.say("answer")
    script.events.append(
        Block(SESSION, "early", "system", "system", "late system", Origin("f", 9), "early", place=Place("start"))
    )
    script.call()
    assert ids(under(script.view(), "history").view, 2) == ["early", "b1", "b2"]
    assert ids(under(script.view(), "pin-goal:n=1").view, 2) == ["early", "b1", "b2"]


def test_text_that_the_client_cleared_is_whole_in_the_history_and_cleared_in_recorded() -> None:
    script = agent()
    script.events.append(
        Edit(SESSION, "replace", "b4", "microcompact", "cleared", text="[cleared]", form="placeholder")
    )
    script.user("more")
    script.call()
    source = script.view()
    for stack, form in (("recorded,pydantic-clamp", "placeholder"), ("history", "verbatim")):
        forms = {i: f for i, f, _ in shown(under(source, stack).view, 6)}
        assert forms["b4"] == form


# ----------------------------------------------------------------------------------------------- modes and simulation


def test_sticky_goes_on_from_its_own_output_and_recompute_from_the_base() -> None:
    script = Script()
    script.user("goal " + "w " * 10)
    for n in range(8):
        script.call()
        script.say(f"answer {n} " + "w " * 20)
        script.user(f"note {n}")
    script.call()
    source = with_facts(script.view(), [Pin(0, "goal", "matched", "first", 1, priority=9)])
    sticky = under(source, "compact-groups:max=100:keep=1")
    recomputed = under(source, "compact-groups:max=100:keep=1:mode=recompute")
    assert 0 < sticky.metrics.totals.cuts < recomputed.metrics.totals.cuts
    assert sticky.metrics.totals.input >= recomputed.metrics.totals.input
    assert sticky.metrics.turns[-1].tokens <= 100


def test_sizes_are_simulated_with_what_was_never_logged() -> None:
    script = Script()
    script.user("one two three")
    script.call(1_000)
    script.say("four five")
    script.user("six")
    script.call(1_010)
    source = script.view()
    view = under(source, "pin-goal").view
    assert source.tokens(2).unlogged == 1_004
    assert (view.tokens(2).recorded, view.tokens(2).unlogged, view.size(2)) == (None, 1_004, 1_010)
    assert view.fidelity == "simulated"
    assert view.turn(2) is not None
    assert view.turns[1].fidelity == "simulated"
    assert sum(v or 0 for v in view.by_kind(2).values()) == view.size(2)


def test_policies_count_the_unlogged_rest_of_an_earlier_call_never_of_their_own() -> None:
    script = Script()
    script.user("goal")
    script.call(500)
    script.say("a b c")
    script.user("more")
    script.call(900)
    view = script.view()
    sizes = under(view, "pin-goal").sizes
    assert list(sizes[:2]) == [1, 5 + 499]


def test_the_head_before_the_last_change_is_what_a_cache_can_read() -> None:
    done = under(agent().view(), "pin-goal:n=1")
    costs = done.metrics.turns
    assert [t.cached for t in costs][:3] == [0, 6, 6]
    assert done.metrics.breaks_at(3) == "pin-goal:marker"
    assert done.metrics.components(3)["synthetic"] > 0


@pytest.mark.parametrize("stack", ["keep-last-n:n=2", "pin-goal:n=2", "compact-groups:max=100"])
def test_the_two_same_policies_of_a_stack_have_names_of_their_own(stack: str) -> None:
    done = under(agent().view(), f"{stack},{stack}")
    name = stack.split(":")[0]
    assert list(done.fired or {}) == [name, f"{name}#2"]


def test_json_reports_are_plain_values() -> None:
    report = replay_report(under(agent().view(), "pin-goal:n=1"))
    assert json.loads(json.dumps(report)) == report
    assert list(report)[:4] == ["stack", "turns", "totals", "needed_later"]
    assert list(report["totals"]) == [
        "peak", "input", "billed", "cuts", "saved", "cache_busts", "orphans", "lost", "first_failure", "regret",
        "fired", "needed", "mean", "first", "good_cuts", "denied_again",
    ]  # fmt: skip
    assert list(report["totals"]["lost"]) == [
        "goal", "constraint", "preference", "decision", "denial", "approval", "value",
    ]  # fmt: skip


def test_a_call_of_the_providers_own_is_no_orphan() -> None:
    """A web search that the server ran: its result is no block, and the call was sent all the same."""
    script = Script()
    script.user("Goal: look it up")
    script.call()
    search = script.block("assistant", "tool_call", "{}", "m1", tool="web_search")
    script.say("found")
    script.user("and?")
    script.call()
    script.say("done")
    done = replay(script.view(), parse_stack("pin-goal:n=9"), count=words)
    assert search in ids(done.view, 2)
    assert done.metrics.turns[1].orphans == 0
