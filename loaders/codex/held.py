"""What stands in a session's window while a rollout is read, item by item, and what the client's cuts leave of it.

It prevents a cut from being guessed afterwards: each one says by block what leaves, moves or is shortened.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxview.loaders.codex.items import Item, Tag
from ctxview.loaders.codex.truncate import Policy, bytes_of, kept_head, shortened, tokens_of

KEPT_TOKENS: Final = 20_000
"""Up to how many tokens of the person's messages a compaction keeps, the newest first."""


@dataclass(slots=True, eq=False)
class Held:
    """One item in the window."""

    tag: Tag
    ids: tuple[str, ...]
    """Its blocks."""
    key: int
    text: str = ""
    """Of the person's messages only."""
    images: tuple[str, ...] = ()
    """Those of its blocks that are images."""
    call_id: str | None = None
    tool: str | None = None
    answered: bool = False
    """A call that the client has to answer."""
    is_call: bool = False
    hides_thinking: bool = False
    hides_summary: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """One item of the window after a cut: an old one, a new one, or an old one shortened to the new one's text."""

    old: Held | None = None
    new: Item | None = None
    text: str | None = None
    moved: bool = False

    @property
    def tag(self) -> Tag | None:
        source = self.old or self.new
        return source.tag if source is not None else None


def replaced(window: Sequence[Held], items: Sequence[Item]) -> list[Kept]:
    """The window that becomes `items`: which of them stood in it already.

    Equal items are paired from the end, where a compaction keeps most; those out of order count as moved.
    """
    places: dict[int, list[int]] = {}
    for index, held in enumerate(window):
        places.setdefault(held.key, []).append(index)
    found: dict[int, int] = {}
    for number in range(len(items) - 1, -1, -1):
        if rest := places.get(items[number].key):
            found[number] = rest.pop()
    taken = set(found.values())
    cut_short = [i for i, held in enumerate(window) if held.tag == "user" and i not in taken]
    texts: dict[int, str] = {}
    for number, item in enumerate(items):
        head = kept_head(item.text) if item.tag == "user" and number not in found else None
        match = next((i for i in cut_short if head and window[i].text.startswith(head)), None)
        if match is not None:
            found[number], texts[number] = match, item.text
            cut_short.remove(match)
    in_order = _increasing([found[number] for number in sorted(found)])
    result = []
    for number, item in enumerate(items):
        if number not in found:
            result.append(Kept(new=item))
        else:
            index = found[number]
            result.append(Kept(window[index], text=texts.get(number), moved=index not in in_order))
    return result


def _increasing(numbers: Sequence[int]) -> set[int]:
    """The numbers of a longest increasing run through `numbers`, which are distinct."""
    tops: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for position, number in enumerate(numbers):
        length = bisect_left(tops, number)
        before.append(at[length - 1] if length else -1)
        if length == len(tops):
            tops.append(number)
            at.append(position)
        else:
            tops[length], at[length] = number, position
    chosen: set[int] = set()
    position = at[-1] if at else -1
    while position >= 0:
        chosen.add(numbers[position])
        position = before[position]
    return chosen


def summarised(window: Sequence[Held]) -> list[Kept]:
    """The window after a compaction of the older kind, up to the summary that follows.

    The context before the person's first message, and the person's messages, the newest first, within a budget; the
    one that exceeds it is shortened.
    """
    first = next((i for i, held in enumerate(window) if held.tag == "user"), len(window))
    budget = KEPT_TOKENS
    kept: list[Kept] = []
    for held in reversed(window[first:]):
        if held.tag != "user" or budget <= 0:
            continue
        size = bytes_of(held.text)
        if tokens_of(size) <= budget:
            kept.append(Kept(held))
            budget -= tokens_of(size)
        else:
            kept.append(Kept(held, text=shortened(held.text, Policy(budget * 4, in_tokens=True))))
            budget = 0
    return [*(Kept(held) for held in window[:first] if held.tag == "context"), *reversed(kept)]


def rolled_back(window: Sequence[Held], turns: int) -> list[Held]:
    """What leaves when the person takes back their last turns, and the context just above the cut with it.

    What came before their first message stays.
    """
    starts = [i for i, held in enumerate(window) if held.tag == "user"]
    if turns <= 0 or not starts:
        return []
    cut = starts[0] if turns >= len(starts) else starts[-turns]
    while cut > starts[0] and window[cut - 1].tag == "context":
        cut -= 1
    return list(window[cut:])


def without_call(window: Sequence[Held]) -> Iterator[Held]:
    """Results whose call does not stand before them: the client does not send them."""
    calls: set[str] = set()
    for held in window:
        if held.is_call and held.call_id is not None:
            calls.add(held.call_id)
        elif held.tag == "result" and held.call_id not in calls:
            yield held


def with_summary(items: Sequence[Item], kept: Sequence[Kept]) -> list[Kept]:
    """Say which new message is the summary, when no item is one by its type or its wording: the last of the person's
    role that is new."""
    result = list(kept)
    if any(item.tag == "summary" for item in items):
        return result
    for index in range(len(result) - 1, -1, -1):
        new = result[index].new
        if new is not None and new.tag == "user":
            parts = tuple(replace(p, kind="summary", human=False) if p.kind == "user" else p for p in new.parts)
            result[index] = Kept(new=Item("summary", parts))
            break
    return result
