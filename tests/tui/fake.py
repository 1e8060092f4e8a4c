"""A trace made of rows, for tests and benches of the terminal interface: no loader, no store, any size.

Its texts are hostile on purpose: markup, escape sequences, wide and joined characters, bidirectional overrides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ctxview.errors import UsageError
from ctxview.model import (
    NEVER,
    BlockRow,
    CutRow,
    EditRow,
    FileRow,
    IssueRow,
    Kind,
    Role,
    SessionRow,
    SpanRow,
    Stretch,
    TurnRow,
)
from ctxview.window.view import SessionView

HOSTILE = (
    "Why does [/bold] and [/a0/tests/x] crash? Also [red]hi[/red] arr[0] [node_modules] :bug: "
    "[link=http://evil.example]x[/link]",
    "Click [@click=app.quit]here[/] or [@click=](x)[/] \\[escaped] trailing backslash \\",
    "❤️ | 👨‍👩‍👧 | 你好 | é | a‮b | ‏ | ﻿ | ­",
    "العربية mixed with 🇯🇵 flags",
    "A\x1b]52;c;cm0gLXJmIH4=\x07B\x1b]52;c;cm0gLXJmIH4=\x1b\\C",
    "\x1b]8;;http://evil.example/\x1b\\safe text\x1b]8;;\x1b\\ \x1b]0;title\x07 \x1b[2J\x1b[H \x9b2J \x9d52;c;QQ==\x9c"
    " \x90+q544e\x9c end\rOVER\b\b \x00 \x7f",
    "用户: 请检查日志文件\nそして続ける\tタブ " * 6,
    "plain words that go on for a while, so that a narrow row has to cut them somewhere " * 4,
)
PLAIN = (
    "Reading the scheduler to see why the nightly job ran twice.",
    '{"command": "rg -n \'schedule_once\' src/ --glob \'!tests\'", "timeout": 120}',
    "src/jobs/scheduler.py:41:    def schedule_once(self, job: Job) -> Handle:\nsrc/jobs/worker.py:88: "
    "self.scheduler.schedule_once(job)\n" * 12,
)
_SHAPES: tuple[tuple[Role, Kind, str | None], ...] = (
    ("assistant", "assistant", None),
    ("assistant", "tool_call", "Bash"),
    ("tool", "tool_result", "Bash"),
)


@dataclass(frozen=True)
class FakeTrace:
    """Everything the terminal interface asks of a trace."""

    name: str
    views: tuple[SessionView, ...]
    files: tuple[FileRow, ...] = ()
    issues: tuple[IssueRow, ...] = ()

    @property
    def sessions(self) -> tuple[SessionRow, ...]:
        return tuple(v.row for v in self.views)

    def view(self, session_id: str | None) -> SessionView:
        return next((v for v in self.views if session_id in (None, v.row.session)), self.views[0])

    def pin(self, session_id: str | None, block_id: str, pinned: bool | None) -> SessionView:
        raise UsageError("this trace is made up", "open a file")

    def why_empty(self) -> str:
        return f": {self.issues[0].reason}" if self.issues else ""

    def close(self) -> None:
        """Nothing is held open."""


def session_row(session: str = "s-main", **fields: str | int | bool | None) -> SessionRow:
    row = SessionRow(
        session, None, None, None, "fake", "fake 1.0", "Fix the [/bold] job", "/repo", 200_000, True, None, None
    )
    return replace(row, **fields)  # type: ignore[arg-type]


def block_row(n: int, turn: int, text: str, role: Role, kind: Kind, tool: str | None, **fields: object) -> BlockRow:
    row = BlockRow(
        n=n, id=f"b{n:06d}", message=f"m{n}", role=role, kind=kind, tool=tool, call_id=None, is_error=False, content=n,
        tokens=max(4, len(text) // 4), estimated=False, chars=len(text), preview=text[:200], turn=turn,
        file="trace.jsonl", line=n + 1, origin_id=f"u{n}", at="2026-03-01T09:00:05Z", injected=False, inherited=False,
        human=kind == "user", inserted=kind == "summary", note=None, image=None,
    )  # fmt: skip
    return replace(row, **fields)  # type: ignore[arg-type]


def turn_row(turn: int, recorded: int | None, missing: tuple[str, ...] = ("system", "tools")) -> TurnRow:
    fresh, cached = (None, None) if recorded is None else (10, recorded - 10)
    return TurnRow(
        turn, f"call{turn}", "claude-demo-5", "fake 1.0", "2026-03-01T09:00:10Z", "reconstructed", missing,
        fresh, cached, None, 200, None, False, "end_turn", None, False, "trace.jsonl", turn,
    )  # fmt: skip


def make_view(
    turns: int = 12,
    per_turn: int = 3,
    cut_every: int = 5,
    texts: Sequence[str] = HOSTILE,
    row: SessionRow | None = None,
    unlogged: int = 5_000,
    recorded: bool = True,
    orphan_at: int | None = None,
) -> SessionView:
    """A session whose every `cut_every` turns are compacted into a summary, which drops the goal too."""
    blocks: list[BlockRow] = []
    spans: dict[int, SpanRow] = {}
    done: list[SpanRow] = []
    edits: list[EditRow] = []
    cuts: list[CutRow] = []
    bodies: list[str] = []
    pos = 0.0

    def add(turn: int, text: str, role: Role, kind: Kind, tool: str | None = None, **fields: object) -> None:
        nonlocal pos
        n = len(blocks)
        blocks.append(block_row(n, turn, text, role, kind, tool, **fields))
        bodies.append(text)
        pos += 1
        spans[n] = SpanRow(n, pos, turn + 1, NEVER, "verbatim", n, blocks[n].tokens, None)

    add(0, "Fix the job. Never delete [/etc] data.", "user", "user")
    sizes: list[int] = []
    for turn in range(1, turns + 1):
        if cut_every and turn % cut_every == 0:
            gone = [n for n, s in spans.items() if s.start < turn]
            for n in gone:
                why = "summarised by the client"
                edits.append(EditRow(len(edits), turn, "recorded", "compact", why, n, "drop", None, (), {}, len(cuts)))
                done.append(replace(spans.pop(n), end=turn, ended_by=len(edits) - 1))
            add(turn - 1, "Summary: the job ran twice; never delete data.", "user", "summary")
            cuts.append(
                CutRow(len(cuts), turn, "compact", "auto", 90_000, 12_000, len(gone), 0, 12, "trace.jsonl", turn)
            )
        sizes.append(sum(s.tokens for s in spans.values()))
        for i in range(per_turn):
            role, kind, tool = _SHAPES[i % 3]
            if kind == "tool_result" and turn == orphan_at:
                continue
            call = None if tool is None else f"toolu_{turn}_{i // 3}"
            add(turn, texts[(turn + i) % len(texts)], role, kind, tool, call_id=call)
    rows = tuple(turn_row(t, sizes[t - 1] + unlogged if recorded else None) for t in range(1, turns + 1))
    audit = (Stretch(1, turns, 1.0, unlogged, (), 0.01, 0.03, "claude-demo-5"),) if recorded and turns else ()
    return SessionView(
        row or session_row(), rows, blocks, [*done, *spans.values()], edits, cuts, audit, bodies.__getitem__
    )


def make_trace(**fields: object) -> FakeTrace:
    """A main session, a sub-agent, one issue."""
    row = session_row("s-child", parent="s-main", agent="explorer", title="Look [@click=app.quit]x[/]")
    child = make_view(turns=3, cut_every=0, row=row)
    issue = IssueRow("trace.jsonl", 7, 900, "warning", "unreadable record: [/bold] \x1b[2J", None)
    file = FileRow("trace.jsonl", "fake", 1234, 40, 36, 1, {"summary": 1}, {"odd/[type]": 1}, 1)
    return FakeTrace("trace.jsonl", (make_view(**fields), child), (file,), (issue,))  # type: ignore[arg-type]


def opener(trace: FakeTrace) -> Callable[[Callable[[str, int, int], None]], FakeTrace]:
    def open_trace(progress: Callable[[str, int, int], None]) -> FakeTrace:
        progress(trace.name, 500, 1000)
        progress(trace.name, 1000, 1000)
        return trace

    return open_trace
