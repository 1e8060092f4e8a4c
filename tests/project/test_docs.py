"""The documents say what the program does: every command, format, key and JSON name, and nothing that is not there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import pytest
from click.testing import CliRunner

from ctxview import __version__
from ctxview.cli.command import VERBS, cli
from ctxview.loaders import LOADERS
from ctxview.loaders.source import Loader
from ctxview.sample_traces import sample_path
from ctxview.tui.keys import KEYS

ROOT: Final = Path(__file__).resolve().parents[2]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])


def fenced(text: str) -> list[str]:
    """The commands in fenced blocks, one string per block."""
    return re.findall(r"```sh\n(.*?)\n```", text, re.DOTALL)


def coded(text: str) -> set[str]:
    """Everything between single back-quotes."""
    return set(re.findall(r"`([^`\n]+)`", text))


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)
    for name in VERBS:
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command


@pytest.mark.parametrize("verb", VERBS)
def test_the_readme_shows_every_command(verb: str) -> None:
    assert any(code.startswith(f"ctxview {verb}") for code in coded(README)), verb


@pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.name)
def test_the_readme_has_a_row_for_every_format(loader: Loader) -> None:
    assert f"| `{loader.name}` |" in README


def test_the_readme_names_no_format_that_is_not_there() -> None:
    section = README.split("\n## Formats\n")[1].split("\n## ")[0]
    named = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert named == [loader.name for loader in LOADERS]


def test_every_command_and_every_option_has_help() -> None:
    for name, command in commands():
        assert (command.help or "").strip(), name
        assert 0 < len(VERBS[name][1]) <= 80, name
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.name}"


@pytest.mark.parametrize("verb", VERBS)
def test_help_can_be_asked_for(verb: str) -> None:
    result = CliRunner().invoke(cli, [verb, "--help"], prog_name="ctxview")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: ctxview {verb} ")


def test_options_in_the_readme_exist() -> None:
    known = {o for _, command in commands() for p in command.params if isinstance(p, click.Option) for o in p.opts}
    known |= {"--help", "--version"}
    ours = [code for code in coded(README) if code.startswith(("ctxview ", "--"))]
    ours += [line for block in fenced(README) for line in block.splitlines() if line.startswith("ctxview ")]
    named = {word for code in ours for word in re.findall(r"(?<![\w-])--[a-z][a-z-]*", code.split("|")[0])}
    assert named
    assert named <= known


def test_keys_in_the_readme_exist() -> None:
    section = README.split("\n## The questions it answers\n")[1].split("\nThe same from a script")[0]
    known = {word for key in KEYS for word in key.shown.split()} | {":120", "+", "-", "~"}
    assert coded(section) - {"refund"} <= known


def window_of(trace: str, turn: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CliRunner().invoke(cli, ["show", trace, "--turn", turn, "--json"]).output)
    return found


def test_the_json_names_in_the_readme_are_the_real_ones() -> None:
    trace = str(sample_path("refund"))
    section = README.split("\n## JSON\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE))
    goal = next(b["id"] for b in window_of(trace, "1")["blocks"] if b["pin"] == "goal")
    turns = ["--turn", "1", "--turn", "2"]
    arguments = {"block": [trace, goal], "diff": [trace, *turns], "sql": ["select 1 as one", trace]}
    arguments |= {"policies": [], "sample": [], "formats": []}
    takes_json = {name for name, command in commands() if any("--json" in p.opts for p in command.params)}
    assert set(rows) == takes_json == set(VERBS) - {"open", "web"}
    for verb, names in rows.items():
        result = CliRunner().invoke(cli, [verb, *arguments.get(verb, [trace]), "--json"])
        assert result.exit_code == 0, result.output
        answer = json.loads(result.output)
        assert names.startswith("a list") == isinstance(answer, list), verb
        assert re.findall(r"`(\w+)`", names) == list(answer[0] if isinstance(answer, list) else answer), verb


def test_continuous_integration_runs_the_commands_of_the_readme() -> None:
    """They stand in one section, one line each; only the folder of the environment differs."""
    section = README.split("\n## On a fresh machine\n")[1].split("\n## ")[0]
    install, tests = fenced(section)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in (install, tests):
        assert "\n" not in command
        in_ci = re.sub(r"\.venv/", '"$venv"/', command).replace(" .venv ", ' "$venv" ')
        assert f"\n{in_ci} " in script, in_ci


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_and_pictures_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_lines_are_no_longer_than_code(path: Path) -> None:
    """Tables and pictures cannot be broken."""
    long = [
        n
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120 and not line.startswith(("|", "!["))
    ]
    assert long == []


def test_the_picture_is_the_same_wherever_it_was_made() -> None:
    """No folder of a machine, and nothing that a viewer would fetch."""
    svg = (ROOT / "docs" / "screenshot.svg").read_text(encoding="utf-8")
    assert "@font-face" not in svg
    assert not re.search(r"""(?:href|src)=|url\(['"]?http""", svg)
    assert not re.search(r"/(?:home|tmp|Users|root|work)/", svg)


def test_the_changelog_starts_with_this_version() -> None:
    first = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first is not None
    assert first[1] == __version__
