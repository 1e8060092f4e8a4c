"""What a newer observation does to those before it, what a client's notes do, and the questions to the rows."""

from __future__ import annotations

import pytest
from resource_blocks import Log, lines, number

from ctxview.annotate.observations import (
    current,
    stale_by_age,
    state_at,
    versions_in,
    wasteful_rereads,
)
from ctxview.model import Observation, ResourceState

FILE = "file:/w/a.py"
EDITED = "The file /w/a.py has been updated."
LATE = 10**6


def states(log: Log, *blocks: int, turn: int = LATE) -> list[ResourceState | None]:
    resources = log.find().resources
    return [resources.state_at(block, turn) for block in blocks]


def edited_at(first: int, text: str) -> str:
    return f"{EDITED} Here's the result of running `cat -n` on a snippet of the edited file:\n{number(text, first)}"


# ------------------------------------------------------------------------------------------------------------ ranges


def test_a_newer_whole_takes_the_place_of_everything() -> None:
    """A part, a whole, a write and an edit all fall to a newer whole."""
    log = Log()
    part, whole = log.read("/w/a.py", lines(5, 9), 5, offset=5, limit=5), log.read("/w/a.py", lines(1, 20))
    write, _ = log.do("Write", {"file_path": "/w/a.py", "content": "x"}, "File written.")
    edit, _ = log.do("Edit", {"file_path": "/w/a.py"}, EDITED)
    newest = log.read("/w/a.py", "y")
    assert states(log, part, whole, write, edit, newest) == ["superseded"] * 4 + ["live"]


def test_a_part_takes_the_place_only_of_what_it_covers() -> None:
    """Parts that do not overlap, or overlap without covering, stand side by side."""
    log = Log()
    first = log.read("/w/a.py", lines(1, 10), 1, offset=1, limit=10)
    second = log.read("/w/a.py", lines(11, 20), 11, offset=11, limit=10)
    across = log.read("/w/a.py", lines(6, 15), 6, offset=6, limit=10)
    assert states(log, first, second, across) == ["live"] * 3
    wider = log.read("/w/a.py", lines(1, 15), 1, offset=1, limit=15)
    assert states(log, first, second, across, wider) == ["superseded", "live", "superseded", "live"]


def test_parts_cover_together() -> None:
    """Two newer parts that hold all its lines take an older part's place, from the second one on."""
    log = Log()
    old = log.read("/w/a.py", lines(1, 10), 1, offset=1, limit=10)
    log.read("/w/a.py", lines(1, 6), 1, offset=1, limit=6)
    assert states(log, old) == ["live"]
    log.read("/w/a.py", lines(7, 12), 7, offset=7, limit=6)
    assert states(log, old) == ["superseded"]
    assert states(log, old, turn=3) == ["live"]


def test_a_whole_stands_beside_a_part_read_later() -> None:
    """The rest of it is still the only copy."""
    log = Log()
    whole = log.read("/w/a.py", lines(1, 30))
    part = log.read("/w/a.py", lines(5, 9), 5, offset=5, limit=5)
    assert states(log, whole, part) == ["live", "live"]


def test_lines_that_read_differently_make_the_older_reading_stale() -> None:
    """Nobody logged the change; the lines say so."""
    log = Log()
    whole = log.read("/w/a.py", lines(1, 30))
    log.bash("sed -n '5,7p' a.py", "line 5\nother\nline 7")
    found = log.find()
    assert [(c.block, c.state, c.reason) for c in found.changes] == [(whole, "stale", "line 6 reads differently now")]


def test_the_end_of_a_file_is_placed_where_its_length_is_known() -> None:
    """`tail` counts from the end; an earlier whole reading tells the numbers."""
    log = Log()
    log.bash("tail -n 3 a.py", lines(28, 30))
    log.read("/w/a.py", lines(1, 30))
    log.bash("tail -n 3 a.py", lines(28, 30))
    assert [(row.first, row.last) for row in log.find().observations] == [(-3, -1), (None, None), (28, 30)]


# ------------------------------------------------------------------------------------------------------------- edits


def test_an_edit_supersedes_what_it_may_have_touched() -> None:
    """Without a place all earlier readings; with one those that share its lines, and every whole."""
    log = Log()
    whole = log.read("/w/a.py", lines(1, 40))
    top = log.read("/w/a.py", lines(1, 10), 1, offset=1, limit=10)
    low = log.read("/w/a.py", lines(30, 40), 30, offset=30, limit=11)
    edit, answer = log.do("Edit", {"file_path": "/w/a.py"}, edited_at(28, "a\nb\nc\nd"))
    assert states(log, whole, top, low, edit, answer) == ["superseded", "live", "superseded", "superseded", "live"]
    again, _ = log.do("Edit", {"file_path": "/w/a.py"}, EDITED)
    assert states(log, top, answer, again) == ["superseded", "superseded", "live"]


def test_the_changed_lines_in_the_answer_are_a_reading() -> None:
    """An edit's snippet shows part of the file; it is no acknowledgement."""
    log = Log()
    call, answer = log.do("Edit", {"file_path": "/w/a.py"}, edited_at(28, "a\nb"))
    rows = log.find().observations
    assert [(row.block, row.effect, row.first, row.last) for row in rows] == [
        (call, "edit", 28, 29), (answer, "read", 28, 29),
    ]  # fmt: skip


def test_an_acknowledgement_goes_with_its_write() -> None:
    """It never takes the content's place, and is superseded when the write is."""
    log = Log()
    write, ack = log.do("Write", {"file_path": "/w/a.py", "content": "x"}, "File written.")
    assert states(log, write, ack) == ["live", "live"]
    log.read("/w/a.py", "x")
    assert states(log, write, ack) == ["superseded", "superseded"]


def test_what_is_left_is_only_an_acknowledgement() -> None:
    """A window that lost the call of a write and kept its answer holds no content of the file."""
    log = Log()
    write, ack = log.do("Write", {"file_path": "/w/a.py", "content": "x"}, "File written.")
    resources = log.find().resources
    assert set(resources.only_acknowledged([ack], 5)) == {FILE}
    assert resources.only_acknowledged([write, ack], 5) == {}
    assert resources.only_acknowledged([ack], 1) == {}


# ------------------------------------------------------------------------------------------------------------- notes


@pytest.mark.parametrize(
    "text",
    [
        "/w/a.py was changed outside:\nx = 2",
        "Note: /w/a.py was modified, either by the user or by a linter. This change was intentional.",
        "<system-reminder>\nNote: /w/a.py was modified, either by the user or by a linter.\n</system-reminder>",
        "The file /w/a.py was changed by the user.",
        "File `/w/a.py` was modified externally:\nx = 2",
        "'/w/a.py' was deleted by the user.",
        "Note: ./a.py was changed on disk.",
        "a.py was modified outside of the editor",
    ],
)
def test_a_note_of_a_change_makes_earlier_readings_stale(text: str) -> None:
    """The client says that the file changed; what was read before is no longer known to be true."""
    log = Log()
    read = log.read("/w/a.py", "x = 1")
    note = log.note(text)
    found = log.find()
    assert found.resources.state_at(read, 2) == "stale"
    assert [(c.because, c.reason) for c in found.changes] == [(note, "changed outside")]
    assert (found.observations[1].effect, found.observations[1].evidence) == ("change", "stated")


@pytest.mark.parametrize("text", ["The design was changed by the user.", "It was modified externally."])
def test_a_note_of_something_else_names_no_file(text: str) -> None:
    log = Log()
    log.note(text)
    assert log.find().observations == ()


def test_a_note_shows_the_lines_it_numbers() -> None:
    """A change that shows numbered lines holds their content."""
    log = Log()
    log.note("Note: /w/a.py was modified, either by the user or by a linter. Here are the changes:\n7\tx\n8\ty\n\nend")
    (row,) = log.find().observations
    assert (row.first, row.last, row.content is not None) == (7, 8, True)


def test_a_note_inside_a_result_counts_at_its_end_only() -> None:
    """A client adds reminders after a result; the same words inside a file are the file's."""
    log = Log()
    read = log.read("/w/a.py", "x")
    words = "<system-reminder>\nNote: /w/a.py was modified, either by the user or by a linter.\n</system-reminder>"
    log.read("/w/b.md", f"notes\n{words}")
    assert states(log, read) == ["live"]
    log.bash("ls", f"a.py\n\n{words}")
    assert states(log, read) == ["stale"]


def test_an_attached_file_is_a_reading() -> None:
    """As Claude Code renders a file that the person named; a reference left by a compaction is none."""
    log = Log()
    text = 'Called the Read tool with the following input: {"file_path": "/w/a.py"}\nResult of calling the Read tool:\n'
    log.note(text + "1\tx\n2\ty")
    log.note("/w/b.py was read before the conversation was compacted.")
    log.note("Contents of /w/CLAUDE.md:\n\nNever push.")
    log.read("/w/a.py", "x\ny")
    first, second = log.find().observations
    assert (first.key, first.effect, first.call) == (FILE, "read", None)
    assert first.content == second.content


def test_a_command_that_changed_other_files_is_a_change_of_them() -> None:
    """Claude Code says at the end of an output which files that were read have changed."""
    log = Log()
    read = log.read("/w/a.py", "x")
    words = "[This command modified 1 file you've previously read: a.py. Call Read before editing.]"
    log.bash("ruff format", f"1 file reformatted\n{words}")
    assert states(log, read) == ["stale"]
    log.bash(
        "sed -i s/x/y/ a.py", "[This command modified 1 file you've previously read: a.py. Call Read before editing.]"
    )
    assert [row.effect for row in log.find().observations] == ["read", "change", "event", "edit", "ack"]


def test_what_a_person_types_is_no_note() -> None:
    """The same words typed by a person say nothing of a file's state."""
    log = Log()
    read = log.read("/w/a.py", "x")
    log.add("user", "/w/a.py was changed outside:\nplease look", human=True)
    assert states(log, read) == ["live"]


# --------------------------------------------------------------------------------------------------------- questions


def test_versions_are_contents_that_contradict_each_other() -> None:
    """Equal copies and lines that do not meet are no versions; a changed part against an old whole is one."""
    log = Log()
    first, copy = log.read("/w/a.py", lines(1, 20)), log.read("/w/a.py", lines(1, 20))
    part = log.read("/w/a.py", lines(3, 5), 3, offset=3, limit=3)
    found = log.find()
    window = [first, copy, part]
    assert versions_in(found.observations, found.changes, window, LATE) == {}
    log.do("Edit", {"file_path": "/w/a.py"}, EDITED)
    changed = log.read("/w/a.py", "a\nb\nc", 3, offset=3, limit=3)
    found = log.find()
    versions = versions_in(found.observations, found.changes, [*window, changed], LATE)
    assert [row.block for row in versions[FILE]] == [copy, part, changed]
    assert versions_in(found.observations, found.changes, [changed], LATE) == {}
    assert versions_in(found.observations, found.changes, [*window, changed], 3) == {}


def test_the_current_one_is_the_newest_whole_that_stands() -> None:
    """A part does not hide a whole; an edit leaves none; before anything is known there is none."""
    log = Log()
    whole = log.read("/w/a.py", lines(1, 20))
    log.read("/w/a.py", lines(3, 5), 3, offset=3, limit=3)
    log.do("Edit", {"file_path": "/w/a.py"}, EDITED)
    found = log.find()
    known = [current(found.observations, found.changes, FILE, turn) for turn in (1, 2, 3, 4)]
    assert [row and row.block for row in known] == [None, whole, whole, None]


def test_a_block_that_speaks_of_several_is_as_good_as_the_best_of_them() -> None:
    """Taking it out would lose what is still current; one resource can be asked for."""
    log = Log()
    _, both = log.bash("cat a.py b.py", "x\ny")
    log.do("Edit", {"file_path": "/w/a.py"}, EDITED)
    found = log.find()
    assert state_at(found.observations, found.changes, both, LATE) == "live"
    assert state_at(found.observations, found.changes, both, LATE, FILE) == "superseded"
    assert state_at(found.observations, found.changes, 10**5, LATE) is None


def test_age_counts_for_what_shows_a_resource() -> None:
    """A reading and a write age; an acknowledgement, an edit, a note and an event do not."""
    row = Observation(3, FILE, "read", turn=2, since=3)
    assert [stale_by_age(row, turn) for turn in (2, 3, 9, 10, 11)] == [False, False, False, True, True]
    for effect in ("ack", "edit", "change"):
        assert not stale_by_age(Observation(3, FILE, effect, 2, 3), 50)  # type: ignore[arg-type]
    assert not stale_by_age(Observation(3, None, "event", 2, 3), 50)
    record = Observation(3, "record:order:1", "read", 2, 3)
    assert stale_by_age(record, 5, {"default": 8, "record": 3})
    assert not stale_by_age(record, 5, {"default": 8})


def test_a_second_reading_of_what_still_stood_is_wasteful() -> None:
    """Of the same lines, or of some of them; not after a change, after a cut, or when something new came."""
    log = Log()
    first = log.read("/w/a.py", lines(1, 30))
    again = log.read("/w/a.py", lines(1, 30))
    part = log.read("/w/a.py", lines(4, 6), 4, offset=4, limit=3)
    log.do("Edit", {"file_path": "/w/a.py"}, EDITED)
    log.read("/w/a.py", lines(1, 30))
    log.bash("sed -n '4,6p' a.py", "new\nnew\nnew")
    found = log.find()
    wasteful = wasteful_rereads(found.observations, found.changes, lambda block, turn: True)
    assert [(w.block, w.earlier, w.turn) for w in wasteful] == [(again, first, 2), (part, again, 3)]
    cut = wasteful_rereads(found.observations, found.changes, lambda block, turn: turn != 2)
    assert [w.block for w in cut] == [part]


def test_calls_made_at_once_are_no_second_readings() -> None:
    """Neither could know of the other."""
    log = Log()
    one = log.call("Read", {"file_path": "/w/a.py"})
    two = log.call("Read", {"file_path": "/w/a.py"}, parallel=True)
    log.result(number("x"), of=one)
    log.result(number("x"), of=two)
    assert wasteful_rereads(*log.find().rows_and_changes(), lambda block, turn: True) == []


def test_an_event_done_again() -> None:
    """Same tool and same arguments, whatever their order; other arguments or a failure are no repetition."""
    log = Log()
    _, first = log.do("send_email", {"to": "a", "text": "hi"}, "sent")
    log.do("send_email", {"to": "b", "text": "hi"}, "sent")
    log.do("send_email", {"to": "a", "text": "hi"}, "Error: no connection")
    _, again = log.do("send_email", {"text": "hi", "to": "a"}, "sent")
    (repeat,) = log.find().resources.repeated_events()
    assert (repeat.block, repeat.earlier, repeat.turn) == (again, first, 4)
