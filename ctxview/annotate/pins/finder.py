"""Reads a session's blocks in order of arrival and says which of them are pins, without look-ahead and without texts.

What is kept between blocks is small and open: whether an action was just refused, which question waits, which list of
work is under way. A pin is made from its own block and what came before; only its end is learnt later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson

from ctxview.annotate.pins.approvals import approval_of_result, approvals_in_note
from ctxview.annotate.pins.constraints import LIMITS, STANDS, WAITS
from ctxview.annotate.pins.decisions import agents_decision, answer_abroad, correction, option
from ctxview.annotate.pins.denials import REFUSED, denial_of_note, denial_of_result
from ctxview.annotate.pins.found import Found, distinct, shorten
from ctxview.annotate.pins.matching import Table
from ctxview.annotate.pins.questions import REMARK, question_of_agent, question_of_person
from ctxview.annotate.pins.reading import Before, read_spoken, standing_pins
from ctxview.annotate.pins.rules import DEFAULT, PRIORITY, PinRules
from ctxview.annotate.pins.sentences import Sentence, sentences
from ctxview.annotate.pins.standing import (
    command_words,
    is_empty,
    is_expansion,
    is_hooks_order,
    is_marked_goal,
    is_memory,
    is_prompt_command,
    is_saved_approval,
    is_servers_instructions,
    is_skill,
    is_typed,
    memory_in_result,
    without_offers,
)
from ctxview.annotate.pins.summaries import how_to_go_on, is_condensed, pending_tasks
from ctxview.annotate.pins.tasks import TaskList
from ctxview.annotate.pins.vocabulary import SPOKEN
from ctxview.model import Block, Evidence, Pin

_REPORT_CHARS: Final = 2_000
_PLAN_TOOLS: Final = frozenset({"ExitPlanMode", "exit_plan_mode", "plan_exit"})
_ASK_TOOLS: Final = frozenset({"AskUserQuestion", "ask_user_question", "ask_followup_question", "ask_user"})
_BINDING: Final = frozenset({"decision", "approval"})
_NO_ANSWER: Final = "No response"
"""How the result of a question starts that nobody answered."""
_ANSWERED: Final = ("User has answered your questions", "Your questions have been answered", "The user answered")


class PinFinder:
    """Feed it each block once, then `finish`."""

    def __init__(self, rules: PinRules = DEFAULT, starts_inside: bool = False) -> None:
        """`starts_inside`: the log's first message was not the conversation's, so that its goal is a guess."""
        self._starts_inside = starts_inside
        self.tasks = TaskList()
        self._rules = rules
        self._pins: list[Pin] = []
        self._goal: tuple[str, int, str] | None = None
        """File, line and message of the goal: the other parts of that message belong to it."""
        self._goal_rank = 0
        """0 none, 1 a text nobody typed, 2 the person's, 3 marked as the goal by the client."""
        self._goal_pins: list[int] = []
        self._expands: bool | None = None
        """Whether the slash command that was just read is the goal: what it expands to comes next."""
        self._denied = False
        """A refusal was read, and the agent has not said anything since."""
        self._asking: int | None = None
        """Index of the agent's open question."""
        self._asked: str | None = None
        """What the agent's newest text asks; empty for what no yes lets happen."""
        self._reported = ""
        """The end of the agent's newest text, if it asks nothing."""
        self._asked_by_person: int | None = None
        self._ask_call: str | None = None
        self._unanswered: list[int | None] = []
        """Questions put with a tool that got no answer: they stay open until the person speaks."""
        self._waits: list[int] = []
        """Pins of what waits for the person's go."""
        self._plan: int | None = None
        self._plan_call: str | None = None
        self._lists: dict[int, int] = {}
        """Block that brought open work -> its pin."""
        self._pending: int | None = None
        """Pin of the tasks that the newest summary calls pending."""
        self._go_on = range(0)
        """Pins of the client's own words behind the newest summary: the next one says anew how to go on."""

    def see(self, block: Block, n: int, turn: int) -> None:
        """Take in the next block. `n` is its number, `turn` the number of calls so far."""
        if not block.enters:
            return  # an abandoned branch: it stood in no window, so no window can miss it
        kind = block.kind
        if kind == "tool_result":
            self._result(block, n, turn)
        elif kind == "tool_call":
            self._agent_speaks(turn)
            self._call(block, n, turn)
        elif kind == "assistant":
            self._agent_speaks(turn)
            self._answer(block, n, turn)
        elif kind == "thinking":
            self._agent_speaks(turn)
        elif kind in ("system", "tools"):
            self._add(Found("system", "system text" if kind == "system" else "tool schema", evidence="stated"), n, turn)
            if kind == "system":
                self._stands(without_offers(block.text), n, turn, STANDS, LIMITS)
        elif kind == "note":
            self._note(block, n, turn)
        elif kind == "user":
            self._user(block, n, turn)
        elif kind == "summary":
            self._summary(block, n, turn)

    @property
    def pins(self) -> tuple[Pin, ...]:
        """Every pin so far in order of discovery, those included that ended before any window could show them."""
        return tuple(self._pins)

    def finish(self) -> tuple[Pin, ...]:
        """All pins, by block and then by priority. One that ended before any window could show it is left out."""
        found = (p for p in self._pins if p.until > p.since)
        return tuple(sorted(found, key=lambda p: (p.block, -p.priority, p.quote)))

    # ---------------------------------------------------------------- blocks

    def _result(self, block: Block, n: int, turn: int) -> None:
        found = denial_of_result(block, self._rules.denial_markers)
        if found is not None:
            self._add(found, n, turn)
            self._denied = True
            if block.call_id is not None and block.call_id == self._plan_call:
                self._end(self._plan, turn)
                self._plan = None
        else:
            approved = approval_of_result(block)
            if approved is not None:
                self._add(approved, n, turn)
        if block.call_id is not None and block.call_id == self._ask_call:
            head = block.text[:400].lstrip()
            if head.startswith(_NO_ANSWER):
                self._unanswered.append(self._asking)
            else:
                self._end(self._asking, turn)
            self._asking = self._ask_call = None
            if head.startswith(_ANSWERED):
                self._add(Found("decision", "the person answered a question", shorten(head), "stated"), n, turn)
        memory = memory_in_result(block.text)
        if memory:
            self._add(Found("system", "memory file"), n, turn)
            self._stands(memory, n, turn, STANDS)
        self._follow_tasks(block, n, turn)

    def _call(self, block: Block, n: int, turn: int) -> None:
        tool = block.tool or ""
        if tool in _PLAN_TOOLS:
            self._plan_call = block.call_id
            plan = _argument(block.text, "plan")
            if plan:
                self._end(self._plan, turn)
                found = Found("plan", "the plan put to the person", _first_line(plan), "stated")
                self._plan = self._add(found, n, turn)
        elif tool in _ASK_TOOLS:
            self._ask_call = block.call_id
            self._asking = self._add(Found("question", "asked with a tool", shorten(block.text), "stated"), n, turn)
            self._asked = ""
        self._follow_tasks(block, n, turn)

    def _answer(self, block: Block, n: int, turn: int) -> None:
        text = block.text
        decided = agents_decision(text)
        if decided is not None:
            self._add(decided, n, turn)
        question = question_of_agent(text)
        self._reported = text[-_REPORT_CHARS:] if question is None else ""
        if question is not None:
            self._asking = self._add(question, n, turn)
            self._asked = "" if question.rule == REMARK else question.quote
        self._follow_tasks(block, n, turn)

    def _note(self, block: Block, n: int, turn: int) -> None:
        denied = denial_of_note(block, self._rules.denial_markers)
        if denied is not None:
            self._add(denied, n, turn)
            self._denied = True
            return
        if is_marked_goal(block):
            self._set_goal(block, n, turn, 3, "a goal that the client marks")
        elif is_memory(block):
            self._add(Found("system", "memory file"), n, turn)
            self._stands(block.text, n, turn, STANDS)
        elif is_prompt_command(block):
            words = command_words(block)
            self._person_speaks(turn)
            self._set_goal(block, n, turn, 2, "a slash command of the person")
            self._expands = self._is_goal(block)
            if words:
                self._say(self._spoken(sentences(words, SPOKEN)), n, turn)
        elif is_saved_approval(block):
            words = " ".join(block.text.split())
            self._add(Found("approval", "the client reports an approval", shorten(words), "stated"), n, turn)
        elif block.role == "system" or is_servers_instructions(block):
            self._add(Found("system", "the client's instructions", evidence="stated"), n, turn)
            approved = approvals_in_note(block.text)
            if approved is not None:
                self._add(approved, n, turn)
            self._stands(without_offers(block.text), n, turn, STANDS)
        elif self._expands is not None and is_expansion(block):
            if self._expands:
                self._add(Found("goal", "what the person's slash command expands to"), n, turn)
            self._expands = None
            self._stands(block.text, n, turn, STANDS)
        elif is_skill(block):
            self._stands(block.text, n, turn, STANDS)
        elif is_hooks_order(block):
            self._stands(block.text, n, turn)

    def _summary(self, block: Block, n: int, turn: int) -> None:
        pending = pending_tasks(block.text)
        for index in (self._pending, *self._go_on):
            self._end(index, turn)
        self._pending = self._add(pending, n, turn) if pending else None
        first = len(self._pins)
        self._stands(how_to_go_on(block.text), n, turn, STANDS)
        self._go_on = range(first, len(self._pins))

    def _user(self, block: Block, n: int, turn: int) -> None:
        if is_marked_goal(block):
            self._set_goal(block, n, turn, 3, "a goal that the client marks")
            return
        if is_memory(block):
            self._add(Found("system", "memory file"), n, turn)
            self._stands(block.text, n, turn, STANDS)
            return
        if is_condensed(block.text):
            self._summary(block, n, turn)
        elif is_typed(block):
            self._typed(block, n, turn)
        elif is_skill(block):
            self._stands(block.text, n, turn, STANDS)
        elif self._goal_rank == 0 and not (block.human or block.injected or is_empty(block)):
            self._set_goal(block, n, turn, 1, "first user text: nobody typed it")
            self._stands(block.text, n, turn, STANDS)

    def _typed(self, block: Block, n: int, turn: int) -> None:
        self._expands = None
        if self._goal_rank < 2 or (self._goal_rank == 2 and self._is_goal(block)):
            self._set_goal(block, n, turn, 2, "first message of the person")
        split = sentences(block.text, SPOKEN)
        found = self._spoken(split)
        chosen = option(block.text) if self._asked is not None else None
        if chosen is not None:
            found = [chosen, *(f for f in found if f.kind != "approval")]
        if found and self._is_goal(block):
            found = [f for f in found if f.kind != "approval"]  # nothing was put forward yet
        kinds = {f.kind for f in found}
        refuses = "denial" in kinds and any(f.rule == REFUSED for f in found)
        if split and not kinds & _BINDING:
            if refuses and len(split) > 1:
                found += filter(None, (correction(split[1]),))
            elif self._denied and "denial" not in kinds:
                found.append(Found("decision", "corrects: said right after a refusal", shorten(split[0].text)))
            elif not found and not split[0].text.isascii():
                found += filter(None, (answer_abroad(split[0], self._open_question()),))
        self._person_speaks(turn)
        self._denied = refuses
        if "approval" in kinds:
            for index in self._waits:
                self._end(index, turn)
            self._waits = []
        if found:
            self._say(found, n, turn)
        if "question" not in kinds:
            question = question_of_person(split)
            if question is not None:
                self._asked_by_person = self._add(question, n, turn)

    def _spoken(self, split: list[Sentence]) -> list[Found]:
        before = Before(self._asked, self._reported, self._denied, self._work_is_open())
        return read_spoken(split, before, self._rules.phrases)

    # ------------------------------------------------------------------ state

    def _person_speaks(self, turn: int) -> None:
        """What was open to be answered is so no longer."""
        for index in (self._asking, self._asked_by_person, *self._unanswered):
            self._end(index, turn)
        self._asking = self._asked_by_person = self._asked = self._ask_call = None
        self._unanswered = []
        self._denied = False

    def _agent_speaks(self, turn: int) -> None:
        self._denied = False
        self._expands = None
        if self._asking is not None and self._ask_call is None:
            self._end(self._asking, turn)
            self._asking = None
        self._asked = None

    def _open_question(self) -> str:
        """What the agent waits to be told, in its words; empty for nothing."""
        if self._asked:
            return self._asked
        open_ones = [i for i in (self._asking, *self._unanswered) if i is not None]
        return self._pins[open_ones[-1]].quote if open_ones else ""

    def _work_is_open(self) -> bool:
        return bool(self._lists) or self._plan is not None or self._pending is not None

    def _is_goal(self, block: Block) -> bool:
        return self._goal == (block.origin.file, block.origin.line, block.message)

    def _set_goal(self, block: Block, n: int, turn: int, rank: int, rule: str) -> None:
        key = (block.origin.file, block.origin.line, block.message)
        if rank < self._goal_rank:
            return
        if rank == self._goal_rank and key != self._goal and rank != 3:
            return
        if rank > self._goal_rank:
            for index in self._goal_pins:
                self._end(index, turn)
            self._goal_pins = []
        self._goal, self._goal_rank = key, rank
        evidence: Evidence = "stated" if rank == 3 else "matched"
        if self._starts_inside and rank < 3:
            rule, evidence = f"{rule} in the log, which starts inside a conversation", "inferred"
        pin = self._add(Found("goal", rule, evidence=evidence), n, turn)
        if pin is not None:
            self._goal_pins.append(pin)

    def _follow_tasks(self, block: Block, n: int, turn: int) -> None:
        if not self.tasks.see(block, n, turn):
            return
        self._end(self._pending, turn)
        self._pending = None
        still_open: dict[int, list[str]] = {}
        for item in self.tasks.items:
            if item.open:
                still_open.setdefault(item.block, []).append(item.subject)
        for brought in [b for b in self._lists if b not in still_open]:
            self._end(self._lists.pop(brought), turn)
        for brought, subjects in still_open.items():
            if brought not in self._lists:
                written = block.kind == "assistant"
                rule = "a check list of the agent" if written else "the agent's list of work"
                quote = shorten("; ".join(subjects))
                pin = self._add(Found("workflow", rule, quote, "matched" if written else "stated"), brought, turn)
                if pin is not None:
                    self._lists[brought] = pin

    def _say(self, found: Iterable[Found], n: int, turn: int) -> None:
        for one in distinct(found):
            self._add(one, n, turn)

    def _stands(self, text: str, n: int, turn: int, *tables: Table) -> None:
        """Standing text: pins are what it lays down, the same ones in every session that has it."""
        has = self._rules.has
        self._pins += [pin for pin in standing_pins(text, tables, n, turn + 1) if has(pin.kind)]

    def _add(self, found: Found, n: int, turn: int) -> int | None:
        """The index of the new pin; None when its kind is switched off."""
        if not self._rules.has(found.kind):
            return None
        self._pins.append(
            Pin(n, found.kind, found.evidence, found.rule, turn + 1, priority=PRIORITY[found.kind], quote=found.quote)
        )
        index = len(self._pins) - 1
        if found.rule == WAITS:
            self._waits.append(index)
        return index

    def _end(self, index: int | None, turn: int) -> None:
        """The pin holds no longer from the next window on."""
        if index is not None:
            pin = self._pins[index]
            if turn + 1 < pin.until:
                self._pins[index] = Pin(
                    pin.block, pin.kind, pin.evidence, pin.rule, pin.since, turn + 1, pin.priority, pin.quote
                )


def _argument(text: str, key: str) -> str:
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return ""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _first_line(text: str) -> str:
    return shorten(next((line.strip() for line in text.splitlines() if line.strip()), ""))
