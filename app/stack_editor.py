"""The sidebar's editor of stacks: a text that fits a URL, and a toggle and fields for every policy in it.

Both say the same: the toggles are drawn from the text, and change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from ctxview.app.place import here, move, show_in
from ctxview.errors import UsageError
from ctxview.policies import POLICIES, PRESETS, Layer, Param, Policy, Stack, layer, parse_stack
from ctxview.text import one_line

_FAULT: Final = "stack_fault"
_FIELD: Final = "field"
_FEW: Final = 12
_LIST: Final = 420
"""Pixels that a long list of policies is given."""
HELP: Final = (
    "Policies joined by commas, parameters by colons. A stack that starts with `recorded` works on the recorded "
    "windows, any other on the whole history."
)


def stack_editor() -> None:
    """Draw it where the caller stands: in the sidebar."""
    focus = here()
    st.text_input("Stack", key=show_in("stack_text", focus.stack), on_change=_typed, help=HELP)
    st.text_input(
        "Compare with", key=show_in("base_text", focus.base or ""), on_change=_typed_base, placeholder="recorded",
        help="The stack that the window is compared with; empty: the recorded windows.",
    )  # fmt: skip
    st.pills("Presets", list(PRESETS), key=show_in("preset", None), on_change=_preset)
    fault = st.session_state.pop(_FAULT, None)
    if fault:
        st.error("That value cannot be:")
        st.text(fault)
    try:
        stack = parse_stack(focus.stack)
    except UsageError:
        return  # the page names the fault
    st.toggle(
        "recorded", key=show_in("layer:recorded", stack.base == "recorded"), on_change=_switch_base, args=(stack,),
        help="The recorded run's own cuts. Off: nothing was ever removed but by the policies below.",
    )  # fmt: skip
    for index, one in enumerate(stack.layers):
        _active(stack, index, one)
    with (
        st.expander("More policies", expanded=not stack.layers),
        st.container(height=_LIST if len(POLICIES) > _FEW else "content", border=False),
    ):
        used = {one.policy.name for one in stack.layers}
        for policy in POLICIES:
            if policy.name not in used:
                st.toggle(
                    policy.name, key=show_in(f"add:{policy.name}", False), on_change=_add, args=(stack, policy),
                    help=policy.title,
                )  # fmt: skip


def _active(stack: Stack, index: int, one: Layer) -> None:
    """A layer of the stack: its toggle, and its parameters."""
    name = one.policy.name
    st.toggle(
        name, key=show_in(f"layer:{index}:{name}", True), on_change=_drop, args=(stack, index), help=one.policy.title
    )
    if one.policy.params:
        with st.container(border=True):
            for param in one.policy.params:
                _field(stack, index, one, param)


def _field(stack: Stack, index: int, one: Layer, param: Param) -> None:
    key = f"{_FIELD}:{index}:{one.policy.name}:{param.name}"
    value: Any = one.params[param.name]
    shared: dict[str, Any] = {
        "key": key, "help": f"{param.help} ({param.range})",
        "on_change": _change, "args": (stack, index, param.name, key),
    }  # fmt: skip
    match param.type:
        case "int" | "float":
            number = int if param.type == "int" else float
            low, high = (None if edge is None else number(edge) for edge in (param.low, param.high))
            step = 1 if param.type == "int" else 0.05
            show_in(key, None if value is None else number(value))
            st.number_input(
                param.name, min_value=low, max_value=high, value=None, step=step, placeholder="none", **shared
            )
        case "choice":
            show_in(key, value)
            st.selectbox(param.name, param.choices, **shared)
        case "flag":
            show_in(key, bool(value))
            st.toggle(param.name, **shared)
        case _:
            show_in(key, "" if value is None else str(value))
            st.text_input(param.name, **shared)


# ------------------------------------------------------------------------------------------------------ callbacks


def _go(stack: Stack) -> None:
    move(stack=stack.text, block=here().block)


def _typed() -> None:
    move(stack=st.session_state["stack_text"].strip() or "recorded")


def _typed_base() -> None:
    move(base=st.session_state["base_text"].strip() or None)


def _preset() -> None:
    name = st.session_state["preset"]
    if name in PRESETS:
        _go(parse_stack(name))


def _switch_base(stack: Stack) -> None:
    _go(replace(stack, base="history" if stack.base == "recorded" else "recorded"))


def _add(stack: Stack, policy: Policy) -> None:
    _go(replace(stack, layers=(*stack.layers, layer(policy))))


def _drop(stack: Stack, index: int) -> None:
    _go(replace(stack, layers=_without(stack.layers, index)))


def _without(layers: Sequence[Layer], index: int) -> tuple[Layer, ...]:
    return (*layers[:index], *layers[index + 1 :])


def _change(stack: Stack, index: int, name: str, key: str) -> None:
    """Another value for one parameter. One that cannot be is named, and the stack stays as it was."""
    old = stack.layers[index]
    value = st.session_state[key]
    values = {given: old.params[given] for given in old.given if given != name}
    if value != old.policy.defaults()[name]:
        values[name] = value
    try:
        new = layer(old.policy, values)
    except UsageError as fault:
        st.session_state[_FAULT] = one_line(f"{fault.cause}; {fault.fix}", 300)
        return
    _go(replace(stack, layers=(*stack.layers[:index], new, *stack.layers[index + 1 :])))
