"""The page in a real browser: it opens without a complaint and speaks to nobody but its own server."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ctxview.sample_traces import sample_path

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "corpus" / "claude-code" / "entire-2.1.14-microcompact+compact.jsonl"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
GROUPS = "compact-groups:max=2000:trigger=0.8:keep=2"
SECONDS = 120_000
"""Milliseconds to wait for the page: a busy machine draws it slowly."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("streamlit") is None, reason="the extra `web` is not installed"),
]
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None, reason="no Chromium, or no playwright"
)

WATCH = """
import os, sys
def hook(event, args):
    if event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple):
        kind = "udp" if args[0].type & 0xF == 2 else "tcp"
        with open(os.environ["CTXVIEW_TEST_LOG"], "a") as log:
            log.write(f"{kind} {args[1][0]}\\n")
    elif event == "socket.getaddrinfo":
        with open(os.environ["CTXVIEW_TEST_LOG"], "a") as log:
            log.write(f"name {args[0]}\\n")
sys.addaudithook(hook)
"""


@dataclass
class Served:
    """A running `ctxview web`."""

    url: str
    log: Path
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 0)


def serve(folder: Path, *words: str) -> Served:
    """Start it with a hook that writes down every connection Python makes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    log = folder / "connections"
    log.touch()
    environment = {
        **os.environ, "PYTHONPATH": str(folder), "CTXVIEW_TEST_LOG": str(log), "CTXVIEW_CACHE": str(folder / "cache"),
        "HOME": str(folder),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxview", "web", "--no-browser", *words],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    if not url:
        assert process.stderr is not None
        pytest.fail(process.stderr.read())
    return Served(url, log, process)


def stop(served: Served) -> None:
    served.process.terminate()
    served.process.communicate(timeout=20)


@pytest.fixture(scope="module")
def refund(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("web")
    served = serve(folder, str(sample_path("refund")), "--stack", GROUPS, "--turn", "9")
    yield served
    stop(served)


@dataclass
class Seen:
    """What a browser did while a page was open."""

    hosts: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


def visit(browser: Any, url: str, scheme: str = "light") -> tuple[Any, Seen]:
    """Open a page and wait until all of it is drawn."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1400, "height": 900}, reduced_motion="reduce")
    page, seen = context.new_page(), Seen()
    page.on("request", lambda r: seen.hosts.add(urlsplit(r.url).netloc) if r.url.startswith("http") else None)
    page.on("websocket", lambda w: seen.hosts.add(urlsplit(w.url).netloc))
    page.on("console", lambda m: seen.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: seen.complaints.append(str(e)))
    page.on("dialog", lambda d: (seen.dialogs.append(d.message), d.dismiss()))
    page.goto(url)
    page.get_by_text("The whole run").wait_for(timeout=SECONDS)
    page.locator(".js-plotly-plot").nth(1).wait_for(timeout=SECONDS)
    page.wait_for_function("document.querySelectorAll('[data-testid=stSkeleton]').length == 0", timeout=SECONDS)
    return page, seen


@in_a_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_a_complaint_and_asks_nobody_else(refund: Served, browser: Any, scheme: str) -> None:
    page, seen = visit(browser, refund.url, scheme)
    assert seen.complaints == []
    assert seen.hosts == {f"127.0.0.1:{refund.port}"}
    assert page.get_by_text("behaviour is not re-simulated").first.is_visible()
    assert page.get_by_text("turn 9 of 15").is_visible()
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    bright = sum(int(n) for n in re.findall(r"\d+", background)[:3]) > 380
    assert bright == (scheme == "light")
    ink = page.evaluate("getComputedStyle(document.querySelector('.xtick text')).fill")
    assert (sum(int(n) for n in re.findall(r"\d+", ink)[:3]) > 380) == (scheme == "dark")
    page.context.close()


@in_a_browser
def test_the_slider_moves_the_address_and_back_moves_the_slider(refund: Served, browser: Any) -> None:
    page, seen = visit(browser, refund.url)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("turn 10 of 15").wait_for(timeout=SECONDS)
    page.wait_for_function("location.search.includes('turn=10')", timeout=SECONDS)
    page.go_back()
    page.get_by_text("turn 9 of 15").wait_for(timeout=SECONDS)
    assert seen.complaints == []
    page.context.close()


@in_a_browser
@pytest.mark.skipif(not REAL.is_file(), reason="the corpus of real transcripts is not beside this checkout")
def test_a_real_session_opens(tmp_path: Path, browser: Any) -> None:
    served = serve(tmp_path / "web", str(REAL), "--turn", "20")
    try:
        page, seen = visit(browser, served.url)
        assert seen.complaints == []
        assert seen.hosts == {f"127.0.0.1:{served.port}"}
        assert page.get_by_text("145,638").first.is_visible()
        page.context.close()
    finally:
        stop(served)


@in_a_browser
@pytest.mark.parametrize("name", ["S01.jsonl", "U01.jsonl"])
def test_a_hostile_trace_does_nothing(name: str, tmp_path: Path, browser: Any) -> None:
    served = serve(tmp_path / "web", str(ROOT / "tests" / "data" / "cases" / name), "--turn", "now")
    try:
        page, seen = visit(browser, f"{served.url}&stack=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
        page.get_by_test_id("stSelectbox").locator("input").click()
        page.wait_for_timeout(500)
        assert seen.dialogs == []
        assert seen.complaints == []
        assert seen.hosts == {f"127.0.0.1:{served.port}"}
        acting = "[onerror], [onload], img[src=x], a[href^=javascript]"
        assert page.evaluate(f"document.querySelectorAll({acting!r}).length") == 0
        page.context.close()
    finally:
        stop(served)


def listening(port: int) -> set[str]:
    """Addresses that somebody listens on at a port, from /proc."""
    found = set()
    for table, loopback in (("tcp", "0100007F"), ("tcp6", "0" * 24 + "01000000")):
        path = Path("/proc/net") / table
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            address, state = line.split()[1], line.split()[3]
            host, hexport = address.split(":")
            if state == "0A" and int(hexport, 16) == port:
                found.add("loopback" if host == loopback else host)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc/net/tcp here")
def test_it_listens_on_this_machine_alone(refund: Served) -> None:
    assert listening(refund.port) == {"loopback"}


def shake(port: int, host: str, origin: str | None, path: str = "/_stcore/stream") -> int:
    """Ask for a WebSocket; the status of the answer."""
    lines = [
        f"GET {path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
        f"Sec-WebSocket-Key: {b64encode(bytes(16)).decode()}", "Sec-WebSocket-Version: 13",
    ]  # fmt: skip
    lines += [f"Origin: {origin}"] if origin else []
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(wire.recv(4096).split(b" ", 2)[1])


def test_a_foreign_page_cannot_connect_and_nobody_is_asked_about_it(refund: Served) -> None:
    own = f"127.0.0.1:{refund.port}"
    assert shake(refund.port, own, f"http://{own}") == 101
    assert shake(refund.port, "evil.example", "http://evil.example") == 403
    assert shake(refund.port, f"evil.example:{refund.port}", None) == 403
    assert shake(refund.port, own, "http://evil.example") == 403
    lines = refund.log.read_text().splitlines()
    assert lines  # so that the hook is known to watch
    allowed = {"127.0.0.1", "::1", "localhost", "0.0.0.0"}
    # to ask for the route out of this machine a UDP socket is connected; nothing is sent through it
    assert {line for line in lines if line.split()[1] not in allowed and not line.startswith("udp ")} == set()


def test_it_ends_when_it_is_told_to_and_takes_its_server_along(tmp_path: Path) -> None:
    served = serve(tmp_path / "web", str(sample_path("refund")))
    watcher = threading.Timer(60, served.process.kill)
    watcher.start()
    served.process.terminate()
    _, said = served.process.communicate()
    watcher.cancel()
    assert served.process.returncode == 130
    assert "Traceback" not in said
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", served.port), timeout=2).close()
