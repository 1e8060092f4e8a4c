"""What a replay's numbers are: sizes that stay plausible, heads that were there before, losses of what was sent."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ctxview.model import Observation, Pin, ResourceChange
from ctxview.policies import parse_stack
from ctxview.policies.facts import LedgerRow
from ctxview.replay import Replay, ViewFacts, replay
from ctxview.report.replay import replay_report
from ctxview.window import SessionView

from .sessions import Script, with_facts, words


def under(view: SessionView, stack: str) -> Replay:
    return replay(view, parse_stack(stack), count=words)


def number(view: SessionView, block_id: str) -> int:
    return view.block(block_id).n


def talk(prompts: list[int | None], said: int = 10, goal: int = 100) -> Script:
    """A goal, then answers and requests of `said` words each. `prompts`: what each call's usage says."""
    script = Script()
    script.user("goal " * goal)
    for prompt in prompts:
        script.call(prompt)
        script.say("w " * said)
        script.user("u " * said)
    return script


# ---------------------------------------------------------------------------------------------------------- sizes


def test_what_was_never_logged_is_read_from_a_cache_only_as_far_as_it_was_there_before() -> None:
    turns = under(talk([100, 150, 20_200, 20_250]).view(), "recorded").metrics.turns
    assert [(t.tokens, t.cached) for t in turns] == [(100, 0), (150, 100), (20_200, 150), (20_250, 20_200)]
    assert all(after.cached <= before.tokens for before, after in pairwise(turns))


def test_what_was_never_logged_stands_before_the_first_logged_block() -> None:
    turns = under(talk([5_100, 5_120, 5_140]).view(), "keep-last-n:n=1").metrics.turns
    assert [t.cached for t in turns] == [0, 5_000, 5_000]  # the goal and the answers leave, the system text stays


def test_where_more_was_counted_than_the_provider_did_a_smaller_window_has_its_share() -> None:
    view = talk([40, 40, 50, 60]).view()  # 100, 120, 140 and 160 words
    done = under(view, "keep-last-n:n=2")
    assert [t.tokens for t in done.metrics.turns] == [40, round(20 * 40 / 120), round(20 * 50 / 140), 8]
    for turn in range(1, 5):
        parts = done.view.by_kind(turn)
        assert sum(v or 0 for v in parts.values()) == done.view.size(turn) == done.metrics.turns[turn - 1].tokens
    assert [t.tokens for t in under(view, "history").metrics.turns] == [40, 40, 50, 60]


def test_a_turn_without_usage_keeps_the_unlogged_rest_and_says_so() -> None:
    view = talk([20_100, 20_120, None, 20_160]).view()
    recorded = under(view, "recorded").metrics
    assert [(t.tokens, t.source, t.carried) for t in recorded.turns] == [
        (20_100, "recorded", False), (20_120, "recorded", False), (20_140, "counted", True),
        (20_160, "recorded", False),
    ]  # fmt: skip
    assert recorded.totals.cache_busts == 0
    other = under(view, "keep-last-n:n=1").metrics
    assert [t.tokens for t in other.turns] == [20_100, 20_010, 20_010, 20_010]
    assert {t.source for t in other.turns} == {"simulated"}
    assert [t.carried for t in other.turns] == [False, False, True, False]
    assert other.totals.saved == recorded.totals.input - other.totals.input
    assert view.tokens(3).unlogged is None  # of that call itself nothing is known


def test_before_any_usage_a_size_is_what_was_counted() -> None:
    turns = under(talk([None, 20_120, None]).view(), "recorded").metrics.turns
    assert [(t.tokens, t.source, t.carried) for t in turns] == [
        (100, "counted", False), (20_120, "recorded", False), (20_140, "counted", True),
    ]  # fmt: skip


def test_what_policies_count_of_the_recorded_windows_has_the_unlogged_rest_of_the_call_before() -> None:
    view = talk([5_100, 5_220]).view()
    assert list(under(view, "recorded").sizes) == list(under(view, "history").sizes)
    assert list(under(view, "recorded").sizes) == [100, 5_120, 5_240]


# ----------------------------------------------------------------------------------------------------- needed later


def lookup() -> SessionView:
    """A number is read, quoted by the next answer, and read again."""
    text = "head\n" + "filler\n" * 300 + "the total is 982733 in INV_88431\n"
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    first = script.result("c1", text)
    script.call()
    script.say("The total of INV_88431 is 982733")
    script.user("look again")
    script.call()
    script.use("c2")
    second = script.result("c2", text)
    script.call()
    view = script.view()
    rows = [number(view, b) for b in (first, second)]
    return with_facts(
        view, (), [Observation(n, "file:A", "read", view.blocks[n].turn, view.blocks[n].turn + 1, content="same")
                   for n in rows],
    )  # fmt: skip


def test_what_is_replaced_on_arrival_was_gone_from_then_on() -> None:
    for stack in ("offload:over=100:lines=1", "clear-tool-uses:trigger=0:keep=0"):
        metrics = under(lookup(), stack).metrics
        (need,) = metrics.needed_later
        assert (need.dropped, need.used, need.how) == (2, 3, "read again"), stack
        assert metrics.totals.regret == 307, stack


def test_a_quotation_of_what_was_replaced_on_arrival_is_one() -> None:
    view = with_facts(lookup())
    (need,) = under(view, "offload:over=100:lines=1").metrics.needed_later
    assert (need.dropped, need.used) == (2, 2)
    assert need.how.startswith("quoted: ")


# ------------------------------------------------------------------------------------------------ cuts and failures


def test_flags_and_places_are_no_cuts() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    read = script.result("c1", "the content of a file of nine words or so")
    kept = []
    for n in range(12):
        script.call()
        script.say(f"word {n}")
        kept.append(script.user(f"never touch {n}"))
    script.call()
    view = script.view()
    row = Observation(number(view, read), "file:A", "read", 1, 2, content="1")
    flagged = under(with_facts(view, (), [row]), "stale")
    assert any(span.form == "flagged" for span in flagged.view.spans)
    assert flagged.metrics.totals.cuts == 0
    n = number(view, kept[3])
    pins = [Pin(0, "goal", "matched", "x", 1), Pin(n, "constraint", "matched", "x", view.blocks[n].turn + 1)]
    moved = under(with_facts(view, pins), "pinned-rolling:budget=25")
    assert any(edit.action == "move" for edit in moved.view.edits)
    assert {cut.kind for cut in moved.view.cuts} == {"truncate"}
    assert under(view, "clear-tool-uses:trigger=0:keep=0,keep-last-n:n=100:repair=yes").metrics.totals.cuts == 0
    assert [c.kind for c in under(view, "lifetime:ttl=3:kinds=tool_result").view.cuts] == ["clear"]


def test_what_stands_after_the_last_call_was_never_sent_and_fails_nothing() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.say("a")
    script.user("b")
    script.call()
    script.use("c1")
    script.result("c1", "x " * 500)
    view = script.view()
    for stack in ("component-budgets:output=10", "pinned-rolling:budget=100"):
        done = under(view, stack)
        assert [f.turn for f in done.failures] == [view.now], stack
        assert done.metrics.totals.first_failure is None, stack
    done = under(talk([None, None]).view(), "pin-goal:n=3")
    assert [cut.turn for cut in done.view.cuts] == [3]
    assert (done.metrics.totals.cuts, done.metrics.totals.fired, done.metrics.totals.needed) == (0, False, False)
    assert done.fired == {"pin-goal": 0}


# ---------------------------------------------------------------------------------------------------- turn by turn


def test_every_turn_says_which_layers_acted_and_what_set_them_off() -> None:
    view = talk([None] * 6).view()
    report = replay_report(under(view, "compact-groups:max=150:keep=1,keep-last-n:n=2:repair=yes"))
    fired = [t["fired"] for t in report["turns"]]
    assert fired[0] == []
    assert {"layer": "compact-groups", "trigger": 140} in fired[2]
    assert {"layer": "keep-last-n", "trigger": None} in fired[3]
    counts = {row["layer"]: row["fired"] for row in report["layers"]}
    assert counts == {
        name: sum(f["layer"] == name for turn in fired for f in turn) for name in ("compact-groups", "keep-last-n")
    }


@pytest.mark.parametrize(
    ("stack", "sees_size"),
    [
        ("clear-tool-uses:trigger=100:keep=1", True),
        ("clear-tool-uses:trigger=1:unit=uses:keep=1", False),
        ("langchain-clear-tool-uses:trigger=100:keep=1", True),
        ("anthropic-compact:trigger=100:stub=1", True),
        ("openhands-condenser:max=100:first=1:tokens=100", True),
        ("openhands-condenser:max=4:first=1", False),
        ("af-truncation:max=100:compact_to=80:by=tokens", True),
        ("af-truncation:max=4:compact_to=3", False),
    ],
)
def test_every_trigger_that_goes_by_size_says_the_size_it_saw(stack: str, sees_size: bool) -> None:
    script = Script()
    script.user("goal")
    for n in range(6):
        script.call()
        script.use(f"c{n}")
        script.result(f"c{n}", "x " * 40)
    fired = [f for turn in replay_report(under(script.view(), stack))["turns"] for f in turn["fired"]]
    assert fired
    assert all((f["trigger"] or 0) > 100 if sees_size else f["trigger"] is None for f in fired)


def test_fill_and_hit_are_shares_and_unknown_is_null() -> None:
    known = replay_report(under(talk([1_000, 1_020]).view(limit=10_000), "recorded"))["turns"][1]
    assert (known["fill"], known["hit"], known["headroom"]) == (0.102, round(1_000 / 1_020, 4), 8_980)
    unknown = replay_report(under(talk([None, None]).view(), "recorded"))
    assert unknown["turns"][1]["fill"] is None
    assert replay_report(under(Script().view(), "recorded"))["totals"]["mean"] is None
    assert unknown["totals"]["mean"] == 110


def test_components_are_counted_and_add_up() -> None:
    done = under(talk([5_100, 5_120, 5_140]).view(), "pin-goal:n=1")
    report = replay_report(done)
    for turn in report["turns"]:
        assert sum(turn["components"].values()) == done.view.counted(turn["turn"])
    assert report["turns"][0]["components"] == {
        "system": 0, "user": 100, "assistant": 0, "reasoning": 0, "call": 0, "result": 0, "synthetic": 0,
    }  # fmt: skip
    marker = "[3 earlier messages dropped; no decisions were made in them]"
    assert report["turns"][2]["components"]["synthetic"] == words(marker)


def agent() -> Script:
    script = Script()
    script.user("goal")
    for n in range(4):
        script.call()
        script.use(f"c{n}")
        script.result(f"c{n}", f"result {n}")
    script.call()
    return script


def test_what_a_stack_breaks_shows_before_repair() -> None:
    mended = replay_report(under(agent().view(), "keep-last-n:n=3:repair=yes"))["turns"]
    literal = replay_report(under(agent().view(), "keep-last-n:n=3"))["turns"]
    assert [t["orphans"] for t in mended] == [0, 0, 0, 0, 0]
    assert [t["orphans_before_repair"] for t in mended] == [t["orphans"] for t in literal] == [0, 0, 1, 1, 1]
    assert [t["repairs"] for t in mended] == [0, 0, 1, 1, 1]
    assert [t["repairs"] for t in literal] == [0, 0, 0, 0, 0]


def test_ages_of_the_oldest_block_and_of_what_is_not_seen() -> None:
    view = with_facts(talk([None] * 5).view(), [Pin(0, "goal", "matched", "x", 1)])
    report = replay_report(under(view, "keep-last-n:n=3"))
    assert [t["oldest"] for t in report["turns"]] == [1, 2, 2, 2, 2]
    assert [t["pins"]["unseen"] for t in report["turns"]] == [0, 0, 1, 2, 3]
    assert report["pins"] == [{"block": "b1", "pin": "goal", "from": 1, "to": 5, "absent": [{"from": 3, "to": 5}]}]
    whole = replay_report(under(view, "history"))
    assert [t["oldest"] for t in whole["turns"]] == [1, 2, 3, 4, 5]
    assert whole["pins"][0]["absent"] == []


def test_differing_copies_of_one_resource_contradict_each_other_until_one_gives_way() -> None:
    script = Script()
    script.user("goal")
    reads = []
    for n, text in enumerate(("one", "two", "two")):
        script.call()
        script.use(f"c{n}")
        reads.append(script.result(f"c{n}", f"the {text}"))
    script.call()
    view = script.view()
    a, b, c = (number(view, r) for r in reads)
    rows = [Observation(n, "file:A", "read", i, i + 1, content=text) for n, i, text in
            ((a, 1, "1"), (b, 2, "2"), (c, 3, "2"))]  # fmt: skip
    changes = [ResourceChange(a, "file:A", 3, "superseded", b, "read again"),
               ResourceChange(b, "file:A", 4, "superseded", c, "read again")]  # fmt: skip
    view = with_facts(view, (), rows, changes)
    report = replay_report(under(view, "history"))
    assert [t["contradictions"] for t in report["turns"]] == [0, 0, 1, 1]
    assert report["totals"]["first"]["contradiction"] == 3
    mended = replay_report(under(view, "supersede"))
    assert [t["contradictions"] for t in mended["turns"]] == [0, 0, 0, 0]
    assert mended["totals"]["first"] == {"orphan": None, "over": None, "contradiction": None}
    parts = [Observation(n, "file:A", "read", i, i + 1, first=f, last=f + 9, content=str(f)) for n, i, f in
             ((a, 1, 1), (b, 2, 11))]  # fmt: skip
    other = replay_report(under(with_facts(view, (), parts, changes[:1]), "history"))
    assert [t["contradictions"] for t in other["turns"]] == [0, 0, 0, 0]  # other lines say other things
    seen = [ResourceChange(a, "file:A", 3, "stale", b, "line 11 reads differently now")]
    partly = replay_report(under(with_facts(view, (), parts, seen), "history"))
    assert [t["contradictions"] for t in partly["turns"]] == [0, 0, 1, 1]  # a line that both hold differs


def test_a_denied_action_is_asked_for_again_where_the_denial_is_gone() -> None:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1", "pay", '{"to": "bob", "sum": 5}')
    denial = script.result("c1", "DENIED by policy: no payments", tool="pay")
    for n in range(3):
        script.call()
        script.say(f"well {n}")
        script.user("go on")
    script.call()
    again = script.use("c2", "pay", '{"sum": 5, "to": "bob"}')
    script.result("c2", "DENIED by policy: no payments", tool="pay")
    script.call()
    script.use("c3", "pay", '{"sum": 6, "to": "bob"}')
    view = script.view()
    view = with_facts(view, [Pin(number(view, denial), "denial", "stated", "x", 2)])
    report = replay_report(under(view, "keep-last-n:n=3:repair=yes"))
    assert report["denied_again"] == [{"block": again, "turn": 5, "denial": denial}]
    assert report["totals"]["denied_again"] == 1
    assert replay_report(under(view, "history"))["denied_again"] == []


def test_good_cuts_are_blocks_that_nothing_needed_after_they_had_left() -> None:
    assert replay_report(under(talk([None] * 4).view(), "keep-last-n:n=3"))["totals"]["good_cuts"] == 4
    assert replay_report(under(talk([None] * 4).view(), "history"))["totals"]["good_cuts"] == 0
    report = replay_report(under(lookup(), "offload:over=100:lines=1"))
    assert (len(report["needed_later"]), report["totals"]["good_cuts"]) == (1, 1)


def test_a_ledger_row_names_the_call_that_noted_it() -> None:
    script = Script()
    script.user("goal")
    script.call()
    note = script.use("c1", "take_note", '{"finding": "limit", "value": "982733", "source": "a.py"}')
    script.result("c1", "ok", tool="take_note")
    script.call()
    view = script.view()
    assert ViewFacts(view).ledger() == (LedgerRow("limit", "982733", "a.py", 2, (number(view, note),)),)
