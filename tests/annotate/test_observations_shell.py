"""Shell commands: what a command line shows, writes and changes, and what it does not."""

from __future__ import annotations

import json

import pytest
from resource_blocks import Log, lines, number

WHOLE = (None, None)
READ = "read"


@pytest.mark.parametrize(
    ("command", "answer", "key", "expected"),
    [
        ("cat a.py", "x", "/w/a.py", WHOLE),
        ("cat < a.py", "x", "/w/a.py", WHOLE),
        ("cat 'my file.txt' 2>/dev/null", "x", "/w/my file.txt", WHOLE),
        ("cd src && cat a.py", "x", "/w/src/a.py", WHOLE),
        ("cd /tmp; cat a.py", "x", "/tmp/a.py", WHOLE),
        ("sed -n '10,20p' a.py", lines(10, 20), "/w/a.py", (10, 20)),
        ("sed -n 10,20p a.py", lines(10, 13), "/w/a.py", (10, 13)),
        ("sed -n '1,200p' a.py", lines(1, 30), "/w/a.py", WHOLE),
        ("sed -n '5,$p' a.py", lines(5, 9), "/w/a.py", (5, 9)),
        ("sed -n -e 7p a.py", "x", "/w/a.py", (7, 7)),
        ("sed 3q a.py", lines(1, 3), "/w/a.py", (1, 3)),
        ("head -n 5 a.py", lines(1, 5), "/w/a.py", (1, 5)),
        ("head -50 a.py", lines(1, 7), "/w/a.py", WHOLE),
        ("head a.py", lines(1, 10), "/w/a.py", (1, 10)),
        ("tail -n 20 a.py", lines(1, 20), "/w/a.py", (-20, -1)),
        ("tail -n 20 a.py", lines(1, 4), "/w/a.py", WHOLE),
        ("tail -n +30 a.py", lines(30, 35), "/w/a.py", (30, 35)),
        ("cat a.py | head -20", lines(1, 20), "/w/a.py", (1, 20)),
        ("head -100 a.py | tail -20", lines(81, 100), "/w/a.py", (81, 100)),
        ("nl -ba a.py | sed -n '3,4p'", "     3\tx\n     4\ty", "/w/a.py", (3, 4)),
        ("cat -n a.py", "     1\tx\n     2\ty", "/w/a.py", WHOLE),
        ("awk 'NR>=10 && NR<=12' a.py", lines(10, 12), "/w/a.py", (10, 12)),
        ("less a.py", "x", "/w/a.py", WHOLE),
        ("bash -lc 'cat a.py'", "x", "/w/a.py", WHOLE),
        ("dir=/opt; cat \"$dir/a.py\"", "x", "/opt/a.py", WHOLE),
        ("FOO=1 cat a.py # not > b.py", "x", "/w/a.py", WHOLE),
        ("if [ -f a.py ]; then cat a.py; fi", "x", "/w/a.py", WHOLE),
        ("cat a.py 2>/dev/null || echo none", "x", "/w/a.py", WHOLE),
    ],
)  # fmt: skip
def test_readings(command: str, answer: str, key: str, expected: tuple[int | None, int | None]) -> None:
    """A command that shows a file as it stands is a reading of it, of the lines it chose."""
    log = Log()
    log.bash(command, answer)
    assert log.find().rows() == [(f"file:{key}", READ, expected)]


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py | grep x",
        "grep -n x a.py",
        "wc -l a.py",
        "cat *.py",
        "cat $FILE",
        "cat $(ls | head -1)",
        "for f in *.py; do cat $f; done",
        "find . -name a.py -exec cat {} \\;",
        "ssh host cat a.py",
        "sed 's/a/b/' a.py",
        "sed -n '/def/,/return/p' a.py",
        "head -c 100 a.py",
        "cd $SOMEWHERE && cat a.py",
        "git show HEAD:a.py",
        "git commit -m \"$(cat <<'EOF'\nfix > a.py\ncat b.py\nEOF\n)\"",
        "python - <<'EOF'\nprint(open('a.py').read())\nEOF",
        "echo 'cat a.py'",
        "make 2>&1 | tail -20",
        "ls > /dev/null && make",
        "git checkout -b new",
        "false || cat a.py",
        "test -f a.py && echo yes",
    ],
)
def test_events(command: str) -> None:
    """A search, a run, or a file that the line does not name is an event, and changes nothing."""
    log = Log()
    log.bash(command, "out")
    assert [row.effect for row in log.find().observations] == ["event"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat > a.py <<'EOF'\nx\nEOF", [("write", "a.py")]),
        ("cat <<EOF > a.py\nplain\nEOF", [("write", "a.py")]),
        ("cat <<EOF > a.py\n$HOME\nEOF", [("edit", "a.py")]),
        ("cat >> a.py <<'EOF'\nx\nEOF", [("edit", "a.py")]),
        ("tee a.py <<'EOF'\nx\nEOF", [("write", "a.py")]),
        ("echo hello > a.py", [("write", "a.py")]),
        ("ls > a.py", [("edit", "a.py")]),
        ("sed -i 's/x/y/' a.py b.py", [("edit", "a.py"), ("edit", "b.py")]),
        ("sed -i '' -e 's/x/y/' a.py", [("edit", "a.py")]),
        ("perl -pi -e 's/x/y/' a.py", [("edit", "a.py")]),
        ("mv a.py b.py", [("edit", "a.py"), ("edit", "b.py")]),
        ("cp a.py lib/", [("edit", "lib/a.py")]),
        ("cp -t lib a.py b.py", [("edit", "lib/a.py"), ("edit", "lib/b.py")]),
        ("mv --target-directory=lib a.py", [("edit", "a.py"), ("edit", "lib/a.py")]),
        ("truncate -s 0 a.py", [("edit", "a.py")]),
        ("unlink a.py", [("edit", "a.py")]),
        ("ln -sf b.py a.py", [("edit", "a.py")]),
        ("install -m 644 b.py a.py", [("edit", "a.py")]),
        ("rm -f a.py", [("edit", "a.py")]),
        ("git checkout -- a.py", [("edit", "a.py")]),
        ("git checkout src/a.py", [("edit", "src/a.py")]),
        ("git restore a.py", [("edit", "a.py")]),
        ("mkdir -p x && echo hi > x/a.py", [("write", "x/a.py")]),
    ],
)  # fmt: skip
def test_changes(command: str, expected: list[tuple[str, str]]) -> None:
    """A write or an edit stands on the call; a silent command's answer acknowledges it."""
    log = Log()
    call, answer = log.bash(command)
    rows = log.find().observations
    changes = [row for row in rows if row.effect != "ack"]
    assert [(row.effect, row.key) for row in changes] == [(effect, f"file:/w/{path}") for effect, path in expected]
    assert all(row.block == call for row in changes)
    assert [row.block for row in rows if row.effect == "ack"] == [answer] * len(expected)


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("dd if=/dev/zero of=a.py bs=1 count=1", "file:/w/a.py"),
        ("patch -p1 a.py < fix.diff", "file:/w/a.py"),
        ("patch a.py fix.diff", "file:/w/a.py"),
        ("patch -p1 < fix.diff", None),
        ("patch --dry-run a.py < fix.diff", None),
    ],
)
def test_a_command_that_tells_what_it_did_changes_what_it_names(command: str, key: str | None) -> None:
    log = Log()
    log.bash(command, "done")
    assert [row.key for row in log.find().observations if row.effect == "edit"] == ([key] if key else [])


def test_a_heredoc_and_a_reading_of_it_have_one_hash() -> None:
    """What a heredoc writes is what the file then shows."""
    log = Log()
    log.bash("cat > a.py <<'EOF'\nx = '$HOME'\n\nEOF")
    log.read("/w/a.py", "x = '$HOME'\n")
    write, _, read = log.find().observations
    assert write.content == read.content
    log.bash("cat > a.py <<-'EOF'\n\tx = '$HOME'\n\tEOF")
    assert [row for row in log.find().observations if row.effect == "write"][1].content == read.content


def test_order_inside_a_command_counts() -> None:
    """A file shown before it is changed shows the old text; shown after, the new one."""
    log = Log()
    _, before = log.bash("cat a.py && sed -i s/x/y/ a.py", "x")
    assert log.find().resources.state_at(before, 9) == "superseded"
    _, after = log.bash("sed -i s/y/z/ a.py && cat a.py", "z")
    assert log.find().resources.state_at(after, 9) == "live"


def test_a_result_that_shows_several_files_has_no_hash_of_any() -> None:
    """Each is read, and none can be compared."""
    log = Log()
    log.bash("cat a.py; echo ---; cat b.py", "x\n---\ny")
    rows = log.find().observations
    assert [(row.key, row.content) for row in rows] == [("file:/w/a.py", None), ("file:/w/b.py", None)]


_TWO = "nl -ba a.py | sed -n '2,4p'; echo ---; cat -n b.py"


def test_numbered_lines_tell_several_files_apart() -> None:
    log = Log()
    log.bash(_TWO, "\n---\n".join([number("b\nc\nd", 2), number("x\ny")]))
    log.bash(_TWO, "\n---\n".join([number("b\nC\nd", 2), number("x\ny")]))
    alone = Log()
    alone.bash("cat -n b.py", number("x\ny"))
    rows = log.find().observations
    assert [row.key for row in rows] == ["file:/w/a.py", "file:/w/b.py"] * 2
    assert rows[0].content != rows[2].content
    assert rows[1].content == rows[3].content == alone.find().observations[0].content


@pytest.mark.parametrize(
    "runs",
    [
        [number("b\nc\nd", 2)],
        [number("b", 2), number("x"), number("y")],
        [number("b\nc", 3), number("x")],
        [number("b\nc\nd\ne", 2), number("x")],
    ],
    ids=["a file is missing", "a run too many", "another start", "more than was asked for"],
)
def test_runs_of_numbers_that_do_not_fit_what_was_asked_tell_nothing(runs: list[str]) -> None:
    log = Log()
    log.bash(_TWO, "\n---\n".join(runs))
    assert [row.content for row in log.find().observations] == [None, None]


@pytest.mark.parametrize(
    "answer",
    [
        "Warning: truncated output (original token count: 30014)\nTotal output lines: 900\n\n"
        "one\ntw…24283 tokens truncated…x\ny",
        "Total output lines: 900\n\none\n[... omitted 890 of 900 lines ...]\ny",
        "<returncode>0</returncode>\n<warning>\ntoo long\n</warning><output_head>\none\n</output_head>\n"
        "<elided_chars>\n9000 characters elided\n</elided_chars>\n<output_tail>\ny\n</output_tail>",
    ],
)  # fmt: skip
def test_lines_that_a_client_left_out_were_not_seen(answer: str) -> None:
    """One file's lines count up to the gap; of several files nobody can tell which lost what."""
    log = Log()
    log.bash("sed -n '11,900p' a.py", answer)
    log.bash("cat a.py; cat b.py", answer)
    assert log.find().rows() == [("file:/w/a.py", READ, (11, 11)), (None, "event", WHOLE)]


def test_parts_of_one_file_are_named_when_it_was_not_read_between() -> None:
    log = Log()
    log.bash("sed -n '1,5p' a.py; sed -n '90,95p' a.py", lines(1, 5) + "\n" + lines(90, 95))
    (row,) = log.find().observations
    assert ((row.first, row.last), row.rule) == ((1, 95), "sed of a file, of these lines 1-5, 90-95")


# --------------------------------------------------------------------------------------- commands in the agent's words


def _said(log: Log, words: str, answer: str) -> None:
    log.turn += 1
    log.add("assistant", words, role="assistant")
    log.add("user", answer, injected=True)


def _preview(number: int, *shown: str) -> str:
    """As Claude Code shows a long result that it kept in a file."""
    head = f"<persisted-output>\nOutput too large (30KB). Full output saved to: /x/tool-results/{number}.txt\n\n"
    return head + "Preview (first 2KB):\n" + "\n".join(shown) + "\n...\n</persisted-output>"


def test_a_preview_of_a_long_result_shows_its_first_lines_alone() -> None:
    """It takes the place of no whole reading, and two of one file do not differ by where their results were kept."""
    log = Log()
    whole = log.read("/w/a.py", lines(1, 9))
    previews = [log.bash("cat a.py", _preview(n, *lines(1, 3).splitlines(), "cut o"))[1] for n in (1, 2)]
    found = log.find()
    rows = [row for row in found.observations if row.block in previews]
    assert [(row.effect, row.first, row.last) for row in rows] == [("read", 1, 3), ("read", 1, 3)]
    assert rows[0].content == rows[1].content
    assert found.resources.state_at(whole, 9) == "live"


def test_a_preview_of_a_record_is_no_version_of_it() -> None:
    log = Log()
    for times in (1, 2):
        log.do("get_order", {"order_id": 7}, _preview(times, '{"id": 7,'))
    assert [row.content for row in log.find().observations] == [None, None]


@pytest.mark.parametrize("fence", ["bash", "mswea_bash_command"])
def test_a_harness_runs_the_command_that_stands_in_an_answer(fence: str) -> None:
    """mini-swe-agent: the answer's one fence is the call, and the user message after it the result."""
    log = Log()
    _said(log, f"I look.\n\n```{fence}\ncat a.py\n```", "<returncode>0</returncode>\n<output>\nx\n</output>")
    _said(log, f"```{fence}\ncat > b.py <<'EOF'\ny\nEOF\n```", "<returncode>0</returncode>\n<output>\n</output>")
    _said(log, f"```{fence}\ncat c.py\n```", "<returncode>1</returncode>\n<output>\nno\n</output>")
    found = log.find().observations
    assert [(r.block, r.key, r.effect, r.call) for r in found] == [
        (1, "file:/w/a.py", "read", 0),
        (2, "file:/w/b.py", "write", None),
        (3, "file:/w/b.py", "ack", 2),
    ]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("```bash\ncat a.py\n```\nor\n```bash\ncat b.py\n```", "<returncode>0</returncode>\n<output>\nx</output>"),
        ("```python\nprint(1)\n```", "<returncode>0</returncode>\n<output>\nx</output>"),
        ("```bash\ncat a.py\n```", "thanks, I ran it"),
    ],
)
def test_a_fence_that_nothing_ran_is_no_call(words: str, answer: str) -> None:
    log = Log()
    _said(log, words, answer)
    assert log.find().rows() == []


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("cat a.py 2>/dev/null || echo none", "none"),
        ("cat a.py; true", "cat: a.py: No such file or directory"),
        ("cat a.py | head -5", "cat: a.py: Is a directory"),
        ("cat a.py", "(Bash completed with no output)"),
        ("cat a.py", ""),
    ],
)
def test_a_file_that_could_not_be_read_was_not_read(command: str, answer: str) -> None:
    """The output says so, or there is none."""
    log = Log()
    log.bash(command, answer)
    assert [row.effect for row in log.find().observations] == ["event"]


def test_a_folder_change_lasts_in_a_shell_that_stays_open() -> None:
    """Claude Code's Bash keeps its folder until the client resets it; Codex starts each command anew."""
    log = Log()
    log.bash("cd src && ls", "a.py")
    log.bash("cat a.py", "x")
    log.bash("cat a.py", "x\nShell cwd was reset to /w")
    log.bash("cat a.py", "x")
    assert [row.key for row in log.find().observations if row.key] == [
        "file:/w/src/a.py", "file:/w/src/a.py", "file:/w/a.py",
    ]  # fmt: skip
    other = Log()
    other.do("exec_command", {"cmd": "cd src && ls"}, "a.py")
    other.do("exec_command", {"cmd": "cat a.py", "workdir": "/v"}, "x")
    other.do("exec_command", {"cmd": "cat a.py"}, "x")
    assert [row.key for row in other.find().observations if row.key] == ["file:/v/a.py", "file:/w/a.py"]


# ------------------------------------------------------------------------------------------------ clients' own words


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"output": "x\ny\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}),
        "Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nx\ny\n",
        "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nTotal output lines: 2\n\nx\ny",
        "x\ny\n[The command completed with exit code 0.]\n[Current working directory: /w]\n"
        "[Command finished with exit code 0]",
        "<returncode>0</returncode>\n<output>\nx\ny</output>",
        "x\ny\n\n<system-reminder>\nThe date has changed.\n</system-reminder>",
        "x\ny",
    ],
)
def test_what_a_client_puts_around_the_output_does_not_count(answer: str) -> None:
    """Codex, OpenHands, mini-swe-agent and Claude Code show the same file the same way."""
    log = Log()
    log.do("Write", {"file_path": "/w/a.py", "content": "x\ny\n"}, "ok")
    log.do("shell", {"command": ["bash", "-lc", "cat a.py"], "workdir": "/w"}, answer)
    write, _, read = log.find().observations
    assert (read.key, read.content) == ("file:/w/a.py", write.content)


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"output": "x", "metadata": {"exit_code": 1}}),
        "Chunk ID: 1\nProcess exited with code 2\nOutput:\nx",
        "Exit code 1\nx",
        "x\n[The command completed with exit code 1.]",
        "<returncode>1</returncode>\n<output>\nx</output>",
    ],
)
def test_a_command_that_failed_says_nothing(answer: str) -> None:
    """By its exit code, in each client's words."""
    log = Log()
    log.do("shell", {"command": "cat a.py"}, answer)
    log.do("shell", {"command": "sed -i s/x/y/ a.py"}, answer)
    assert log.find().rows() == []


PATCH = """*** Begin Patch
*** Update File: a.py
@@
-x
+y
*** Add File: b.py
+one
+two
*** Delete File: /v/c.py
*** End Patch"""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("apply_patch", PATCH),
        ("apply_patch", {"input": PATCH}),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"]}),
        ("exec", f"const r = await tools.apply_patch({json.dumps(PATCH)}); text(r)"),
    ],
)
def test_patches(tool: str, arguments: object) -> None:
    """A patch edits, writes and deletes the files it names; an added file's content is known."""
    log = Log()
    log.do(tool, arguments, "Exit code: 0\nOutput:\nSuccess.")
    log.read("/w/b.py", "one\ntwo")
    rows = [row for row in log.find().observations if row.effect != "ack"]
    assert [(row.effect, row.key) for row in rows] == [
        ("edit", "file:/w/a.py"), ("write", "file:/w/b.py"), ("edit", "file:/v/c.py"), ("read", "file:/w/b.py"),
    ]  # fmt: skip
    assert rows[1].content == rows[3].content


def test_a_patch_that_did_not_apply_says_nothing() -> None:
    """Codex reports it by its exit code."""
    log = Log()
    log.do("apply_patch", PATCH, "Exit code: 1\nOutput:\napply_patch verification failed")
    log.do("apply_patch", PATCH, "apply_patch verification failed: cannot find x")
    assert log.find().rows() == []


def test_a_script_names_its_commands() -> None:
    """Codex's script tool: each exec_command in the program, in the folder it gives."""
    log = Log()
    log.do(
        "exec", 'const r = await tools.exec_command({"cmd":"cat a.py","workdir":"/v"});', "Script completed\nOutput:\nx"
    )
    log.do(
        "exec", 'await Promise.all([tools.exec_command({cmd: "cat a.py"}), tools.exec_command({cmd: "ls"})])', "x\na"
    )
    rows = log.find().observations
    assert [(row.key, row.content is None) for row in rows] == [("file:/v/a.py", False), ("file:/w/a.py", True)]


def test_the_open_files_window() -> None:
    """SWE-agent shows a window on the open file, with the lines' numbers."""
    log = Log()
    log.do(
        "open",
        {"path": "a.py", "line_number": 3},
        "[File: /w/a.py (90 lines total)]\n(2 more lines above)\n3:x\n4:y\n(86 more lines below)",
    )
    log.do(
        "bash",
        {"command": "scroll_down"},
        "[File: /w/a.py (6 lines total)]\n1:a\n2:b\n3:c\n4:d\n5:e\n6:f\n(Open file: /w/a.py)",
    )
    assert log.find().rows() == [("file:/w/a.py", "read", (3, 4)), ("file:/w/a.py", "read", WHOLE)]


# ---------------------------------------------------------------------------------------------------- whole checkouts


def test_another_commit_makes_what_was_read_stale() -> None:
    """Any file under version control may differ now, libraries and files elsewhere do not."""
    log = Log()
    mine, theirs, elsewhere = log.read("a.py", "x"), log.read("node_modules/b.js", "y"), log.read("/etc/hosts", "z")
    log.bash("git checkout main", "Switched to branch 'main'")
    resources = log.find().resources
    assert [resources.state_at(n, 9) for n in (mine, theirs, elsewhere)] == ["stale", "live", "live"]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("git checkout main", "Already on 'main'"),
        ("git switch -c feature", "Switched to a new branch"),
        ("git reset HEAD a.py", "Unstaged"),
        ("git stash list", "stash@{0}"),
        ("git status", "clean"),
    ],
)
def test_the_same_commit_leaves_files_as_they_are(command: str, answer: str) -> None:
    """A new branch, an unstaging or a look changes no file."""
    log = Log()
    mine = log.read("a.py", "x")
    log.bash(command, answer)
    assert log.find().resources.state_at(mine, 9) == "live"


def test_another_repository_is_another_one() -> None:
    """Files outside the folder that git was run in are as they were."""
    log = Log()
    log.bash("cat a.py", "x")
    log.bash("cat /v/b.py", "y")
    log.bash("cd /v && git checkout main", "Switched to branch 'main'\nShell cwd was reset to /w")
    found = log.find()
    assert [found.resources.state_at(n, 9) for n in (1, 3)] == ["live", "stale"]


def test_a_pattern_removes_the_files_that_are_known_by_it() -> None:
    log = Log()
    first, second = log.read("test_a.py", "x"), log.read("test_b.py", "x")
    inside, beside = log.read("sub/test_a.py", "x"), log.read("a_test.py", "x")
    call, answer = log.bash("cd /w && rm -f test_*.py")
    again, _ = log.bash("rm -f test_*.py")
    found = log.find()
    states = [found.resources.state_at(n, 9) for n in (first, second, inside, beside)]
    assert states == ["superseded", "superseded", "live", "live"]
    edits = {(row.block, row.key) for row in found.observations if row.effect == "edit"}
    assert edits == {(call, "file:/w/test_a.py"), (call, "file:/w/test_b.py")}
    assert {row.effect for row in found.observations if row.block == answer} == {"ack"}
    assert again > answer


def test_a_removed_folder_takes_its_files_along() -> None:
    """`rm -r` names a folder, which is no file."""
    log = Log()
    inside, beside = log.read("old/a.py", "x"), log.read("older/a.py", "x")
    log.bash("rm -rf old")
    found = log.find()
    assert [found.resources.state_at(n, 9) for n in (inside, beside)] == ["stale", "live"]
    assert "file:/w/old" not in found.resources.by_key


@pytest.mark.parametrize("size", [10, 9_000])
def test_of_several_files_only_those_that_were_there_were_read(size: int):
    """However long the output is: one file that is missing takes nothing from the others."""
    log = Log()
    log.do("Bash", {"command": "cat a.py; cat lost.py; sed -n 1,5p gone/b.py"},
           "x\n" * size + "cat: lost.py: No such file or directory\n"
           "sed: can't read gone/b.py: No such file or directory")  # fmt: skip
    assert [row.key for row in log.find().observations if row.effect == READ] == ["file:/w/a.py"]
