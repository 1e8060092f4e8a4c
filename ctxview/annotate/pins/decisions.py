"""Decisions and corrections: what was settled in words, by the person or the agent, and binds what follows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.sentences import Sentence

_HEAD: Final = r"(?:^|[,;:]\s*|\s[-—–]+\s*|\b(?:and|but|so|then|please|just|also|ok|okay|no|yes|yeah|sure)[,.]?\s+)"

_SETTLES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("decision:", r"^(?:\w+ ){0,2}decision\s*:\s*\S|^decided\s*:"),
        ("decided", r"\b(?:we|I)(?:'ve|\s+have)?\s+(?:already\s+|now\s+)?(?:decided|agreed|settled on|chosen|opted)\b"),
        ("let's …", r"\blet'?s\s+(?:go\s+(?:with|for|back)|use|do|stick\s+(?:with|to)|keep|switch|skip|not\b|take"
            r"|drop|leave|make|"
                    r"focus|start\s+(?:with|there)|continue|add|move(?!\s+on\b)|remove|call|ignore|have|put)"),
        ("I'll go with", r"\b(?:I'll|I will|I'd like to|we'll|we will)\s+(?:go\s+(?:with|for)|take|choose|pick"
            r"|opt for)\b|\bI\s+(?:choose|pick)\b"),
        ("not needed", r"\b(?:we|you)\s+(?:do\s*not|don'?t)\s+need\s+(?:to|the|any|a)\b|^no\s+need\s+(?:to|for)\b"),
        ("use … instead", _HEAD + r"(?:use|do|make|take|try|go with|switch to|put|call|name|write|add|run"
            r"|let's use)\b.{1,80}\binstead\b"),
    )
)  # fmt: skip

_CORRECTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("actually, …", r"^(?:(?:oh|ah|hm+|um+|ok|okay|no|well|hey|sorry|but|and"
            r"|so)[,.!]*\s+)*actually\b(?!,?\s+(?:I'?\s*a?m\s+(?:really|thinking|so)|before\b|I\s+(?:just|like"
            r"|think)))"),
        ("wait, …", r"^(?:(?:oh|ah|hm+|ok|no|hey|sorry)[,.!]*\s+)*wait\b(?!\s+(?:for|until|till|a\s+(?:minute|second"
            r"|moment)))"),
        ("no, …", r"^(?:nope|no)(?:,|\.|\s[-—–]|!)\s*(?:instead|use|I\s+meant|rather|not\s+(?:that|this|the)|make|put"
            r"|keep|let's|just\s+\w+|only|it\s+(?:should|must|has\s+to))\b"),
        ("instead", r"^(?:please\s+)?instead,?\s|,\s+not\s+you\s+\w+ing\b|\b(?:rather"
            r"|instead)\s+than\b.{1,40}\bplease\b"),
        ("I meant", r"\bI\s+(?:meant|mean)\b(?!\s+(?:it|to say that)\b)"),
        ("skip …", _HEAD + r"skip\s+(?:the|this|that|it|all|any|over|\w+ing)\b"),
        ("scratch that", r"\b(?:scratch that|never ?mind|forget (?:it|that|about)|disregard)\b"),
        ("stop …", r"^(?:please\s+|ok\s+|no[,.]?\s+)*stop\s+\w+ing\b"),
        ("not correct", r"\b(?:is|are|was|that's|it's|thats)\s+(?:not\s+(?:correct|right|what\s+(?:I|we))|wrong\b"
            r"|incorrect)"),
        ("correction:", r"^correction\s*:"),
        ("wrong … given", r"\bI(?:'ve|\s+have)?\s+(?:just\s+)?(?:realized|realised"
            r"|noticed)\s+(?:that\s+)?I\s+(?:provided|gave|meant|said|wrote|asked|misspoke)\b"),
        ("revert", _HEAD + r"(?:revert|undo|roll\s*back)\s+(?:the|this|that|it|your|all|those)\b"),
        ("changed mind", r"\bI(?:'ve|\s+have)?\s+changed\s+my\s+mind\b|\bon second thought\b"),
    )
)  # fmt: skip

_AGENT: Final = re.compile(
    r"^(?:\w+ ){0,2}decision\s*:\s*\S|\b(?:I've|I have|I|we've|we have|we)\s+(?:decided|chosen)\s+(?:to|that|on"
    r"|against|not)\b"
    r"|\bI'?m\s+going\s+with\b|\bI(?:'ll| will)\s+go\s+with\b|^let'?s\s+go\s+with\b|\bdecision made\b",
    re.IGNORECASE,
)
_OPTION_CHARS: Final = 600
_AGENT_HINT: Final = re.compile(r"[Dd]ecision|decided|chosen|go(?:ing)? with")
_HINT: Final = re.compile(
    r"decision|need|decided|agreed|settled|chosen|opted|let'?s|I'll|I will|I'd|we'll|we will|choose|pick|instead"
    r"|actually|wait|^nope|^no\b|,\s+not|rather|"
    r"meant?\b|skip|scratch|never ?mind|forget|disregard|stop|correct|wrong|right|what|reali[sz]ed|noticed|mistake"
    r"|revert|undo|"
    r"roll|mind|second thought",
    re.IGNORECASE,
)
_OPTION: Final = re.compile(
    r"\s*\(?(?:option\s+|number\s+|#)?(?:[A-E]|\d{1,2})\)?[.):]?(?:\s+please)?[.!]?\s*$"
    r"|(?:.*\n)*?\(?[A-E]\)\s*\S.*", re.IGNORECASE
)
_ANSWERS: Final = re.compile(
    r"^(?:(?:ok|okay|yes|yeah|no|sure|please|just|maybe|probably|well)[,.]?\s+)*(?:put|use|make|keep|leave|call|name"
    r"|add|remove|take|pick|choose|go\s+(?:with|for)|start\s+with|"
    r"do\s+(?:the|it|that|both|all|option)|drop|move|set|switch|both\b|neither\b|the\s+(?:first|second|third|last"
    r"|former|latter|cheapest|fastest|earliest)\b|"
    r"option\s+\w+|that\s+should|it\s+should|skip)\b",
    re.IGNORECASE,
)


def decision(sentence: Sentence) -> Found | None:
    """What the person settles or corrects in `sentence`."""
    words = sentence.plain
    if _HINT.search(words) is None or sentence.asks:
        return None
    for name, pattern in _CORRECTS:
        if pattern.search(words):
            return Found("decision", f"corrects: {name}", shorten(sentence.text))
    for name, pattern in _SETTLES:
        if pattern.search(words):
            return Found("decision", f"settles: {name}", shorten(sentence.text))
    return None


def option(text: str) -> Found | None:
    """A choice (`B`, `option 2`, `A) the first`) in a reply to an open question of the agent."""
    text = text.strip()
    if len(text) > _OPTION_CHARS or not _OPTION.match(text):
        return None
    return Found("decision", "answers with an option", shorten(" ".join(text.split())))


def answer(sentence: Sentence) -> Found | None:
    """An order as the answer to an open question of the agent."""
    if sentence.asks or not _ANSWERS.match(sentence.plain):
        return None
    return Found("decision", "answers the agent's question", shorten(sentence.text))


def agents_decision(text: str, split: Iterable[Sentence]) -> Found | None:
    """The agent's first sentence that says it decided; `split` is read only when a word hints at one."""
    if _AGENT_HINT.search(text) is None:
        return None
    for sentence in split:
        if not sentence.asks and _AGENT.search(sentence.plain):
            return Found("decision", "settles: the agent decided", shorten(sentence.text))
    return None
