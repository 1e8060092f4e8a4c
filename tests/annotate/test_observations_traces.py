"""Whole traces: case W20 and the sample `stale`, and what must hold for every log."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resource_blocks import ROOT, Found, Log, lines, number, only_session

from ctxview.annotate.observations import stale_by_age
from ctxview.ingest import open_trace

CONF = "file:/work/demo/conf.py"
CONFIG = "file:/home/dev/parcel-gateway/config/gateway.yaml"


@cache
def w20() -> Found:
    return only_session(ROOT / "tests" / "data" / "cases" / "W20.jsonl")


@cache
def stale() -> Found:
    return only_session(ROOT / "sample_traces" / "stale.jsonl")


def newest_text(found: Found, turn: int) -> str | None:
    """The log's id of the record that holds the current text."""
    row = found.resources.current(CONF, turn)
    return found.blocks[row.block].origin.id if row else None


def test_w20_each_reading_is_what_the_window_makes_it() -> None:
    """Case W20: live, superseded by the edit, stale by the note, superseded by the write."""
    found = w20()
    assert [found.state("r1", turn) for turn in range(1, 6)] == [None, "live", "superseded", "superseded", "superseded"]
    assert [found.state("r3", turn) for turn in range(3, 6)] == [None, "stale", "superseded"]
    assert (found.state("a2", 3), found.state("a2", 4)) == ("live", "superseded")
    assert found.state("a4", 5) == "live"


def test_w20_names_what_made_each_reading_so() -> None:
    """r1 fell to edit t2, r3 to the outside change n1 and then to write t4."""
    found = w20()
    causes = [
        (c.block, c.since, c.state, c.because) for c in found.changes if c.block in map(found.by_origin, ("r1", "r3"))
    ]
    r1, r3, t2, n1, t4 = map(found.by_origin, ("r1", "r3", "a2", "n1", "a4"))
    assert causes == [(r1, 3, "superseded", t2), (r3, 4, "stale", n1), (r3, 5, "superseded", t4)]


def test_w20_the_newest_known_text() -> None:
    """The edit leaves none; then r3, though stale; then what t4 wrote, with no current read of the file."""
    assert [newest_text(w20(), turn) for turn in (2, 3, 4, 5)] == ["r1", None, "r3", "a4"]
    reads = [row for row in w20().resources.known(CONF, 5) if row.effect == "read"]
    assert all(w20().resources.state(row, 5) == "superseded" for row in reads)


def test_stale_has_three_versions_at_turn_40_and_one_is_current() -> None:
    """Sample `stale`: read at 6, written at 19 and 31; the last one is current."""
    found = stale()
    window = [n for n in range(len(found.blocks)) if found.resources.by_block.get(n)]
    versions = found.resources.versions_in(window, 40)
    assert [(row.turn, row.effect) for row in versions[CONFIG]] == [(6, "read"), (19, "write"), (31, "write")]
    current = found.resources.current(CONFIG, 40)
    assert current is not None
    assert current.turn == 31


def test_stale_each_version_was_superseded_by_the_next() -> None:
    """The reading by the first write, from turn 20 on; the first write by the second, from turn 32 on."""
    found = stale()
    first, second, third = (row for row in found.observations if row.key == CONFIG and row.content)
    changes = {c.block: c for c in found.changes if c.key == CONFIG}
    assert (changes[first.block].since, changes[first.block].because) == (20, second.block)
    assert (changes[second.block].since, changes[second.block].because) == (32, third.block)
    assert third.block not in changes
    assert [found.resources.state(first, turn) for turn in (6, 7, 19, 20)] == [None, "live", "live", "superseded"]


def test_stale_ages() -> None:
    """At turn 40 the write of turn 31 is 9 turns old, and old from turn 39 on; a threshold of its own moves that."""
    row = stale().resources.current(CONFIG, 40)
    assert row is not None
    assert [stale_by_age(row, turn) for turn in (38, 39, 40)] == [False, True, True]
    assert not stale_by_age(row, 40, {"file": 10})
    assert stale_by_age(row, 40, {"default": 9, "url": 3})


def test_stale_holds_one_version_of_everything_but_the_config() -> None:
    """At turn 40 the window contradicts itself about the config, and about files read again after an edit: README."""
    found = stale()
    versions = found.resources.versions_in(range(len(found.blocks)), 40)
    assert set(versions) == {CONFIG}


# ------------------------------------------------------------------------------------------------------- properties

PATHS = st.sampled_from(["a.py", "b.py"])
SPANS = st.sampled_from([None, (1, 10), (5, 15), (11, 20), (1, 20)])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("read"), PATHS, SPANS, st.sampled_from(["x", "y"])),
        st.tuples(st.just("write"), PATHS, st.none(), st.sampled_from(["x", "y"])),
        st.tuples(st.just("edit"), PATHS, SPANS, st.just("")),
        st.tuples(st.just("change"), PATHS, st.none(), st.just("")),
        st.tuples(st.just("cat"), PATHS, SPANS, st.sampled_from(["x", "y"])),
        st.tuples(st.just("event"), PATHS, st.none(), st.just("")),
        st.tuples(st.just("fail"), PATHS, st.none(), st.just("")),
        st.tuples(st.just("checkout"), PATHS, st.none(), st.just("")),
    ),
    max_size=25,
)


def play(steps: list[tuple[str, str, tuple[int, int] | None, str]]) -> Log:
    """A log of the steps, each a call with its result."""
    log = Log()
    for what, path, span, word in steps:
        first, last = span or (1, 20)
        if what == "read":
            more = {"offset": first, "limit": last - first + 1} if span else {}
            log.read(path, lines(first, last, word), first, **more)
        elif what == "cat":
            log.bash(f"sed -n '{first},{last}p' {path}" if span else f"cat {path}", lines(first, last, word))
        elif what == "write":
            log.do("Write", {"file_path": path, "content": lines(1, 20, word)}, "File written.")
        elif what == "edit":
            tail = f" Here's the result of running `cat -n` on a snippet of the edited file:\n{number('z', first)}"
            log.do("Edit", {"file_path": path}, f"The file {path} has been updated.{tail if span else ''}")
        elif what == "change":
            log.note(f"/w/{path} was changed outside:\n")
        elif what == "event":
            log.bash(f"pytest {path}", "1 passed")
        elif what == "fail":
            log.do("Read", {"file_path": path}, "File does not exist.", error=True)
        else:
            log.bash("git checkout main", "Switched to branch 'main'")
    return log


@given(STEPS, st.integers(1, 26))
@settings(deadline=None, max_examples=60)
def test_facts_at_a_turn_do_not_change_when_the_log_is_cut_after_it(
    steps: list[tuple[str, str, tuple[int, int] | None, str]], turn: int
) -> None:
    """The facts of turn t follow from the blocks that arrived before call t, whatever comes later."""
    log = play(steps)
    whole, part = log.find(), log.find(sum(row[2] < turn for row in log.rows))
    assert tuple(row for row in whole.observations if row.since <= turn) == part.observations
    assert tuple(change for change in whole.changes if change.since <= turn) == part.changes


@given(STEPS)
@settings(deadline=None, max_examples=60)
def test_at_most_one_whole_observation_of_a_file_is_live(
    steps: list[tuple[str, str, tuple[int, int] | None, str]],
) -> None:
    """At any turn one resource has at most one live whole; acknowledgements are no observations of it."""
    log = play(steps)
    found = log.find()
    resources = found.resources
    for turn in range(log.turn + 2):
        for rows in resources.by_key.values():
            live = [
                row
                for row in rows
                if row.first is None and row.effect != "ack" and resources.state(row, turn) == "live"
            ]
            assert len(live) <= 1


@given(STEPS)
@settings(deadline=None, max_examples=60)
def test_live_parts_that_share_lines_do_not_contradict_each_other(
    steps: list[tuple[str, str, tuple[int, int] | None, str]],
) -> None:
    """Two live readings of the same lines say the same."""
    found = play(steps).find()
    for key in found.resources.by_key:
        live = [row for row in found.live(key) if row.effect == "read" and row.content]
        for a in live:
            assert all(a.content == b.content for b in live if (a.first, a.last) == (b.first, b.last))


@given(STEPS)
@settings(deadline=None, max_examples=60)
def test_events_are_never_superseded(steps: list[tuple[str, str, tuple[int, int] | None, str]]) -> None:
    """An event has no key, and no change names it."""
    found = play(steps).find()
    events = {row.block for row in found.observations if row.effect == "event"}
    assert all(row.key is None for row in found.observations if row.effect == "event")
    assert not events & {c.block for c in found.changes}
    assert all(found.resources.state(row, 10**6) == "live" for row in found.resources.events)


@given(st.lists(st.tuples(st.sampled_from(["tool_call", "tool_result", "note", "user"]), st.text(max_size=80))))
@settings(deadline=None, max_examples=60)
def test_no_text_raises(blocks: list[tuple[str, str]]) -> None:
    """Whatever a log holds, the finder goes on."""
    log = Log()
    for kind, text in blocks:
        if kind == "tool_call":
            log.call("Bash", {"command": text})
        elif kind == "tool_result" and log.rows and any(b.kind == "tool_call" for b, _, _ in log.rows):
            log.result(text)
        else:
            log.note(text)
    log.find()


@pytest.mark.parametrize("name", ["w20", "stale"])
def test_every_change_names_an_observation_and_a_later_cause(name: str) -> None:
    """Changes point at observations of the same key, and come from blocks that arrived after them."""
    found = {"w20": w20, "stale": stale}[name]()
    keys = {(row.block, row.key) for row in found.observations}
    for change in found.changes:
        assert (change.block, change.key) in keys
        assert change.because is not None
        assert change.because > change.block


def test_a_relative_path_is_read_from_where_the_log_says_the_shell_stood(tmp_path: Path) -> None:
    """Claude Code writes its folder into every line; it changes in mid-session without a `cd` in the log."""
    written: list[dict[str, Any]] = []
    for at, folder in enumerate(("/work/demo", "/work/demo/docs"), 1):
        call = {"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": {"command": "cat notes.md"}}
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": f"note {at}"}
        said = {"id": f"m{at}", "role": "assistant", "content": [call]}
        for kind, message in (("assistant", said), ("user", {"role": "user", "content": [result]})):
            above = written[-1]["uuid"] if written else None
            written.append(
                {
                    "type": kind,
                    "uuid": f"u{len(written)}",
                    "parentUuid": above,
                    "sessionId": "s",
                    "cwd": folder,
                    "message": message,
                }
            )
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in written), encoding="utf-8")
    with open_trace([str(path)], cache=False) as trace:
        reads = [row.key for row in trace.view().facts.observations if row.effect == "read"]
    assert reads == ["file:/work/demo/notes.md", "file:/work/demo/docs/notes.md"]
