"""What a text lays down, sentence by sentence: the rules' order of precedence, for spoken and for standing texts."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ctxview.annotate.pins.approvals import approval_in_words, yes_with_a_condition
from ctxview.annotate.pins.constraints import constraint
from ctxview.annotate.pins.decisions import answer, choice, decision, wanted
from ctxview.annotate.pins.denials import denial_in_words
from ctxview.annotate.pins.found import MOST_PER_BLOCK, Found, distinct, shorten
from ctxview.annotate.pins.headings import LONGEST, items_under
from ctxview.annotate.pins.matching import Table
from ctxview.annotate.pins.preferences import preference
from ctxview.annotate.pins.questions import marked_question
from ctxview.annotate.pins.rules import PRIORITY, Phrase
from ctxview.annotate.pins.sentences import Sentence, sentences_that_match
from ctxview.annotate.pins.vocabulary import LAYS_DOWN, STANDING
from ctxview.model import Pin


class Before(NamedTuple):
    """What stood in the conversation when the person spoke."""

    asked: str | None
    """What the agent's newest text asks; empty for what no yes lets happen, None for nothing."""
    reported: str
    """The end of the agent's newest text, if it asks nothing."""
    denied: bool
    """An action was refused, and the agent has not said anything since."""
    under_way: bool
    """A plan or a list of work is open."""


def read_spoken(split: list[Sentence], before: Before, phrases: tuple[Phrase, ...]) -> list[Found]:
    """What the person lays down. A sentence is one thing, except that a refusal in words is a constraint too."""
    said: list[Found] = []
    for sentence in split:
        configured = next((p for p in phrases if p.pattern.search(sentence.text)), None) if phrases else None
        if configured is not None:
            said.append(Found(configured.kind, f"configured phrase {configured.text}", shorten(sentence.text)))
            continue
        denial = None
        if sentence.first:
            denial = denial_in_words(sentence, after_denial=before.denied, question=before.asked)
            if denial is not None:
                said.append(denial)
        if not sentence.candidates:
            continue
        found = (
            (marked_question(sentence) or constraint(sentence) or decision(sentence) or preference(sentence))
            if sentence.candidates & LAYS_DOWN
            else None
        )
        if found is None and denial is None:
            found = _reply(sentence, before, alone=len(split) == 1)
        if found is not None:
            said.append(found)
    return said


def _reply(sentence: Sentence, before: Before, *, alone: bool) -> Found | None:
    """What only counts because of what the agent said before."""
    found = yes_with_a_condition(sentence, before.asked) or approval_in_words(
        sentence, question=before.asked, alone=alone, under_way=alone and before.under_way
    )
    if found is not None:
        return found
    if before.asked is not None:
        return (answer(sentence) if sentence.first else None) or choice(sentence, asked=True)
    if before.reported:
        return (wanted(sentence, before.reported) if sentence.first else None) or choice(sentence, asked=False)
    return None


@lru_cache(maxsize=32)
def read_standing(text: str, tables: tuple[Table, ...]) -> tuple[Found, ...]:
    """What standing text (system, memory, a sub-agent's prompt) lays down. The sessions of one trace often share it.
    `tables`: of the rules that are not read in all texts, those that are read in this one."""
    found: list[Found] = []
    items: list[Found] = []
    read = 0
    for sentence in sentences_that_match(text, STANDING):
        if len(sentence.text) <= LONGEST and len(items) < MOST_PER_BLOCK:
            listed, read = items_under(sentence, text, read)
            if listed:
                items += listed
                continue
        pin = constraint(sentence, tables) or preference(sentence)
        if pin is not None:
            found.append(pin)
    if items:
        known = [one.quote for one in found]
        found += [item for item in items if not any(quote in item.quote for quote in known)]
    return tuple(distinct(found))


@lru_cache(maxsize=32)
def standing_pins(text: str, tables: tuple[Table, ...], n: int, since: int) -> tuple[Pin, ...]:
    """What standing text lays down, as pins of block `n`: sessions that start with the same text share them."""
    return tuple(
        Pin(n, kind, evidence, rule, since, priority=PRIORITY[kind], quote=quote)
        for kind, rule, quote, evidence in read_standing(text, tables)
    )
