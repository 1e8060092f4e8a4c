"""Rebuilt windows of real Claude Code sessions: their structure, against the raw lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxview.ingest import Trace
from ctxview.window import SessionView

from .names import CHAT, CLAUDE_CODE, PRESERVED, RESUMED_BY_ONE_MOMENT

Read = Callable[[str], Trace]


def raw_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def ids(view: SessionView, turn: int) -> list[str]:
    return [row.block.id for row in view.window(turn)]


@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_no_window_holds_an_orphan_or_a_duplicate(name: str, read: Read) -> None:
    trace = read(name)
    wrong = []
    for row in trace.sessions:
        view = trace.view(row.session)
        for turn in range(1, view.now + 1):
            pairing = view.pairing(turn)
            if pairing.orphans or pairing.duplicates:
                wrong.append((row.session, turn, sorted(pairing.orphans), sorted(pairing.duplicates)))
            standing = [span.block for span in view.spans_at(turn)]
            assert len(standing) == len(set(standing))
    assert wrong == []


def test_after_a_cut_the_preserved_lines_follow_the_summary(corpus: Path, read: Read) -> None:
    lines = raw_lines(corpus / PRESERVED)
    boundaries = [line["compactMetadata"] for line in lines if line.get("subtype") == "compact_boundary"]
    view = read(PRESERVED).view()
    cuts = [cut for cut in view.cuts if cut.kind == "compact"]
    assert len(cuts) == len(boundaries) == 2
    kinds = {line["uuid"]: line["type"] for line in lines if "uuid" in line}
    known = {block.id for block in view.blocks}
    for cut, metadata in zip(cuts, boundaries, strict=True):
        messages = metadata["preservedMessages"]
        preserved = [uuid for uuid in messages["uuids"] if uuid in known]
        assert {kinds[uuid] for uuid in messages["uuids"] if uuid not in known} <= {"attachment", "system"}
        assert preserved
        window = ids(view, cut.turn)
        assert window[: 1 + len(preserved)] == [messages["anchorUuid"], *preserved]
        assert view.window(cut.turn)[0].block.kind == "summary"
        after = set(window[1 + len(preserved) :])
        before = set(ids(view, cut.turn - 1))
        assert not after & before, "nothing else of the old window stayed"
        assert cut.kept == len(preserved)
        assert (cut.before, cut.after) == (metadata["preTokens"], metadata["postTokens"])


def test_a_message_in_the_words_and_at_the_moment_of_another_is_no_rewind(corpus: Path, read: Read) -> None:
    """A resume wrote lines 5 to 77 again, all at one moment; the person had been interrupted twice in the same words.

    Golden, from the parent links of the raw lines: the first call after the resume hangs below line 83, whose parents
    are every line down to 5; of these 6, 10 and 13 are thinking, which this model loses when the person speaks.
    """
    view = read(RESUMED_BY_ONE_MOMENT).view()
    turn = next(turn.turn for turn in view.turns if turn.line == 84)
    assert [row.block.line for row in view.window(turn)] == [n for n in range(5, 84) if n not in (6, 10, 13)]
    # The first is that of the summary in line 5, which this file's conversation starts with.
    assert [(cut.kind, cut.line) for cut in view.cuts] == [("compact", 5), ("compact", 473)]

    lines = raw_lines(corpus / RESUMED_BY_ONE_MOMENT)
    number = {line["uuid"]: n for n, line in enumerate(lines, 1) if "uuid" in line}
    path, at = [], 83
    while True:
        path.append(at)
        parent = lines[at - 1]["parentUuid"]
        if parent is None:
            break
        at = number[parent]
    assert path[::-1] == list(range(5, 84))


@pytest.mark.parametrize("name", [PRESERVED, "claude-code/entire-2.1.14-microcompact+compact.jsonl", CHAT[0]])
def test_sql_gives_the_same_windows(name: str, read: Read) -> None:
    trace = read(name)
    for row in trace.sessions:
        view = trace.view(row.session)
        cuts = {turn for cut in view.cuts for turn in (cut.turn - 1, cut.turn)}
        for turn in sorted({1, view.last // 2 or 1, view.last or 1, view.now} | cuts):
            name = row.session.replace("'", "''")
            query = f"SELECT id, form, tokens FROM v_window WHERE session = '{name}' AND turn = {turn} ORDER BY index"
            found = trace.store.ask(query, rows=100_000).rows
            assert found == tuple((w.block.id, w.span.form, w.span.tokens) for w in view.window(turn))
