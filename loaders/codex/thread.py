"""One session of a rollout, record by record, as events.

It prevents a window from being guessed: calls get the results that the client makes up for them, a compaction says by
block what leaves, and what is a copy of another session's is neither a call nor billed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ctxview.loaders.codex.blocks import At, block_of, not_typed, summary_item, title_in
from ctxview.loaders.codex.held import Held, Kept, replaced, summarised, with_summary, without_call
from ctxview.loaders.codex.items import Item, Part, item_of
from ctxview.loaders.codex.responses import Responses
from ctxview.loaders.codex.survey import Plan, instructions_of
from ctxview.loaders.codex.truncate import Policy, policy_of, shortened
from ctxview.loaders.codex.usage import Meter, Report
from ctxview.loaders.codex.window import Window
from ctxview.loaders.shapes import as_count, as_dict, as_str
from ctxview.model import (
    AT_END,
    Action,
    Block,
    Call,
    CallEnd,
    Cut,
    Edit,
    Event,
    Form,
    Place,
    SessionStart,
)

ABORTED: Final = "aborted"
"""What the client answers a call with that has no result."""
_ANSWERED_BY_CLIENT: Final = "the log has no result of this call: the client sends this in its place"


class Thread:
    """The state of one session while its file is read."""

    def __init__(self, plan: Plan, start: SessionStart) -> None:
        self.plan = plan
        self.inherits = False
        """Whether the records being read are a copy of the parent's."""
        self._start = start
        self.session = start.session
        self._window = Window()
        self._replaced = Window()
        """While a compaction is read: the window before it."""
        self._responses = Responses()
        self._call = ""
        """Id of the newest call."""
        self._meter = Meter()
        self._model: str | None = None
        self._policy: Policy | None = None
        self._system: str | None = None
        self._made_up: dict[str, Held] = {}
        """Results that the client put in, by call id."""
        self._missing: list[str] = ["tools"]
        self._prompt: int | None = None
        """The newest call's prompt."""

    # ------------------------------------------------------------ settings

    def begin(self, at: At) -> Iterator[Event]:
        """The session's first events."""
        yield self._start
        text, older = instructions_of(self.plan.meta)
        if not text or (older and self.plan.repeats_instructions):
            self._missing.insert(0, "system")
            return
        self._system = f"{at.stem}.system"
        yield Block(
            session=self.session,
            id=self._system,
            role="system",
            kind="system",
            text=text,
            origin=at.origin,
            message=self._system,
            note="as `instructions`, which may be the person's only" if older else None,
        )

    def turn(self, payload: dict[str, Any]) -> None:
        """The settings of the turn that begins."""
        self._model = as_str(payload.get("model")) or self._model
        self._policy = policy_of(payload) or self._policy

    def limit(self, payload: dict[str, Any]) -> Iterator[Event]:
        yield from self._amend(limit=as_count(payload.get("model_context_window")) or None)

    def _amend(self, *, limit: int | None = None, title: str | None = None) -> Iterator[Event]:
        start = replace(self._start, limit=limit or self._start.limit, title=self._start.title or title)
        if start != self._start:
            self._start = start
            yield start

    # --------------------------------------------------------------- items

    def item(self, item: Item, at: At) -> Iterator[Event]:
        """The next item of the conversation."""
        message = at.stem
        if not self.inherits:
            if item.tag == "user":
                yield from self._amend(title=title_in(item))
            if not item.is_output:
                self._responses.input(is_result=item.tag == "result")
            elif self._responses.output():
                yield from self._begin_call(at)
            message = self._call if item.is_output else at.stem
        held = yield from self._add(item, at, message)
        if held is not None:
            self._window.enter(held)

    def _add(self, item: Item, at: At, message: str, place: Place = AT_END) -> Generator[Event, None, Held | None]:
        """An item's blocks; what they make of the window, or None for a result whose call is gone."""
        call = self._call_of(item)
        tool = None if call is None else call.tool
        lost = item.tag == "result" and call is None
        if call is not None and place == AT_END:  # a compaction says itself which results stay
            yield from self._take_back(item.call_id)
        # what a compaction put there was shortened before
        sent = self._shortened(item) if place == AT_END else item
        held = self._hold(sent, at.stem)
        for name, part, form in zip(held.ids, item.parts, sent.parts):
            hidden = self.plan.thinking.get(at.number) if part.kind == "thinking" and part.note else None
            block = block_of(self.session, part, name, item, at, message, tool, self.inherits, hidden)
            if lost:
                reason = "the client does not send a result without its call"
                yield replace(block, enters=False, note=block.note or reason)
                continue
            if place != AT_END or part.kind == "summary":
                yield replace(block, place=place, inserted=part.kind == "summary")
                place = place if place == AT_END else Place("after", name)
            else:
                yield block
            if form is not part:
                reason = "longer than the turn's truncation policy: sent shortened"
                yield self._edit("replace", name, "truncation-policy", reason, text=form.text)
        return None if lost else held

    def _call_of(self, item: Item) -> Held | None:
        """The call that a result answers, in the window or in the one that a compaction replaces."""
        if item.tag != "result":
            return None
        return self._window.call(item.call_id) or self._replaced.call(item.call_id)

    def _hold(self, item: Item, stem: str) -> Held:
        ids = tuple(stem if len(item.parts) == 1 else f"{stem}.{i}" for i in range(len(item.parts)))
        return Held(
            tag=item.tag,
            ids=ids,
            key=item.key,
            text_hash=hash(item.text),
            text=item.text if item.tag == "user" else "",
            images=tuple(name for name, part in zip(ids, item.parts) if part.image is not None),
            call_id=item.call_id,
            tool=item.parts[0].tool,
            answered=item.answered,
            is_call=item.tag == "call",
            hides_thinking=any(part.kind == "thinking" and part.note is not None for part in item.parts),
            hides_summary=any(part.kind == "summary" and part.note is not None for part in item.parts),
        )

    def _shortened(self, item: Item) -> Item:
        """A result as it is sent, by the turn's policy."""
        if item.tag != "result" or self._policy is None:
            return item
        texts = [shortened(p.text, self._policy) if p.kind == "tool_result" else p.text for p in item.parts]
        parts = (p if text is p.text else replace(p, text=text) for p, text in zip(item.parts, texts))
        return replace(item, parts=tuple(parts))

    # --------------------------------------------------------------- calls

    def usage(self, payload: dict[str, Any], at: At) -> Iterator[Event]:
        """A `token_count` event; says nothing when it repeats the last one or is the parent's."""
        report = self._meter.read(payload)
        yield from self._amend(limit=report.limit)
        if not self.inherits:
            yield from self._report(report, at)

    def _report(self, report: Report, at: At) -> Iterator[Event]:
        if report.usage is None:
            return
        if self._responses.usage():
            yield from self._begin_call(at)
        self._prompt = report.usage.prompt
        yield CallEnd(self.session, self._call, report.usage)

    def failed(self, reason: str) -> Iterator[Event]:
        """The client says that the response under way failed."""
        if self._responses.is_open and not self._responses.is_reported and not self.inherits:
            yield CallEnd(self.session, self._call, error=reason)

    def _begin_call(self, at: At) -> Iterator[Event]:
        yield from self._answer(at)
        self._call = f"call-{at.stem}"
        missing = list(self._missing)
        if self._window.hides_thinking:
            missing.append("thinking")
        if self._window.hides_summary:
            missing.append("summary")
        yield Call(
            session=self.session,
            id=self._call,
            origin=at.origin,
            model=self._model,
            client=self._start.client,
            at=at.time,
            missing=tuple(missing),
        )

    def _answer(self, at: At) -> Iterator[Event]:
        """What the client does before it sends: no call goes without a result."""
        if not self._window.unanswered:
            return
        window = self._window.items
        waiting = {id(held): call_id for call_id, held in self._window.unanswered.items()}
        first, looked_for = len(window), len(waiting)
        while looked_for and first:  # from the end, where they mostly are
            first -= 1
            looked_for -= id(window[first]) in waiting
        tail = window[first:]
        del window[first:]
        for held in tail:
            window.append(held)
            if (call_id := waiting.get(id(held))) is None:
                continue
            name = f"{at.stem}.{ABORTED}.{len(window)}"
            part = Part("tool_result", "tool", ABORTED, tool=held.tool, injected=True, note=_ANSWERED_BY_CLIENT)
            item = Item("result", (part,), call_id)
            block = block_of(self.session, part, name, item, replace(at, time=None), name)
            yield replace(block, place=Place("after", held.ids[-1]), inserted=True)
            self._made_up[call_id] = Held("result", (name,), item.key, hash(ABORTED), call_id=call_id)
            self._window.enter(self._made_up[call_id])

    def _take_back(self, call_id: str | None) -> Iterator[Event]:
        """A result came after all: the client no longer sends its own in the place of it."""
        held = self._made_up.pop(call_id or "", None)
        if held is not None:
            self._window.remove(held)
            yield self._edit("drop", held.ids[0], "late-result", "the result came after all")

    # ---------------------------------------------------------------- cuts

    def compacted(self, payload: dict[str, Any], at: At) -> Iterator[Event]:
        """The client replaced the conversation, by what the record says or by its rule of that time."""
        self._responses.end()
        history = payload.get("replacement_history")
        message = as_str(payload.get("message"))
        if isinstance(history, list):
            items = [item for value in history if (item := item_of(as_dict(value))) is not None]
            kept = replaced(self._window.items, items)
            if self._window.items:
                kept = with_summary(self._window.items, items, kept)
            if (items or message) and not any(entry.tag == "summary" for entry in kept):
                kept.append(Kept(new=summary_item(message)))
        else:
            kept = [*summarised(self._window.items), Kept(new=summary_item(message))]
        yield from self._replace_window(kept, payload, at)

    def _replace_window(self, kept: Sequence[Kept], payload: dict[str, Any], at: At) -> Iterator[Event]:
        staying = {id(k.old) for k in kept if k.old is not None}
        gone = [held for held in self._window.items if id(held) not in staying]
        edits = [self._edit("drop", name, "compact", "compacted away") for held in gone for name in held.ids]
        edits += [edit for entry in kept for edit in self._lose_images(entry)]
        had = bool(self._window.items)
        self._replaced, self._window = self._window, Window()
        if had and not self.inherits:
            yield Cut(
                session=self.session,
                id=at.stem,
                kind="compact",
                origin=at.origin,
                trigger=as_str(payload.get("trigger")) or None,
                before=self._prompt,
                after=self.plan.after.get(at.number),
                edits=tuple(edits),
            )
        else:
            yield from edits
        last = self._system
        for number, entry in enumerate(kept):
            place = Place("after", last) if last else Place("start")
            held = entry.old
            if held is not None:
                yield from self._stay(held, entry, place)
            elif entry.new is not None:
                here = replace(at, stem=f"{at.stem}.{number}")
                held = yield from self._add(not_typed(entry.new) if had else entry.new, here, here.stem, place)
            if held is not None:
                self._window.enter(held)
                last = held.ids[-1]
        self._replaced = Window()
        yield from self._settle()

    def _settle(self) -> Iterator[Event]:
        """After a compaction: results without their call leave."""
        lost = list(without_call(self._window.items))
        gone = set(map(id, lost))
        self._window = Window(held for held in self._window.items if id(held) not in gone)
        for held in lost:
            for block in held.ids:
                yield self._edit("drop", block, "lost-call", "the client does not send a result without its call")
        standing = set(map(id, self._window.items))
        self._made_up = {call: held for call, held in self._made_up.items() if id(held) in standing}

    def _lose_images(self, entry: Kept) -> Iterator[Edit]:
        """An old item in a form without images leaves them."""
        held = entry.old
        if held is None or entry.new is None or entry.new.images:
            return
        for name in held.images:
            yield self._edit("drop", name, "compact", "a compaction keeps the text of the person's messages")
        held.ids = tuple(name for name in held.ids if name not in held.images)
        held.images = ()

    def _stay(self, held: Held, entry: Kept, place: Place) -> Iterator[Event]:
        if entry.moved:
            for name in held.ids:
                yield self._edit("move", name, "compact", "put in another place by the compaction", place=place)
                place = Place("after", name)
        if entry.new is not None:
            yield from self._reword(held, entry.new)

    def _reword(self, held: Held, form: Item) -> Iterator[Event]:
        """An old item is sent in a new form: in one text, however many it had."""
        if hash(form.text) != held.text_hash:
            reason = "shortened by the compaction"
            first, *more = (name for name in held.ids if name not in held.images)
            yield self._edit("replace", first, "compact", reason, text=form.text)
            for name in more:
                yield self._edit("drop", name, "compact", reason)
            held.ids = tuple(name for name in held.ids if name not in more)
        held.key, held.text_hash = form.key, hash(form.text)
        if held.tag == "user":
            held.text = form.text

    def rolled_back(self, turns: Any, at: At) -> Iterator[Event]:
        """The person took back their last turns."""
        gone = self._window.roll_back(as_count(turns) or 0)
        if not gone:
            return
        self._responses.end()
        for held in gone:
            if held.call_id is not None and self._made_up.get(held.call_id) is held:
                del self._made_up[held.call_id]
        edits = tuple(
            self._edit("drop", name, "rewind", "the person took this turn back") for held in gone for name in held.ids
        )
        if self.inherits:
            yield from edits
        else:
            yield Cut(self.session, at.stem, "rewind", at.origin, edits=edits)

    def _edit(
        self, action: Action, block: str, rule: str, reason: str, *, place: Place | None = None, text: str | None = None
    ) -> Edit:
        form: Form = "truncated" if action == "replace" else "verbatim"
        return Edit(self.session, action, block, rule, reason, place=place, text=text, form=form)
