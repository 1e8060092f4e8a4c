"""A person's own rules, from `ctxview.toml`: what is understood, and what is said of the rest."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from ctxview.annotate.observations import DEFAULT, Dependency, ResourceRules, ToolRule
from ctxview.errors import UsageError

TOML = """
[resources.stale_after]
default = 10
record = 3
[resources.tools.fetch_invoice]
key = "record:invoice:{invoice_id}"
[resources.tools."save_*"]
key = "file:{path}"
effect = "write"
content = "body"
[resources.tools.ping]
effect = "event"
[[resources.depends]]
of = "file:*/schema.json"
on = "file:*/schema.sql"
"""


def test_all_settings() -> None:
    """Tools in the order written, a read where no effect is given, thresholds with the default for the rest."""
    rules = ResourceRules.from_toml(tomllib.loads(TOML)["resources"])
    assert rules.tools == (
        ToolRule("fetch_invoice", "read", "record:invoice:{invoice_id}"),
        ToolRule("save_*", "write", "file:{path}", "body"),
        ToolRule("ping", "event"),
    )
    assert rules.dependencies == (Dependency("file:*/schema.json", "file:*/schema.sql"),)
    assert rules.stale_after == {"default": 10, "record": 3}


def test_an_empty_table_is_the_default() -> None:
    """Nothing said: eight turns, no rules."""
    assert ResourceRules.from_toml({}) == DEFAULT
    assert DEFAULT.stale_after == {"default": 8}
    assert ResourceRules.from_toml({"stale_after": 4}).stale_after == {"default": 4}


def test_the_first_rule_that_matches_wins() -> None:
    """Names and patterns, in order."""
    rules = ResourceRules(tools=(ToolRule("get_x", "event"), ToolRule("get_*", "read", "record:y:{id}")))
    assert rules.rule_for("get_x") == rules.tools[0]
    assert rules.rule_for("get_z") == rules.tools[1]
    assert rules.rule_for("set_z") is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"tool": {}}, "no setting 'tool'"),
        ({"tools": []}, "[resources.tools] is not a table"),
        ({"tools": {"x": "read"}}, "[resources.tools.x] is not a table"),
        ({"tools": {"x": {"key": "file:{p}", "efect": "read"}}}, "no setting 'efect'"),
        ({"tools": {"x": {"key": "file:{p}", "effect": "delete"}}}, "effect 'delete'"),
        ({"tools": {"x": {}}}, "needs a key"),
        ({"tools": {"x": {"key": "{p}"}}}, "needs a key that starts with a type"),
        ({"tools": {"x": {"key": "file:{p"}}}, "unfinished field"),
        ({"tools": {"x": {"key": "file:{p}", "content": 1}}}, "'content'"),
        ({"depends": {"of": "x"}}, "'depends' of [resources] is not a list"),
        ({"depends": ["x"]}, "[resources.depends] is not a table"),
        ({"depends": [{"of": "file:x"}]}, "needs 'on'"),
        ({"stale_after": {"file": 0}}, "stale_after of 'file' is 0"),
        ({"stale_after": {"file": True}}, "stale_after of 'file' is True"),
        ({"stale_after": "x"}, "[resources.stale_after] is not a table"),
    ],
)
def test_what_is_off_is_named_with_a_remedy(table: dict[str, Any], words: str) -> None:
    """A usage error says which entry is off and what to write instead."""
    with pytest.raises(UsageError) as caught:
        ResourceRules.from_toml(table)
    assert words in caught.value.cause
    assert caught.value.fix
