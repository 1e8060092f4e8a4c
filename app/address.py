"""A URL's query and a `Focus` are two spellings of one thing: the keys are the flags of the command line.

Whatever a URL says is checked here. What cannot be meant is named and left out, and the page still shows the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ctxview.errors import UsageError
from ctxview.focus import Focus
from ctxview.ingest import Trace

KEYS: Final = ("session", "turn", "block", "stack", "base", "q")
RECORDED: Final = "recorded"
_LONGEST: Final = 2_000
"""Characters of a value that are looked at."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a URL leads, and what of it could not be followed."""

    focus: Focus
    remarks: tuple[str, ...] = ()
    """Unsafe: they repeat the URL. Shown as text, never as markup."""


def read(query: Mapping[str, str], trace: Trace) -> Arrival:
    """The focus that a query means. A stack is not looked at here: one that cannot be is kept, so it can be mended."""
    words = {key: query[key][:_LONGEST] for key in KEYS if query.get(key)}
    remarks: list[str] = []

    def remark(error: UsageError) -> None:
        remarks.append(f"{error.cause}; {error.fix}" if error.fix else error.cause)

    try:
        session = trace.resolve(words.get("session"))
    except UsageError as error:
        remark(error)
        session = trace.resolve(None)
    view = trace.view(session)
    try:
        turn = view.resolve_turn(words.get("turn"))
    except UsageError as error:
        remark(error)
        turn = view.resolve_turn(None)
    focus = Focus(
        session=session,
        turn=turn,
        block=words.get("block"),
        stack=words.get("stack", RECORDED),
        base=words.get("base"),
        query=words.get("q"),
    )
    return Arrival(focus, tuple(remarks))


def write(focus: Focus) -> dict[str, str]:
    """The query of a focus. Session and turn always stand in it, so that a link stays true when the trace grows."""
    words = {
        "session": focus.session,
        "turn": None if focus.turn is None else str(focus.turn),
        "block": focus.block,
        "stack": focus.stack if focus.stack != RECORDED else None,
        "base": focus.base,
        "q": focus.query,
    }
    return {key: value for key, value in words.items() if value}
