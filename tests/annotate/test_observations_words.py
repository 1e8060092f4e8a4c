"""Shell lines and results that crash a reader, make it slow, or are misread."""

from __future__ import annotations

import time

import pytest
from resource_blocks import Log

from ctxview.annotate.observations.asks import commands_of
from ctxview.annotate.observations.loops import unrolled
from ctxview.annotate.observations.results import shell_payload, window
from ctxview.annotate.observations.shell import shell_ask
from ctxview.annotate.observations.words import Pipeline, Word, pipelines

MANY = "9" * 5_000
WHOLE = (None, None)


def _found(line: str) -> list[tuple[str, str, int | None]]:
    """Key, effect and number of lines of each target."""
    return [
        (t.key.removeprefix("file:/w/"), t.effect, None if t.text is None else len(t.text.lines))
        for t in shell_ask(line, "/w").targets
    ]


def _words(line: str) -> list[list[Word]]:
    return [command.words for pipeline in pipelines(line, {}) for command in pipeline.commands]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("cat < \x00here9", "here9"),
        ("cat < \x00here0 <<A\nx\nA", "here0"),
        ("cat \x00end0", "end0"),
        ("for f in a; do cat \"$f\"\x00for; done", "afor"),
        ("bash -c 'cat < \x00herex'", "herex"),
    ],
)
def test_no_text_is_taken_for_a_mark(line: str, key: str) -> None:
    assert (key, "read", None) in _found(line)


@pytest.mark.parametrize(
    "answer",
    [
        f"Exit code {MANY}\nx",
        f"Exit code: {MANY}\nOutput:\nx",
        f"<returncode>{MANY}</returncode>\n<output>\nx</output>",
        f"x\n[The command completed with exit code {MANY[:1_000]}.]",
        f"x\n[Command finished with exit code {MANY[:10]}]",
    ],
)
def test_more_digits_than_a_number_has_are_no_exit_code(answer: str) -> None:
    assert shell_payload(answer).exit is None
    Log().bash("echo x > a.md", answer)


@pytest.mark.parametrize(
    "line", [f"sed -n '1,{MANY}p' a", f"sed {MANY}q a", f"awk 'NR>=1 && NR<={MANY}' a", f"head -n {MANY} a"]
)
def test_more_digits_than_a_number_has_choose_no_lines(line: str) -> None:
    assert _found(line) == []


def test_a_file_with_more_lines_than_a_number_has_is_none() -> None:
    assert window("[File: /a.py (9 lines total)]\n1:x") == ("/a.py", (1, 1), 9, "x")
    assert window(f"[File: /a.py ({MANY} lines total)]\n1:x") is None


@pytest.mark.parametrize(
    "line",
    [
        "a=xxxxxxxx; " + "a=$a$a; " * 16 + "echo $a",
        "a=xxxxxxxx; " + 'a="$a$a"; ' * 16 + "echo $a",
        f"a={'x' * 4001}; echo $a",
        f"a={'x' * 900}; echo $a$a$a$a$a",
        f"a={'x' * 900}; echo \"$a$a$a$a$a\"",
        f"for f in {'x' * 900}; do echo $f$f$f$f$f; done",
    ],
)
def test_a_value_that_grows_is_not_known(line: str) -> None:
    words = [p.commands[0].words for p in _unrolled(line) if p.commands[0].words]
    assert words[-1][-2:] == ["echo", None]


def _unrolled(line: str) -> list[Pipeline]:
    values: dict[str, Word] = {}
    return list(unrolled(pipelines(line, values), values))


def test_values_that_are_put_in_very_often_are_not_known() -> None:
    long = "x" * 3_900
    (words,) = [words for words in _words(f"a={long}; echo {'$a ' * 400}> a.md") if words]
    assert words.count(long) == 256
    assert words.count(None) == 400 - 256


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat <<A > a; cat <<B > b\n1\n2\nA\n1\nB", [("a", "write", 2), ("b", "write", 1)]),
        ("cat <<'END-OF.FILE' > a\nx\nEND\nEND-OF.FILE", [("a", "write", 2)]),
        ("cat <<END-OF.FILE > a\nx\nEND\nEND-OF.FILE", [("a", "write", 2)]),
        ("cat <<\"A B\" > a\n$x\nA B", [("a", "write", 1)]),
        ("cat <<\\A > a\n$x\nA", [("a", "write", 1)]),
        ("cat <<A > a\n$x\nA", [("a", "edit", None)]),
        ("cat <<A > a\n  A\nA; x\nA \nA", [("a", "write", 3)]),
        ("cat <<A > a\n\tA\nA", [("a", "write", 1)]),
        ("cat <<-A > a\n\tx\n\tA\nrm b", [("a", "write", 1), ("b", "edit", None)]),
        ("cat <<A > a\ncat <<B > b\nx\nB", [("a", "edit", None), ("b", "write", 1)]),
        ("cat <<<A > a\nrm b\nA", [("a", "edit", None), ("b", "edit", None)]),
        ("bash -c 'cat <<A > a\nx\nA\n'", [("a", "write", 1)]),
        ("bash -c 'cat <<A > a; cat <<\"B\" > b\nx\nA\ny\ny\nB\n'; rm c", [("a", "write", 1), ("b", "write", 2)]),
    ],
)  # fmt: skip
def test_heredocs_end_where_a_shell_ends_them(line: str, expected: list[tuple[str, str, int | None]]) -> None:
    assert _found(line)[: len(expected)] == expected


@pytest.mark.parametrize(
    "line",
    [
        "\n".join(f"cat <<A{n} > a.md" for n in range(8_000)),
        "cat > a.md" + " <<A" * 40_000,
        "echo > a.md; echo " + "${" * 50_000,
        "cat > a.md " + "*" * 30_000 + "{",
    ],
)
def test_a_line_is_read_in_linear_time(line: str) -> None:
    start = time.process_time()
    shell_ask(line, "/w")
    assert time.process_time() - start < 3


def test_a_script_is_searched_in_linear_time() -> None:
    start = time.process_time()
    assert commands_of("exec", "exec_command({" * 40_000) == []
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("echo a=$(date) b", ["echo", None, "b"]),
        ("make a=`date`", ["make", None]),
        ("a=$(date) cat b", ["cat", "b"]),
        ("env a=$(date) cat b", ["env", "cat", "b"]),
        ("export -x a=$(date)", ["export", "-x"]),
        ("cat a=$b", ["cat", None]),
    ],
)
def test_only_in_front_of_a_command_is_a_word_an_assignment(line: str, words: list[Word]) -> None:
    assert _words(line) == [words]


def test_an_unknown_word_does_not_hide_what_was_known() -> None:
    log = Log()
    log.bash("echo a=$(date) > a.md; f=b.py; echo f=$(date); cat $f", "x")
    assert log.find().rows() == [("file:/w/a.md", "edit", WHOLE), ("file:/w/b.py", "read", WHOLE)]
