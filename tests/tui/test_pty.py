"""Through a real terminal: no byte of a transcript acts on it, a pipe on stdin takes no key away."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def _read(fd: int, seconds: float, until: bytes | None = None) -> bytes:
    got, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and (until is None or until not in got):
        if select.select([fd], [], [], 0.1)[0]:
            try:
                got += os.read(fd, 65536)
            except OSError:
                break
    return got


def _run(
    kind: str, keys: list[bytes], piped: bool = False, signalled: signal.Signals | None = None, until: bytes = b"12/12"
) -> tuple[bytes, int]:
    """Everything the app wrote to its terminal while the keys were pressed, and its exit code."""
    pid, fd = pty.fork()
    if pid == 0:
        env = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": f"{HERE}:{ROOT}"}
        if piped:
            pipe, _ = os.pipe()
            os.dup2(pipe, 0)
        os.execve(sys.executable, [sys.executable, str(HERE / "pty_app.py"), kind], env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
    try:
        got = _read(fd, 20, until)
        for key in keys:
            os.write(fd, key)
            got += _read(fd, 0.6)
        if signalled is None:
            os.write(fd, b"q")
        else:
            os.kill(pid, signalled)
        got += _read(fd, 10, b"\x1b[?1049l")
        got += _read(fd, 0.5)
    finally:
        try:
            done, status = 0, 0
            end = time.monotonic() + 10
            while not done and time.monotonic() < end:
                done, status = os.waitpid(pid, os.WNOHANG)
                time.sleep(0.05)
            if not done:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        finally:
            os.close(fd)
    return got, os.waitstatus_to_exitcode(status)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pty")
def test_no_escape_of_the_content_reaches_the_terminal():
    keys = [b"g", b"l", b"l", b"l", b"j", b"j", b"\r", b"\x1b", b"x", b"\x1b", b"e", b"\x1b"]
    got, code = _run("hostile", keys)
    assert code == 0
    text = got.decode("utf-8", "replace")
    assert not {"\x9b", "\x9d", "\x90", "\x9c"} & set(text)
    for start in ("\x1b]52", "\x1b]8;", "\x1b]0;", "\x1b_G", "\x1bP+q544e", "\x1b[21t", "\x1b[2J\x1b[H \x1b"):
        assert start not in text, repr(start)
    # What is left is what Textual itself writes: colours, cursor moves, modes, and questions to the terminal.
    rest = re.sub("\x1b\\[[0-9;:?<>=$]*[A-Za-z$]p?|\x1b]22;[a-z]*(\x07|\x1b\\\\)|\x1b[=>]", "", text)
    assert "\x1b" not in rest
    assert "\\x1b]52" in rest, "the escape is shown instead"


def test_keys_work_when_stdin_was_a_pipe_and_nothing_is_printed_after_quitting():
    got, code = _run("plain", [b"h"], piped=True)
    assert code == 0
    assert b"11/12" in got
    after = got.split(b"\x1b[?1049l")[-1]
    assert not re.sub(rb"\x1b\[[0-9;:?<>=]*[A-Za-z]|\s", b"", after)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pty")
def test_a_signal_that_ends_it_leaves_the_terminal_in_order():
    got, code = _run("plain", [], signalled=signal.SIGTERM)
    assert code == 143
    assert b"\x1b[?1049l" in got


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pty")
def test_quitting_does_not_wait_for_a_trace_that_is_still_read():
    """The reading thread of this one would go on for a minute."""
    started = time.monotonic()
    _, code = _run("endless", [], until=b"reading")
    assert code == 0
    assert time.monotonic() - started < 30


def test_importing_the_interface_loads_no_textual_and_nothing_heavy():
    code = (
        "import sys, ctxview.tui; "
        "print(sorted({'textual', 'rich', 'duckdb', 'tiktoken', 'pandas', 'ctxview.model'} & set(sys.modules)))"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout == "[]\n"


def test_showing_windows_loads_no_store_and_no_tokenizer():
    code = (
        "import sys, ctxview.tui.main_screen, ctxview.tui.app, ctxview.tui.commands; "
        "print(sorted({'duckdb', 'tiktoken', 'pandas', 'streamlit', 'pyarrow', 'plotly'} & set(sys.modules)))"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout == "[]\n"


def test_the_first_paint_waits_for_no_rows():
    code = "import sys, ctxview.tui.app; print(sorted({'ctxview.model', 'ctxview.window'} & set(sys.modules)))"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout == "[]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pty")
def test_a_terminal_that_goes_without_a_signal_ends_it():
    """As in a container whose shell was closed: the terminal does not control the process, so nothing is sent to it."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 160, 0, 0))
    env = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": f"{HERE}:{ROOT}"}
    command = [sys.executable, str(HERE / "pty_app.py"), "plain"]
    app = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=env, start_new_session=True)
    try:
        os.close(its)
        assert b"12/12" in _read(ours, 20, b"12/12")
        os.close(ours)
        assert app.wait(20) == 143
    finally:
        app.kill()
        app.wait()
