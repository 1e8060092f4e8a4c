"""`ctxview info`: what a trace's files held and how its sessions went. Unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from statistics import median
from typing import Any

from ctxview.ingest import Trace
from ctxview.model import FileRow, IssueRow
from ctxview.window import SessionView


def info_report(trace: Trace) -> dict[str, Any]:
    issues: dict[PurePath, list[IssueRow]] = {}
    for issue in trace.issues:
        issues.setdefault(PurePath(issue.file), []).append(issue)
    sessions = {view.row.session: _session(view) for view in trace.views()}
    return {
        "files": [_file(row, issues.get(PurePath(row.path), ())) for row in trace.files],
        "sessions": [sessions[row.session] for row in trace.sessions],
    }


def _file(row: FileRow, issues: Iterable[IssueRow]) -> dict[str, Any]:
    return {
        "path": row.path,
        "format": row.format,
        "bytes": row.bytes,
        "records": row.records,
        "window": row.window,
        "duplicates": row.duplicates,
        "known": dict(row.known),
        "unknown": dict(row.unknown),
        "unreadable": row.unreadable,
        "issues": [{"line": i.line, "byte": i.byte, "severity": i.severity, "reason": i.reason} for i in issues],
    }


def _session(view: SessionView) -> dict[str, Any]:
    row, peak = view.row, view.peak
    tokens, source = view.occupancy()
    return {
        "id": row.session,
        "parent": row.parent,
        "agent": row.agent,
        "format": row.format,
        "client": row.client,
        "models": list(dict.fromkeys(t.model for t in view.turns if t.model)),
        "title": row.title,
        "started": row.started,
        "ended": row.ended,
        "turns": view.last,
        "user_turns": view.user_turns,
        "blocks": len(view.blocks),
        "fidelity": view.fidelity,
        "usage": _usage(view),
        "limit": view.limit,
        "peak": {"turn": peak[0], "tokens": peak[1]} if peak else None,
        "now": {"tokens": tokens, "source": source},
        "cuts": cuts_report(view),
        "audit": _audit(view),
        "worst": [],
    }


def _usage(view: SessionView) -> dict[str, Any]:
    """Each response's tokens once; copies of another session's responses are not this one's."""
    own = [t for t in view.turns if not t.inherited]
    return {
        "input": _total(t.input for t in own),
        "cache_read": _total(t.cache_read for t in own),
        "cache_write": _total(t.cache_write for t in own),
        "output": _total(t.output for t in own),
        "output_partial": any(t.output_partial for t in own if t.output is not None),
    }


def _total(numbers: Iterable[int | None]) -> int | None:
    known = [n for n in numbers if n is not None]
    return sum(known) if known else None


def cuts_report(view: SessionView) -> list[dict[str, Any]]:
    """The session's cuts in order of turn. Sizes are the log's own, else the recorded sizes of the turns around it."""
    rows = []
    for cut in sorted(view.cuts, key=lambda c: (c.turn, c.n)):
        before, after = view.cut_sizes(cut)
        rows.append(
            {
                "turn": cut.turn,
                "kind": cut.kind,
                "trigger": cut.trigger,
                "before": before,
                "after": after,
                "dropped": cut.dropped,
                "kept": cut.kept,
                "summary_tokens": cut.summary_tokens,
            }
        )
    return rows


def _audit(view: SessionView) -> dict[str, Any]:
    stretches = view.audit
    return {
        "turns_checked": sum(s.end - s.start + 1 for s in stretches),
        "median_error": round(median(s.median_error for s in stretches), 5) if stretches else None,
        "p95_error": max((s.p95_error for s in stretches), default=None),
        "stretches": [
            {
                "from": s.start,
                "to": s.end,
                "factor": s.factor,
                "constant": s.constant,
                "steps": list(s.steps),
                "median_error": s.median_error,
                "p95_error": s.p95_error,
            }
            for s in stretches
        ],
    }
