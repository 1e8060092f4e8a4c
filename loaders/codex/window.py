"""The items in a session's window while its rollout is read, in order, and what is known of them.

It prevents a window from being gone through again for each thing that enters it or is taken back: what is known is kept
up as items come and go, so that reading takes as long as the log, however often the person rolls back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ctxview.loaders.codex.held import Held


class Window:
    """What stands, the oldest first."""

    def __init__(self, items: Iterable[Held] = ()) -> None:
        self.items: list[Held] = []
        self.hides_thinking = 0
        """Items whose thinking was not recorded."""
        self.hides_summary = 0
        self.unanswered: dict[str, Held] = {}
        """Calls that the client has to answer and that have no result, by their id."""
        self._users = 0
        """Messages of the person."""
        self._calls: dict[str, list[Held]] = {}
        """By their id, which some providers give several."""
        self._results: Counter[str] = Counter()
        """How many each call has, by its id."""
        for held in items:
            self.enter(held)

    def call(self, call_id: str | None) -> Held | None:
        """The newest call of that id."""
        return self._calls[call_id][-1] if call_id in self._calls else None

    def enter(self, held: Held) -> None:
        """An item comes in at the end."""
        self.items.append(held)
        self._count(held, 1)
        if held.call_id is None:
            return
        if held.is_call:
            self._calls.setdefault(held.call_id, []).append(held)
        elif held.tag == "result":
            self._results[held.call_id] += 1
        self._look_for_answer(held.call_id)

    def remove(self, result: Held) -> None:
        """A result leaves, wherever it stands."""
        self.items.remove(result)
        self._leave(result)

    def roll_back(self, turns: int) -> list[Held]:
        """The person takes back their last turns: what leaves, and the context just above the cut with it.

        What came before their first message stays.
        """
        wanted = min(turns, self._users)
        if wanted <= 0:
            return []
        cut, left = len(self.items), wanted
        while left:
            cut -= 1
            left -= self.items[cut].tag == "user"
        while wanted < self._users and self.items[cut - 1].tag == "context":
            cut -= 1
        gone = self.items[cut:]
        del self.items[cut:]
        for held in reversed(gone):
            self._leave(held)
        return gone

    def _leave(self, held: Held) -> None:
        """An item has left: of the calls of one id, the last."""
        self._count(held, -1)
        if held.call_id is None:
            return
        if held.is_call:
            self._calls[held.call_id].pop()
            if not self._calls[held.call_id]:
                del self._calls[held.call_id]
        elif held.tag == "result":
            self._results[held.call_id] -= 1
        self._look_for_answer(held.call_id)

    def _count(self, held: Held, number: int) -> None:
        self.hides_thinking += number * held.hides_thinking
        self.hides_summary += number * held.hides_summary
        self._users += number * (held.tag == "user")

    def _look_for_answer(self, call_id: str) -> None:
        call = self.call(call_id)
        if call is not None and call.answered and not self._results[call_id]:
            self.unanswered[call_id] = call
        else:
            self.unanswered.pop(call_id, None)
