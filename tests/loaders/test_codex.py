"""Codex rollouts: the window of each call, each call's usage once, and what a cut leaves."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.ingest import Trace, open_trace
from ctxview.loaders import detect
from ctxview.loaders.codex import LOADER
from ctxview.loaders.source import Source, SourceFile
from ctxview.model import Block, Call, CallEnd, Cut, Edit, Event, Issue, Record, SessionStart, Usage
from ctxview.report.info import cuts_report

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAAElFTkSuQmCC"


def line(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-02T10:{second // 60:02}:{second % 60:02}.000Z", "type": kind, "payload": payload}


def meta(thread: str = "th-1", **more: Any) -> dict[str, Any]:
    return line("session_meta", id=thread, timestamp="2026-03-02T10:00:00.000Z", cli_version="0.150.0", **more)


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **payload)


def message(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def shown(text: str) -> dict[str, Any]:
    """The person's message with an image before its text."""
    image = {"type": "input_image", "image_url": PIXEL}
    return item("message", role="user", content=[image, {"type": "input_text", "text": text}])


def compacted(*history: dict[str, Any]) -> dict[str, Any]:
    return line("compacted", message="", replacement_history=[one["payload"] for one in history])


HIDDEN = item("compaction", encrypted_content="zz")
"""A summary that nobody can read."""


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **payload)


def tokens(prompt: int, output: int, before: int = 0, cached: int = 0, reasoning: int = 0) -> dict[str, Any]:
    """A usage report; `before` is the running total without this call."""
    last = {
        "input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": output,
        "reasoning_output_tokens": reasoning, "total_tokens": prompt + output,
    }  # fmt: skip
    total = {**last, "total_tokens": before + prompt + output}
    info = {"last_token_usage": last, "total_token_usage": total, "model_context_window": 200_000}
    return event("token_count", info=info, rate_limits=None)


def call(name: str, call_id: str) -> dict[str, Any]:
    return item("function_call", name=name, arguments='{"a": 1}', call_id=call_id)


def result(call_id: str, text: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=text)


def load(*lines: Any, name: str = "rollout.jsonl") -> list[Event]:
    data = b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines)
    return list(LOADER.load(Source((SourceFile(name, data=data),))))


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [one for one in events if isinstance(one, kind)]


def written(tmp_path: Path, *lines: Any, name: str = "rollout.jsonl") -> str:
    path = tmp_path / name
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return str(path)


def opened(tmp_path: Path, *lines: Any) -> Trace:
    return open_trace([written(tmp_path, *lines)])


def windows(trace: Trace, session: str | None = None) -> list[list[str]]:
    """The texts of each turn's window; of the next turn's too."""
    view = trace.view(session)
    texts = [[trace.store.text(w.span.content) for w in view.window(turn)] for turn in range(1, view.now + 1)]
    return texts


def case(name: str) -> str:
    return str(CASES / name)


def used(trace: Trace, session: str) -> list[int]:
    return [(turn.recorded or 0) + (turn.output or 0) for turn in trace.view(session).turns]


# ------------------------------------------------------------------------------------------------------------ cases


def test_t08_a_repeated_report_is_one_call() -> None:
    with open_trace([case("T08.jsonl")]) as trace:
        assert used(trace, "cx-1") == [1000, 1500]
        view = trace.view("cx-1")
        assert [turn.recorded for turn in view.turns] == [900, 1400]
        assert view.limit == 200_000
        assert windows(trace)[:2] == [
            ["Count the lines."], ["Count the lines.", "There are 40 lines.", "And words?"],
        ]  # fmt: skip


@pytest.mark.parametrize("order", [["T09.parent.jsonl", "T09.child.jsonl"], ["T09.child.jsonl", "T09.parent.jsonl"]])
def test_t09_a_copied_history_is_inherited_and_not_billed(order: list[str]) -> None:
    with open_trace([case(name) for name in order]) as trace:
        assert used(trace, "cx-parent") == [2000, 3000]
        assert used(trace, "cx-child") == [1200]
        view = trace.view("cx-child")
        assert [(w.block.preview, w.block.inherited) for w in view.window(1)] == [
            ("Plan the work.", True), ("Plan ready.", True), ("Do step one.", False),
        ]  # fmt: skip
        row = next(row for row in trace.sessions if row.session == "cx-child")
        assert (row.parent, row.title) == ("cx-parent", "Do step one.")


def dated(second: float, record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "timestamp": f"2026-03-02T10:{int(second) // 60:02}:{second % 60:06.3f}Z"}


PLAN, STEP = message("user", "Plan the work."), message("user", "Do step one.")
BUILT, DONE = message("assistant", "Plan ready."), message("assistant", "Done.")
TURN = line("turn_context", model="gpt-x")
PARENT = [
    meta("up"), dated(2, TURN), dated(3, PLAN), dated(4, tokens(1900, 100)), dated(5, BUILT), dated(6, STEP),
    dated(7, tokens(2800, 200, before=2000, cached=1500)), dated(8, DONE),
]  # fmt: skip
"""Two turns, one record a second."""
FIRST = [meta("up"), TURN, PLAN, tokens(1900, 100), BUILT]
"""The parent's head and first turn."""
OWN = [dated(360, STEP), dated(361, tokens(2800, 250, before=2000, cached=2700)), dated(362, DONE)]
"""What the fork was asked a minute later, in the words in which the parent was."""


def forked(tmp_path: Path, *lines: dict[str, Any]) -> Trace:
    head = dated(301, meta("down", forked_from_id="up"))
    paths = [written(tmp_path, *PARENT, name="a.jsonl"), written(tmp_path, head, *lines, name="b.jsonl")]
    return open_trace(paths)


@pytest.mark.parametrize("copied", ["at once", "as dated"])
@pytest.mark.parametrize("before", [[], [dated(359, TURN)], [dated(358, event("task_started")), dated(359, TURN)]])
def test_t09_a_forks_own_prompt_in_its_parents_words_is_its_own(
    tmp_path: Path, before: list[dict[str, Any]], copied: str
) -> None:
    """A copy is written at once or keeps its times; no id says where it ends, and the parent goes on in those words."""
    history = PARENT[:5] if copied == "as dated" else [dated(300 + n / 100, one) for n, one in enumerate(FIRST)]
    with forked(tmp_path, *history, *before, *OWN) as trace:
        assert [used(trace, name) for name in ("up", "down")] == [[2000, 3000], [3050]]
        view = trace.view("down")
        assert [(w.block.preview, w.block.inherited) for w in view.window(1)] == [
            ("Plan the work.", True), ("Plan ready.", True), ("Do step one.", False),
        ]  # fmt: skip
        assert (view.user_turns, trace.issues) == (1, ())


def test_t09_a_prompt_that_was_copied_unanswered_stays_a_copy(tmp_path: Path) -> None:
    """The fork was made while the parent was at work: the prompt is of the burst, or has the parent's time."""
    for lines in ([dated(300, one) for one in (*FIRST, STEP)], PARENT[:6]):
        own = [dated(330, message("user", "Do step two.")), *OWN[1:]]
        with forked(tmp_path, *lines, *own) as trace:
            assert used(trace, "down") == [3050]
            assert [b.inherited for b in trace.view("down").blocks][:4] == [True, True, True, False]


def test_t09_a_copy_that_was_written_slowly_is_one_as_far_as_its_usage_goes(tmp_path: Path) -> None:
    history = [dated(300 + 5 * n, one) for n, one in enumerate(PARENT)]
    own = [dated(400, message("user", "Do step two.")), dated(401, tokens(3000, 10, before=5000))]
    with forked(tmp_path, *history, *own) as trace:
        assert used(trace, "down") == [3010]


def test_t09_without_times_a_copy_is_told_by_its_content(tmp_path: Path) -> None:
    def bare(record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "timestamp": None}

    with forked(tmp_path, *map(bare, [*FIRST, *OWN])) as trace:
        assert used(trace, "down") == [3050]
        assert [b.inherited for b in trace.view("down").blocks] == [True, True, True, False]


def test_t10_a_cut_is_told_alike_in_sql_and_in_the_report(tmp_path: Path) -> None:
    """After a cut a message came in and no estimate was logged: its size is that of the next call."""
    lines = [
        meta(), message("user", "Read."), tokens(90_000, 200), message("assistant", "Half."),
        compacted(message("user", "Read."), message("user", "Handoff.")), event("context_compacted"),
        message("user", "Go on."), tokens(9000, 100, before=90_200), message("assistant", "Read."),
    ]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        (cut,) = cuts_report(trace.view())
        assert (cut["before"], cut["after"]) == (90_000, 9000)
        assert trace.store.ask("SELECT before, after, freed FROM v_cuts").rows == ((90_000, 9000, 81_000),)


def test_t09_a_child_alone_is_told_by_the_clock() -> None:
    with open_trace([case("T09.child.jsonl")]) as trace:
        assert used(trace, "cx-child") == [1200]
        assert [b.inherited for b in trace.view().blocks] == [True, True, False]


def test_t10_usage_is_in_disjoint_parts() -> None:
    events = list(LOADER.load(Source((SourceFile("T10.jsonl", CASES / "T10.jsonl"),))))
    (end,) = of(CallEnd, events)
    assert end.usage == Usage(input=1000, cache_read=8000, output=100, reasoning=60)
    assert end.usage.prompt == 9000


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("P11.old.jsonl", ["Repeat this.", "Done.", "Repeat this.", "Done."]),
        ("P11.new.jsonl", ["Only items here.", "Understood."]),
    ],
)
def test_p11_an_event_that_repeats_an_item_is_not_a_message(name: str, words: list[str]) -> None:
    events = list(LOADER.load(Source((SourceFile(name, CASES / name),))))
    assert [block.text for block in of(Block, events)] == words
    mirrors = [r for r in of(Record, events) if r.type in ("event_msg/user_message", "event_msg/agent_message")]
    assert {r.disposition for r in mirrors} <= {"known"}


def test_w15_a_replacement_history_is_the_window() -> None:
    with open_trace([case("W15.jsonl")]) as trace:
        view = trace.view("cx-cmp")
        assert windows(trace)[1] == ["Task two.", "Handoff summary: task one is done."]
        assert view.turns[1].recorded == 600
        (cut,) = view.cuts
        assert (cut.kind, cut.turn, cut.before, cut.after) == ("compact", 2, 4000, 600)
        assert (cut.dropped, cut.kept) == (3, 1)
        assert cut.summary_tokens
        assert sum(used(trace, "cx-cmp")) == 4660
        assert {"Task one.", "One done."} <= {b.preview for b in view.blocks}


# -------------------------------------------------------------------------------------------------- items and events


def test_words_that_stand_in_events_only_are_shown_once() -> None:
    events = load(
        meta(), event("user_message", message="Hi."), event("agent_reasoning", text="Hm."),
        event("agent_message", message="Yes?"),
    )  # fmt: skip
    assert [(b.kind, b.text, b.human) for b in of(Block, events)] == [
        ("user", "Hi.", True), ("thinking", "Hm.", False), ("assistant", "Yes?", False),
    ]  # fmt: skip
    assert len(of(Call, events)) == 1
    assert [r.disposition for r in of(Record, events)] == ["known", "window", "window", "window"]


def test_one_response_is_one_call_whichever_side_its_usage_is_on() -> None:
    """Items before the report, with results between; or the report first, and repeated after."""
    output = [item("reasoning", summary=[], encrypted_content="x" * 900), message("assistant", "I look."),
              call("look", "c1"), call("look", "c2")]  # fmt: skip
    results = [result("c1", "one"), result("c2", "two")]
    start = [meta(), line("turn_context", model="gpt-demo"), message("user", "Go.")]
    after = load(*start, *output, *results, tokens(100, 40, reasoning=30), message("assistant", "Done."))
    before = load(
        *start, tokens(100, 40, reasoning=30), *output, *results, tokens(100, 40, reasoning=30),
        message("assistant", "Done."),
    )  # fmt: skip
    for events in (after, before):
        first, second = of(Call, events)
        assert [e.usage.output for e in of(CallEnd, events)] == [40]
        assert of(CallEnd, events)[0].id == first.id
        assert (first.model, first.client, first.missing) == ("gpt-demo", "codex 0.150.0", ("system", "tools"))
        assert second.missing == ("system", "tools", "thinking")
        blocks = {b.text: b for b in of(Block, events)}
        assert blocks["I look."].message == blocks['{"a": 1}'].message
        assert events.index(first) < events.index(blocks["I look."])
        assert events.index(blocks["two"]) < events.index(second) < events.index(blocks["Done."])
        thinking = next(b for b in of(Block, events) if b.kind == "thinking")
        assert (thinking.text, thinking.signature, thinking.unlogged_tokens) == ("", 900, 30)
        assert thinking.note == "text not recorded"
        assert blocks["two"].tool == "look"


def test_reports_without_a_call_are_none() -> None:
    """Rate limits only, an estimate after a cut, and the same total again."""
    estimate = tokens(0, 0)
    estimate["payload"]["info"]["last_token_usage"]["total_tokens"] = 940_499
    events = load(
        meta(), message("user", "Hi."), event("token_count", info=None), message("assistant", "Yes."), tokens(10, 5),
        tokens(10, 5), estimate,
    )  # fmt: skip
    assert len(of(Call, events)) == len(of(CallEnd, events)) == 1


def test_reasoning_is_dealt_out_over_its_response() -> None:
    hidden = [item("reasoning", summary=[], encrypted_content="x" * n) for n in (100, 300)]
    events = load(meta(), message("user", "Hi."), *hidden, message("assistant", "Yes."), tokens(10, 50, reasoning=40))
    assert [b.unlogged_tokens for b in of(Block, events) if b.kind == "thinking"] == [10, 30]


def test_client_texts_are_notes_and_the_person_starts_a_turn() -> None:
    events = load(
        meta(base_instructions={"text": "Be brief."}),
        message("developer", "<permissions instructions>none"),
        message("user", "<environment_context>\n<cwd>/x</cwd>", "# AGENTS.md instructions for /x"),
        message("user", '<codex_internal_context source="goal">\nG\n</codex_internal_context>'),
        message("user", "# Context from my IDE\n\n## My request for Codex:\nFix it."),
        message("assistant", "Yes."),
    )
    assert [(b.role, b.kind, b.injected, b.human) for b in of(Block, events)] == [
        ("system", "system", False, False), ("system", "note", True, False), ("user", "note", True, False),
        ("user", "note", True, False), ("user", "note", True, False), ("user", "user", False, True),
        ("assistant", "assistant", False, False),
    ]  # fmt: skip
    assert of(Call, events)[0].missing == ("tools",)
    assert of(SessionStart, events)[-1].title == "Fix it."


def test_instructions_that_come_again_as_a_message_are_not_the_system_prompt() -> None:
    repeated = load(meta(instructions="Use tabs."), message("user", "<user_instructions>\nUse tabs.\n"))
    assert [b.kind for b in of(Block, repeated)] == ["note"]
    alone = load(meta(instructions="Use tabs."), message("user", "Hi."))
    assert [b.kind for b in of(Block, alone)] == ["system", "user"]


def test_results_and_images() -> None:
    """A result's text parts are one block; its images are blocks of their own; a failed command is an error."""
    events = load(
        meta(), message("user", "Go."), call("see", "c1"), call("run", "c2"), call("run", "c3"),
        result("c1", [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"},
                      {"type": "input_image", "image_url": PIXEL}]),
        result("c2", '{"output":"no","metadata":{"exit_code":1}}'),
        result("c3", "Chunk ID: 1\nProcess exited with code 0\nOutput:\nok"),
        item("local_shell_call", call_id="c4", action={"type": "exec", "command": ["ls"]}),
        item("web_search_call", action={"query": "q"}),
    )  # fmt: skip
    found = [b for b in of(Block, events) if b.role == "tool"]
    assert [(b.kind, b.text, b.is_error) for b in found] == [
        ("tool_result", "a\nb", False), ("image", "", False),
        ("tool_result", '{"output":"no","metadata":{"exit_code":1}}', True),
        ("tool_result", "Chunk ID: 1\nProcess exited with code 0\nOutput:\nok", False),
    ]  # fmt: skip
    assert found[1].image is not None
    assert (found[1].image.width, found[1].image.height) == (2, 3)
    assert [(b.tool, b.call_id) for b in of(Block, events)[-2:]] == [("local_shell", "c4"), ("web_search", None)]


def test_long_result_is_sent_shortened(tmp_path: Path) -> None:
    """The stored text is longer than the turn's policy lets the client send."""
    policy = {"mode": "bytes", "limit": 100}
    lines = [meta(), line("turn_context", model="m", truncation_policy=policy), message("user", "Go."),
             call("run", "c1"), result("c1", "x" * 1000), message("assistant", "Done.")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        assert windows(trace)[1][-1] == "x" * 60 + "…880 chars truncated…" + "x" * 60
        assert max(b.chars for b in trace.view().blocks) == 1000


def test_messages_of_other_agents_are_input() -> None:
    """They end a response that was under way, which then has no usage."""
    hidden = {"type": "encrypted_content", "encrypted_content": "zz"}
    mail = item("agent_message", author="/root/a", content=[{"type": "input_text", "text": "Found it."}, hidden])
    events = load(meta(), message("user", "Go."), item("reasoning", summary=[]), mail, message("assistant", "Good."),
                  tokens(10, 5))  # fmt: skip
    first, second = of(Call, events)
    assert [end.id for end in of(CallEnd, events)] == [second.id] != [first.id]
    note = next(b for b in of(Block, events) if b.text == "Found it.")
    assert (note.kind, note.injected, note.human) == ("note", True, False)
    assert "/root/a" in (note.note or "")
    old = load(meta(), line("inter_agent_communication", author="b", content="Found it."))
    assert [b.text for b in of(Block, old)] == ["Found it."]


def test_an_agents_message_with_two_records_is_one() -> None:
    mail = [{"type": "input_text", "text": "Found it."}]
    records = [line("inter_agent_communication", author="a", content="Found it."),
               item("agent_message", author="a", content=mail)]  # fmt: skip
    events = load(meta(), *records)
    assert [b.text for b in of(Block, events)] == ["Found it."]
    assert [r.disposition for r in of(Record, events)][1:] == ["window", "duplicate"]
    assert len(of(Block, load(meta(), records[0], records[0]))) == 2  # said twice
    assert len(of(Block, load(meta(), records[0], message("user", "And?"), records[1]))) == 3


# ------------------------------------------------------------------------------------------------- pairing and cuts


def test_call_without_a_result_gets_one_when_more_is_sent(tmp_path: Path) -> None:
    lines = [meta(), message("user", "Go."), call("run", "c1"), message("user", "Stop."), message("assistant", "Ok.")]
    with opened(tmp_path, *lines) as trace:
        assert windows(trace)[1] == ["Go.", '{"a": 1}', "aborted", "Stop."]
        made_up = next(b for b in trace.view().blocks if b.preview == "aborted")
        assert made_up.inserted
        assert made_up.note
        assert trace.view().edits[0].rule == "client"
    assert "aborted" not in [b.text for b in of(Block, load(*lines[:-1]))]


def test_late_result_takes_the_place_of_the_made_up_one(tmp_path: Path) -> None:
    lines = [meta(), message("user", "Go."), call("run", "c1"), message("user", "Stop."), message("assistant", "Ok."),
             result("c1", "late"), message("assistant", "Oh.")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        assert windows(trace)[2] == ["Go.", '{"a": 1}', "Stop.", "Ok.", "late"]


def test_a_compaction_that_names_two_results_of_a_call_keeps_the_one_the_client_made_up(tmp_path: Path) -> None:
    asked, cut_off = call("shell", "c"), result("c", "aborted")
    lines = [meta(), message("user", "Go."), asked, message("user", "Stop."), message("assistant", "Ok."),
             compacted(message("user", "Go."), asked, result("c", "found"), cut_off), message("user", "More."),
             message("assistant", "2")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        sent = windows(trace)[2]
        assert sent[:4] == ["Go.", '{"a": 1}', "found", "aborted"]


def test_a_rollback_that_takes_back_a_result_leaves_its_call_to_the_client_to_answer(tmp_path: Path) -> None:
    lines = [meta(), message("user", "Go."), call("shell", "c"), message("user", "Well?"), result("c", "found"),
             message("assistant", "1"), event("thread_rolled_back", num_turns=1), message("user", "Now?"),
             message("assistant", "2")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        assert windows(trace)[-2] == ["Go.", '{"a": 1}', "aborted", "Now?"]


def test_result_without_its_call_is_not_sent() -> None:
    (block,) = of(Block, load(meta(), result("c9", "whose?")))
    assert not block.enters
    assert block.note


def test_rollback_drops_the_last_turns_and_the_context_above(tmp_path: Path) -> None:
    lines = [
        meta(), message("user", "<environment_context>"), message("user", "One."), message("assistant", "1"),
        message("developer", "news"), message("user", "Two."), message("assistant", "2"),
        event("thread_rolled_back", num_turns=1), message("user", "Three."), message("assistant", "3"),
        event("thread_rolled_back", num_turns=9), message("user", "Four."), message("assistant", "4"),
    ]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        assert windows(trace)[:4] == [
            ["<environment_context>", "One."],
            ["<environment_context>", "One.", "1", "news", "Two."],
            ["<environment_context>", "One.", "1", "Three."],
            ["<environment_context>", "Four."],
        ]
        assert [(cut.kind, cut.dropped) for cut in trace.view().cuts] == [("rewind", 3), ("rewind", 4)]


def test_older_compaction_keeps_the_persons_words_and_adds_the_summary(tmp_path: Path) -> None:
    """The newest first within 20,000 tokens; the message that exceeds them is shortened, older ones go."""
    middle = "m" * 40_000 + "n" * 40_000
    lines = [meta(), message("user", "<environment_context>"), message("user", "Old."), message("user", middle),
             message("assistant", "1"), message("user", "new!"), message("assistant", "2"), tokens(500, 5),
             line("compacted", message="All is done."), tokens(80, 5, 505), message("assistant", "3")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        first, kept, newest, summary = windows(trace)[2]
        assert (first, newest, summary) == ("<environment_context>", "new!", "All is done.")
        assert kept == "m" * 39_998 + "…1 tokens truncated…" + "n" * 39_998
        (cut,) = trace.view().cuts
        assert (cut.kind, cut.before, cut.after) == ("compact", 500, 80)
        assert cut.summary_tokens


def test_a_compaction_shortens_the_text_of_a_message_and_not_its_image(tmp_path: Path) -> None:
    """By the older rule the image leaves; a replacement that holds it keeps it."""
    text = "word " * 30_000
    short = f"{text[:50]}…29980 tokens truncated…{text[-50:]}"
    start = [meta(), shown(text), message("assistant", "Yes.")]
    end = [message("user", "Go on."), message("assistant", "Done.")]
    with opened(tmp_path, *start, line("compacted", message="Sum."), *end) as trace:
        kept, summary, more = windows(trace)[1]
        assert kept.startswith("word word")
        assert "tokens truncated" in kept
        assert len(kept) < 90_000
        assert (summary, more) == ("Sum.", "Go on.")
    with opened(tmp_path, *start, compacted(shown(short), HIDDEN), *end) as trace:
        assert windows(trace)[1] == ["", short, "", "Go on."]
        kinds = [w.block.kind for w in trace.view().window(2)]
        assert kinds == ["image", "user", "summary", "user"]


def test_a_message_without_its_image_is_still_the_persons(tmp_path: Path) -> None:
    """It stays the message it was, once and again, and the summary that was not recorded is missing."""
    again = [message("user", "Look."), message("assistant", "Well."), compacted(message("user", "Look."))]
    lines = [meta(), shown("Look."), message("assistant", "Yes."), compacted(message("user", "Look.")),
             message("user", "Go on."), message("assistant", "Done.")]  # fmt: skip
    with opened(tmp_path, *lines, *again, message("user", "More."), message("assistant", "End.")) as trace:
        view = trace.view()
        for turn, more in ((2, "Go on."), (4, "More.")):
            window = list(view.window(turn))
            assert [(w.block.kind, w.block.preview) for w in window] == [
                ("user", "Look."), ("summary", ""), ("user", more)
            ]  # fmt: skip
            assert "summary" in view.turn(turn).missing  # type: ignore[union-attr]


def test_results_after_a_compaction_are_those_before_it(tmp_path: Path) -> None:
    """They were shortened when they came, and are not shortened again; another form of one replaces its text."""
    policy = line("turn_context", model="m", truncation_policy={"mode": "bytes", "limit": 100})
    short = "x" * 60 + "…880 chars truncated…" + "x" * 60
    start = [meta(), policy, message("user", "Go."), call("run", "c1"), result("c1", "x" * 1000)]
    for kept in (short, short + " and more"):
        cut = compacted(message("user", "Go."), call("run", "c1"), result("c1", kept), HIDDEN)
        with opened(tmp_path, *start, message("assistant", "Done."), cut, message("assistant", "End.")) as trace:
            assert windows(trace)[1][-1] == short
            assert windows(trace)[2] == ["Go.", '{"a": 1}', kept, ""]
            assert [b.kind for b in trace.view().blocks].count("tool_result") == 1


@pytest.mark.parametrize(("typed", "estimate", "after"), [(False, 0, 500), (True, 0, None), (True, 300, 300)])
def test_size_after_a_compaction_counts_nothing_that_came_later(typed: bool, estimate: int, after: int | None) -> None:
    """What the person types next is not what the compaction left."""
    guess = tokens(0, estimate, before=1010)
    more = [message("user", "word " * 100)] if typed else []
    events = load(
        meta(), message("user", "Go."), message("assistant", "Yes."), tokens(1000, 10), compacted(HIDDEN),
        *([guess] if estimate else []), *more, message("assistant", "End."), tokens(500, 10, before=1010),
    )  # fmt: skip
    (cut,) = of(Cut, events)
    assert (cut.before, cut.after) == (1000, after)


def test_encrypted_summary_says_so(tmp_path: Path) -> None:
    history = [message("user", "Go.")["payload"], {"type": "compaction", "encrypted_content": "e" * 2000}]
    lines = [meta(), message("user", "Go."), message("assistant", "1"), tokens(500, 5),
             line("compacted", message="", replacement_history=history), message("assistant", "2")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        view = trace.view()
        kept, summary = view.window(2)
        assert kept.block.n == 0
        assert (summary.block.kind, summary.block.note, summary.block.inserted) == (
            "summary",
            "text not recorded",
            True,
        )
        assert summary.span.tokens > 0
        assert view.turns[1].missing == ("system", "tools", "summary")


def test_replacement_in_another_order_moves_what_it_keeps(tmp_path: Path) -> None:
    """Blocks are kept, not copied, and a result whose call is gone leaves with it."""
    history = [one["payload"] for one in (message("user", "B"), message("user", "A"), result("c1", "r"))]
    lines = [meta(), message("user", "A"), message("user", "B"), call("run", "c1"), result("c1", "r"),
             line("compacted", message="S", replacement_history=history), message("assistant", "2"),
             event("thread_rolled_back", num_turns=1), message("assistant", "3")]  # fmt: skip
    with opened(tmp_path, *lines) as trace:
        assert windows(trace)[1:3] == [["B", "A", "S"], ["B"]]
        assert len(trace.view().blocks) == 7


# ---------------------------------------------------------------------------------------------------------- sessions


def test_same_thread_goes_on_and_another_is_another_session() -> None:
    events = load(meta("a"), message("user", "One."), meta("a"), message("user", "Two."), meta("b"),
                  message("user", "Three."), message("assistant", "3"))  # fmt: skip
    assert {(b.session, b.text) for b in of(Block, events)} == {
        ("a", "One."), ("a", "Two."), ("b", "Three."), ("b", "3"),
    }  # fmt: skip


def test_a_fork_of_an_older_version_is_told_by_the_head_of_its_copy(tmp_path: Path) -> None:
    """Its own head does not name the parent, whose head comes next; the copied call is billed once."""
    copied = [meta("th-1"), message("user", "Hi."), message("assistant", "Yes."), tokens(10, 5)]
    own = [message("user", "More."), message("assistant", "Done."), tokens(20, 5, before=15)]
    paths = [written(tmp_path, *copied, name="a.jsonl"), written(tmp_path, meta("th-2"), *copied, *own, name="b.jsonl")]
    with open_trace(paths) as trace:
        assert [(row.session, row.parent) for row in trace.sessions] == [("th-1", None), ("th-2", "th-1")]
        assert [used(trace, name) for name in ("th-1", "th-2")] == [[15], [25]]
        assert windows(trace, "th-2")[0] == ["Hi.", "Yes.", "More."]


def test_sub_agent_names_its_parent_and_the_call_that_started_it(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "top", "agent_path": "/root/helper"}}}
    parent = written(
        tmp_path, meta("top"), message("user", "Go."), call("spawn_agent", "c1"),
        line("event_msg", type="sub_agent_activity", event_id="c1", agent_thread_id="low"), name="a.jsonl",
    )  # fmt: skip
    child = written(tmp_path, meta("low", source=source), message("user", "Help."), message("assistant", "1"),
                    name="b.jsonl")  # fmt: skip
    with open_trace([parent, child]) as trace:
        row = next(row for row in trace.sessions if row.session == "low")
        assert (row.parent, row.parent_call, row.agent) == ("top", "c1", "/root/helper")
        assert not trace.view("low").blocks[0].inherited
    with open_trace([parent]) as trace:
        assert [issue.severity for issue in trace.issues] == ["info"]


def test_own_turn_of_a_child_is_told_by_the_time_in_its_id() -> None:
    old, thread, new = (f"0198{n}-0000-7000-8000-000000000000" for n in ("1111", "2222", "3333"))
    events = load(
        meta(thread, forked_from_id="elsewhere"), event("task_started", turn_id=old), message("user", "Before."),
        message("assistant", "b"), tokens(10, 5), event("task_started", turn_id=new), message("user", "Mine."),
        message("assistant", "m"), tokens(30, 5, 15),
    )  # fmt: skip
    assert [b.inherited for b in of(Block, events)] == [True, True, False, False]
    assert [end.usage.prompt for end in of(CallEnd, events)] == [30]


def test_bare_lines_are_the_older_layout() -> None:
    head = {"id": "old", "timestamp": "2025-08-06T18:02:11.653Z", "instructions": "Use tabs.", "git": {}}
    bare = [one["payload"] for one in (message("user", "Go."), call("run", "c1"), result("c1", "r"),
                                       message("assistant", "Done."))]  # fmt: skip
    events = load(head, {"record_type": "state"}, *bare)
    assert [r.type for r in of(Record, events)][:3] == ["session_meta", "session_state", "response_item/message"]
    assert len(of(Call, events)) == 2
    assert {b.session for b in of(Block, events)} == {"old"}


def test_records_are_accounted_for_and_errors_are_told() -> None:
    events = load(meta(), b"{broken", [1], line("news"), item("odd"), event("odd"), item("ghost_snapshot"),
                  event("error", message="no quota"))  # fmt: skip
    assert [r.disposition for r in of(Record, events)] == [
        "known", "unreadable", "unknown", "unknown", "unknown", "unknown", "known", "known",
    ]  # fmt: skip
    assert any("no quota" in issue.reason for issue in of(Issue, events))


def test_screen_log_is_no_rollout() -> None:
    lines = [{"ts": "2025-08-09T00:33:37Z", "dir": "meta", "kind": "session_start"},
             {"ts": "2025-08-09T00:33:38Z", "dir": "to_tui", "kind": "codex_event", "payload": {}}]  # fmt: skip
    file = SourceFile("log.jsonl", data="\n".join(map(json.dumps, lines)).encode())
    assert detect(file) is None
    for name in ("T08.jsonl", "T09.child.jsonl", "W15.jsonl"):
        assert detect(SourceFile("renamed.txt", CASES / name)) is LOADER


# --------------------------------------------------------------------------------------------------------- properties

WHOLE = [
    meta("a", base_instructions={"text": "S"}), line("turn_context", model="m", truncation_policy={"mode": "tokens"}),
    message("developer", "d"), message("user", "u"), item("reasoning", summary=[{"text": "s"}], encrypted_content="e"),
    call("run", "c1"), call("run", "c2"), result("c1", [{"type": "input_text", "text": "t"}]), tokens(10, 5),
    event("task_started", turn_id="x", started_at=1), message("assistant", "a"), tokens(20, 5, 15),
    line("compacted", message="m", replacement_history=[message("user", "u")["payload"], {"type": "compaction"}]),
    message("user", "v"), item("agent_message", author="b", content=[{"text": "x"}]), message("assistant", "b"),
    event("thread_rolled_back", num_turns=1), line("compacted", message="old"), meta("b", forked_from_id="a"),
    meta("a"), message("user", "w"), message("assistant", "c"), tokens(30, 5, 40), event("agent_message", message="c"),
]  # fmt: skip
JUNK: list[Any] = [None, True, -1, 1e308, 2**70, "", "x", [], [[]], {}, {"type": {}}, [None, {"text": 1}], "\ud800"]


def mutate(value: Any, rng: random.Random) -> Any:
    """`value` with one part of it replaced by something else, or gone."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        changed = {k: v for k, v in value.items() if k != key}
        return changed if rng.random() < 0.1 else {**changed, key: mutate(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        index = rng.randrange(len(value))
        return [*value[:index], mutate(value[index], rng), *value[index + 1 :]]
    return rng.choice(JUNK)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_damage_never_raises_and_every_record_is_accounted_for(seed: int) -> None:
    rng = random.Random(seed)
    lines = copy.deepcopy(WHOLE)
    for _ in range(rng.randint(1, 6)):
        index = rng.randrange(len(lines))
        lines[index] = mutate(lines[index], rng)
    if rng.random() < 0.3:
        rng.shuffle(lines)
    events = load(*lines)
    assert len(of(Record, events)) == len(lines)
    blocks = of(Block, events)
    assert len({(b.session, b.id) for b in blocks}) == len(blocks)
    started = {start.session for start in of(SessionStart, events)}
    assert {b.session for b in blocks} <= started
    known = {(b.session, b.id) for b in blocks}
    edits = [*of(Edit, events), *(edit for cut in of(Cut, events) for edit in cut.edits)]
    assert {(edit.session, edit.block) for edit in edits} <= known
