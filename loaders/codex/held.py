"""What stands in a session's window while a rollout is read, item by item, and what the client's cuts leave of it.

It prevents a cut from being guessed afterwards: each one says by block what leaves, moves or is shortened.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxview.loaders.codex.items import Item, Part, Tag
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
    """Of the item as it is sent; so is the hash."""
    text_hash: int
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
    """One item of the window after a cut: an old one, a new one, or (where it has both) an old one in a new form."""

    old: Held | None = None
    new: Item | None = None
    moved: bool = False

    @property
    def tag(self) -> Tag | None:
        source = self.old or self.new
        return source.tag if source is not None else None


def replaced(window: Sequence[Held], items: Sequence[Item]) -> list[Kept]:
    """The window that becomes `items`: which of them stood in it already.

    Equal items are paired from the end, where a compaction keeps most; those out of order count as moved. A message of
    the person may be shortened or lack its images, and a result may be in another form.
    """
    places: dict[int, list[int]] = {}
    for index, held in enumerate(window):
        places.setdefault(held.key, []).append(index)
    found: dict[int, int] = {}
    for number in range(len(items) - 1, -1, -1):
        if same := places.get(items[number].key):
            found[number] = same.pop()
    taken = set(found.values())
    changed = _in_other_forms(
        {i: held for i, held in enumerate(window) if i not in taken},
        {number: item for number, item in enumerate(items) if number not in found},
    )
    found |= changed
    in_order = _increasing([found[number] for number in sorted(found)])
    result = []
    for number, item in enumerate(items):
        if number not in found:
            result.append(Kept(new=item))
        else:
            index = found[number]
            form = item if number in changed else None
            result.append(Kept(window[index], form, moved=index not in in_order))
    return result


def _in_other_forms(window: Mapping[int, Held], items: Mapping[int, Item]) -> dict[int, int]:
    """Which items after a cut are ones from before it: results in another form, messages shortened or without images.

    By the number of the item, the number of what it was in the window; the first that fits.
    """
    alike: dict[tuple[str, str | int | None], deque[int]] = {}
    for index, held in window.items():
        if held.tag in ("user", "result") and len(held.images) < len(held.ids):
            alike.setdefault(_mark(held.tag, held.call_id, held.text_hash), deque()).append(index)
    users = {index: held.text for index, held in window.items() if held.tag == "user"}
    found: dict[int, int] = {}
    for number, item in items.items():
        if head := kept_head(item.text) if item.tag == "user" else None:
            match = next((index for index, text in users.items() if text.startswith(head)), None)
        else:
            same = alike.get(_mark(item.tag, item.call_id, hash(item.text)), deque())
            while same and item.tag == "user" and same[0] not in users:
                same.popleft()
            match = same.popleft() if same and item.images in (0, len(window[same[0]].images)) else None
        if match is not None:
            found[number] = match
            users.pop(match, None)
    return found


def _mark(tag: Tag, call_id: str | None, text_hash: int) -> tuple[str, str | int | None]:
    """What stays the same of a result or a message when its form changes."""
    return (tag, call_id) if tag == "result" else (tag, text_hash)


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

    The context before the person's first message, and the text of the person's messages, the newest first, within a
    budget; the one that exceeds it is shortened.
    """
    first = next((i for i, held in enumerate(window) if held.tag == "user"), len(window))
    budget = KEPT_TOKENS
    kept: list[Kept] = []
    for held in reversed(window[first:]):
        if held.tag != "user" or budget <= 0:
            continue
        size = bytes_of(held.text)
        if tokens_of(size) <= budget:
            kept.append(Kept(held, _text_only(held.text) if held.text and held.images else None))
            budget -= tokens_of(size)
        else:
            kept.append(Kept(held, _text_only(shortened(held.text, Policy(budget * 4, in_tokens=True)))))
            budget = 0
    return [*(Kept(held) for held in window[:first] if held.tag == "context"), *reversed(kept)]


def _text_only(text: str) -> Item:
    return Item("user", (Part("user", "user", text),))


def without_call(window: Sequence[Held]) -> Iterator[Held]:
    """Results whose call does not stand before them: the client does not send them."""
    calls: set[str] = set()
    for held in window:
        if held.is_call and held.call_id is not None:
            calls.add(held.call_id)
        elif held.tag == "result" and held.call_id not in calls:
            yield held


def with_summary(window: Sequence[Held], items: Sequence[Item], kept: Sequence[Kept]) -> list[Kept]:
    """Say which new message is the summary, when no item is one by its type or its wording: the last of the person's
    role whose text is none that the window held."""
    result = list(kept)
    if any(item.tag == "summary" for item in items):
        return result
    known = {one.text_hash for one in window if one.tag == "user"}
    for index in range(len(result) - 1, -1, -1):
        new = result[index].new
        if new is not None and result[index].old is None and new.tag == "user" and hash(new.text) not in known:
            parts = tuple(replace(p, kind="summary", human=False) if p.kind == "user" else p for p in new.parts)
            result[index] = Kept(new=Item("summary", parts))
            break
    return result
