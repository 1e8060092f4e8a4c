"""What a person may say of their own tools: which call reads or changes which resource, and when a reading is old.

It prevents a team's own tools from being events for ever: a rule in `ctxview.toml` names the resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

from ctxview.annotate.patterns import lazy
from ctxview.errors import UsageError

RuleEffect: TypeAlias = Literal["read", "write", "edit", "event"]
_EFFECTS: Final[dict[str, RuleEffect]] = {"read": "read", "write": "write", "edit": "edit", "event": "event"}

STALE_AFTER: Final = 8
"""Turns after which a reading is old, unless its type says otherwise."""
DEFAULT_TYPE: Final = "default"

_FIELD: Final = lazy(r"\{(\w+)\}")
_TYPE: Final = lazy(r"[a-z][a-z0-9_-]*:.")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """A call of a tool whose name matches `tool` has `effect` on the resource that `key` makes of its arguments."""

    tool: str
    """A name, or a pattern with `*` and `?`."""
    effect: RuleEffect
    key: str | None = None
    """Template such as `record:invoice:{invoice_id}`; None for an event."""
    content: str | None = None
    """The argument that holds what a write writes."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A change to a resource whose key matches `on` makes observations of those that match `of` stale."""

    of: str
    on: str


@dataclass(frozen=True, slots=True)
class ResourceRules:
    """A person's rules. They go before the built-in ones, the first that matches wins."""

    tools: tuple[ToolRule, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    stale_after: Mapping[str, int] = field(default_factory=lambda: {DEFAULT_TYPE: STALE_AFTER})
    """Turns by resource type (`file`, `record`, `url`), with `default` for the others."""

    def rule_for(self, tool: str) -> ToolRule | None:
        return next((rule for rule in self.tools if fnmatchcase(tool, rule.tool)), None)

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> ResourceRules:
        """The rules of a `[resources]` table. Raises UsageError naming the entry that is off.

        [resources.stale_after]
        default = 8
        record = 3
        [resources.tools.fetch_invoice]
        key = "record:invoice:{invoice_id}"
        effect = "read"
        [[resources.depends]]
        of = "file:*/schema.json"
        on = "file:*/schema.sql"
        """
        _only(table, "resources", ("stale_after", "tools", "depends"))
        return cls(
            tools=tuple(_tool(name, rule) for name, rule in _table(table.get("tools", {}), "resources.tools").items()),
            dependencies=_dependencies(table.get("depends", [])),
            stale_after=_stale_after(table.get("stale_after", {})),
        )


DEFAULT: Final = ResourceRules()


def fields_of(template: str) -> list[str]:
    """The arguments that a key template needs."""
    return _FIELD.findall(template)


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with `{name}` replaced by each value; values are not looked into again."""
    return _FIELD.sub(lambda match: values[match[1]], template)


def _table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"[{name}] is not a table", f"write it as a table: [{name}]")
    return value


def _only(table: Mapping[str, Any], name: str, known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"[{name}] has no setting {key!r}", f"known settings: {', '.join(known)}")


def _text(table: Mapping[str, Any], key: str, name: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"[{name}] needs {key!r} as a text", f'for example {key} = "file:*/schema.sql"')
    return value


def _tool(name: str, value: Any) -> ToolRule:
    where = f"resources.tools.{name}"
    table = _table(value, where)
    _only(table, where, ("key", "effect", "content"))
    effect = _EFFECTS.get(str(table.get("effect", "read")))
    if effect is None:
        raise UsageError(f"[{where}] has the effect {table.get('effect')!r}", f"effects: {', '.join(_EFFECTS)}")
    if effect == "event":
        return ToolRule(name, effect)
    key = table.get("key")
    if not isinstance(key, str) or not _TYPE.match(key):
        raise UsageError(
            f"[{where}] needs a key that starts with a type", 'for example key = "record:invoice:{invoice_id}"'
        )
    if _FIELD.sub("", key).count("{") or _FIELD.sub("", key).count("}"):
        raise UsageError(f"the key of [{where}] has an unfinished field: {key}", "name an argument: {invoice_id}")
    content = table.get("content")
    if content is not None and not isinstance(content, str):
        raise UsageError(f"'content' of [{where}] is not a text", "name the argument that holds what is written")
    return ToolRule(name, effect, key, content)


def _dependencies(value: Any) -> tuple[Dependency, ...]:
    if not isinstance(value, list):
        raise UsageError("'depends' of [resources] is not a list", "write each as [[resources.depends]]")
    found = []
    for item in value:
        table = _table(item, "resources.depends")
        _only(table, "resources.depends", ("of", "on"))
        found.append(Dependency(_text(table, "of", "resources.depends"), _text(table, "on", "resources.depends")))
    return tuple(found)


def _stale_after(value: Any) -> dict[str, int]:
    table = {DEFAULT_TYPE: value} if isinstance(value, int) else _table(value, "resources.stale_after")
    found = {DEFAULT_TYPE: STALE_AFTER}
    for key, turns in table.items():
        if not isinstance(turns, int) or isinstance(turns, bool) or turns < 1:
            raise UsageError(f"stale_after of {key!r} is {turns!r}", "give a number of turns, 1 or more")
        found[key] = turns
    return found
