"""What a call and its result say of a resource: each rule fires where it should, and not where it must not."""

from __future__ import annotations

import json

import pytest
from resource_blocks import Log, lines, number

from ctxview.annotate.observations import Dependency, ResourceRules, ToolRule

WHOLE = (None, None)
FILE = "file:/w/a.py"


def keys(log: Log) -> list[tuple[str | None, str, tuple[int | None, int | None]]]:
    return log.find().rows()


# ------------------------------------------------------------------------------------------------------- file tools


def test_a_reading_stands_on_the_result() -> None:
    """The result of a Read shows the file; the call is named, its turn is the age's start."""
    log = Log()
    call, answer = log.do("Read", {"file_path": "/w/a.py"}, number("x\ny"))
    (row,) = log.find().observations
    assert (row.block, row.call, row.key, row.effect) == (answer, call, FILE, "read")
    assert (row.turn, row.since, row.first, row.last) == (1, 2, None, None)


def test_a_write_stands_on_the_call_and_the_answer_acknowledges() -> None:
    """The call of a Write holds the content, its result is an acknowledgement without content."""
    log = Log()
    call, answer = log.do(
        "Write", {"file_path": "/w/a.py", "content": "x\ny\n"}, "File created successfully at: /w/a.py"
    )
    write, ack = log.find().observations
    assert (write.block, write.effect, write.call) == (call, "write", None)
    assert (ack.block, ack.effect, ack.call, ack.content) == (answer, "ack", call, None)


def test_a_read_and_a_write_of_one_text_have_one_hash() -> None:
    """Line numbers, the client's reminder, line ends and the last newline make no difference."""
    log = Log()
    log.do("Write", {"file_path": "/w/a.py", "content": "x\r\n\r\ny\n"}, "ok")
    reminder = "\n\n<system-reminder>\nWhenever you read a file ...\n</system-reminder>\n"
    log.do("Read", {"file_path": "/w/a.py"}, number("x\n\ny") + reminder)
    log.do("Read", {"file_path": "/w/a.py"}, "     1→x\n     2→\n     3→y\n     4→")
    log.do("str_replace_editor", {"command": "view", "path": "/w/a.py"},
           "Here's the result of running `cat -n` on /w/a.py:\n     1\tx\n     2\t\n     3\ty\n")  # fmt: skip
    log.bash("cat a.py", "x\n\ny\n")
    hashes = {row.content for row in log.find().observations if row.effect != "ack"}
    assert len(hashes) == 1
    log.bash("cat a.py", "x\ny\n")
    assert log.find().observations[-1].content not in hashes


def test_what_a_client_puts_around_a_file_is_none_of_its_lines() -> None:
    """OpenCode numbers the lines, and says in words of its own where they end."""

    def shown(body: str, says: str) -> str:
        return f"<path>/w/a.py</path>\n<type>file</type>\n<content>\n{body}\n\n({says})\n</content>"

    log = Log()
    loaded = "\n\n<system-reminder>\nInstructions from: /w/AGENTS.md\nUse tabs.\n</system-reminder>"
    log.do("Write", {"file_path": "/w/a.py", "content": "x\n\ny\n"}, "ok")
    log.do("read", {"filePath": "/w/a.py"}, shown("1: x\n2: \n3: y", "End of file - total 3 lines") + loaded)
    log.do("read", {"filePath": "/w/a.py", "limit": 2}, shown("1: x\n2: ", "Showing lines 1-2 of 3. Use offset=3."))
    capped = "Output capped at 50 KB. Showing lines 1-2. Use offset=3 to continue."
    log.do("read", {"filePath": "/w/a.py"}, shown("1: x\n2: ", capped))
    log.do("read", {"filePath": "/w/a.py"}, shown("2: \n3: y", "End of file - total 3 lines"))
    listing = "<path>/w</path>\n<type>directory</type>\n<entries>\na.py\n\n(1 entries)\n</entries>"
    log.do("read", {"filePath": "/w"}, listing)
    rows = [row for row in log.find().observations if row.effect != "ack"]
    assert [(row.effect, row.key, row.first, row.last) for row in rows] == [
        ("write", "file:/w/a.py", None, None),
        ("read", "file:/w/a.py", None, None),
        ("read", "file:/w/a.py", 1, 2),
        ("read", "file:/w/a.py", 1, 2),
        ("read", "file:/w/a.py", 2, 3),
        ("event", None, None, None),
    ]
    assert rows[0].content == rows[1].content


def test_clines_tools_answer_for_each_file() -> None:
    """Each answer names its file and whether it was read or changed; lines are numbered in front of a bar."""

    def answered(*rows: tuple[str, str, bool]) -> str:
        return json.dumps([{"query": q, "result": r, "success": s} for q, r, s in rows])

    log = Log()
    files = [{"path": "/w/a.py", "start_line": 9, "end_line": 10}, {"path": "b.py"}, {"path": "/w/c.py"}]
    rows = (("/w/a.py:9-10", " 9 | x\n10 | ", True), ("b.py", "1 | y", True), ("/w/c.py", "No such file", False))
    log.do("read_files", {"files": files}, answered(*rows))
    for path, old, says, succeeded in (("a", "x", "Edited", True), ("a", "q", "no", False), ("d", "", "Created", True)):
        answer = answered((f"edit:/w/{path}.py", says, succeeded))[1:-1]
        log.do("editor", {"path": f"/w/{path}.py", "old_text": old, "new_text": "z"}, answer)
    rows_found = [row for row in log.find().rows() if row[1] != "ack"]
    assert rows_found == [
        (FILE, "read", (9, 10)),
        ("file:/w/b.py", "read", WHOLE),
        (FILE, "edit", WHOLE),
        ("file:/w/d.py", "write", WHOLE),
    ]


def test_a_note_in_front_of_a_view_is_no_line_of_the_file() -> None:
    note = "NOTE: We only show up to 10 since there're only 10 lines in this file.\n"
    log = Log()
    shown = note + "Here's the result of running `cat -n` on /w/a.py:\n" + number(lines(8, 10), 8)
    log.do("str_replace_editor", {"command": "view", "path": "/w/a.py", "view_range": [8, 20]}, shown)
    log.read("/w/a.py", lines(8, 10), 8, offset=8, limit=3)
    first, second = log.find().observations
    assert (first.first, first.last, first.content) == (8, 10, second.content)


def test_several_files_in_a_result_of_another_shape_are_read_without_their_lines() -> None:
    log = Log()
    log.do("read_multiple_files", {"paths": ["a.py", "/w/b.py"]}, "a.py: x\nb.py: y")
    assert [(row.key, row.effect, row.content) for row in log.find().observations] == [
        (FILE, "read", None),
        ("file:/w/b.py", "read", None),
    ]


@pytest.mark.parametrize(
    ("answer", "more", "expected"),
    [
        (number("x"), {}, WHOLE),
        (number(lines(1, 2000)), {}, (1, 2000)),
        (number(lines(1, 50)), {"limit": 50}, (1, 50)),
        (number(lines(1, 20)), {"limit": 50}, WHOLE),
        (number(lines(40, 59), 40), {"offset": 40, "limit": 20}, (40, 59)),
        (number(lines(40, 45), 40), {"offset": 40}, (40, 45)),
        (lines(1, 5), {"limit": 50}, WHOLE),
        (lines(10, 19), {"offset": 10, "limit": 10}, (10, 19)),
        (lines(3, 5), {"start_line": 3, "end_line": 5}, (3, 5)),
        (lines(1, 4) + "\n[... 80 more lines truncated]", {}, (1, 4)),
    ],
)
def test_lines_that_a_reading_shows(answer: str, more: dict[str, int], expected: tuple[int | None, int | None]) -> None:
    """Numbers in the result say which lines; without them what was asked and how many came."""
    log = Log()
    log.do("Read", {"file_path": "/w/a.py", **more}, answer)
    assert keys(log) == [(FILE, "read", expected)]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Edit", {"file_path": "/w/a.py"}, ("edit", FILE)),
        ("MultiEdit", {"file_path": "/w/a.py", "edits": []}, ("edit", FILE)),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, ("edit", "file:/w/n.ipynb")),
        ("NotebookRead", {"notebook_path": "n.ipynb"}, ("read", "file:/w/n.ipynb")),
        ("read_file", {"path": "a.py"}, ("read", FILE)),
        ("read_file", {"target_file": "./a.py"}, ("read", FILE)),
        ("mcp__files__read_text_file", {"path": "/w/x/../a.py"}, ("read", FILE)),
        ("view", {"path": "/w/a.py"}, ("read", FILE)),
        ("write_file", {"path": "a.py", "content": "x"}, ("write", FILE)),
        ("create_file", {"filePath": "a.py", "content": "x"}, ("write", FILE)),
        ("edit_file", {"target_file": "a.py", "code_edit": "x"}, ("edit", FILE)),
        ("str_replace_editor", {"command": "create", "path": "/w/a.py", "file_text": "x"}, ("write", FILE)),
        ("str_replace_editor", {"command": "str_replace", "path": "/w/a.py"}, ("edit", FILE)),
        ("str_replace_based_edit_tool", {"command": "insert", "path": "/w/a.py"}, ("edit", FILE)),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/w/a.py"}, ("read", FILE)),
        ("Read", {"file_path": "C:\\work\\a.py"}, ("read", "file:C:\\work\\a.py")),
        ("Read", {"file_path": "/Users/Me/A.py"}, ("read", "file:/Users/Me/A.py")),
        ("WebFetch", {"url": "HTTPS://Example.org:443/a#part", "prompt": "?"}, ("read", "url:https://example.org/a")),
        ("fetch", {"url": "https://example.org"}, ("read", "url:https://example.org/")),
        ("http_request", {"url": "http://localhost:8000/x?y=1", "method": "get"}, ("read", "url:http://localhost:8000/x?y=1")),
        ("get_order_details", {"order_id": "#W1"}, ("read", "record:order:#W1")),
        ("lookup_customer", {"id": 7}, ("read", "record:customer:7")),
        ("mcp__docs__get_document", {"documentId": 24}, ("read", "record:document:24")),
        ("find_invoice", {"invoice_id": "F1", "user_id": "u"}, ("read", "record:invoice:F1")),
        ("cancel_reservation", {"reservation_id": "R"}, ("edit", "record:reservation:R")),
        ("set_ticket_status", {"ticket_id": "T", "status": "open"}, ("edit", "record:ticket:T")),
    ],
)  # fmt: skip
def test_tools_and_their_resources(tool: str, arguments: dict[str, object], expected: tuple[str, str]) -> None:
    """A call maps to one resource by its tool and arguments."""
    log = Log()
    log.do(tool, arguments, "fine")
    row = log.find().observations[0]
    assert (row.effect, row.key) == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Grep", {"pattern": "x", "path": "/w/a.py"}),
        ("Glob", {"pattern": "**/*.py"}),
        ("WebSearch", {"query": "x"}),
        ("send_email", {"to": "x", "id": 7}),
        ("get_weather", {"city": "Oslo"}),
        ("find_user_id_by_email", {"email": "a@b.org"}),
        ("get_thread", {"user_id": "u", "order_id": "o"}),
        ("http_request", {"url": "https://example.org", "method": "POST"}),
        ("fetch", {"url": "not a url"}),
        ("read_file", {}),
        ("Read", "not json"),
        ("str_replace_editor", {"command": "view"}),
        ("TodoWrite", {"todos": []}),
        ("edit", {"search": "a", "replace": "b"}),
    ],
)
def test_anything_else_is_an_event(tool: str, arguments: object) -> None:
    """Without one resource that can be named a call is an event: no key, its block the result."""
    log = Log()
    call, answer = log.do(tool, arguments, "fine")
    (row,) = log.find().observations
    assert (row.block, row.call, row.key, row.effect) == (answer, call, None, "event")


def test_a_folder_is_no_file() -> None:
    """A view that is answered by a listing is an event."""
    log = Log()
    log.do(
        "str_replace_editor", {"command": "view", "path": "/w"}, "Here's the files and directories up to 2 levels deep"
    )
    assert keys(log) == [(None, "event", WHOLE)]


def test_a_relative_path_needs_a_folder_to_be_the_same_file() -> None:
    """With a folder both spellings are one key; without one a path is kept as logged."""
    log = Log(cwd=None)
    log.do("Read", {"file_path": "src/../a.py"}, number("x"))
    assert keys(log) == [("file:a.py", "read", WHOLE)]


@pytest.mark.parametrize(
    "answer",
    [
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "File has not been read yet. Read it first before writing to it.",
        "Error: ENOENT",
        "Ran into [Errno 2] No such file or directory: '/w/a.py' while trying to write to /w/a.py",
        "No replacement was performed, old_str `x` did not appear verbatim in /w/a.py.",
        "Invalid `path` parameter: a.py.",
        '{"error": "not found"}',
        "The user doesn't want to proceed with this tool use.",
        "ENOENT: no such file or directory, access '/w/a.py'",
        "No changes made to /w/a.py: the text is the same.",
    ],
)
def test_what_failed_says_nothing(answer: str) -> None:
    """A read, a write or an edit that failed is no observation, whether or not the log marks it."""
    log = Log()
    log.do("Read", {"file_path": "/w/a.py"}, answer)
    log.do("Write", {"file_path": "/w/a.py", "content": "x"}, answer)
    log.do("Edit", {"file_path": "/w/a.py"}, answer)
    log.do("get_order", {"order_id": 1}, answer)
    assert keys(log) == []


def test_what_is_marked_as_failed_says_nothing() -> None:
    """The log's own mark is enough."""
    log = Log()
    log.do("Read", {"file_path": "/w/a.py"}, number("x"), error=True)
    log.bash("cat a.py", "x", error=True)
    log.do("send_email", {"to": "x"}, "sent", error=True)
    assert keys(log) == []


def test_a_file_that_speaks_of_errors_was_read() -> None:
    """Words of failure inside the content are content."""
    log = Log()
    log.do("Read", {"file_path": "/w/a.py"}, number("Error: no such file\nTraceback (most recent call last):"))
    assert keys(log) == [(FILE, "read", WHOLE)]


def test_a_cleared_result_shows_nothing() -> None:
    """A log that begins after a clearing holds a placeholder: no reading; a change is taken to have happened."""
    log = Log()
    log.do("Read", {"file_path": "/w/a.py"}, "[Old tool result content cleared]")
    log.bash("cat a.py", "[Old tool result content cleared]")
    log.do("Edit", {"file_path": "/w/a.py"}, "[Old tool result content cleared]")
    assert [(row.effect, row.evidence) for row in log.find().observations] == [("edit", "inferred"), ("ack", "matched")]


def test_an_image_has_no_content_hash() -> None:
    """Nothing is known of an image's content, so two images never count as one version."""
    log = Log()
    log.do("Read", {"file_path": "/w/a.png"}, "")
    assert log.find().observations[0].content is None


def test_an_answer_that_points_back_is_an_acknowledgement() -> None:
    """Claude Code may answer a second read by a pointer: the first stays what it is."""
    log = Log()
    first = log.read("/w/a.py", "x")
    log.do(
        "Read",
        {"file_path": "/w/a.py"},
        "File unchanged since last read. The content from the earlier Read is current.",
    )
    found = log.find()
    assert [row.effect for row in found.observations] == ["read", "ack"]
    assert found.resources.state_at(first, 9) == "live"


def test_blocks_that_stood_in_no_window_are_left_out() -> None:
    """An abandoned branch says nothing to the model."""
    log = Log()
    log.call("Read", {"file_path": "/w/a.py"})
    log.add("tool_result", number("x"), role="tool", call_id="c0", enters=False)
    assert keys(log) == []


# ------------------------------------------------------------------------------------------------ unanswered calls


def test_an_unanswered_write_never_counts_where_the_log_has_results() -> None:
    """It was interrupted."""
    log = Log()
    log.read("/w/b.py", "x")
    log.call("Write", {"file_path": "/w/a.py", "content": "x"})
    log.call("Bash", {"command": "ls"})
    assert [row[0] for row in keys(log)] == ["file:/w/b.py"]


def test_in_a_log_without_results_a_write_counts_once_the_next_call_was_made() -> None:
    """Not before, as inferred; a read without its result shows nothing."""
    log = Log()
    call = log.call("Write", {"file_path": "/w/a.py", "content": "x"})
    log.call("Read", {"file_path": "/w/b.py"}, parallel=True)
    assert keys(log) == []
    log.add("assistant", "next", role="assistant")
    assert keys(log) == []
    log.turn += 1
    log.add("assistant", "done", role="assistant")
    (row,) = log.find().observations
    assert (row.block, row.effect, row.evidence, row.turn, row.since) == (call, "write", "inferred", 1, 3)


# ----------------------------------------------------------------------------------------------------------- records


def test_a_changed_record_in_the_answer_is_a_reading_of_it() -> None:
    """Some tools answer a change with the whole record: the earlier look-up is superseded, the answer is current."""
    log = Log()
    record = {"reservation_id": "R", "cabin": "economy"}
    _, first = log.do("get_reservation_details", {"reservation_id": "R"}, json.dumps(record))
    changed = json.dumps({"cabin": "business", "reservation_id": "R"})
    call, answer = log.do("update_reservation_flights", {"reservation_id": "R", "cabin": "business"}, changed)
    _, again = log.do("get_reservation_details", {"reservation_id": "R"}, '{"reservation_id":"R", "cabin":"business"}')
    found = log.find()
    assert [row.effect for row in found.observations] == ["read", "edit", "read", "read"]
    assert found.resources.state_at(first, 3) == "superseded"
    assert [c.because for c in found.changes if c.block == first] == [call]
    assert found.observations[2].content == found.observations[3].content
    assert found.resources.state_at(answer, 3) == "live"
    assert found.resources.state_at(again, 4) == "live"


def test_an_answer_without_the_record_only_acknowledges() -> None:
    """`{"ok": true}` shows nothing of the record."""
    log = Log()
    log.do("set_status", {"ticket_id": "T", "status": "x"}, '{"ok": true}')
    assert [row.effect for row in log.find().observations] == ["edit", "ack"]


def test_answers_to_different_questions_about_a_page_stand_side_by_side() -> None:
    """WebFetch answers a question: another question does not replace it, the same one does."""
    log = Log()
    url = "https://example.org/a"
    _, first = log.do("WebFetch", {"url": url, "prompt": "price"}, "7")
    _, second = log.do("WebFetch", {"url": url, "prompt": "colour"}, "red")
    _, third = log.do("WebFetch", {"url": url, "prompt": "price"}, "8")
    resources = log.find().resources
    assert [resources.state_at(block, 9) for block in (first, second, third)] == ["superseded", "live", "live"]
    assert resources.versions_in([first, second, third], 9) == {}


# ------------------------------------------------------------------------------------------------------------- rules


def test_a_persons_rules_go_first() -> None:
    """A tool of one's own reads what its key says; a missing argument makes it an event."""
    rules = ResourceRules(
        tools=(
            ToolRule("invoice_*", "read", "record:invoice:{no}"),
            ToolRule("save", "write", "file:{where}", content="body"),
            ToolRule("Read", "event"),
        )
    )
    log = Log(rules=rules)
    log.do("invoice_show", {"no": 7}, "paid")
    log.do("invoice_show", {}, "none")
    log.do("save", {"where": "a.py", "body": "x"}, "saved")
    log.read("/w/a.py", "x")
    rows = log.find().observations
    assert [(row.effect, row.key) for row in rows] == [
        ("read", "record:invoice:7"), ("event", None), ("write", FILE), ("ack", FILE), ("event", None),
    ]  # fmt: skip
    assert rows[0].evidence == "stated"
    assert rows[2].content is not None


def test_a_change_to_one_makes_another_stale() -> None:
    """Declared dependencies: an edit of the schema outdates what was read of the generated file, not the reverse."""
    rules = ResourceRules(dependencies=(Dependency("file:*/gen.py", "file:*/schema.sql"),))
    log = Log(rules=rules)
    generated = log.read("/w/gen.py", "x")
    schema = log.read("/w/schema.sql", "y")
    log.do("Edit", {"file_path": "/w/gen.py"}, "The file has been updated.")
    assert log.find().resources.state_at(schema, 9) == "live"
    again = log.read("/w/gen.py", "x")
    log.read("/w/schema.sql", "y")
    assert log.find().resources.state_at(again, 9) == "live"
    edit, _ = log.do("Edit", {"file_path": "/w/schema.sql"}, "The file has been updated.")
    found = log.find()
    assert found.resources.state_at(again, 9) == "stale"
    assert [(c.because, c.reason) for c in found.changes if c.block == again] == [
        (edit, "depends on file:/w/schema.sql")
    ]
    assert found.resources.state_at(generated, 9) == "superseded"
