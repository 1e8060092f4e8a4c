"""A harness that runs the command in an agent's words: its readings give way to newer ones, the words never."""

from __future__ import annotations

import json
from pathlib import Path

from ctxview.ingest import open_trace
from ctxview.policies import parse_stack
from ctxview.replay import replay

Messages = list[dict[str, str]]


def turn(command: str, output: str) -> Messages:
    return [
        {"role": "assistant", "content": f"I go on.\n\n```bash\n{command}\n```"},
        {"role": "user", "content": f"<returncode>0</returncode>\n<output>\n{output}\n</output>"},
    ]


def trajectory(folder: Path, messages: Messages) -> str:
    path = folder / "t.traj.json"
    path.write_text(json.dumps({"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": messages}))
    return str(path)


def test_only_what_was_read_gives_way(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "You fix things."},
        {"role": "user", "content": "Fix it."},
        *turn("cat /w/a.py", "old"),
        *turn("cat > /w/b.py <<'EOF'\none\nEOF", ""),
        *turn("cat > /w/b.py <<'EOF'\ntwo\nEOF", ""),
        *turn("cat /w/a.py", "new"),
        {"role": "assistant", "content": "Done."},
    ]
    with open_trace([trajectory(tmp_path, messages)]) as trace:
        view = replay(trace.view(), parse_stack("supersede")).view
        changed = [(b.block.n, b.span.form) for b in view.window(view.now) if b.span.form != "verbatim"]
        superseded = [b.block.n for b in view.window(view.now) if "superseded" in b.states]
    assert changed == [(3, "placeholder")]
    assert superseded == [3, 4, 5]  # 5 only says that the write in 4 was done


def test_what_has_grown_old_is_flagged(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Fix it."},
        *turn("cat /w/a.py", "old"),
        *[{"role": "assistant", "content": "Hm."}, {"role": "user", "content": "Please go on."}] * 3,
        {"role": "assistant", "content": "Done."},
    ]
    with open_trace([trajectory(tmp_path, messages)]) as trace:
        view = replay(trace.view(), parse_stack("stale:turns=2")).view
        assert [b.block.n for b in view.window(view.last) if b.span.form == "flagged"] == [2]
