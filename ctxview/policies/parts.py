"""The six small parts of which most policies are made: when, select, protect, act, place, stop.

Each is a plain function of a window and its context, so that a policy reads as a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from ctxview.model import Form
from ctxview.policies.digest import KEY, is_digest, tally
from ctxview.policies.edits import Drops, Edit, Evidence, Insert, Replace
from ctxview.policies.items import Entry
from ctxview.policies.policy import Context, Params
from ctxview.policies.window import Group, Message, Window

_READABLE: Final = ("verbatim", "flagged")

# ------------------------------------------------------------------------------------------------------------- when


def above(name: str, share: str | None = None) -> Callable[[int, Context], bool]:
    """More tokens than the parameter `name` says, times the parameter `share`."""

    def when(tokens: int, ctx: Context) -> bool:
        limit = ctx.params[name]
        return limit is not None and tokens > float(limit * (ctx.params[share] if share else 1))

    return when


# ----------------------------------------------------------------------------------------------------------- select


def results(window: Window) -> list[Entry]:
    """The first block of each tool result, oldest first, those that were already cleared left out."""
    seen: set[int] = set()
    found = []
    for entry in window:
        if entry.kind == "tool_result" and entry.item.call not in seen and entry.form not in ("placeholder", "pointer"):
            found.append(entry)
            if entry.item.call >= 0:
                seen.add(entry.item.call)
    return found


def parts_of(window: Window, result: Entry) -> list[Entry]:
    """All blocks of one result, the first of them first: further texts and images are blocks of their own."""
    if result.item.call < 0:
        return [result]
    return [e for e in window if e.item.call == result.item.call]


def user_turns(window: Window) -> list[int]:
    """Indexes into the window's messages at which the person speaks."""
    return [
        i for i, m in enumerate(window.messages)
        if any(e.kind == "user" and not e.item.row.injected for e in m.entries)
    ]  # fmt: skip


def is_half(entry: Entry) -> bool:
    """A call or a part of a result: of no use without the other."""
    return entry.kind in ("tool_call", "tool_result") or entry.item.call >= 0


def readable(window: Window) -> set[int]:
    """The blocks that stand in their own words, flagged or not. A call or a result of which the other half is not in
    the window cannot be sent, nor can the rest of its batch: pairing repair takes them."""
    answered = {e.item.call for e in window if e.kind == "tool_result"}
    halves = [e for e in window if is_half(e)]
    torn = {
        e.item.group for e in halves
        if (e.n not in answered and e.item.row.call_id is not None if e.kind == "tool_call"
            else e.item.call not in window.by_n)
    }  # fmt: skip
    return {e.n for e in window if e.form in _READABLE and not (e.item.group in torn and is_half(e))}


# ---------------------------------------------------------------------------------------------------------- protect


def request_groups(window: Window) -> set[int]:
    """Groups of the newest request, which no policy may take."""
    return {e.item.group for e in window.request}


def pinned_groups(groups: Iterable[Group], ctx: Context, kinds: Collection[str]) -> set[int]:
    return {g.id for g in groups if any(p.kind in kinds for e in g.entries for p in ctx.pins(e))}


def kinds_of(params: Params, name: str) -> tuple[str, ...]:
    return tuple(word for word in str(params[name]).split("+") if word)


# -------------------------------------------------------------------------------------------------------------- act


def cleared(
    window: Window, result: Entry, text: str, rule: str, reason: str, evidence: Evidence, form: Form = "placeholder"
) -> list[Edit]:
    """A result's text replaced, and its further parts dropped."""
    first, *others = parts_of(window, result)
    edits: list[Edit] = [Replace(first.n, form, text, rule, reason, evidence)]
    if others:
        edits.append(Drops([e.n for e in others], rule, reason, evidence))
    return edits


def dropped(entries: Iterable[Entry], rule: str, reason: str, evidence: Evidence) -> list[Edit]:
    numbers = [e.n for e in entries]
    return [Drops(numbers, rule, reason, evidence)] if numbers else []


def head_and_tail(text: str, head: int, tail: int, between: Callable[[int], str]) -> str:
    """The text without its middle; `between` says how many characters are gone."""
    if len(text) <= head + tail:
        return text
    end = text[len(text) - tail :] if tail else ""
    return text[:head] + between(len(text) - head - tail) + end


# ------------------------------------------------------------------------------------------------------------ place


def note(
    key: str, text: str, where: str, ref: int | None, covers: Sequence[int], rule: str, reason: str, evidence: Any,
    *, summary: bool = False,
) -> Insert:  # fmt: skip
    """A block that a policy puts in as the user."""
    kind: Any = "summary" if summary else "note"
    form: Form = "summary" if summary else "pointer"
    return Insert(key, text, where, ref, "user", kind, tuple(covers), rule, reason, evidence, None, None, form)


# ------------------------------------------------------------------------------------------------------------- stop


def suffix_that_fits(sizes: Sequence[int], room: int) -> int:
    """Index of the first of the newest units that together fit."""
    index, total = len(sizes), 0
    while index and total + sizes[index - 1] <= room:
        index -= 1
        total += sizes[index]
    return index


def blocks_of(messages: Iterable[Message]) -> list[Entry]:
    return [e for m in messages for e in m.entries]


# --------------------------------------------------------------------------------------------------- folding it up


def folded(
    window: Window, gone: Sequence[Entry], text: str, rule: str, reason: str, evidence: Any, tokens: int | None = None
) -> list[Edit]:
    """Blocks that leave, and one summary that stands for them, where the first thing that stays after them stands, but
    not between a call and its result.

    An earlier summary among them is covered like any other block: what it stood for is found through it.
    """
    if not any(not is_digest(e) for e in gone):
        return []
    numbers = {e.n for e in gone}
    last = max(e.pos for e in gone)
    after = next((e for e in window if e.pos > last and e.n not in numbers), None)
    if after is not None:  # nothing may stand between a call and its result
        split = {e.item.group for e in window if e.pos >= after.pos and e.item.call >= 0 and e.n not in numbers}
        after = next(e for e in window if e.n == after.n or (e.item.group in split and e.n not in numbers))
    where, ref = ("before", after.n) if after else ("end", None)
    covers = tuple(e.n for e in gone)
    summary = Insert(
        KEY, text, where, ref, "user", "summary", covers, "summary", f"stands for {len(gone):,} blocks", evidence,
        tokens,
    )  # fmt: skip
    return [Drops(covers, rule, reason, evidence), summary]


def digest_of(window: Window, gone: Sequence[Entry]) -> str:
    return tally(window, {e.n for e in gone}).text()
