"""What is known to stand in a file after a command line, and what is not guessed."""

from __future__ import annotations

import pytest

from ctxview.ledger.commands import written_by


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("cat > a.md <<'EOF'\nfirst\nsecond\nEOF", [("a.md", "first\nsecond\n", None)]),
        ("cat <<EOF >> a.md\nmore\nEOF", [("a.md", "more\n", "")]),
        ("cd docs; echo one two > b.md && echo three >> b.md", [("b.md", "one two", None), ("b.md", "three", "")]),
        ("cat <<'EOF' | tee -a a.md b.md\nx\nEOF", [("a.md", "x\n", ""), ("b.md", "x\n", "")]),
        ("tee a.md <<'EOF' > /dev/null\nx\nEOF", [("a.md", "x\n", None), ("/dev/null", "x\n", None)]),
        ("echo -e 'a\\nb' > a.md", [("a.md", "a\nb", None)]),
        ("NAME=a.md; echo x > $NAME", [("a.md", "x", None)]),
        ("echo x | sudo tee a.md", [("a.md", "x", None)]),
        ("bash -lc 'echo x > a.md'", [("a.md", "x", None)]),
        ("echo x > a.md > b.md", [("b.md", "x", None)]),
        ("echo x > a.md | tee b.md", [("a.md", "x", None)]),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch\nEOF",
            [("a.md", "x", None)],
        ),
        (
            "cat > a.md <<'EOF'\nWrite *** Begin Patch first.\nEOF",
            [("a.md", "Write *** Begin Patch first.\n", None)],
        ),
    ],
)
def test_texts_that_a_line_holds(line: str, written: list[tuple[str, str, str | None]]) -> None:
    assert list(written_by(line)) == written


@pytest.mark.parametrize(
    "line",
    [
        "sort a.txt > b.md",
        "echo $(date) > a.md",
        "cat <<EOF > a.md\nsum: $SUM\nEOF",
        "cat <<'EOF' | sed s/x/y/ > a.md\nx\nEOF",
        "printf '%s' 12 > a.md",
        "echo 'a\\nb' > a.md",
        "python <<'EOF' > a.md\nprint(1)\nEOF",
        "grep -n '> tee' notes.md",
        "test -f a.md || echo x > a.md",
    ],
)
def test_what_only_a_program_knows_is_not_guessed(line: str) -> None:
    assert list(written_by(line)) == []
