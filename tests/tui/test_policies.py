"""Windows of other stacks: shown from the start, chosen in the panel, toggled by digits, taken back."""

from __future__ import annotations

from running import WIDE, running

from ctxview.focus import Focus
from ctxview.ingest import open_trace
from ctxview.policies import parse_stack
from ctxview.sample_traces import sample_path
from ctxview.tui.block_list import BlockList
from ctxview.tui.policies import SCENARIOS, PolicyScreen, moved, other_base, toggled, with_params
from ctxview.tui.stacks import HONEST, Stacks, finished, make_alternate


def sample(name):
    return lambda progress: open_trace([str(sample_path(name))], progress, cache=False)


def goal_of(main):
    view = main.stacks.recorded.view
    return next(pin.block for pin in view.pins.values() if pin.kind == "goal")


def stands(main, block):
    return block in {s.block for s in main.scene.view.spans_at(main.place.turn)}


async def test_a_stack_is_shown_from_the_start_and_says_that_it_is_simulated(size):
    async with running(open_trace=sample("collapse"), size=size, focus=Focus(stack="pin-goal")) as s:
        assert s.place.stack == "pin-goal"
        text = s.text()
        assert "pin-goal" in s.lines()[0]
        assert "simulated" in s.lines()[0]
        assert HONEST in text
        assert stands(s.main, goal_of(s.main)), "the goal stays in the list at the last turn"
        rows = s.main.query_one(BlockList).rows
        assert goal_of(s.main) in {getattr(r, "block", None) for r in rows}


async def test_the_recorded_window_lost_what_pin_goal_keeps():
    async with running(open_trace=sample("collapse"), size=WIDE) as s:
        assert not stands(s.main, goal_of(s.main))
        assert HONEST not in s.text()


async def test_refund_under_compact_groups_keeps_goal_constraint_and_denial():
    stack = "compact-groups:max=2000:trigger=0.8:keep=2"
    async with running(open_trace=sample("refund"), size=WIDE, focus=Focus(stack=stack)) as s:
        view = s.main.scene.view
        assert view.stack == s.place.stack
        kinds = {view.pins[b.block].kind for b in view.spans_at(view.last) if b.block in view.pins}
        assert {"goal", "constraint", "denial"} <= kinds
        assert "Δ -" in s.text()
        await s.press("Y")
        assert "--stack compact-groups" in s.app.clipboard


async def test_an_unknown_stack_is_named_and_the_rest_works(size):
    async with running(size=size, focus=Focus(stack="pin-gaol")) as s:
        assert "no policy 'pin-gaol'" in s.text()
        assert "did you mean 'pin-goal'?" in s.text()
        assert s.place.stack == "recorded"
        await s.press("h")
        assert s.place.turn == 11


async def test_a_budget_that_cannot_be_kept_names_blocks_tokens_and_turn(size):
    stack = "pinned-rolling:budget=30"
    async with running(open_trace=sample("tutor"), size=size, focus=Focus(stack=stack)) as s:
        text = " ".join(s.text().split())
        assert s.main.stacks.shown.replayed.failures
        failure = s.main.stacks.shown.replayed.failures[0]
        assert "pinned-rolling cannot keep its budget of 30 tokens" in text
        assert f"{failure.tokens:,} at turn {failure.turn:,}" in text
        block, tokens = failure.protected[0]
        assert f"{block[:8]}" in text
        assert f" {tokens:,}" in text
        turn = s.place.turn
        await s.press("h")
        assert s.place.turn == turn - 1


async def test_history_goes_back_over_stacks():
    async with running(open_trace=sample("collapse"), size=WIDE) as s:
        s.main.goto(Focus(s.place.session, s.place.turn, stack="pin-goal"))
        await s.settle()
        assert s.place.stack == "pin-goal"
        await s.press("ctrl+o")
        assert s.place.stack == "recorded"
        assert s.main.scene.view.base is None


async def test_space_in_the_panel_toggles_the_policy_under_the_cursor(size):
    async with running(open_trace=sample("collapse"), size=size) as s:
        await s.press("p", "j")
        panel = s.app.screen
        assert isinstance(panel, PolicyScreen)
        assert panel.here.name == "pin-goal"
        await s.press("space")
        assert s.place.stack == "pin-goal"
        assert stands(s.main, goal_of(s.main))
        assert "[1] 2 pin-goal" in s.text()
        await s.press("space")
        assert s.place.stack == "recorded"
        await s.press("u")
        assert s.place.stack == "pin-goal"
        await s.press("p")
        assert s.app.screen is s.main
        assert HONEST in s.text()


async def test_the_order_is_that_of_toggling_and_can_be_changed():
    async with running(open_trace=sample("stale"), size=WIDE) as s:
        await s.press("9", "2")
        assert s.place.stack == "supersede,pin-goal"
        await s.press("p", "j", "K")
        assert s.place.stack == "pin-goal,supersede"
        await s.press("greater_than_sign")
        assert s.place.stack == "supersede,pin-goal"
        await s.press("escape", "9")
        assert s.place.stack == "pin-goal"
        await s.press("u", "u", "u", "u", "u")
        assert s.place.stack == "recorded"
        await s.press("u")
        assert "no earlier stack" in s.text()


async def test_parameters_are_typed_and_a_wrong_one_is_named():
    async with running(open_trace=sample("collapse"), size=WIDE) as s:
        await s.press("p", "enter", *"n=4", "enter")
        assert s.place.stack == "keep-last-n:n=4"
        await s.press("enter", "end", "backspace", *"x", "enter")
        assert "n takes" in s.text()
        assert s.place.stack == "keep-last-n:n=4"
        await s.press("escape", "e", "end", *",pin-goal", "enter")
        assert s.place.stack == "keep-last-n:n=4,pin-goal"
        await s.press("e", "end", *"x", "enter")
        assert "did you mean 'pin-goal'?" in s.text()


async def test_presets_and_the_base_stand_on_top():
    async with running(open_trace=sample("stale"), size=WIDE) as s:
        await s.press("p", "home", "space")
        assert s.place.stack == "recorded"
        await s.press("j", "space")
        assert s.place.stack == "history"
        for entry in s.app.screen._entries:
            assert entry.name in " ".join("".join(t for t, _ in line.words) for line in s.app.screen.body.lines) or (
                entry.what == "base"
            )


def test_stacks_are_made_from_stacks():
    keep, pin = SCENARIOS[:2]
    assert toggled(parse_stack("recorded"), keep) == "keep-last-n"
    assert toggled(parse_stack("recorded,supersede"), keep) == "recorded,supersede,keep-last-n"
    assert toggled(parse_stack("keep-last-n:n=3"), keep) == "recorded"
    assert moved(parse_stack("keep-last-n,pin-goal"), pin, -1) == "pin-goal,keep-last-n"
    assert moved(parse_stack("keep-last-n,pin-goal"), pin, 1) == "keep-last-n,pin-goal"
    assert other_base(parse_stack("keep-last-n")) == "recorded,keep-last-n"
    assert with_params(parse_stack("recorded"), keep, "n=3 by=tokens") == "keep-last-n:n=3:by=tokens"
    assert with_params(parse_stack("pin-goal,keep-last-n:n=9"), keep, "") == "pin-goal,keep-last-n"


async def test_the_window_is_drawn_before_all_turns_are_looked_through_and_the_rest_ends_as_a_full_redraw(
    monkeypatch, size
):
    async with running(open_trace=sample("collapse"), size=size) as s:
        stacks, finish = s.main.stacks, Stacks._finish
        monkeypatch.setattr(Stacks, "_finish", lambda *_: None)
        await s.pilot.press("2")
        await s.app.workers.wait_for_complete()
        await s.pilot.pause()
        assert s.place.stack == "pin-goal"
        assert not s.main.scene.is_whole
        early = s.lines()
        assert "…" in early[1], "no size of another turn is shown yet"
        assert not any(bar in "".join(early[1:5]) for bar in "▁▂▃▄▅▆▇█")
        await s.pilot.press("exclamation_mark")
        assert "still being looked through" in s.text()
        s.main._message = [("! …", "dim")]
        finish(stacks, stacks.shown)
        await s.settle()
        whole = s.lines()
        assert s.main.scene.is_whole
        assert early[6:-2] == whole[6:-2], "the list stays as it was"
        again = finished(make_alternate(stacks.recorded, parse_stack("pin-goal"))).scene
        s.main.show_scene(again, s.place)
        await s.pilot.pause()
        assert s.main.scene is again
        assert s.lines() == whole
