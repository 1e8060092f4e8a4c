"""`ctxview info`: the files' records, the sessions, their cuts and the audit."""

from __future__ import annotations

from typing import Any

import click

from ctxview.cli.options import Named, json_option, print_json, trace_options
from ctxview.cli.plain import counted, fit, number, percent, say, table, width
from ctxview.text import one_line


@click.command("info")
@trace_options
@json_option
def command(trace: Named, as_json: bool) -> None:
    """What a trace's files hold and how its sessions went.

    Every record of a file is counted once: in a window, a duplicate, known to stand in no window, unknown, or
    unreadable.
    """
    from ctxview.report.info import info_report

    with trace.open() as opened:
        report = info_report(opened)
        paths = {f["path"] for f in report["files"]}
        elsewhere = [i for i in opened.issues if i.file not in paths]
    if as_json:
        print_json(report)
        return
    for file in report["files"]:
        _file(file)
    for issue in elsewhere:
        say(f"{issue.severity}: {one_line(issue.file)}: {one_line(issue.reason)}")
    for session in report["sessions"]:
        say()
        _session(session)


def _file(file: dict[str, Any]) -> None:
    known, unknown = sum(file["known"].values()), sum(file["unknown"].values())
    say(f"{one_line(file['path'])}  {file['format'] or 'not understood'}  {file['bytes']:,} bytes")
    say(
        f"  {file['records']:,} records = {file['window']:,} in windows + {file['duplicates']:,} duplicates"
        f" + {known:,} known + {unknown:,} unknown + {file['unreadable']:,} unreadable"
    )
    for word in ("known", "unknown"):
        if file[word]:
            kinds = ", ".join(f"{one_line(kind)} {count:,}" for kind, count in file[word].items())
            say(f"  {word}: {fit(kinds, 2 * width())}")
    for issue in file["issues"][:20]:
        is_said = issue["reason"].startswith(f"line {issue['line']}:")
        line = f"line {issue['line']}: " if issue["line"] and not is_said else ""
        say(f"  {issue['severity']}: {line}{one_line(issue['reason'])}")
    if len(file["issues"]) > 20:
        say(f"  and {counted(len(file['issues']) - 20, 'more issue')} (--json lists them)")


def _session(s: dict[str, Any]) -> None:
    say(f"session {one_line(s['id'])}" + (f"  sub-agent of {one_line(s['parent'])}" if s["parent"] else ""))
    if s["title"]:
        say(f"  {fit(s['title'], width() - 2)}")
    models = ", ".join(one_line(m) for m in s["models"]) or "model unknown"
    say(f"  {one_line(s['client'] or s['format'])}, {models}")
    counts = (counted(s["turns"], "turn"), counted(s["user_turns"], "user turn"), counted(s["blocks"], "block"))
    say(f"  {', '.join(counts)}, {s['fidelity'] or 'no calls'}")
    now, peak, limit = s["now"], s["peak"], s["limit"]
    source = "" if now["tokens"] is None else f"{percent(now['tokens'], limit)} {now['source']}"
    say(f"  now {number(now['tokens'])}{source}; limit {number(limit)}")
    if peak:
        say(f"  peak {number(peak['tokens'])}{percent(peak['tokens'], limit)} at turn {peak['turn']}")
    usage = s["usage"]
    if any(usage[k] is not None for k in ("input", "cache_read", "cache_write", "output")):
        partial = " (partial counts)" if usage["output_partial"] else ""
        say(
            f"  billed over all turns: input {number(usage['input'])}, cache read {number(usage['cache_read'])},"
            f" cache write {number(usage['cache_write'])}, output {number(usage['output'])}{partial}"
        )
    if s["cuts"]:
        rows = [("cut at turn", "kind", "trigger", "before", "after", "dropped", "kept", "summary")]
        rows += [
            (
                str(c["turn"]), c["kind"], one_line(c["trigger"] or "-"), number(c["before"]), number(c["after"]),
                number(c["dropped"]), f"{c['kept']:,}", number(c["summary_tokens"]) if c["summary_tokens"] else "-",
            )
            for c in s["cuts"]
        ]  # fmt: skip
        for line in table(rows, right=frozenset({3, 4, 5, 6, 7})):
            say(f"  {line}")
    _audit(s["audit"])


def _audit(audit: dict[str, Any]) -> None:
    for stretch in audit["stretches"]:
        steps = f", re-based at {', '.join(map(str, stretch['steps']))}" if stretch["steps"] else ""
        say(
            f"  audit, turns {stretch['from']}-{stretch['to']}: recorded = {stretch['factor']:.3f}"
            f" x (counted + framing) + {stretch['constant']:,}, median error {stretch['median_error']:.2%},"
            f" p95 {stretch['p95_error']:.2%}{steps}"
        )
