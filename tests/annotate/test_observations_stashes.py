"""`git stash`: which files it changes, by what the log tells of them."""

from __future__ import annotations

import pytest
from resource_blocks import Log

SAVED = "Saved working directory and index state WIP on main: 1a2b3c4 start"


def stashing(*commands: tuple[str, str], failed: bool = False) -> list[str | None]:
    """How a file that was read, one that was edited before and one after a commit stand after some commands."""
    log = Log()
    read, old, new = log.read("read.py", "x"), log.read("old.py", "y"), log.read("new.py", "z")
    log.bash("sed -i s/y/yy/ old.py")
    old = log.bash("cat old.py", "yy")[1]
    log.bash("git commit -am 'Double y'", "[main 1a2b3c4] Double y")
    log.bash("sed -i s/z/zz/ new.py")
    new = log.bash("cat new.py", "zz")[1]
    for command, answer in commands:
        log.bash(command, answer, error=failed)
    resources = log.find().resources
    return [resources.state_at(n, log.turn + 1) for n in (read, old, new)]


def test_a_stash_takes_the_changes_since_the_last_commit_and_no_file_that_was_only_read() -> None:
    assert stashing(("git stash", SAVED)) == ["live", "live", "stale"]
    assert stashing(("git stash push -u -m 'new.py'", SAVED)) == ["live", "live", "stale"]
    assert stashing(("git stash save read.py", SAVED)) == ["live", "live", "stale"]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("git stash list", "stash@{0}: WIP on main"),
        ("git stash show -p", "+zz"),
        ("git stash", "No local changes to save"),
        ("git stash push -- read.py", SAVED),
        ("git stash -- old.py", SAVED),
        ("git commit -qam 'Double z' && git stash", ""),
        ("git stash && make test; git stash pop", f"{SAVED}\n1 failed\nDropped refs/stash@{{0}} (5d6e)"),
    ],
)  # fmt: skip
def test_a_stash_of_nothing_that_was_seen_leaves_files_as_they_are(command: str, answer: str) -> None:
    """A look at stashes, a stash of other files, and one that is taken back at once."""
    assert stashing((command, answer)) == ["live", "live", "live"]


@pytest.mark.parametrize("paths", ["-- new.py", "-m note -- ./new.py read.py", ".", "*.py", "$FILES"])
def test_a_stash_of_some_files_takes_their_changes(paths: str) -> None:
    assert stashing((f"git stash push {paths}", SAVED)) == ["live", "live", "stale"]


def test_a_stash_stays_when_what_follows_it_in_the_line_fails() -> None:
    failing = [("git stash && make test && git stash pop", f"Exit code 1\n{SAVED}\n1 failed")]
    assert stashing(*failing, failed=True) == ["live", "live", "stale"]
    failing = [("git stash; make test; git stash pop; false", f"{SAVED}\n1 failed\nDropped refs/stash@{{0}} (5d6e)")]
    assert stashing(*failing, failed=True) == ["live", "live", "live"]


def test_what_comes_back_from_a_stash_outdates_what_was_read_meanwhile() -> None:
    log = Log()
    other = log.read("b.py", "y")
    log.bash("sed -i s/x/xx/ a.py")
    log.bash("git stash", SAVED)
    meanwhile = log.read("a.py", "x")
    log.bash("git stash pop", "Dropped refs/stash@{0} (5d6e)")
    after = log.read("a.py", "xx")
    log.bash("git stash", SAVED)
    found = log.find().resources
    assert found.state_at(meanwhile, log.turn - 2) == "live"
    assert found.state_at(meanwhile, log.turn - 1) == "stale"
    assert [found.state_at(n, log.turn + 1) for n in (after, other)] == ["stale", "live"]


def test_of_a_stash_older_than_the_log_git_names_the_files() -> None:
    """Where it does not, any file under version control may have changed."""
    status = "On branch main\nChanges not staged for commit:\n\tmodified:   src/a.py\n\nDropped refs/stash@{0} (5d6e)"
    for command, answer, expected in (
        ("git stash pop", status, ["stale", "live"]),
        ("git stash pop -q", "", ["stale", "stale"]),
        ("git stash apply stash@{1}", status, ["stale", "live"]),
    ):
        log = Log()
        named, other = log.read("src/a.py", "x"), log.read("b.py", "y")
        log.bash(command, answer)
        assert [log.find().resources.state_at(n, 9) for n in (named, other)] == expected
