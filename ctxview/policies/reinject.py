"""`reinject`: what must not be forgotten is kept outside the messages and put back on every turn, at the head or
recited at the tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.policies.edits import Edit
from ctxview.policies.facts import PIN_KINDS
from ctxview.policies.parts import kinds_of, note, readable
from ctxview.policies.policy import Context, Param, Policy
from ctxview.policies.window import Window

_TITLE: Final = "[kept in mind]"


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    standing = readable(window) if params["what"] == "missing" else set()
    lines: list[str] = []
    covers: list[int] = []
    for pin in ctx.known_pins(kinds_of(params, "kinds")):
        if pin.block not in standing:
            lines.append(f"{pin.kind}: {pin.quote or ctx.text_of(pin.block)}")
            covers.append(pin.block)
    if not lines:
        return []
    where = "head" if params["at"] == "head" else "end"
    text = "\n".join([_TITLE, *lines])
    evidence = {"items": len(lines)}
    reason = f"{len(lines):,} thing{'' if len(lines) == 1 else 's'} to keep in mind"
    return [note("state", text, where, None, covers, "reinjected", reason, evidence)]


POLICY = Policy(
    name="reinject",
    title="Put back what must not be forgotten",
    source="ours, against context collapse; the list that Manus recites",
    plan=plan,
    phase="insert",
    params=(
        Param("at", "head", "after the system text, or at the end of every window", choices=("head", "tail"),
              type="choice"),
        Param("what", "missing", "only what does not stand in the window, or everything", choices=("missing", "all"),
              type="choice"),
        Param("kinds", "goal+constraint+preference+decision+denial+approval+plan+question+user",
              "kinds of pins that are put back", choices=PIN_KINDS, type="names"),
    ),
    may_grow=True,
    saves_size=False,
    examples=("keep-last-n:repair=yes,reinject", "reinject:at=tail:what=all:kinds=goal+constraint"),
)  # fmt: skip
