"""Vendors' policies do what their vendors say: which results are spared, what a gate counts, what a budget is for."""

from __future__ import annotations

from ctxview.policies import parse_stack
from ctxview.replay import Replay, replay
from ctxview.window import SessionView

from .sessions import Script, ids, shown, words


def under(view: SessionView, stack: str) -> Replay:
    return replay(view, parse_stack(stack), count=words)


def forms(view: SessionView, turn: int) -> list[str]:
    return [w.span.form for w in view.window(turn) if w.block.kind == "tool_result"]


def unnamed(*tools: str, result: str = "x " * 20) -> SessionView:
    """Calls one after another, whose results do not name the tool."""
    script = Script()
    script.user("goal")
    for number, tool in enumerate(tools):
        script.call()
        script.use(f"c{number}", tool)
        script.result(f"c{number}", result, tool=None)  # type: ignore[arg-type]
        script.user("go on")
    script.call()
    return script.view()


def test_a_tool_is_excluded_where_the_log_names_it_at_the_call_alone() -> None:
    view = unnamed("Write", "Read", "skill")
    cleared = under(view, "clear-tool-uses:trigger=0:keep=0:exclude=Write+skill").view
    assert forms(cleared, 4) == ["verbatim", "placeholder", "verbatim"]
    cleared = under(view, "langchain-clear-tool-uses:trigger=0:keep=0:exclude=Read").view
    assert forms(cleared, 4) == ["placeholder", "verbatim", "placeholder"]
    pruned = under(view, "opencode-prune:turns=1:protect=0:minimum=0").view
    assert forms(pruned, 4) == ["placeholder", "placeholder", "verbatim"]


def test_a_trimmed_output_names_its_tool() -> None:
    view = under(unnamed("Grep", "Grep", "Read"), "openai-agents-trimmer:turns=1:over=10:preview=2").view
    assert shown(view, 4)[2][2].startswith("[Trimmed: Grep output — 40 chars")


def thinking() -> SessionView:
    """Thinking in the first response alone."""
    script = Script()
    script.user("goal")
    script.call()
    script.think("deep thought")
    script.say("first")
    for number in range(3):
        script.user("more")
        script.call()
        script.say(f"answer {number}")
    script.user("and?")
    script.call()
    return script.view()


def test_clear_thinking_counts_responses_that_have_thinking() -> None:
    view = thinking()
    assert ids(under(view, "clear-thinking:keep=1").view, 5) == ids(view, 5)
    script = Script()
    for number in range(3):
        script.user("ask")
        script.call()
        script.think(f"thought {number}")
        script.say("answer")
    script.user("ask")
    script.call()
    kept = under(script.view(), "clear-thinking:keep=2").view
    assert [t for _, _, t in shown(kept, 4) if t.startswith("thought")] == ["thought 1", "thought 2"]


def test_clear_thinking_can_keep_all_of_it() -> None:
    assert parse_stack("clear-thinking:keep=none").text == "clear-thinking:keep=none"
    view = thinking()
    assert ids(under(view, "clear-thinking:keep=none").view, 5) == ids(view, 5)


def long_calls() -> SessionView:
    """Four calls of 500 words each, of two tools in turns, with short results."""
    script = Script()
    script.user("goal")
    for number in range(4):
        script.call()
        script.use(f"c{number}", ("write", "read")[number % 2], text="arg " * 500)
        script.result(f"c{number}", "res " * 12)
    script.call()
    return script.view()


def test_the_gate_of_clear_tool_uses_counts_the_arguments_that_would_go() -> None:
    gated = "clear-tool-uses:trigger=10:keep=1:inputs=yes:at_least"
    left, cleared = 500 + 12, 1 + 6
    # one old call with its result would free 505 tokens, two 1,010
    assert list(under(long_calls(), f"{gated}=1010").sizes[:4]) == [1, 1 + left, 1 + 2 * left, 1 + left + 2 * cleared]
    assert under(long_calls(), f"{gated}=5000").fired == {"clear-tool-uses": 0}


def test_clear_tool_uses_clears_the_arguments_of_the_tools_that_it_is_told() -> None:
    view = under(long_calls(), "clear-tool-uses:trigger=10:keep=1:inputs=write").view
    calls = [w.span.form for w in view.window(5) if w.block.kind == "tool_call"]
    assert calls == ["truncated", "verbatim", "truncated", "verbatim"]
    everything = under(long_calls(), "clear-tool-uses:trigger=10:keep=1:inputs=yes").view
    assert [w.span.tokens for w in everything.window(5) if w.block.kind == "tool_call"] == [1, 1, 1, 500]


def test_openhands_condenses_to_half_its_tokens_when_these_are_too_many() -> None:
    script = Script()
    script.user("goal")
    for number in range(30):
        script.call()
        script.say("w " * (60 if number > 10 else 1))
        script.user("u")
    script.call()
    done = under(script.view(), "openhands-condenser:max=240:first=2:tokens=300")
    digest = 4
    assert done.fired == {"openhands-condenser": 5}
    assert all(done.view.counted(cut.turn) <= 150 + digest for cut in done.view.cuts)
    assert max(done.sizes) <= 300


def test_langchain_trim_takes_no_tool_schema_off_its_budget() -> None:
    script = Script()
    script.block("system", "tools", "schema " * 50)
    script.system("be brief")
    script.user("goal")
    for _ in range(5):
        script.call()
        script.say("w " * 10)
        script.user("u " * 10)
    script.call()
    view = under(script.view(), "langchain-trim:max=62:by=tokens").view
    assert [w.span.tokens for w in view.window(6)] == [50, 2, *[10] * 6]
