"""Goals, denials, approvals and lists of work: what is known by its place or by a client's own words."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from pin_blocks import agent, block, call, kinds_of, numbered, person, pins_of, result

from ctxview.annotate.pins import PRIORITY, PinFinder, PinRules, TaskList
from ctxview.model import NEVER, Block


def test_the_goal_is_the_persons_first_message_with_all_its_parts():
    first = person("Move the tables.")
    more = replace(person("All of them."), message=first.message, origin=first.origin)
    pins = pins_of(block("system", "You help."), block("note", "<system-reminder>x</system-reminder>"), first, more)
    assert [(p.block, p.kind, p.evidence) for p in pins] == [
        (0, "system", "stated"),
        (2, "goal", "matched"),
        (3, "goal", "matched"),
    ]


def test_later_messages_are_no_goals():
    assert "goal" not in kinds_of(person("Move the tables."), agent("Done."), person("Now the views."))


def test_what_an_editor_puts_beside_the_message_is_no_goal():
    opened = person("<ide_opened_file>The user opened a.md</ide_opened_file>")
    assert kinds_of(opened, person("Read a.md.")) == {"goal"}
    assert kinds_of(opened) == set()


def test_a_sub_agents_prompt_is_its_goal_until_a_person_speaks():
    prompt = block("user", "Find the handlers.", human=False)
    pins = pins_of(prompt, agent("Here."), person("Now list them."))
    assert [(p.block, p.kind, p.since, p.until) for p in pins] == [(0, "goal", 1, 2), (2, "goal", 2, NEVER)]


def test_a_goal_marked_by_the_client_comes_before_the_first_message():
    marked = block("user", '<x_context source="goal">\nGoal: move all tests.\n</x_context>', human=True)
    pins = pins_of(marked, person("Start."))
    assert [(p.block, p.kind, p.evidence) for p in pins] == [(0, "goal", "stated")]


def test_a_slash_command_with_words_is_the_goal_and_its_words_count():
    command = block(
        "note",
        "<command-message>plan is running</command-message>\n<command-name>/plan</command-name>\n"
        "<command-args>a todo app, do not use a database</command-args>",
    )
    assert kinds_of(command) == {"goal", "constraint"}
    assert kinds_of(block("note", "<command-name>/clear</command-name>\n<command-args></command-args>")) == set()


def test_what_a_slash_command_expands_to_lays_down_rules_with_words_and_without():
    expansion = block("note", "Count the parcels. Never write to the archive.")
    head = "<command-message>count is running</command-message>\n<command-name>/count</command-name>"
    for arguments in ("", "\n<command-args>of Kiel</command-args>"):
        command = block("note", head + arguments)
        assert kinds_of(command, expansion) == {"goal", "constraint"}
        assert kinds_of(person("Go."), command, expansion) == {"constraint"}
        assert kinds_of(command, agent("Done."), expansion) == set()
        assert kinds_of(command, block("note", "<system-reminder>Never mind.</system-reminder>")) == set()


def test_a_clients_instructions_are_system_text_and_a_list_of_skills_lays_down_nothing():
    def developer(text: str) -> Block:
        return replace(block("note", text), role="system")

    assert kinds_of(person("Go."), developer("## Memory\nDo not edit the memory files.")) == {"system", "constraint"}
    skills = "<skills_instructions>\n- parcels: never used alone\n</skills_instructions>"
    assert kinds_of(developer(skills)) == {"system"}
    used = skills.replace("</", "### How to use skills\n- Do not read a skill twice.\n</")
    assert [p.quote for p in pins_of(person("Go."), developer(used)) if p.kind == "constraint"] == [
        "Do not read a skill twice."
    ]
    assert kinds_of(block("system", skills)) == {"system"}


def test_a_command_that_the_client_saved_as_approved():
    saved = replace(block("note", 'Approved command prefix saved:\n- ["make", "test"]'), role="system")
    [pin] = [p for p in pins_of(person("Go."), saved) if p.kind != "goal"]
    assert (pin.kind, pin.evidence) == ("approval", "stated")


@pytest.mark.parametrize("heading", ["## Never", "**Do not:**", "Only with explicit consent:", "# Forbidden actions"])
def test_what_is_listed_under_a_heading_that_forbids_is_forbidden(heading: str):
    text = f"A depot is open.\n\n{heading}\n\n- Close a depot\n  - in Kiel\n- Never lose a parcel.\n\n- Sell\n\nRead."
    pins = [p for p in pins_of(block("system", text)) if p.kind == "constraint"]
    name = heading.strip("#*: ")
    assert {(p.quote, p.rule) for p in pins} == {
        ("Close a depot", f"lays down: an item under «{name}»"),
        ("Never lose a parcel.", "forbids: never …"),
        ("Sell", f"lays down: an item under «{name}»"),
    }


def test_a_heading_without_a_list_or_of_another_kind_binds_no_items():
    for text in ("## Never\n\nClose a depot.", "## Depots\n- Kiel", "Is it never open?\n- Kiel", "Do not:\nKiel\n- a"):
        assert "an item under" not in " ".join(p.rule for p in pins_of(block("system", text)))


def test_what_the_servers_of_tools_ask_is_the_clients_instructions():
    asked = block("note", "## depots\nNever close a depot twice.", tool="mcp_instructions_delta")
    assert kinds_of(person("Go."), asked) == {"system", "constraint"}
    written = "<system-reminder>\n# MCP Server Instructions\n\nNever close a depot twice.\n</system-reminder>"
    assert kinds_of(person("Go."), block("note", written)) == {"system", "constraint"}


def test_an_invoked_skill_lays_down_rules_wherever_it_is_put_in():
    words = "Base directory for this skill: /p/skills/count\n\nNever count a parcel twice."
    assert kinds_of(person("Go."), agent("Done."), block("note", words)) == {"constraint"}
    put_back = block("note", "### Skill: count\nNever count a parcel twice.", tool="invoked_skills")
    assert kinds_of(person("Go."), put_back) == {"constraint"}


def test_what_a_hook_orders_is_a_constraint_and_what_it_tells_is_none():
    def hook(words: str) -> set[str]:
        return kinds_of(person("Go."), block("note", f"PostToolUse:Bash: {words}", tool="hook_additional_context"))

    assert hook("The depot is full. Do not send more parcels.") == {"constraint"}
    assert hook("Stop the import now.") == {"constraint"}
    assert hook("Older depots must hold fewer parcels.") == set()


SHOWN = "<path>/p/a.ts</path>\n<type>file</type>\n<content>\n1: let a\n\n(End of file - total 1 lines)\n</content>"
LOADED = "\n\n<system-reminder>\nInstructions from: /p/AGENTS.md\nNever rename a depot.\n\n</system-reminder>"


def test_a_memory_file_behind_a_result_is_one_and_a_file_that_shows_such_words_is_not():
    assert kinds_of(person("Go."), result(SHOWN + LOADED)) == {"system", "constraint"}
    assert kinds_of(person("Go."), result(SHOWN)) == set()
    assert kinds_of(person("Go."), result("# How it looks" + LOADED)) == set()
    assert kinds_of(person("Go."), result(SHOWN.replace("let a", LOADED))) == set()


SUMMARY = (
    "This session is being continued.\n\n6. Pending Tasks:\n   - **Count** the parcels\n   - Close the depot\n\n"
    "7. Current Work:\n   - Counting\n\nContinue the conversation from where it left off without asking the user"
)


def test_a_summarys_pending_tasks_are_open_until_the_next_list_or_summary():
    summary = block("summary", SUMMARY)
    pins = pins_of(person("Go."), agent("a"), summary, agent("b"), call("TodoWrite", todo(("x", "pending")), "c1"))
    assert [(p.quote, p.since, p.until) for p in pins if p.kind == "workflow"] == [
        ("Count the parcels; Close the depot", 2, 3),
        ("x", 3, NEVER),
    ]
    assert [p.quote[:25] for p in pins if p.kind == "constraint"] == ["Continue the conversation"]
    done = block("summary", "6. Pending Tasks:\n   - None, all is done\n\n7. Current Work:\n   - x\n")
    pins = pins_of(person("Go."), summary, agent("a"), done)
    assert [(p.since, p.until) for p in pins if p.kind == "workflow"] == [(1, 2)]


@pytest.mark.parametrize("heading", ["PENDING:", "## Next steps", "**Remaining tasks**", "3. TODO:"])
def test_headings_of_what_a_summary_leaves_to_do(heading: str):
    summary = block("summary", f"DONE:\n- Count\n\n{heading}\n- Close the depot\n\nTESTS:\n- none\n")
    assert [p.quote for p in pins_of(person("Go."), summary) if p.kind == "workflow"] == ["Close the depot"]


def test_a_summary_that_stands_as_a_message_is_not_the_persons():
    summary = person("USER_CONTEXT: Close it.\n\nPENDING:\n- Find where it is incorrectly added up\n- Skip the rest\n")
    pins = pins_of(person("Go."), agent("a"), summary)
    assert [p.kind for p in pins] == ["goal", "workflow"]


def test_a_question_that_nobody_answered_stays_open_until_the_person_speaks():
    asks = call("AskUserQuestion", {"questions": [{"question": "Public?"}]}, "c1")
    waited = result("No response after 300s, proceed.", "c1")
    command = block("note", "<command-message>count</command-message>\n<command-name>/count</command-name>")
    for spoken in (person("Now the depots."), command):
        pins = pins_of(person("Go."), asks, waited, agent("I go on."), spoken, agent("ok"))
        assert [(p.since, p.until) for p in pins if p.kind == "question"] == [(2, 3)]


def test_a_slash_command_ends_an_open_question():
    command = block("note", "<command-message>count</command-message>\n<command-name>/count</command-name>")
    pins = pins_of(person("Which depot is it?"), command, agent("Kiel."))
    assert [(p.since, p.until) for p in pins if p.kind == "question"] == [(1, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "Contents of /home/dev/p/CLAUDE.md:\n\nUse tabs.",
        "# AGENTS.md instructions for /home/dev/p\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        "<user_instructions>\n\nUse tabs.\n\n</user_instructions>",
        "<system-reminder>\n# claudeMd\nUse tabs.\n</system-reminder>",
    ],
)
def test_memory_files(text: str):
    assert "system" in kinds_of(block("note", text))
    assert "system" in kinds_of(block("user", text))


def test_an_abandoned_branch_pins_nothing():
    left = replace(person("Never touch auth."), enters=False)
    assert [(p.block, p.kind) for p in pins_of(left, person("Read the notes."))] == [(1, "goal")]


def test_a_mere_reference_to_a_memory_file_is_none():
    assert kinds_of(person("Hi."), block("note", "The person named these files:\n- /home/dev/CLAUDE.md")) == set()


STATED_DENIALS = [
    "DENIED by policy: refunds above 500.00 EUR need an approver.",
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "The user doesn't want to take this action right now. STOP what you are doing.",
    "[Request interrupted by user for tool use]",
    "User chose to stay in plan mode and continue planning",
    "exec command rejected by user",
    "Tool execution denied by policy.",
]
MATCHED_DENIALS = [
    "Permission to use Bash with command rm -rf build has been denied.",
    "Claude requested permissions to write to /etc/hosts, but you haven't granted it yet.",
    "This command requires approval",
    "PreToolUse:Bash hook error: [guard.sh]: the folder is frozen",
    "cd in '/' was blocked. For security, only the working folder is allowed.",
    "touch: /etc/x: Operation not permitted",
    "error: sandbox denied write to /etc",
    "MCP error -32000: Request denied",
    "Access denied: the role cannot issue refunds",
    "Exit code 1\nremote: error: GH006: Protected branch update failed for refs/heads/main.",
]


@pytest.mark.parametrize("text", STATED_DENIALS)
def test_denials_in_a_clients_own_words(text: str):
    [pin] = [p for p in pins_of(person("Hi."), result(text)) if p.kind == "denial"]
    assert (pin.evidence, pin.quote) == ("stated", text)


def test_a_protected_branch_denies_what_the_person_runs_too():
    pushed = "<bash-stdout></bash-stdout><bash-stderr>! main (protected branch hook declined)</bash-stderr>"
    assert kinds_of(person("Hi."), block("note", pushed)) == {"denial"}
    assert kinds_of(person("Hi."), block("note", "<bash-stdout>main -> main</bash-stdout>")) == set()


@pytest.mark.parametrize("text", MATCHED_DENIALS)
def test_denials_that_only_an_error_can_be(text: str):
    [pin] = [p for p in pins_of(person("Hi."), result(text, error=True)) if p.kind == "denial"]
    assert pin.evidence == "matched"


@pytest.mark.parametrize(
    "text",
    [
        "cat: notes.txt: No such file or directory",
        "Exit code 1\nFAILED tests/test_a.py::test_denied - assert 403 == 200",
        "error: payment gateway timed out",
        "Exit code 128\nfatal: could not read from remote repository",
        "command failed in sandbox with execution error: command timed out",
        "agent refused operation?",
        "bash: ./run.sh: Permission denied",
    ],
)
def test_ordinary_errors_are_no_denials(text: str):
    assert kinds_of(person("Hi."), result(text, error=True)) == set()


def test_a_file_about_denials_is_none():
    text = "1\tdef test_denied():\n2\t    assert 'rejected by user' in text\n3\t    # blocked by the sandbox\n"
    assert kinds_of(person("Hi."), result(text * 50)) == set()
    assert kinds_of(person("Hi."), result(text)) == set()
    assert kinds_of(person("Hi."), result("The policy says: DENIED by policy: means no.")) == set()


def test_a_configured_mark_is_a_denial():
    rules = PinRules(denial_markers=("REFUSED:",))
    assert pins_of(result("REFUSED: closed on Sundays"), rules=rules)[0].kind == "denial"


def test_an_approved_plan_and_a_refused_one():
    asks = call("ExitPlanMode", {"plan": "# Move the tables\n1. copy\n2. check"}, "c1")
    approved = result("User has approved your plan. You can now start coding.", "c1")
    pins = pins_of(person("Plan it."), asks, approved)
    assert [(p.kind, p.quote[:17], p.until) for p in pins[1:]] == [
        ("plan", "# Move the tables", NEVER),
        ("approval", "User has approved", NEVER),
    ]
    refused = result("User chose to stay in plan mode and continue planning", "c1")
    pins = pins_of(person("Plan it."), asks, refused)
    assert [(p.kind, p.until) for p in pins[1:]] == [("plan", 2), ("denial", NEVER)]


def test_a_newer_plan_replaces_the_older():
    pins = pins_of(
        person("Plan it."),
        call("ExitPlanMode", {"plan": "one"}, "c1"),
        result("ok", "c1"),
        call("ExitPlanMode", {"plan": "two"}, "c2"),
    )
    assert [(p.quote, p.since, p.until) for p in pins if p.kind == "plan"] == [("one", 2, 3), ("two", 3, NEVER)]


def test_a_question_put_with_a_tool_and_its_answer():
    asks = call("AskUserQuestion", {"questions": [{"question": "Public?"}]}, "c1")
    answered = result('User has answered your questions: "Public?"="No".', "c1")
    pins = pins_of(person("Publish it."), asks, answered)
    assert [(p.kind, p.evidence, p.until == NEVER) for p in pins[1:]] == [
        ("question", "stated", False),
        ("decision", "stated", True),
    ]


def todo(*items: tuple[str, str]) -> dict[str, object]:
    return {"todos": [{"content": subject, "status": status} for subject, status in items]}


def test_a_list_of_work_holds_until_it_is_replaced_or_done():
    pins = pins_of(
        person("Go."),
        call("TodoWrite", todo(("copy", "in_progress"), ("check", "pending")), "c1"),
        result("ok", "c1"),
        call("TodoWrite", todo(("copy", "completed"), ("check", "in_progress")), "c2"),
        result("ok", "c2"),
        call("TodoWrite", todo(("copy", "completed"), ("check", "completed")), "c3"),
    )
    assert [(p.block, p.since, p.until, p.quote) for p in pins if p.kind == "workflow"] == [
        (1, 2, 3, "copy; check"),
        (3, 3, 4, "check"),
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("update_plan", {"plan": [{"step": "copy", "status": "in_progress"}, {"step": "check", "status": "pending"}]}),
        ("task_tracker", {"command": "plan", "task_list": [{"title": "copy", "status": "todo"}, {"title": "check"}]}),
        ("todowrite", {"todos": [{"id": "1", "content": "copy"}, {"id": "2", "content": "check"}]}),
        ("update_todo_list", {"todos": "- [ ] copy\n- [ ] check"}),
        ("mcp__board__write_todos", {"todos": [{"description": "copy"}, {"description": "check"}]}),
    ],
)
def test_every_tool_that_keeps_a_list(tool: str, arguments: object):
    [pin] = [p for p in pins_of(person("Go."), call(tool, arguments, "c1")) if p.kind == "workflow"]
    assert (pin.quote, pin.evidence) == ("copy; check", "stated")


def test_a_check_list_in_the_agents_words():
    begun, done = agent("Plan:\n- [x] copy\n- [ ] check"), agent("- [x] copy\n- [x] check")
    pins = pins_of(person("Go."), begun, person("ok"), done)
    assert [(p.quote, p.evidence, p.since, p.until) for p in pins if p.kind == "workflow"] == [
        ("check", "matched", 2, 3)
    ]


def tasks_of(*blocks: Block) -> TaskList:
    tasks = TaskList()
    for row in numbered(blocks):
        tasks.see(*row)
    return tasks


def test_tasks_are_known_by_the_id_that_the_result_tells():
    create = call("TaskCreate", {"subject": "write docs"}, "c1")
    created = result("Task #7 created successfully: write docs", "c1")
    done = call("TaskUpdate", {"taskId": "7", "status": "completed"}, "c2")
    tasks = tasks_of(person("Go."), create, created, done, create, created)
    assert [(t.id, t.subject, t.status) for t in tasks.items] == [("7", "write docs", "completed")]
    assert [t.status for t in tasks.at(2)] == ["pending"]
    assert [t.status for t in tasks.at(3)] == ["completed"]
    assert tasks.at(1) == ()


def test_damaged_calls_change_no_list():
    tasks = tasks_of(
        block("tool_call", "{not json", tool="TodoWrite", call="c1"),
        block("tool_call", '["a"]', tool="TaskUpdate", call="c2"),
        call("TodoWrite", {"todos": "no list"}, "c3"),
        call("TodoWrite", {"todos": [None, 4]}, "c4"),
        call("TaskUpdate", {"taskId": "99", "status": "completed"}, "c5"),
    )
    assert tasks.items == ()


@pytest.mark.parametrize("said", ["failed to parse function arguments", "Error: no such task"])
def test_a_call_that_failed_leaves_the_list_as_it_was(said: str):
    todos = [{"content": "write docs", "status": "in_progress"}, {"content": "test"}]
    listed = call("TodoWrite", {"todos": todos}, "c1")
    anew = call("TodoWrite", {"todos": [{"content": "write docs", "status": "completed"}]}, "c2")
    update = call("TaskUpdate", {"taskId": "2", "status": "completed"}, "c3")
    tasks = tasks_of(person("Go."), listed, result("ok", "c1"), anew, update, result(said, "c2"), result("ok", "c3"))
    assert [(t.subject, t.status) for t in tasks.items] == [("write docs", "in_progress"), ("test", "completed")]
    refused = result("The user doesn't want to proceed with this tool use.", "c3", error=True)
    tasks = tasks_of(person("Go."), listed, result("ok", "c1"), update, refused)
    assert [t.status for t in tasks.at(3)] == ["in_progress", "pending"]


def test_priorities_follow_the_documented_order():
    order = ["user", "system", "goal", "denial", "constraint", "approval", "decision", "preference", "plan", "question"]
    assert sorted(order, key=lambda kind: -PRIORITY[kind]) == order  # type: ignore[index]


def test_finish_leaves_out_what_no_window_could_show():
    finder = PinFinder()
    for row in numbered([person("Hi."), agent("Which depot?"), person("Kiel")]):
        finder.see(*row)
    assert [p.kind for p in finder.pins] == ["goal", "question"]
    assert [p.kind for p in finder.finish()] == ["goal"]


def test_a_plan_that_a_program_passes_on_is_a_list_of_work():
    """Codex's script tool: keys without quotation marks, and texts with braces in them."""
    program = (
        'const r = await tools.update_plan({plan:[\n  {step:"Read {all} of it",status:"completed"},\n'
        "  {\"status\":\"pending\", 'step':'Close the depot'}\n]});\ntext(r);"
    )
    tasks = TaskList()
    made = block("tool_call", program, tool="exec", call="c1")
    assert tasks.see(made, 0, 1)
    assert [(t.subject, t.status) for t in tasks.items] == [
        ("Read {all} of it", "completed"),
        ("Close the depot", "pending"),
    ]
    assert [(p.kind, p.quote) for p in pins_of(person("Go."), made) if p.kind == "workflow"] == [
        ("workflow", "Close the depot")
    ]
    assert not TaskList().see(block("tool_call", "await tools.exec_command({cmd: 'ls'})", tool="exec", call="c2"), 0, 1)


def test_each_list_under_a_heading_that_stands_twice_binds():
    text = "## Never\n- sell a depot\n\nBooks:\n- are open\n\n## Never\n- burn a book\n"
    found = pins_of(block("system", text))
    assert [p.quote for p in found if p.kind == "constraint"] == ["sell a depot", "burn a book"]


def test_headings_without_end_do_not_read_the_text_again_each():
    """Processor time, with twenty times what it takes to spare: reading on to the end each time took ninety."""
    text = "Never:\n" * 28_000
    start = time.process_time()
    pins_of(block("system", text))
    assert time.process_time() - start < 9
