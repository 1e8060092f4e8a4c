"""Stacks as text that fits a URL: `recorded,supersede`, `compact-groups:max=2000:keep=2`, a preset's name.

A text that cannot be meant is answered with what is wrong, the nearest right name and the range.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from ctxview.errors import UsageError
from ctxview.policies.policy import Mode, Param, Policy

BASES: Final = ("recorded", "history")
DEFAULT: Final = "recorded"

MODE: Final = Param(
    "mode", None, "recompute from the base window every turn, or keep to what was done (sticky)",
    choices=("recompute", "sticky"), type="choice",
)  # fmt: skip
ABOVE: Final = Param("above", None, "act only while the layers before leave more tokens than this", low=0)
"""One layer after another until a target is met: each of `a:above=N,b:above=N` is the fallback of those before it."""
FROM: Final = Param("from", None, "with above: begin at more tokens than this, and go on down to above", low=0)
"""Two borders, so that a window that hovers about one of them is not changed to and fro."""
_INT: Final = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
"""Plain decimal numbers. Python would take underscores, the digits of other scripts and `nan` as well."""
REPAIR: Final = Param("repair", False, "mend pairing and guard the window in spite of the literal pattern", type="flag")
"""For `unsafe` policies alone."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One policy with its parameters."""

    policy: Policy
    params: Mapping[str, Any]
    """All parameters, defaults filled in."""
    given: tuple[str, ...] = ()
    """The names of those that were stated, in the policy's order."""

    @property
    def mode(self) -> Mode:
        return self.params.get("mode") or self.policy.mode

    @property
    def unsafe(self) -> bool:
        return self.policy.unsafe and not self.params.get("repair")

    @property
    def budget(self) -> int | None:
        return self.policy.budget(self.params) if self.policy.budget else None

    @property
    def text(self) -> str:
        words = [self.policy.name]
        words += [f"{name}={written(self.params[name])}" for name in self.given]
        return ":".join(words)


@dataclass(frozen=True, slots=True)
class Stack:
    """A base and the layers on it, in stack order."""

    base: Literal["recorded", "history"]
    layers: tuple[Layer, ...] = ()

    @property
    def text(self) -> str:
        """The canonical text: parsing it gives this stack again."""
        layers = [layer.text for layer in self.layers]
        return ",".join(([self.base] if self.base == "recorded" or not layers else []) + layers)

    @property
    def is_recorded(self) -> bool:
        return self.base == "recorded" and not self.layers


def accepted(policy: Policy) -> tuple[Param, ...]:
    """The parameters a stack may give a policy: its own, and those every policy has."""
    return (*policy.params, MODE, ABOVE, FROM, *((REPAIR,) if policy.unsafe else ()))


def layer(policy: Policy, values: Mapping[str, Any] | None = None) -> Layer:
    """A layer from values in Python. Raises UsageError."""
    values = values or {}
    known = accepted(policy)
    _check_names(policy, values)
    params = {p.name: p.default for p in known}
    for param in known:
        if param.name in values:
            params[param.name] = _valid(policy, param, values[param.name])
    _check_together(policy, params)
    return Layer(policy, MappingProxyType(params), tuple(p.name for p in known if p.name in values))


def parse(text: str, policies: Iterable[Policy], presets: Mapping[str, str]) -> Stack:
    """The stack that `text` means; the empty text is `recorded`. Raises UsageError."""
    by_name = {p.name: p for p in policies}
    parts = [part.strip() for part in text.split(",")]
    if parts == [""]:
        return Stack("recorded")
    expanded: list[str] = []
    for part in parts:
        expanded += presets[part].split(",") if part in presets else [part]
    base: Literal["recorded", "history"] = "history"
    layers: list[Layer] = []
    for index, part in enumerate(expanded):
        if part in BASES:
            if index:
                raise UsageError(f"{part!r} stands in the middle of the stack {text!r}", "a base can only come first")
            base = "recorded" if part == "recorded" else "history"
            continue
        layers.append(_layer(part, by_name, (*BASES, *presets)))
    return Stack(base, tuple(layers))


def _layer(part: str, by_name: Mapping[str, Policy], others: tuple[str, ...]) -> Layer:
    name, *words = part.split(":")
    policy = by_name.get(name)
    if policy is None:
        if name in others:
            raise UsageError(f"{name!r} takes no parameters", "give them to the policies of its stack, one by one")
        known = [*by_name, *others]
        shown = "an empty name" if not name else repr(name)
        raise UsageError(f"no policy {shown}", f"{_nearest(name, known)}`ctxview policies` lists them")
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"{word!r} of {name} is no parameter", "write name=value, joined by colons")
        if key in values:
            raise UsageError(f"{name} is given {key!r} twice", "give each parameter once")
        _check_names(policy, (key,))
        values[key] = unquote(value)
    return layer(policy, values)


def _check_names(policy: Policy, names: Iterable[str]) -> None:
    known = [p.name for p in accepted(policy)]
    for name in names:
        if name not in known:
            raise UsageError(
                f"{policy.name} has no parameter {name!r}", f"{_nearest(name, known)}it has: {', '.join(known)}"
            )


def _check_together(policy: Policy, params: Mapping[str, Any]) -> None:
    above, begin = params["above"], params["from"]
    if begin is not None and (above is None or begin < above):
        raise UsageError(f"{policy.name}:from={begin} needs an above that is not larger", "as above=2000:from=3000")
    if policy.check is not None:
        fault = policy.check(params)
        if fault:
            cause, _, fix = fault.partition("; ")
            raise UsageError(f"{policy.name}: {cause}", fix or "change one of the two")


def _nearest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), 1, 0.5)
    return f"did you mean {close[0]!r}? " if close else ""


def _valid(policy: Policy, param: Param, value: Any) -> Any:
    if param.may_be_none and value in (None, "none"):
        return None
    match param.type:
        case "int" | "float":
            return _number(policy, param, value)
        case "choice":
            if value in param.choices:
                return value
            raise _fault(policy, param, value, _nearest(str(value), param.choices))
        case "flag":
            known = {"yes": True, "no": False, True: True, False: False}
            if value in known:
                return known[value]
            raise _fault(policy, param, value)
        case "names":
            return _names(policy, param, value)
        case _:
            return str(value)


def _names(policy: Policy, param: Param, value: Any) -> str:
    words = [word for word in (value if isinstance(value, str) else written(value)).split("+") if word]
    for word in words:
        if param.choices and word not in param.choices:
            raise _fault(policy, param, value, _nearest(word, param.choices))
    return "+".join(words)


def _number(policy: Policy, param: Param, value: Any) -> int | float:
    is_int = param.type == "int"
    if not (_INT if is_int else _FLOAT).fullmatch(str(value)):
        raise _fault(policy, param, value)
    number = int(str(value)) if is_int else float(str(value))
    inside = (param.low is None or number >= param.low) and (param.high is None or number <= param.high)
    if not inside:
        raise _fault(policy, param, value)
    return number


def _fault(policy: Policy, param: Param, value: Any, near: str = "") -> UsageError:
    return UsageError(f"{policy.name}:{param.name}={value} cannot be", f"{near}{param.name} takes {param.range}")


def written(value: Any) -> str:
    """A parameter value as a stack writes it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return quote(str(value), safe="+-_.~/*")
