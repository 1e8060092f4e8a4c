"""What the bundled samples must show under each policy: what each was made to show."""

from __future__ import annotations

from functools import cache

import pytest

from ctxview.ingest import open_trace
from ctxview.model import NEVER
from ctxview.policies import parse_stack
from ctxview.replay import Replay, replay
from ctxview.sample_traces import SAMPLES, sample_path
from ctxview.window import SessionView


@cache
def recorded(name: str) -> SessionView:
    with open_trace([str(sample_path(name))], cache=False) as trace:
        view = trace.view()
        # the texts go with the store
        keys = {s.content for s in view.spans} | {b.content for b in view.blocks}
        texts = {key: view.text(key) for key in keys}
    return SessionView(
        view.row, list(view.turns), view.blocks, view.spans, list(view.edits), list(view.cuts), view.audit,
        texts.__getitem__, facts=view.facts,
    )  # fmt: skip


@cache
def under(name: str, stack: str) -> Replay:
    return replay(recorded(name), parse_stack(stack))


def rows(view: SessionView, turn: int) -> list[tuple[int, str, int]]:
    return [(w.block.n, w.span.form, w.span.content) for w in view.window(turn)]


def texts(view: SessionView, turn: int) -> list[str]:
    return [view.text(w.span.content) for w in view.window(turn)]


def holds(view: SessionView, turn: int, words: str) -> bool:
    return any(words in text for text in texts(view, turn))


def sent(view: SessionView) -> range:
    return range(1, view.last + 1)


def conversation(view: SessionView, turn: int) -> int:
    """Wire messages without the system prompt."""
    return len({w.position for w in view.window(turn) if w.block.kind not in ("system", "tools")})


# ---------------------------------------------------------------------------------------------------------- theorems


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
@pytest.mark.parametrize("stack", ["", "recorded"])
def test_the_recorded_layer_alone_is_the_recorded_window(sample, stack: str) -> None:  # type: ignore[no-untyped-def]
    assert under(sample.name, stack).view is recorded(sample.name)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_a_layer_that_never_fires_leaves_the_recorded_windows_block_for_block(sample) -> None:  # type: ignore[no-untyped-def]
    source, view = recorded(sample.name), under(sample.name, "recorded,pydantic-clamp").view
    if sample.name == "refund":  # its recorded windows hold orphans, which are mended
        return
    for turn in sent(source):
        assert rows(view, turn) == rows(source, turn), turn


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_history_holds_every_arrival(sample) -> None:  # type: ignore[no-untyped-def]
    source, view = recorded(sample.name), under(sample.name, "history").view
    unsent = {e.block for e in source.edits if e.rule == "never-sent"}
    arrived = [b.n for b in source.blocks if not b.inserted and b.n not in unsent]
    assert sorted(w.block.n for w in view.window(view.now)) == arrived
    assert all(s.end == NEVER for s in view.spans)


# ---------------------------------------------------------------------------------------------------------- collapse


def test_collapse_under_keep_last_is_what_was_recorded() -> None:
    source, view = recorded("collapse"), under("collapse", "keep-last-n:n=6").view
    assert [rows(view, t) for t in sent(source)] == [rows(source, t) for t in sent(source)]
    assert under("collapse", "keep-last-n").metrics.totals.lost["goal"] == 4


def test_collapse_under_pin_goal_always_holds_the_goal_in_at_most_eight_messages() -> None:
    done = under("collapse", "pin-goal:n=6")
    for turn in sent(done.view):
        assert holds(done.view, turn, "migrate the parcels database from MySQL 5.7 to Postgres 16")
        assert conversation(done.view, turn) <= 8
    assert done.metrics.totals.lost["goal"] is None
    assert holds(done.view, 10, "[13 earlier messages dropped; no decisions were made in them]")


def test_collapse_under_carry_decisions_keeps_what_the_marker_of_pin_goal_denies() -> None:
    done = under("collapse", "carry-decisions")
    for words in ("every DATETIME becomes timestamptz", "skip the invoices table", "do we keep the archive_2019"):
        assert holds(done.view, 10, words)
    assert done.metrics.totals.lost["decision"] is None
    assert under("collapse", "pin-goal").metrics.totals.lost["decision"] == 4


@pytest.mark.parametrize("at", ["head", "tail"])
def test_collapse_with_reinjection_keeps_goal_and_decisions_beside_a_naive_trim(at: str) -> None:
    done = under("collapse", f"keep-last-n:repair=yes,reinject:at={at}")
    assert done.metrics.totals.first_failure is None
    last = done.view.window(10)
    assert last[{"head": 1, "tail": -1}[at]].block.id == "reinject:state"


# ------------------------------------------------------------------------------------------------------------ refund


def test_refund_under_its_own_baseline_is_what_was_recorded() -> None:
    source, done = recorded("refund"), under("refund", "keep-last-n:n=7")
    assert [rows(done.view, t) for t in sent(source)] == [rows(source, t) for t in sent(source)]
    assert done.metrics.provider_error is not None
    assert "messages.1: unexpected `tool_use_id`" in done.metrics.provider_error


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7])
def test_refund_under_carry_decisions_never_loses_a_denial_whose_call_was_dropped(n: int) -> None:
    done = under("refund", f"carry-decisions:n={n}")
    assert {kind for kind, turn in done.metrics.totals.lost.items() if turn is not None} == set()
    assert all(holds(done.view, turn, "DENIED by policy: refunds above 500.00 EUR") for turn in range(4, 16))
    planned = replay(recorded("refund"), parse_stack(f"carry-decisions:n={n}"), naive=True)
    assert list(done.sizes) == list(planned.sizes)


def test_refund_under_compact_groups_loses_nothing_and_fits() -> None:
    done = under("refund", "compact-groups:max=2000:trigger=0.8:keep=2")
    view, totals = done.view, done.metrics.totals
    for turn in sent(view):
        assert holds(view, turn, "Goal: find out which of Orchard & Vane's invoices")
        assert turn < 4 or holds(view, turn, "DENIED by policy: refunds above 500.00 EUR")
        assert turn < 5 or holds(view, turn, "never contact the customer directly")
        assert not view.pairing(turn).orphans
        assert view.size(turn) <= 2000
    assert done.failures == ()
    assert (totals.orphans, totals.cuts, totals.peak) == (0, 6, 1575)
    assert {kind for kind, turn in totals.lost.items() if turn is not None} == set()


def test_refund_under_compact_groups_ends_with_eleven_messages_and_the_digest() -> None:
    source, view = recorded("refund"), under("refund", "compact-groups").view
    digest = (
        "[compacted 24 earlier messages] | tools used: fetch_invoices x8, get_account x1, get_payments x1, "
        "issue_refund x1, draft_email x1 | denials preserved: 1"
    )
    assert digest in texts(view, 15)
    assert view.messages(15) == 11
    assert (view.counted(15), source.counted(15)) == (318, 505)


def test_refund_digests_count_messages_and_calls() -> None:
    """Eight groups of two messages are sixteen messages and eight calls."""
    view = under("refund", "compact-groups").view
    digests = [t for turn in sent(view) for t in texts(view, turn) if t.startswith("[compacted ")]
    assert digests[0] == "[compacted 4 earlier messages] | tools used: fetch_invoices x2"
    assert any(d.endswith(" | denials preserved: 1") for d in digests)


def test_refund_pins_hold_their_cap_by_an_eviction_that_is_named() -> None:
    done = under("refund", "compact-groups:max=1200:pin-cap=0.05")
    rules = {e.rule for e in done.view.edits}
    assert "pin-evicted" in rules
    assert all(holds(done.view, turn, "Goal: find out") for turn in sent(done.view))


def test_refund_with_offload_never_lets_a_page_in() -> None:
    view = under("refund", "offload:over=200:lines=2").view
    assert all(span.tokens <= 200 for turn in sent(view) for span in view.spans_at(turn))
    assert holds(view, 15, "[offloaded: 525 tokens, ")


# ------------------------------------------------------------------------------------------------------------- tutor


def test_tutor_under_pinned_rolling_keeps_method_and_preference() -> None:
    done = under("tutor", "pinned-rolling:budget=1500")
    for turn in range(4, done.view.last + 1):
        assert holds(done.view, turn, "complete the square, rather than the quadratic formula")
        assert holds(done.view, turn, "round every result to two decimals")
    assert done.failures == ()
    assert done.metrics.totals.lost["preference"] is None
    assert under("tutor", "recorded").metrics.totals.lost["preference"] == 35


def test_tutor_with_pins_over_the_budget_names_them_and_goes_on() -> None:
    done = under("tutor", "pinned-rolling:budget=50")
    failure = next(f for f in done.failures if f.what == "pins")
    names = {block for block, _ in failure.protected}
    pins = {done.view.blocks[p.block].id for p in done.view.facts.pins if p.kind in ("goal", "preference")}
    assert pins & names
    assert failure.budget == 50
    assert failure.tokens > 50
    assert all(block in failure.message for block, _ in failure.protected[:8])
    assert done.view.window(done.view.last)


# ------------------------------------------------------------------------------------------------------------- stale


def test_stale_under_supersede_holds_exactly_one_version() -> None:
    source, done = recorded("stale"), under("stale", "supersede")
    assert len(source.facts.resources.versions_in([w.block.n for w in source.window(40)], 40)) == 1
    shown = [w.block.n for w in done.view.window(40) if w.span.form == "verbatim"]
    assert done.view.facts.resources.versions_in(shown, 40) == {}
    settings = [t for t in texts(done.view, 40) if "address: queue-" in t]
    assert len(settings) == 1
    assert "queue-c.parcel.internal:5671" in settings[0]
    assert sum("address: queue-" in t for t in texts(source, 40)) == 3
    assert [e.rule for e in done.view.edits] == ["superseded"] * 3


def test_stale_flags_what_is_old_and_not_superseded() -> None:
    view = under("stale", "supersede,stale:turns=8").view
    flagged = [w for w in view.window(40) if w.span.form == "flagged"]
    assert flagged
    assert all(view.text(w.span.content).startswith("[stale: ") for w in flagged)
    assert not any(w.span.form == "flagged" for w in view.window(8))


def test_a_flag_that_names_the_age_breaks_the_prefix_on_every_turn() -> None:
    constant, aged = under("stale", "stale").metrics.totals, under("stale", "stale:text=age").metrics.totals
    assert aged.billed > 1.5 * constant.billed


# ------------------------------------------------------------------------------------------------------------ ledger


def test_ledger_read_back_has_the_value_in_the_window_of_the_draft() -> None:
    source, view = recorded("ledger"), under("ledger", "ledger-readback").view
    note = view.window(403)[-1]
    assert note.block.id == "ledger-readback:rows"
    assert "cutoff" in view.text(note.span.content)
    assert "p60" in view.text(note.span.content)
    assert "ledger-readback:rows" not in [w.block.id for w in view.window(3)]
    assert source.last == 420


def test_ledger_read_back_when_asked_for_a_draft_is_rarer() -> None:
    view = under("ledger", "ledger-readback:when=draft").view
    asked = [turn for turn in sent(view) if holds(view, turn, "[ledger]")]
    assert 0 < len(asked) < 120


