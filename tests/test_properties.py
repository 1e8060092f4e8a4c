"""Properties of generated Claude Code sessions: their windows are what the generator knows to have been sent.

The generator plays the client: it keeps the true window while it writes lines with parallel calls, results between the
blocks of a response, rewinds, compactions with and without preserved messages, and lines written twice.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.errors import UnreadableError
from ctxview.ingest import open_trace
from ctxview.loaders.claude_code import tree
from ctxview.model import NEVER, SessionRow, SpanRow, TurnRow
from ctxview.window import Journal, SessionView

Line = dict[str, Any]
Op = tuple[str, int, int]

fast = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


class Client:
    """Writes a session and remembers what each call was sent, as block ids."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.windows: list[list[str]] = []
        """The window of each call."""
        self.calls: list[int] = []
        """Lines written up to and with the first one of each call."""
        self.window: list[str] = []
        self.duplicates = 0
        self._units: list[list[str]] = []
        """The window as pieces that a compaction keeps or drops whole."""
        self._tip: str | None = None
        self._points: list[tuple[str | None, list[list[str]]]] = []
        """Where a person can go back to."""
        self._root = 0
        self._count = 0

    # ------------------------------------------------------------------ writing

    def _write(self, kind: str, parent: str | None, **more: Any) -> str:
        self._count += 1
        uuid = f"{kind[0]}{self._count}"
        at = f"2026-03-01T{self._count // 3600:02}:{self._count // 60 % 60:02}:{self._count % 60:02}.000Z"
        base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False}
        self.lines.append({**base, "timestamp": at, **more})
        return uuid

    def _user(self, parent: str | None, content: Any, **more: Any) -> str:
        return self._write("user", parent, message={"role": "user", "content": content}, **more)

    def _part(self, parent: str | None, response: str, part: Line) -> str:
        usage = {"input_tokens": 5, "cache_read_input_tokens": 100 * len(self.windows), "output_tokens": 3}
        message = {"id": response, "role": "assistant", "model": "claude-demo-5", "content": [part], "usage": usage}
        return self._write("assistant", parent, message=message)

    def _stands(self, units: list[list[str]]) -> None:
        self._units = units
        self.window = [block for unit in units for block in unit]

    # ------------------------------------------------------------------ what people and models do

    def say(self) -> None:
        self._points.append((self._tip, list(self._units)))
        self._tip = self._user(self._tip, f"Message {self._count}.")
        self._stands([*self._units, [self._tip]])

    def answer(self, calls: int, layout: int, last_first: bool) -> None:
        """A response with text and calls, each a line. `layout`: results after all calls and below their own call,
        between the calls, or all in one line. `last_first`: the last call is done first, so that the session goes on
        below the first call's result, and the other calls hang aside."""
        self.windows.append(list(self.window))
        response = f"msg_{len(self.windows)}"
        thought = {"type": "thinking", "thinking": "", "signature": "c2ln" * 200}
        at = self._part(self._tip, response, thought)
        self.calls.append(len(self.lines))
        said = [at]
        at = self._part(at, response, {"type": "text", "text": "Same words every time."})
        said.append(at)
        tools: list[tuple[str, str]] = []
        results: list[str] = []
        for number in range(calls):
            call = f"{response}_t{number}"
            at = self._part(at, response, {"type": "tool_use", "id": call, "name": "Bash", "input": {"n": number}})
            said.append(at)
            tools.append((at, call))
            if layout == 1:
                results.append(self._user(at, [self._result(call)]))
        if layout == 0:
            done = reversed(tools) if last_first else tools
            results = [self._user(below, [self._result(call)]) for below, call in done]
        elif layout == 2 and tools:
            uuid = self._user(at, [self._result(call) for _, call in tools])
            results = [uuid, *(f"{uuid}.{n}" for n in range(1, len(tools)))]
        self._tip = results[-1].partition(".")[0] if results else at
        self._stands([*self._units, [*said, *results]])

    @staticmethod
    def _result(call: str) -> Line:
        return {"type": "tool_result", "tool_use_id": call, "content": "same output"}

    def rewind(self, which: int) -> None:
        if not self._points:
            return
        tip, units = self._points[which % len(self._points)]
        del self._points[which % len(self._points) :]
        self._tip = tip
        self._stands(list(units))
        self.say()

    def compact(self, keep: int, below_summary: bool) -> None:
        """The newest `keep` pieces stay, after the summary; the next line hangs below them or below the summary."""
        if not self._units:
            return
        kept = self._units[len(self._units) - min(keep, len(self._units)) :]
        uuids = list(dict.fromkeys(block.partition(".")[0] for unit in kept for block in unit))
        summary = f"u{self._count + 2}"
        metadata: Line = {"trigger": "auto", "preTokens": 1000, "postTokens": 100}
        if uuids:
            named = {"uuids": uuids, "allUuids": [*uuids, "never-logged"]}
            metadata["preservedMessages"] = {"anchorUuid": summary, **named}
        boundary = self._write(
            "system", None, subtype="compact_boundary", logicalParentUuid=self._tip, compactMetadata=metadata
        )
        assert self._user(boundary, "This session is being continued.", isCompactSummary=True) == summary
        self._tip = summary if below_summary or not uuids else uuids[-1]
        self._stands([[summary], *kept])
        self._points = []
        self._root = len(self.lines)

    def repeat(self, which: int) -> None:
        """A line once more, as it was."""
        written = [line for line in self.lines if line["type"] != "system"]
        if written:
            self.lines.append(written[which % len(written)])
            self.duplicates += 1

    def resume(self) -> None:
        """Everything written again under new uuids with the ids and dates of the first time; it goes on from there."""
        if self._root or self._tip is None or any(line["uuid"].startswith("x") for line in self.lines):
            return
        once = list({line["uuid"]: line for line in self.lines}.values())
        for line in once:
            parent = line["parentUuid"] and f"x{line['parentUuid']}"
            self.lines.append({**line, "uuid": f"x{line['uuid']}", "parentUuid": parent})
            self.duplicates += 1
        self._tip = f"x{self._tip}"
        self._points = []

    def play(self, ops: list[Op]) -> Client:
        self.say()
        for name, a, b in ops:
            match name:
                case "say":
                    self.say()
                case "answer":
                    self.answer(a % 4, b % 3, b >= 3)
                case "rewind":
                    self.rewind(a)
                case "compact":
                    self.compact(a % 3, bool(b % 2))
                case "repeat":
                    self.repeat(a)
                case "resume":
                    self.resume()
        return self

    @property
    def data(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


NAMES = ["say", "answer", "answer", "answer", "rewind", "compact", "repeat", "resume"]
OPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 11), st.integers(0, 5)), max_size=14)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


def windows(folder: Path, data: bytes) -> list[list[str]]:
    """The windows of all turns, and of `now`."""
    path = folder / "s.jsonl"
    path.write_bytes(data)
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        return [[row.block.id for row in view.window(turn)] for turn in range(1, view.now + 1)]


@given(ops=OPS)
@settings(fast, max_examples=40)
def test_every_window_is_what_the_client_sent(ops: list[Op], folder: Path) -> None:
    client = Client().play(ops)
    path = folder / "s.jsonl"
    path.write_bytes(client.data)
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        found = [[row.block.id for row in view.window(turn)] for turn in range(1, view.now + 1)]
        assert found == [*client.windows, client.window]
        for turn in range(1, view.now + 1):
            pairing = view.pairing(turn)
            assert not pairing.orphans
            assert not pairing.duplicates
            naive = sorted((s for s in view.spans if s.start <= turn < s.end), key=lambda s: s.pos)
            assert view.spans_at(turn) == naive
            assert view.counted(turn) == sum(span.tokens for span in naive)
        (file,) = trace.files
        assert file.duplicates == client.duplicates
        assert file.records == len(client.lines)
        assert file.unknown == {}


@given(ops=OPS, back=st.lists(st.tuples(st.integers(0, 99), st.booleans()), max_size=4))
@settings(fast, max_examples=40)
def test_lines_put_away_are_found_again(ops: list[Op], back: list[tuple[int, bool]], folder: Path) -> None:
    """A long session's lines behind a cut are held on disk; repeating one or going back to it changes nothing."""
    client = Client().play(ops)
    for which, repeats in back:
        line = client.lines[which % len(client.lines)]
        if repeats:
            client.lines.append(line)
        else:
            client._tip = line["uuid"]
            client.say()
            client.answer(1, 0, last_first=False)
            client.compact(which % 3, below_summary=False)
    with pytest.MonkeyPatch.context() as patch:
        held = windows(folder, client.data)
        patch.setattr(tree, "MANY", 0)
        assert windows(folder, client.data) == held


@given(ops=OPS, data=st.data())
@settings(fast, max_examples=20)
def test_what_comes_later_changes_no_earlier_window(ops: list[Op], data: st.DataObject, folder: Path) -> None:
    client = Client().play([*ops, ("answer", 2, 1)])
    turn = data.draw(st.integers(1, len(client.calls)))
    lines = client.data.splitlines(keepends=True)
    part = windows(folder, b"".join(lines[: client.calls[turn - 1]]))
    assert part[:turn] == client.windows[:turn]


@given(ops=OPS, data=st.data())
@settings(fast, max_examples=25)
def test_a_file_cut_anywhere_is_read_to_its_end(ops: list[Op], data: st.DataObject, folder: Path) -> None:
    whole = Client().play(ops).data
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    path = folder / "s.jsonl"
    path.write_bytes(cut)
    *complete, tail = cut.split(b"\n")
    try:
        json.loads(tail)
        records = len(complete) + 1
    except ValueError:
        records = len(complete)
    try:
        trace = open_trace([str(path)], cache=False)
    except UnreadableError:
        assert records == 0
        return
    with trace:
        (file,) = trace.files
        assert file.records == records
        counted = file.window + file.duplicates + sum(file.known.values()) + sum(file.unknown.values())
        assert counted + file.unreadable == records
        for row in trace.sessions:
            view = trace.view(row.session)
            for turn in range(1, view.now + 1):
                view.window(turn)


# ------------------------------------------------------------------------------------------------------------- journal


class ListWindow:
    """The plainest journal: the whole window copied at every turn."""

    def __init__(self) -> None:
        self.now: list[tuple[int, int, str]] = []
        """(block, content, form)"""

    def at(self, block: int) -> int:
        return next(i for i, row in enumerate(self.now) if row[0] == block)


JOURNAL_OPS = st.lists(
    st.tuples(st.sampled_from(["append", "insert", "insert", "drop", "replace", "turn"]), st.integers(0, 99)),
    max_size=150,
)


@given(ops=JOURNAL_OPS, pace=st.sampled_from([1, 7, 40]))
@settings(fast, max_examples=150)
def test_a_journal_remembers_every_window(ops: list[tuple[str, int]], pace: int) -> None:
    """Against whole copies; `pace` spreads few changes over many turns, past the view's remembered windows."""
    journal, model = Journal(), ListWindow()
    kept: dict[int, list[tuple[int, int, str]]] = {}
    turn, blocks = 1, 0
    for name, n in ops:
        if name == "turn":
            for passed in range(turn, turn + pace):
                kept[passed] = list(model.now)
            turn += pace
        elif name == "append":
            journal.append(blocks, turn, n)
            model.now.append((blocks, n, "verbatim"))
            blocks += 1
        elif name == "insert":
            index = n % (len(model.now) + 1) if n % 3 else min(2, len(model.now))
            journal.insert(blocks, index, turn, n)
            model.now.insert(index, (blocks, n, "verbatim"))
            blocks += 1
        elif model.now:
            block = model.now[n % len(model.now)][0]
            if name == "drop":
                journal.drop(block, turn, None)
                del model.now[model.at(block)]
            else:
                journal.replace(block, turn, n, "placeholder", None)
                model.now[model.at(block)] = (block, n, "placeholder")
        assert journal.blocks() == [row[0] for row in model.now]
        assert len(journal) == len(model.now)
        assert all(journal.index(row[0]) == i and journal.content(row[0]) == row[1] for i, row in enumerate(model.now))
    kept[turn] = list(model.now)

    spans = journal.close()
    view = SessionView(
        SessionRow("s", None, None, None, "fake", None, None, None, None, True, None, None),
        [_turn(number) for number in range(1, turn)], [], spans, [], [], [], str,
    )  # fmt: skip
    for at, window in kept.items():
        assert [(s.block, s.content, s.form) for s in view.spans_at(at)] == window
    for block in range(blocks):
        own = sorted((s for s in spans if s.block == block), key=lambda s: (s.start, s.end))
        assert all(a.end <= b.start for a, b in pairwise(own)), "never two of one block at once"
    assert [s.block for s in _open(spans)] == [row[0] for row in model.now]


def test_a_journal_keeps_its_order_when_a_gap_is_used_up() -> None:
    """A hundred times into the gap above 1.0: more often than a float can be halved there."""
    journal, model = Journal(), [0, 1, 2]
    for block in model:
        journal.append(block, 1, 0)
    for turn, block in enumerate(range(3, 203, 2), 2):
        journal.insert(block, 2, turn, 0)
        model.insert(2, block)
        journal.append(block + 1, turn, 0)
        model.append(block + 1)
        assert journal.blocks() == model
    spans = journal.close()
    assert [s.block for s in _open(spans)] == model
    assert [s.block for s in _open(spans) if s.start == 1] == [0, 1, 2]


def _open(spans: list[SpanRow]) -> list[SpanRow]:
    return sorted((s for s in spans if s.end == NEVER), key=lambda s: s.pos)


def _turn(turn: int) -> TurnRow:
    return TurnRow(
        turn, f"call{turn}", None, None, None, "reconstructed", (), None, None, None, None, None, False, None, None,
        False, "f", turn,
    )  # fmt: skip
