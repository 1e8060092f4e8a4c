"""The command that the interfaces copy opens the place they show."""

from __future__ import annotations

import json
import shlex

import pytest
from click.testing import CliRunner

from ctxview.cli.command import cli
from ctxview.errors import UsageError
from ctxview.focus import Focus
from ctxview.sample_traces import sample_path


def test_every_word_of_a_permalink_is_an_option_and_all_files_stand_in_it() -> None:
    files = (str(sample_path("refund")), str(sample_path("tutor")))
    focus = Focus("refund", 4, None, "pin-goal:n=6", "history", "a&b")
    command = shlex.split(focus.command(*files))
    assert tuple(command[1:3]) == files
    result = CliRunner().invoke(cli, command[1:])
    assert result.exit_code == 0, result.output
    shown = CliRunner().invoke(cli, ["show", *files, "-s", "refund", "-t", "4", "--stack", "pin-goal:n=6", "--json"])
    assert "turn 4" in result.output
    assert json.loads(shown.output)["turn"] == 4


def test_a_base_that_is_no_stack_is_refused() -> None:
    with pytest.raises(UsageError, match="no policy 'nope'"):
        CliRunner().invoke(cli, ["open", str(sample_path("refund")), "--base", "nope"], catch_exceptions=False)
