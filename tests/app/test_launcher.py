"""`ctxview web`: whom it serves, what it tells Streamlit, and what it says when it cannot start."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ctxview.app.named import VARIABLE, NamedTrace, from_text, named_trace
from ctxview.cli import web
from ctxview.cli.command import run
from ctxview.errors import UsageError
from ctxview.sample_traces import sample_path

ROOT = Path(__file__).resolve().parents[2]
REFUND = str(sample_path("refund"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.0.1"])
def test_this_machine_may_be_served(host: str) -> None:
    web.check_host(host, expose=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_other_machines_only_when_the_person_says_so(host: str) -> None:
    with pytest.raises(UsageError, match="no password"):
        web.check_host(host, expose=False)
    web.check_host(host, expose=True)


def test_the_server_is_told_to_keep_to_itself() -> None:
    told = web.arguments("127.0.0.1", 4711)
    for words in (
        "--server.address=127.0.0.1", "--server.port=4711", "--server.allowedHosts=localhost",
        "--server.allowedHosts=127.0.0.1", "--server.enableCORS=true", "--server.enableXsrfProtection=true",
        "--browser.gatherUsageStats=false", "--client.showErrorDetails=none", "--server.enableStaticServing=false",
        "--server.fileWatcherType=none", "--client.toolbarMode=minimal", "--server.maxUploadSize=1",
        "--server.headless=true", "--client.disableDataExport=true",
    ):  # fmt: skip
        assert words in told
    assert not any("*" in words for words in told)


def test_an_exposed_server_answers_to_its_own_name_only() -> None:
    assert "--server.allowedHosts=192.168.1.5" in web.arguments("192.168.1.5", 1)
    assert "--server.allowedHosts=*" in web.arguments("0.0.0.0", 1)


def test_streamlit_run_is_told_the_same() -> None:
    """app/.streamlit/config.toml is for `streamlit run app/main.py`."""
    file = tomllib.loads((ROOT / "app" / ".streamlit" / "config.toml").read_text(encoding="utf-8"))

    def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in table.items():
            found |= flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
        return found

    assert flat(file) == {**web.OPTIONS, "server.address": "127.0.0.1"}


@pytest.mark.skipif(importlib.util.find_spec("streamlit") is None, reason="the extra `web` is not installed")
def test_streamlit_knows_every_option() -> None:
    from streamlit import config

    known = config.get_config_options()
    assert set(web.OPTIONS) | {"server.address", "server.port", "server.headless", "logger.level"} <= set(known)


def test_without_the_extra_it_names_the_one_command(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "plotly" else found(name))
    assert run(["web", REFUND]) == 2
    assert "pip install 'ctxview[web]'" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("streamlit") is None, reason="the extra `web` is not installed")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--host", "0.0.0.0"], 2, "--expose"),
        (["--stack", "pin-gaol"], 2, "did you mean 'pin-goal'"),
        (["--base", "pin-gaol"], 2, "did you mean 'pin-goal'"),
        (["--turn", "99"], 2, "no turn"),
        (["--session", "other"], 2, "names no session"),
        (["--block", "zzz"], 2, "names no block"),
    ],
)
def test_what_cannot_be_shown_is_said_before_a_server_starts(
    words: list[str], code: int, said: str, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web, "_serve", lambda *args: pytest.fail("a server was started"))
    assert run(["web", REFUND, *words]) == code
    assert said in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("streamlit") is None, reason="the extra `web` is not installed")
def test_a_file_that_is_not_there_is_said_before_a_server_starts(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(web, "_serve", lambda *args: pytest.fail("a server was started"))
    assert run(["web", str(tmp_path / "gone.jsonl")]) == 3


@pytest.mark.skipif(importlib.util.find_spec("streamlit") is None, reason="the extra `web` is not installed")
def test_the_address_carries_the_focus_and_the_trace_does_not(monkeypatch: Any) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(web, "_serve", lambda *args: seen.append(args) or 0)
    assert run(["web", REFUND, "--turn", "now", "--stack", "history", "--base", "recorded", "--query", "a b"]) == 0
    named, query, host, _, _ = seen[0]
    assert query == {"turn": "16", "stack": "history", "base": "recorded", "q": "a b"}
    assert host == "127.0.0.1"
    assert named.paths == (REFUND,)
    assert REFUND not in str(query)


def test_the_trace_is_named_by_who_starts_the_server() -> None:
    named = NamedTrace(("/a b/c.jsonl", "/d"), "/db", False)
    assert from_text(named.to_text()) == named
    assert named_trace({VARIABLE: named.to_text()}, ["main.py", "x"]) == named
    assert named_trace({}, ["main.py", "x", "y"]) == NamedTrace(("x", "y"))
    assert named_trace({}, ["main.py"]) is None
