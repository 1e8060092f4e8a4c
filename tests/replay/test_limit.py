"""What policies are told of the model's context size: what was known by then."""

from __future__ import annotations

from ctxview.policies import parse_stack
from ctxview.replay import replay
from ctxview.replay.prepared import prepared

from .sessions import Script, ids, words


def _script(*prompts: int) -> Script:
    script = Script()
    script.user("GOAL " + "word " * 40)
    for number, prompt in enumerate(prompts):
        script.call(prompt)
        script.say("answer " * 30)
        script.user(f"go on {number}")
    return script


def test_a_prompt_above_the_stated_limit_proves_nothing_before_it_is_sent() -> None:
    view = _script(100, 300, 401).view(limit=400)
    assert view.limit is None
    assert prepared(view).limits[1:] == [400, 400, 400, None]


def test_a_compaction_that_the_limit_asked_for_is_not_undone_by_a_later_prompt() -> None:
    stack = parse_stack("codex-compact:trigger=0.3:user=30")
    whole = replay(_script(100, 300, 401).view(limit=400), stack, count=words).view
    cut = replay(_script(100, 300).view(limit=400), stack, count=words).view
    for turn in (1, 2):
        assert ids(whole, turn) == ids(cut, turn)
    assert any(e.layer == "codex-compact" for e in cut.edits_at(2))
