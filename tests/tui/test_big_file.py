"""A file of 200 MB loads while the interface answers keys. Minutes of work, so only on request."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BYTES = 200_000_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("CTXVIEW_SLOW") != "1" or not hasattr(os, "fork"),
        reason="reads 200 MB through a pty, which takes minutes: set CTXVIEW_SLOW=1",
    ),
]


def write_session(path: Path, size: int) -> int:
    """A Claude Code session of about `size` bytes; returns its turns. Each round is one call with its result."""
    body = ("src/jobs/scheduler.py:41:    def schedule_once(self, job: Job) -> Handle:\\n" * 60)[:-2]
    head = '"isSidechain":false,"sessionId":"s-big","cwd":"/work/big","version":"2.1.0","userType":"external",'
    rounds = 0
    with path.open("w", encoding="utf-8") as file:
        parent = "null"
        while file.tell() < size:
            for _ in range(100):
                rounds += 1
                at = f"2026-03-01T{9 + rounds // 36_000:02d}:{rounds // 600 % 60:02d}:{rounds // 10 % 60:02d}.000Z"
                if rounds == 1:
                    file.write(
                        f'{{"type":"user","uuid":"u0","parentUuid":null,{head}"timestamp":"{at}",'
                        '"message":{"role":"user","content":"find every scheduler"}}\n'
                    )
                    parent = '"u0"'
                file.write(
                    f'{{"type":"assistant","uuid":"a{rounds}","parentUuid":{parent},{head}"timestamp":"{at}",'
                    f'"requestId":"r{rounds}","message":{{"id":"msg_{rounds}","type":"message","role":"assistant",'
                    f'"model":"claude-demo-5","content":[{{"type":"tool_use","id":"t{rounds}","name":"Bash",'
                    f'"input":{{"command":"rg schedule_{rounds}"}}}}],"stop_reason":"tool_use","usage":'
                    f'{{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":{rounds * 1250},'
                    '"output_tokens":9}}}\n'
                    f'{{"type":"user","uuid":"r{rounds}","parentUuid":"a{rounds}",{head}"timestamp":"{at}",'
                    f'"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{rounds}",'
                    f'"content":"{rounds} {body}"}}]}}}}\n'
                )
                parent = f'"r{rounds}"'
    return rounds


class Screen:
    """`ctxview FILE` on a pseudo-terminal."""

    def __init__(self, path: Path, cache: Path) -> None:
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            env |= {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache)}
            os.execve(sys.executable, [sys.executable, "-m", "ctxview", str(path)], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))

    def until(self, pattern: bytes, seconds: float) -> float:
        start = time.monotonic()
        while re.search(pattern, self.seen) is None:
            assert time.monotonic() - start < seconds, (pattern, self.seen[-400:])
            if select.select([self.fd], [], [], 0.05)[0]:
                self.seen += os.read(self.fd, 65536)
        return time.monotonic() - start

    def key(self, key: bytes, pattern: bytes, seconds: float) -> float:
        while select.select([self.fd], [], [], 0.02)[0]:
            os.read(self.fd, 65536)
        self.seen = b""
        os.write(self.fd, key)
        return self.until(pattern, seconds)

    def close(self) -> int:
        """Quit and return the exit code; -9 when it had to be killed."""
        os.write(self.fd, b"q")
        end = time.monotonic() + 20
        done, status = 0, 0
        while not done and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):
                    os.read(self.fd, 65536)
            done, status = os.waitpid(self.pid, os.WNOHANG)
        if not done:
            os.kill(self.pid, signal.SIGKILL)
            done, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_keys_are_answered_while_200_megabytes_load(tmp_path, record_property):
    path = tmp_path / "big.jsonl"
    turns = write_session(path, BYTES)
    for line in path.open(encoding="utf-8").readlines(200_000)[:4]:
        json.loads(line)
    screen = Screen(path, tmp_path)
    try:
        painted = screen.until("›".encode(), 20)
        screen.until(rb"of 2\d\d\.\d MB", 60)
        waits = []
        for _ in range(10):  # the theme changes at once, whatever is being read
            waits.append(screen.key(b"t", rb"\x1b\[[0-9;]*48;2;", 5))
            time.sleep(0.3)
        loaded = screen.until(rb"turn [\d,]+/" + f"{turns:,}".encode(), 600)
        turn = screen.key(b"h", rb"%s/" % f"{turns - 1:,}".encode(), 5)
        found = screen.key(b"/", b"whole texts", 5) + screen.key(b"find every\r", b"1 of 1 hit in 1 block", 60)
    finally:
        code = screen.close()
    figures = {"turns": turns, "painted": painted, "slowest key": max(waits), "loaded": loaded}
    figures |= {"turn": turn, "find": found}
    for name, value in figures.items():
        record_property(name, value)
    print({name: round(value, 3) for name, value in figures.items()})
    assert code == 0
    assert max(waits) < 1
