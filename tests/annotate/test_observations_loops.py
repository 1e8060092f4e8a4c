"""Loops over files that the line names: each is shown or changed in turn."""

from __future__ import annotations

import pytest
from resource_blocks import Log, lines

WHOLE = (None, None)


@pytest.mark.parametrize(
    ("command", "span"),
    [
        ('for f in a.py b.py; do nl -ba "$f"; done', WHOLE),
        ("for f in a.py b.py; do cat $f; done", WHOLE),
        ("for f in a.py b.py\ndo\n  echo \"== $f ==\"\n  cat -n \"${f}\"\ndone", WHOLE),
        ("for f in a.py \\\n  'b.py'; do sed -n '1,80p' \"$f\" && echo; done", (1, 80)),
        ("for f in a.py b.py; do printf '%s\\n' \"$f\"; head -n 40 $f; done", (1, 40)),
        ("for f in a b; do nl -ba \"$f.py\" | sed -n '3,9p'; done; ls", (3, 9)),
        ("for f in a b; do p=./$f.py; cat \"$p\"; done", WHOLE),
        ("FILES='a.py b.py'; for f in $FILES; do cat $f; done", WHOLE),
        ("bash -lc 'for f in a.py b.py; do cat \"$f\"; done'", WHOLE),
        ("if true; then for f in a.py b.py; do cat \"$f\"; done; fi", WHOLE),
        ("ls && for f in a.py b.py; do cat \"$f\"; done && ls", WHOLE),
    ],
)  # fmt: skip
def test_a_loop_over_named_files_shows_each_of_them(command: str, span: tuple[int | None, int | None]) -> None:
    """None alone, so that no text of one of them is known."""
    log = Log()
    log.bash(command, "x\ny")
    found = log.find()
    assert found.rows() == [("file:/w/a.py", "read", span), ("file:/w/b.py", "read", span)]
    assert [row.content for row in found.observations] == [None, None]


def test_a_loop_over_one_file_shows_it_alone() -> None:
    """As the command without the loop does, and what stands before it and behind it is read as before."""
    log = Log()
    log.bash("cd src && for f in a.py; do cat $f; done", lines(1, 3))
    log.bash("cd /w && cat src/a.py", lines(1, 3))
    loop, alone = log.find().observations
    assert (loop.key, loop.content) == ("file:/w/src/a.py", alone.content)


def test_a_name_has_the_last_word_behind_its_loop() -> None:
    log = Log()
    log.bash("for f in a.py b.py; do cat $f; done; sed -n 1,3p $f", "x")
    assert log.find().rows() == [("file:/w/a.py", "read", WHOLE), ("file:/w/b.py", "read", WHOLE)]
    log.bash("for f in a.py b.py; do p=$f.txt; echo; done; cat $p", "x")
    assert log.find().rows()[2:] == [("file:/w/b.py.txt", "read", WHOLE)]


@pytest.mark.parametrize(
    "command",
    [
        "for f in *.py; do cat $f; done",
        "for f in a.py $(ls); do cat $f; done",
        "for f in $FILES; do cat $f; done",
        "FILES='a.py *.py'; for f in $FILES; do cat $f; done",
        "for f; do cat $f; done",
        "for f in a.py b.py; do cat ${f%.py}; done",
        "for f in a.py b.py; do grep -q x $f && cat $f; done",
        "for f in a.py b.py; do [ -f $f ] && cat $f; done",
        "for f in a.py b.py; do if [ -f $f ]; then cat $f; fi; done",
        "for f in a.py b.py; do cat $f 2>/dev/null; done",
        "for f in a.py b.py; do cat $f || true; done",
        "for f in a.py b.py; do cat $f; break; done",
        "for f in a.py b.py; do cat $f | grep x; done",
        "for f in a.py b.py; do for g in 1 2; do cat $f; done; done",
        "g=a.py; for f in a.py b.py; do for g in *.py; do cat $g; done; done",
        "for f in a.py b.py; do while read x; do cat $f; done; done",
        "for f in a.py b.py; do cat $f; done | head -50",
        "for f in a.py b.py; do cat $f; done > all.txt && ls",
        "for f in a.py b.py; do cat $f",
        "for f in " + " ".join(f"{n}.py" for n in range(600)) + "; do cat $f; done",
    ],
)
def test_a_loop_that_does_not_tell_what_it_showed_shows_nothing(command: str) -> None:
    """Files that the line does not name, that a condition leaves out or a search goes through, or very many."""
    log = Log()
    log.bash(command, "out")
    assert [row.key for row in log.find().observations if row.effect == "read"] == []


@pytest.mark.parametrize("body", ["sed -i s/x/y/ $f", 'sed -i s/x/y/ "$f"; cat "$f"', "rm -f ./$f", "cp /v/$f $f"])
def test_a_loop_over_named_files_changes_each_of_them(body: str) -> None:
    log = Log()
    first, second, third = (log.read(f"{name}.py", "x") for name in "abc")
    log.bash(f"for f in a.py b.py; do {body}; done", "y")
    resources = log.find().resources
    assert [resources.state_at(n, 9) for n in (first, second, third)] == ["superseded", "superseded", "live"]


def test_a_file_that_a_loop_did_not_find_was_not_read() -> None:
    log = Log()
    log.bash("for f in a.py b.py; do cat $f; done", "x\ncat: b.py: No such file or directory")
    assert log.find().rows() == [("file:/w/a.py", "read", WHOLE)]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("F='a.py b.py'; cat $F", ["a.py", "b.py"]),
        ("F='my a.py'; cat \"$F\"", ["my a.py"]),
        ("F='my a.py'; G=$F; cat \"$G\"", ["my a.py"]),
        ("F='my a.py'; cat src/$F", [None]),
        ("F='*.py'; cat $F", [None]),
        ("F=''; cat $F a.py", ["a.py"]),
        (f"F='{'a ' * 11}'; cat $F", [None]),
    ],
)
def test_a_variable_is_taken_apart_outside_of_quotes(command: str, files: list[str | None]) -> None:
    """As a shell does it, but where another variable gets its value."""
    log = Log()
    log.bash(command, "x")
    assert [row.key for row in log.find().observations] == [path and f"file:/w/{path}" for path in files]


def test_what_is_printed_of_a_variable_is_what_is_written() -> None:
    log = Log()
    log.bash("TEXT='a b'; echo $TEXT > a.txt")
    log.read("a.txt", "a b")
    write, _, read = log.find().observations
    assert (write.effect, write.content) == ("write", read.content)
