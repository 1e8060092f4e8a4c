"""All sessions of a trace at once: the same views as one by one, for as many queries as one takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ctxview.ingest import Trace, open_trace
from ctxview.report.info import info_report
from ctxview.store import Store
from ctxview.store.views import runs


def sidechains(path: Path, count: int) -> Trace:
    """A session whose file holds the lines of `count` sub-agents, one line of each in turn."""

    def line(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
        role = more.pop("role", "user")
        said = {"role": role, "content": content, "id": f"m{uuid}", "model": "claude-opus-4-6"}
        return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": said, **more}

    call = [{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/a.py"}}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "x = 1"}]
    lines = [line("u", None, "Never touch main.")]
    lines += [line("a", "u", call, role="assistant"), line("r", "a", result), line("b", "r", "Done.", role="assistant")]
    asked = [line(f"{i:08}", None, f"Look at {i}.", isSidechain=True) for i in range(count)]
    told = [line(f"{i:08}-a", f"{i:08}", f"Seen {i}.", role="assistant", isSidechain=True) for i in range(count)]
    path.write_text("".join(json.dumps(one) + "\n" for one in (*lines, *asked, *told)), encoding="utf-8")
    return open_trace([str(path)], cache=False)


def test_all_sessions_at_once_are_those_that_are_asked_for_one_by_one(tmp_path: Path) -> None:
    with sidechains(tmp_path / "s.jsonl", 5) as trace:
        together = {view.row.session: view for view in trace.views()}
        assert together.keys() == {row.session for row in trace.sessions}
        assert len(together) == 6
        for session, view in together.items():
            alone = trace.view(session)
            assert view.row == alone.row
            for name in ("turns", "blocks", "spans", "edits", "cuts", "audit"):
                assert list(getattr(view, name)) == list(getattr(alone, name))
            assert view.facts.pins == alone.facts.pins
            assert view.facts.observations == alone.facts.observations
            assert [view.text(block.content) for block in view.blocks] == [alone.text(b.content) for b in alone.blocks]
        assert together["s"].facts.pins
        assert together["s"].facts.observations


def test_info_asks_the_store_as_often_for_hundreds_of_sessions_as_for_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    class Counting:
        def __init__(self, cursor: Any) -> None:
            self._cursor = cursor

        def __getattr__(self, name: str) -> Any:
            return getattr(self._cursor, name)

        def execute(self, *args: Any) -> Any:
            nonlocal asked
            asked += 1
            return self._cursor.execute(*args)

    plain = Store._cursor

    @contextmanager
    def counted(self: Store) -> Iterator[Any]:
        with plain(self) as cursor:
            yield Counting(cursor)

    queries = []
    for count in (2, 300):
        with sidechains(tmp_path / f"{count}.jsonl", count) as trace:
            asked = 0
            with monkeypatch.context() as patched:
                patched.setattr(Store, "_cursor", counted)
                assert len(info_report(trace)["sessions"]) == count + 1
            queries.append(asked)
    assert 0 < queries[0] == queries[1]


def test_a_large_session_is_read_alone_and_small_ones_together() -> None:
    assert list(runs([(0, 5), (1, 9_000), (2, 2_000), (4, 50_000), (5, 1), (6, 0)])) == [(0, 1), (2, 2), (4, 4), (5, 6)]
    assert list(runs([])) == []
