"""The facts that later checks stand on, as the recorded cases expect them in the windows: pins, denials, open work."""

from __future__ import annotations

from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path
from ctxview.window import SessionView
from tests.cases.windows import ids, opened


def pinned(view: SessionView, turn: int) -> list[tuple[str, str]]:
    """Blocks of the window that are pinned, with the kind of their most important pin."""
    return [(row.block.id, row.pin.kind) for row in view.window(turn) if row.pin is not None]


def test_c03_a_project_rule_is_lost_at_a_cut_and_comes_back_one_request_later() -> None:
    with opened("C03.jsonl") as trace:
        view = trace.view()
        assert [("p1" in ids(view, turn), "p2" in ids(view, turn)) for turn in range(1, 5)] == [
            (True, False),
            (True, False),
            (False, False),
            (False, True),
        ]
        rules = {view.blocks[p.block].id: p.quote for p in view.facts.pins if p.kind == "constraint"}
        assert rules == dict.fromkeys(("p1", "p2"), "Project rule: never add a Co-Authored-By line to commits.")
        assert ("p1", "system") in pinned(view, 2)
        assert not any(kind == "system" for _, kind in pinned(view, 3))


def test_c06_the_marked_goal_stands_before_the_cut_and_not_after_it() -> None:
    with opened("C06.jsonl") as trace:
        view = trace.view()
        assert [kind for _, kind in pinned(view, 1)] == ["goal"]
        assert "goal" not in [kind for _, kind in pinned(view, view.last)]
        last = [view.text(row.block.content) for row in view.window(view.now)]
        assert last[:3] == ["Start.", "Summary: some tests moved.", "continue"]


def test_c08_the_denial_and_the_words_after_it_are_gone_when_the_target_is_taken_another_way() -> None:
    with opened("C08.jsonl") as trace:
        view = trace.view()
        denials = {view.blocks[p.block].id: (p.evidence, p.since) for p in view.facts.pins if p.kind == "denial"}
        assert denials == {"r1": ("stated", 2), "u2": ("matched", 2)}
        assert {("r1", "denial"), ("u2", "denial")} <= set(pinned(view, 2))
        assert ids(view, 3) == ["s1", "u3"]
        assert "build/cache" in view.text(next(b.content for b in view.blocks if b.id == "a3"))


def test_w19_the_second_task_is_open_at_the_end_and_the_first_is_not() -> None:
    with opened("W19.jsonl") as trace:
        view = trace.view()
        assert view.last == 3
        assert [kind for name, kind in pinned(view, view.now) if name in ("a1", "a2")] == ["workflow"]
        assert ("a2", "workflow") in pinned(view, view.now)


def test_refund_loses_all_three_at_the_end_and_collapse_its_goal() -> None:
    """Goal, constraint and denial are found with their evidence; the recorded windows at the end hold none of them."""
    with open_trace([str(sample_path("refund"))]) as trace:
        view = trace.view()
        told = {
            (p.kind, p.evidence, p.since)
            for p in view.facts.pins
            if (p.kind, p.since) in (("goal", 1), ("denial", 4), ("constraint", 5))
        }
        assert told == {("goal", "matched", 1), ("denial", "stated", 4), ("constraint", "matched", 5)}
        assert "goal" in {kind for _, kind in pinned(view, 1)}
        assert {kind for _, kind in pinned(view, 6)} >= {"denial", "constraint"}
        assert not {"goal", "denial", "constraint"} & {kind for _, kind in pinned(view, view.last)}
    with open_trace([str(sample_path("collapse"))]) as trace:
        view = trace.view()
        assert "goal" in {kind for _, kind in pinned(view, 1)}
        assert "goal" not in {kind for _, kind in pinned(view, view.last)}
