"""Formatters and fixers, which rewrite the files that a command names."""

from __future__ import annotations

import pytest
from resource_blocks import Log

MODIFIED = "[This command modified 1 file you've previously read: a.py. Call Read before editing.]"


def _edits(log: Log) -> list[tuple[str | None, str]]:
    return [(row.key, row.evidence) for row in log.find().observations if row.effect in ("edit", "write")]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("black a.py", ["a.py"]),
        ("black -l 100 --config pyproject.toml a.py src/b.py", ["a.py", "src/b.py"]),
        ("python3 -m black --line-length=100 a.py", ["a.py"]),
        (".venv/bin/black a.py", ["a.py"]),
        ("ruff format a.py", ["a.py"]),
        ("ruff check --fix a.py", ["a.py"]),
        ("ruff check a.py --select I --fix --config ruff.toml", ["a.py"]),
        ("CACHE=.uv uv run ruff format a.py b.py 2>&1 | tail -3", ["a.py", "b.py"]),
        ("uvx ruff@0.9 format a.py", ["a.py"]),
        ("isort a.py", ["a.py"]),
        ("autopep8 --in-place --aggressive a.py", ["a.py"]),
        ("yapf -i a.py", ["a.py"]),
        ("prettier --write src/a.ts", ["src/a.ts"]),
        ("npx --yes prettier@3 -w a.test.tsx --config .prettierrc.json", ["a.test.tsx"]),
        ("pnpm exec prettier --write --list-different a.ts", ["a.ts"]),
        ("./node_modules/.bin/eslint --fix --ext .ts,.tsx a.ts", ["a.ts"]),
        ("yarn eslint a.ts --fix", ["a.ts"]),
        ("gofmt -w a.go", ["a.go"]),
        ("gofmt -l -w a.go", ["a.go"]),
        ("gofmt -w -s a.go", ["a.go"]),
        ("goimports -w ./a.go", ["a.go"]),
        ("gofumpt -w a.go", ["a.go"]),
        ("rustfmt --edition 2021 src/a.rs", ["src/a.rs"]),
        ("clang-format -i --style=file a.cpp a.h", ["a.cpp", "a.h"]),
        ("terraform fmt main.tf", ["main.tf"]),
        ("terraform fmt -diff main.tf", ["main.tf"]),
        ("cd src && black a.py", ["src/a.py"]),
        ("make lint; black a.py && pytest -q", ["a.py"]),
        ("for f in a.py b.py; do black $f; done", ["a.py", "b.py"]),
    ],
)  # fmt: skip
def test_a_formatter_may_have_changed_what_it_names(command: str, files: list[str]) -> None:
    """A guess that says so, on the call; the result tells more than an acknowledgement."""
    log = Log()
    call, answer = log.bash(command, "done")
    rows = log.find().observations
    found = [(row.block, row.key, row.effect, row.evidence) for row in rows[:-1]]
    assert found == [(call, f"file:/w/{path}", "edit", "inferred") for path in files]
    assert (rows[-1].block, rows[-1].effect) == (answer, "event")


@pytest.mark.parametrize(
    "command",
    [
        "black --check a.py",
        "black --diff a.py",
        "black -c 'x = 1'",
        "black .",
        "black src tests/",
        "black src/*.py",
        "black $FILE",
        "ruff check a.py",
        "ruff check --fix --diff a.py",
        "ruff check --fix .",
        "ruff format --check a.py",
        "ruff format --diff a.py",
        "ruff format",
        "ruff rule a.py",
        "isort --check-only a.py",
        "isort -c a.py",
        "isort --diff a.py",
        "autopep8 a.py",
        "autopep8 --diff a.py",
        "prettier a.ts",
        "prettier --check a.ts",
        "npx prettier -l a.ts",
        "prettier --write 'src/**/*.ts'",
        "prettier --write src/{a,b}.ts",
        "eslint a.ts",
        "eslint --fix-dry-run a.ts",
        "eslint --fix --ext .ts,.tsx src",
        "gofmt -l a.go",
        "gofmt -d a.go",
        "goimports a.go",
        "rustfmt --check a.rs",
        "rustfmt --emit stdout a.rs",
        "clang-format a.cpp",
        "clang-format -i --dry-run a.cpp",
        "terraform fmt -check main.tf",
        "terraform fmt -write=false main.tf",
        "terraform plan main.tf",
        "python black.py a.py",
        "pip install black a.py",
        "grep black a.py",
        "cat a.py | black -",
        "echo 'black a.py'",
        "git ls-files | xargs black",
    ],
)
def test_a_formatter_that_names_no_file_or_writes_nothing_changes_none(command: str) -> None:
    log = Log()
    log.bash(command, "done")
    assert _edits(log) == []


@pytest.mark.parametrize(
    ("command", "answer", "changed"),
    [
        ("black a.py", "All done! ✨ 🍰 ✨\n1 file left unchanged.", []),
        ("black a.py b.py", "reformatted b.py\n\nAll done!\n1 file reformatted, 1 file left unchanged.", ["b.py"]),
        ("black a.py b.py", "reformatted /w/b.py\n\nAll done!\n1 file reformatted, 1 file left unchanged.", ["b.py"]),
        ("ruff format a.py", "1 file left unchanged", []),
        ("ruff format a.py b.py", "1 file reformatted, 1 file left unchanged", ["a.py", "b.py"]),
        ("ruff check --fix a.py", "All checks passed!", []),
        ("ruff check --fix a.py", "Found 1 error (1 fixed, 0 remaining).", ["a.py"]),
        ("ruff check --fix a.py && ruff format a.py", "All checks passed!\n1 file left unchanged", []),
        ("ruff check --fix a.py && ruff format a.py", "Found 1 error (1 fixed, 0 remaining).\n1 file left unchanged",
         ["a.py"]),
        ("ruff check --fix a.py; ruff check .", "Found 1 error (1 fixed, 0 remaining).\nAll checks passed!", ["a.py"]),
        ("prettier --write a.ts b.ts", "a.ts 33ms (unchanged)\nb.ts 4ms", ["b.ts"]),
        ("prettier --write ./a.ts", "a.ts 33ms (cached)", []),
        ("eslint --fix a.ts && prettier --write a.ts", "a.ts 33ms (unchanged)", ["a.ts"]),
        ("sed -i s/x/y/ a.py && black a.py", "1 file left unchanged.", ["a.py"]),
        ("isort a.py && black a.py", "Fixing /w/a.py\nAll done!\n1 file left unchanged.", ["a.py"]),
    ],
)  # fmt: skip
def test_a_formatter_that_says_it_left_a_file_alone_did_not_change_it(
    command: str, answer: str, changed: list[str]
) -> None:
    """Of several programs each has to say so, and a change made otherwise stays one."""
    log = Log()
    read = log.read("a.py", "x")
    log.bash(command, answer)
    assert [key for key, _ in _edits(log)] == [f"file:/w/{path}" for path in changed]
    assert log.find().resources.state_at(read, 9) == ("superseded" if "a.py" in changed else "live")


def test_a_certain_change_stays_certain_when_a_formatter_follows() -> None:
    for change in ("sed -i s/x/y/ a.py", "cat > a.py <<'EOF'\nx\nEOF"):
        log = Log()
        log.bash(f"{change}\nblack a.py", "reformatted a.py")
        assert _edits(log) == [("file:/w/a.py", "matched")]


@pytest.mark.parametrize(
    ("command", "answer", "changed"),
    [
        ("ruff check --fix a.py", "F821 Undefined name `x`\n\nFound 3 errors.", []),
        ("ruff check --fix a.py", "F821 ...\n\nFound 2 errors (1 fixed, 1 remaining).", ["a.py"]),
        ("ruff check a.py", "F821 ...\n\nFound 2 errors (1 fixed, 1 remaining).", []),
        ("black a.py b.py && pytest", "reformatted b.py\n1 file reformatted, 1 file left unchanged.\nE", ["b.py"]),
        ("ruff format a.py && pytest", "1 file reformatted\nE", ["a.py"]),
        ("ruff format a.py && pytest", "1 file left unchanged\nE", []),
        ("black a.py", "error: cannot format a.py: Cannot parse: 1:2", []),
    ],
)
def test_what_a_program_says_it_rewrote_counts_though_the_line_failed(
    command: str, answer: str, changed: list[str]
) -> None:
    """A fixer fails as errors are left; or what ran after it did."""
    log = Log()
    log.bash(command, f"Exit code 1\n{answer}")
    assert log.find().rows() == [(f"file:/w/{path}", "edit", (None, None)) for path in changed]
    assert {evidence for _, evidence in _edits(log)} <= {"inferred"}


@pytest.mark.parametrize("answer", ["2 files reformatted", "2 files left unchanged"])
def test_what_the_client_saw_change_was_changed(answer: str) -> None:
    """Its note, which names files read before, is worth more than a guess and than a program's words."""
    log = Log()
    log.bash("ruff format a.py b.py", f"{answer}\n{MODIFIED}")
    rows = {(row.key, row.effect, row.evidence) for row in log.find().observations if row.key}
    guess = set() if "left" in answer else {("file:/w/b.py", "edit", "inferred")}
    assert rows == {("file:/w/a.py", "change", "stated"), *guess}


@pytest.mark.parametrize("command", ["black a.py", "sed -i s/x/y/ a.py && pytest"])
def test_what_the_client_saw_change_was_changed_by_a_command_that_failed(command: str) -> None:
    """Though the command names the file, its failure says nothing of it."""
    log = Log()
    read = log.read("a.py", "x")
    log.bash(command, f"Exit code 1\nerror\n{MODIFIED}")
    assert [(row.key, row.effect) for row in log.find().observations[1:]] == [("file:/w/a.py", "change")]
    assert log.find().resources.state_at(read, 9) == "stale"


def test_a_script_that_runs_a_formatter() -> None:
    log = Log()
    log.do("exec", 'tools.exec_command({"cmd":"black a.py"}); tools.exec_command({"cmd":"black b.py"})',
           "Script completed\nOutput:\nreformatted b.py\n1 file reformatted.\n1 file left unchanged.")  # fmt: skip
    assert _edits(log) == [("file:/w/b.py", "inferred")]
