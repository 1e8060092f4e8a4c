"""Who said a user line's words, and what of an attachment was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .sessions import Line, Writer, opened, text

IDE = "<ide_opened_file>The user opened the file /x in the IDE.</ide_opened_file>"


@pytest.mark.parametrize(
    ("queued", "kinds"),
    [
        ({"prompt": "Wait.", "commandMode": "prompt"}, ["user"]),
        ({"prompt": [text("Wait.")]}, ["user"]),
        ({"prompt": "Task b1 is done.", "commandMode": "task-notification"}, ["note"]),
        ({"prompt": "Task b1 is done.", "origin": {"kind": "task-notification"}}, ["note"]),
        ({"prompt": "Go on.", "isMeta": True}, ["note"]),
        ({"commandMode": "prompt"}, []),
    ],
)
def test_a_queued_command_is_the_persons_only_when_typed(
    queued: dict[str, Any], kinds: list[str], tmp_path: Path
) -> None:
    w = Writer()
    lines = [w.user("u1", None), w.attachment("q1", "u1", type="queued_command", **queued), w.answer("a1", "q1")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        view = trace.view()
        assert [row.block.kind for row in view.window(1)[1:]] == kinds
        assert view.user_turns == (2 if kinds == ["user"] else 1)


def test_what_an_editor_adds_is_not_the_persons(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None, [text(IDE), text("Fix the bug.")]),
        w.answer("a1", "u1"),
        w.user("u2", "a1", f"{IDE}\nAnd the other one."),
        w.user("u3", "u2", "The tests are done.", origin={"kind": "task-notification"}),
        w.answer("a2", "u3"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        view = trace.view()
        human = {row.block.id: row.block.human for row in view.window(2) if row.block.role == "user"}
        assert human == {"u1": False, "u1.1": True, "u2": True, "u3": False}
        assert trace.sessions[0].title == "Fix the bug."


@pytest.mark.parametrize(
    ("attachment", "sent"),
    [
        ({"type": "plan_mode", "planFilePath": "/p", "planExists": True}, "Plan mode is active; the plan file: /p"),
        ({"type": "hook_success", "hookEvent": "SessionStart", "hookName": "start", "content": "Hi."}, "start: Hi."),
        ({"type": "hook_success", "hookEvent": "PostToolUse", "hookName": "PostToolUse:Read", "content": "Hi."}, None),
        ({"type": "hook_blocking_error", "blockingError": {"blockingError": "No."}}, "a hook blocking error: No."),
    ],
)
def test_an_attachment_is_sent_or_not_by_its_kind(attachment: dict[str, Any], sent: str | None, tmp_path: Path) -> None:
    w = Writer()
    lines = [w.user("u1", None), w.attachment("t1", "u1", **attachment), w.answer("a1", "t1")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert [row.block.preview for row in trace.view().window(1)[1:]] == ([] if sent is None else [sent])
        assert not trace.files[0].unknown


def test_a_later_line_that_counts_only_its_output_keeps_the_prompt(tmp_path: Path) -> None:
    w = Writer()
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 100, "output_tokens": 2}
    lines = [w.user("u1", None), w.answer("a1", "u1", usage=usage, of="m")]
    lines += [w.answer("a2", "a1", "more", usage={"output_tokens": 50}, of="m")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert [(turn.recorded, turn.output) for turn in trace.view().turns] == [(110, 50)]


def _queue(operation: str, **more: str) -> Line:
    return {"type": "queue-operation", "operation": operation, **more}


def _warned(tmp_path: Path, *lines: Line) -> list[int]:
    with opened(tmp_path / "s.jsonl", lines) as trace:
        return [issue.line for issue in trace.issues if "queued" in issue.reason]


def test_queued_words_that_no_line_shows_sent_are_told(tmp_path: Path):
    """Some versions take them off the queue, give them to the model and log nothing more."""
    w = Writer()
    notice = _queue("enqueue", content="<task-notification>x</task-notification>")
    lines = [w.user("u1", None), w.answer("a1", "u1"), notice, _queue("enqueue", content='say "now"'), _queue("remove")]
    assert _warned(tmp_path, *lines, w.answer("a2", "a1")) == [4]


@pytest.mark.parametrize("operation", ["dequeue", "remove"])
def test_queued_words_that_were_sent_or_taken_back_are_not(tmp_path: Path, operation: str):
    w = Writer()
    words = 'say "now"'
    sent = [w.user("u1", None), _queue("enqueue", content=words), _queue(operation), w.user("u2", "u1", words)]
    back = [_queue("enqueue", content="wait"), _queue("popAll", content="wait"), _queue("dequeue")]
    assert _warned(tmp_path, *sent, *back, w.answer("a1", "u2")) == []
