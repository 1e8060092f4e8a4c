"""`ctxview web`: the dashboard, served to this machine alone.

The trace is opened here first: whatever is wrong with it is said in the terminal, and the page starts with it known.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import click

from ctxview.cli.options import Named, check_stack, remark, session_option, stack_option, trace_options
from ctxview.cli.plain import say
from ctxview.errors import CtxviewError, UsageError

if TYPE_CHECKING:
    from ctxview.app.named import NamedTrace

LOOPBACK: Final = "127.0.0.1"
OPTIONS: Final[dict[str, Any]] = {
    "browser.gatherUsageStats": False,
    "client.disableDataExport": True,     # a table saved as CSV would carry formulas of the transcript
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.toolbarMode": "minimal",
    "server.allowedHosts": ["localhost", LOOPBACK],
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "server.enableXsrfProtection": True,
    "server.fileWatcherType": "none",
    "server.maxUploadSize": 1,
    "server.showEmailPrompt": False,
    "theme.baseFontSize": 14,
    "theme.dark.primaryColor": "#8ab4f8",  # naming both keeps both: the page follows the browser's choice
    "theme.light.primaryColor": "#1a56b0",
    "theme.headingFontSizes": ["1.6rem", "1.35rem", "1.15rem"],
    "theme.metricValueFontSize": "1.3rem",
    "theme.paddingTop": "3.6rem",
}  # fmt: skip
"""What keeps the server to this machine and quiet, and the page dense; app/.streamlit/config.toml says the same for
`streamlit run`."""
_NOWHERE: Final = "http://127.0.0.1:9"
"""A proxy that is not there. Streamlit asks the network for this machine's public address when a foreign page tries to
connect; nothing the server asks for may leave this machine."""
_START_SECONDS: Final = 60.0


@click.command("web")
@trace_options
@session_option
@click.option("--turn", "-t", metavar="N|last|now", default="last", show_default=True, help="Turn to open at.")
@click.option("--block", metavar="ID", help="Block to show.")
@click.option("--query", metavar="WORDS", help="Words to search for in whole texts.")
@stack_option
@click.option("--base", metavar="STACK", help="The stack to compare with; default: recorded.")
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), help="Port to serve on; default: a free one.")
@click.option("--host", metavar="ADDRESS", default=LOOPBACK, show_default=True, help="Address to serve on.")
@click.option("--expose", is_flag=True, help="Let others read the trace: allow a --host that other machines can reach.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(
    trace: Named, session: str | None, turn: str, block: str | None, query: str | None, stack: str, base: str | None,
    port: int | None, host: str, expose: bool, no_browser: bool,
) -> int:  # fmt: skip
    """Open a trace in the dashboard, in the browser.

    It is served to this machine alone, until Ctrl-C.
    """
    if any(importlib.util.find_spec(module) is None for module in ("streamlit", "plotly")):
        raise UsageError("the dashboard is not installed", "install it with: pip install 'ctxview[web]'")
    check_host(host, expose)
    check_stack(stack)
    if base is not None:
        check_stack(base)
    with TemporaryDirectory(prefix="ctxview-") as folder:
        named = _for_the_page(trace, Path(folder))
        words = {"session": session, "block": block, "base": base, "q": query}
        words |= {"stack": stack if stack != "recorded" else None}
        with trace_of(named).open() as opened:
            view = opened.view(session)
            at = view.resolve_turn(turn)
            if block is not None:
                view.block(block)
        words["turn"] = str(at) if turn != "last" else None
        return _serve(named, {k: v for k, v in words.items() if v}, host, port or free_port(host), no_browser)


def check_host(host: str, expose: bool) -> None:
    """Raises UsageError for an address that other machines reach, unless that is what the person wants."""
    if host == "localhost" or expose:
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass
    raise UsageError(
        f"on {host}, everyone who can reach this machine could read the trace: there is no password",
        "leave --host out to serve this machine alone, or add --expose if that is what you want",
    )


def free_port(host: str = LOOPBACK) -> int:
    """A port that nobody listens on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((host, 0))
            return int(probe.getsockname()[1])
    except OSError as error:
        raise UsageError(f"cannot serve on {host}: {error.strerror}", "give an address of this machine") from None


def arguments(host: str, port: int) -> list[str]:
    """The options of `streamlit run`, stated one by one so that no configuration file changes them."""
    options = {**OPTIONS, "server.address": host, "server.port": port, "server.headless": True, "logger.level": "error"}
    if host not in OPTIONS["server.allowedHosts"]:
        any_host = ["*"] if host in ("0.0.0.0", "::") else [host]
        options["server.allowedHosts"] = [*OPTIONS["server.allowedHosts"], *any_host]
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words.append(f"--{name}={str(one).lower() if isinstance(one, bool) else one}")
    return words


def _for_the_page(trace: Named, folder: Path) -> NamedTrace:
    """The trace under paths that hold in another folder; standard input is kept in a file while the page is served."""
    from ctxview.app.named import NamedTrace

    paths = []
    for path in trace.traces:
        if path == "-":
            kept = folder / "stdin"
            kept.write_bytes(sys.stdin.buffer.read())
            path = str(kept)
        paths.append(os.path.abspath(path))
    return NamedTrace(tuple(paths), str(trace.db.absolute()) if trace.db else None, trace.cache)


def trace_of(named: NamedTrace) -> Named:
    return Named(named.paths, Path(named.db) if named.db else None, named.cache)


def _serve(named: NamedTrace, query: dict[str, str], host: str, port: int, no_browser: bool) -> int:
    import ctxview.app
    from ctxview.app.named import VARIABLE

    folder = Path(ctxview.app.__file__).parent
    environment = {**os.environ, VARIABLE: named.to_text()}
    environment |= dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _NOWHERE)
    environment |= {"no_proxy": "", "NO_PROXY": ""}
    line = [sys.executable, "-m", "streamlit", "run", str(folder / "main.py"), *arguments(host, port)]
    # Its own folder: a configuration that lies beside somebody's transcript is not ours to follow.
    server = subprocess.Popen(line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, _stop)
    try:
        name = LOOPBACK if host in ("0.0.0.0", "localhost") else f"[{host}]" if ":" in host else host
        _wait_for(server, f"http://{name}:{port}/_stcore/health")
        address = f"http://{name}:{port}/" + (f"?{urlencode(query)}" if query else "")
        say(address)
        sys.stdout.flush()
        if host not in (LOOPBACK, "localhost"):
            remark("everyone who can reach this address can read the trace; there is no password")
        remark("Ctrl-C ends it")
        if not no_browser and has_display():
            webbrowser.open(address)
        code = server.wait()
        if code:
            raise CtxviewError(f"the dashboard's server ended with code {code}", "what it said stands above")
        return 0
    finally:
        _end(server)


def _wait_for(server: subprocess.Popen[bytes], health: str) -> None:
    """Until the server answers. Raises CtxviewError when it ends or stays silent."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up:
        if server.poll() is not None:
            raise CtxviewError(
                f"the dashboard's server ended with code {server.returncode}", "is the port taken? name another --port"
            )
        try:
            with direct.open(health, timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise CtxviewError("the dashboard's server does not answer", "try once more, or with another --port")


def has_display() -> bool:
    """Whether a browser can be expected to open."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in ("darwin", "win32") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
