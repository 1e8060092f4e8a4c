"""`ctxview replay`, `ctxview policies` and `--stack`: what they print, and what they answer to words that are off."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from ctxview.cli.command import cli
from ctxview.errors import UsageError
from ctxview.policies import POLICIES
from ctxview.sample_traces import sample_path

REFUND = str(sample_path("refund"))


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words, *(["--no-cache"] if words[0] in ("replay", "show", "diff") else [])])


def test_replay_prints_a_row_per_stack_and_says_that_nothing_is_simulated_but_windows() -> None:
    result = run("replay", REFUND, "--stack", "recorded", "--stack", "compact-groups:max=2000")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "The recorded answers stay as they are; behaviour is not simulated."
    assert [line.split()[0] for line in lines[2:5]] == ["stack", "recorded", "compact-groups:max=2000"]
    assert "goal at 5, constraint at 5, denial at 7" in lines[3]
    assert "nothing" in lines[4]


def test_replay_gives_json_per_stack() -> None:
    result = run("replay", REFUND, "--stack", "recorded", "--stack", "pin-goal:n=6", "--json")
    reports = json.loads(result.stdout)
    assert [r["stack"] for r in reports] == ["recorded", "pin-goal:n=6"]
    for report in reports:
        assert len(report["turns"]) == 15
        assert report["turns"][0].keys() >= {"turn", "tokens", "cached", "cuts"}
        assert report["totals"]["input"] == sum(t["tokens"] for t in report["turns"])
        assert report["totals"]["peak"] == max(t["tokens"] for t in report["turns"])
    assert reports[0]["totals"]["saved"] == 0
    assert reports[0]["provider_error"].startswith("400 ")


def test_cache_factors_are_parameters() -> None:
    words = ("replay", REFUND, "--stack", "history", "--json", "--cache-read")
    free = json.loads(run(*words, "0", "--cache-write", "0").stdout)
    full = json.loads(run(*words, "1", "--cache-write", "1").stdout)
    assert free[0]["totals"]["billed"] == 0
    assert full[0]["totals"]["billed"] == full[0]["totals"]["input"]


def test_show_under_a_stack_is_labelled_simulated_and_agrees_with_replay() -> None:
    shown = json.loads(run("show", REFUND, "--turn", "15", "--stack", "compact-groups", "--json").stdout)
    assert (shown["fidelity"], shown["stack"]) == ("simulated", "compact-groups")
    assert shown["tokens"]["recorded"] is None
    report = json.loads(run("replay", REFUND, "--stack", "compact-groups", "--json").stdout)[0]
    assert sum(v or 0 for v in shown["by_kind"].values()) == report["turns"][14]["tokens"]
    digest = next(b for b in shown["blocks"] if b["kind"] == "summary")
    assert (digest["form"], digest["role"], digest["position"]) == ("summary", "user", 5)
    assert {e["layer"] for e in shown["edits"]} == {"compact-groups"}
    assert all(e["reason"] and e["evidence"] for e in shown["edits"])


def test_diff_compares_two_stacks_at_one_turn() -> None:
    found = json.loads(
        run("diff", REFUND, "-t", "15", "-t", "15", "--stack", "recorded", "--stack", "compact-groups", "--json").stdout
    )
    assert [b["pin"] for b in found["added"] if b["pin"]] == ["goal", "denial", "constraint"]
    assert [b["tokens"] for b in found["removed"]] == [305, 32]
    assert found["changed"] == []


def test_a_failing_budget_is_said_and_the_window_still_shows() -> None:
    result = run("show", REFUND, "--turn", "3", "--stack", "compact-groups:max=300")
    assert result.exit_code == 0
    assert "compact-groups: window of " in result.stderr
    assert "page 1 of 8" in result.stdout or "page 2 of 8" in result.stdout


def test_policies_lists_all_and_tells_of_one() -> None:
    result = run("policies", "--json")
    report = json.loads(result.stdout)
    assert [p["name"] for p in report["policies"]] == [p.name for p in POLICIES]
    assert report["presets"]["naive"] == "keep-last-n"
    for policy in report["policies"]:
        assert policy["source"]
        assert all(p["range"] and p["help"] for p in policy["params"])
    one = run("policies", "compact-groups").stdout
    assert "max=2000" in one
    assert "100 or more" in one
    assert "--stack compact-groups:max=2000:trigger=0.8:keep=2" in one
    assert all(policy.name in run("policies").stdout for policy in POLICIES)


@pytest.mark.parametrize("verb", ["show", "replay"])
def test_an_unknown_policy_is_a_usage_error(verb: str) -> None:
    result = run(verb, REFUND, "--stack", "pin-gaol")
    assert isinstance(result.exception, UsageError)
    assert "pin-gaol" in result.exception.cause
    assert "pin-goal" in result.exception.fix
