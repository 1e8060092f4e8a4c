"""Decisions and corrections: what was settled in words, by the person or the agent, and binds what follows."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import in_lower_case, lazy
from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.matching import Table, Vocabulary, order, rule
from ctxview.annotate.pins.sentences import Sentence, sentences_that_match

_CLAUSE: Final = (
    r"(?:^|[,;:]\s*|\s[-—–]+\s*|\b(?:and|but|so|then|please|just|also|ok|okay|no|yes|yeah|sure)[,.]?\s+)"
)
_OPENING: Final = r"^(?:(?:oh|ah|hm+|um+|ok|okay|no|well|hey|sorry|but|and|so)[,.!]*\s+)*"
_LIGHTLY: Final = r"(?:(?:probably|also|just|really|definitely|maybe|then|first|instead)\s+)*"
"""What may stand around a verb without changing what is settled."""

_OPENING_WORDS: Final = r"^(?:(?:no|hm+|but|oh|sorry|well|and|wait|yes|ok|okay|also|then|so)[,.!]*\s+)*"
_TALK: Final = (
    r"(?:know|ask|check|see|say|thank|tell|share|mention|confirm|make\s+sure|let|talk|follow|find|report|discuss|inquire"
    r"|understand|be|note|point|hear|speak|clarify|apologi[sz]e)\b"
)
"""What a person wants that settles nothing."""

SETTLES: Final = Table(
    rule("decision:", "decision|decided", r"^(?:\w+ ){0,2}decision\s*:\s*\S|^decided\s*:"),
    rule("decided", "decided|agreed|settled|chosen|opted",
         r"\b(?:we|I)(?:'ve|\s+have)?\s+(?:already\s+|now\s+)?(?:decided|agreed|settled on|chosen|opted)\b"),
    rule("let's …", "let's|lets",
         r"\b(?:let's|lets)\s+(?!(?:see|get\s+back|look\s+(?:into|at)|"
         r"say|hope|talk|discuss|think|pretend|assume|be|wait|move\s+on|try\s+to\s+find|"
         r"hear|know|me|us|you|it|the|users?|them|him|her|proceed|go(?!\s+(?:with|for|back|over|through)\b))\b)[a-z«]"),
    rule("I'll go with", "i'll|i will|we'll|we will|i'd like to & go with|go for|take|choose|pick|opt for",
         r"\b(?:I'll|I will|I'd like to|we'll|we will)\s+(?:go\s+(?:with|for)|take|choose|pick|opt for)\b"),
    rule("I'll go with", "i & choose|pick", r"\bI\s+(?:choose|pick)\b"),
    rule("I'll go with", "go ahead|proceed & with & option|first|second|third",
         r"\b(?:go\s+ahead|proceed)\s+with\s+(?:the\s+)?(?:option|first|second|third)\b"),
    rule("… for now", "for now",
         r"\b(?:use|do|keep|skip|leave|stick with|stay with)\b.{1,60}\bfor now\b|^for now\b"),
    rule("not needed", "don't need|dont need|do not need|donot need|no need",
         r"\b(?:we|you)\s+(?:do\s*not|don'?t)\s+need\s+(?:to|the|any|a)\b|^no\s+need\s+(?:to|for)\b"),
    rule("we should …", "we & should|need",
         rf"(?:{_CLAUSE}|\bi\s+(?:think|guess|feel)\s+(?:that\s+)?)we\s+{_LIGHTLY}(?:should|need\s+to)\s+{_LIGHTLY}"
         r"(?!(?:be|have|not|see|know|talk|discuss|think|consider|figure|find\s+out|wait|ask|understand|get|proceed)"
         r"\b)[a-z«]"),
    rule("should …",
         "should & do|explain|use|mention|reference|document|show|have|keep|add|make|say|update|remove|include|support",
         r"^(?:(?:and|also|so|then|probably|this|that)\s+)*should\s+" + _LIGHTLY + r"(?:do|explain|use|mention"
         r"|reference|document|show|have|keep|add|make|say|update|remove|include|support)\b"),
    rule("I also want …", "i|we & also & want|wanted|need / also like & i'd|i would|we'd|we would",
         _OPENING_WORDS + r"(?:i|we)(?:\s+also\s+(?:want(?:ed)?|need)|(?:'d|\s+would)\s+also\s+like)\s+"
         rf"(?:to\s+(?!{_TALK})|an?\b|the\b|two\b|\d)[a-z]*"),
    rule("use my …", "use|charge|apply & my",
         r"^(?:please\s+|just\s+|and\s+)*(?:use|charge|apply)\s+my\s+(?!(?:best|own\s+judg)\b)[a-z]"),
    rule("use … for …", "use & for|as|with|when|instead|on",
         r"^(?:(?:please|just|and|then|also)\s+)*use\s+(?!(?:(?:this|that|these|those|it|of|cases?)\b|the\s+(?:following|above|same)\b))"
         r"(?:[\w«».+#/-]+\s+){1,5}?(?:for|as|with|when|instead|on)\s+[\w«]"),
    rule("deliberately …",
         "intentionally|deliberately|purposely & rejected|left|kept|omitted|skipped|excluded|ignored|chosen",
         r"\b(?:is|are|was|were|been)\s+(?:intentionally|deliberately|purposely)\s+(?:rejected|left|kept|omitted|skipped"
         r"|excluded|ignored|chosen)\b"),
    rule("no longer needed", "no longer & needed|required|necessary|wanted",
         r"\bno\s+longer\s+(?:needed|required|necessary|wanted)\b"),
    rule("use … instead", "instead & use|do|make|take|try|go|switch|put|call|name|write|add|run",
         _CLAUSE + r"(?:use|do|make|take|try|go with|switch to|put|call|name|write|add|run)\b.{1,80}\binstead\b"),
)  # fmt: skip
CORRECTS: Final = Table(
    rule("actually, …", "actually",
         _OPENING + r"actually\b(?!,?\s+(?:if\b|it\s+(?:looks|seems)\b|"
         r"I'?\s*a?m\s+(?:really|thinking|so)|before\b|I\s+(?:just|like|think)))"),
    rule("I actually want", "actually & want|wanted|need|meant", r"\bI\s+actually\s+(?:want(?:ed)?|need|meant)\b"),
    rule("wait, …", "wait", _OPENING + r"wait\b(?!\s+(?:for|until|till|a\s+(?:minute|second|moment)))"),
    rule("no, …", "no|nope & instead|use|i|rather|not|make|put|keep|let's|just|only|it|we",
         r"^(?:nope|no)(?:,|\.|\s[-—–]|!)\s*(?:instead|use|I\s+meant|rather|not\s+(?:that|this|the)|make|put|keep|let's"
         r"|just\s+\w+|only|it\s+(?:should|must|has\s+to)|we\s+(?:want|need|must|should(?!\s+have)))\b"),
    rule("instead", "instead|not you|rather than please",
         r"^(?:please\s+)?instead,?\s|,\s+not\s+you\s+\w+ing\b|\b(?:rather|instead)\s+than\b.{1,40}\bplease\b"),
    rule("I meant", "mean|meant", r"\bI\s+(?:meant|mean)\b(?!\s+(?:it|to say that)\b)"),
    rule("skip …", "skip", _CLAUSE + r"skip\s+(?:the|this|that|it|all|any|over|\w+ing)\b"),
    rule("scratch that", "scratch that|never mind|nevermind|disregard / forget & it|that|about",
         r"\bscratch that\b|\bnever ?mind\b|(?<!don't )(?<!not )\bforget (?:it|that|about)\b|\bdisregard\b"),
    rule("stop …", "stop", r"^(?:please\s+|ok\s+|no[,.]?\s+)*stop\s+\w+ing\b"),
    rule("not correct", "not correct|not correctly|not right|not what|wrong|incorrect|incorrectly",
         r"^(?!.*\b(?:where|how|why)\b[^,;:]*\b(?:is|are|was)\s+(?:incorrectly|wrongly)\b).*?"
         r"\b(?:is|are|was|that's|it's|thats)\s+(?:not\s+(?:(?:correct(?:ly)?|right)\b|what\s+(?:I|we))"
         r"|(?:wrong|incorrect(?:ly)?)\b)"),
    rule("not what I wanted", "not what",
         r"(?:^|[,;:]\s*)(?:no[,.]?\s+)?not\s+(?:at\s+all\s+)?what\s+(?:I|we)\s+"
         r"(?:want(?:ed)?|ask(?:ed)?|mean|meant|said|need(?:ed)?)\b"),
    rule("just do it", "just do & it|that|this", r"\bjust do (?:it|that|this)\b"),
    rule("correction:", "correction", r"^correction\s*:"),
    rule("wrong … given", "realized|realised|noticed",
         r"\bI(?:'ve|\s+have)?\s+(?:just\s+)?(?:realized|realised|noticed)\s+(?:that\s+)?I\s+"
         r"(?:provided|gave|meant|said|wrote|asked|misspoke)\b"),
    rule("revert", "revert|undo|roll|rollback",
         _CLAUSE + r"(?:revert|undo|roll\s*back)\s+(?:the|this|that|it|your|all|those)\b"),
    rule("changed mind", "changed my mind|on second thought",
         r"\bI(?:'ve|\s+have)?\s+changed\s+my\s+mind\b|\bon second thought\b"),
)  # fmt: skip
_ACTUALLY_DO: Final = in_lower_case(_OPENING + r"actually\b,?\s+(?:can|could|would|will)\s+(?:you|u)\b")
"""A correction in the form of a question."""
_BITS: Final = CORRECTS.bits | SETTLES.bits
_AGENT: Final = Table(
    rule("the agent decided", "decision|decided|chosen|going with|go with",
         r"^(?:\w+ ){0,2}decision\s*:\s*\S|\b(?:I've|I have|I|we've|we have|we)\s+(?:decided|chosen)\s+"
         r"(?:to|that|on|against|not)\b|\bI'?m\s+going\s+with\b|\bI(?:'ll| will)\s+go\s+with\b|^let'?s\s+go\s+with\b"
         r"|\bdecision made\b"),
)  # fmt: skip
_AGENT_MARKS: Final = ("ecision", "decided", "chosen", "going with", "go with")
_AGENT_WORDS: Final = Vocabulary(_AGENT)

_REASON: Final = in_lower_case(r"^(?:it|that|this|these|those|there|they|I|because|since|thank\w*|sorry)\b")
_OPTION_CHARS: Final = 600
_BARE_OPTION_CHARS: Final = 40
"""Of one that is only named; a longer one is quoted, with its letter in brackets."""
_OPTION: Final = lazy(
    r"\s*\(?(?:option\s+|number\s+|#)?(?:[A-E]|\d{1,2})\)?[.):]?(?:\s+please)?[.!]?\s*$"
    r"|(?:.*\n)*?\(?[A-E]\)\s*\S.*",
    re.IGNORECASE,
)
ANSWERS: Final = Table(
    rule("answers",
         "put|use|make|keep|leave|call|name|add|remove|take|pick|choose|go with|go for|start with|do|drop|move|set"
         "|switch|both|neither|first|second|third|last|former|latter|cheapest|fastest|earliest|option|that should"
         "|it should|skip|change|commit|fix|run|write|revert|rename|show",
         r"^(?:(?:ok|okay|yes|yeah|no|sure|please|just|maybe|probably|well)[,.]?\s+)*(?:(?:you\s+)?can\s+(?:just\s+)?)?"
         r"(?:put|use|make|keep|leave|call|name|add|remove|take|pick|choose|go\s+(?:with|for)|start\s+with|do\s+(?:the|it|that|both|all|option)|drop|move|set"
         r"|switch|both|neither|the\s+(?:first|second|third|last|former|latter|cheapest|fastest|earliest)"
         r"|option\s+\w+(?!\s+(?:is|was|looks|seems)\b)|that\s+should|it\s+should|skip|change(?!\s+of\b)"
         r"|commit|fix|run|write|revert|rename|show)\b"),
)  # fmt: skip
_CHOICES: Final = (
    "add|book|buy|cancel|change|choose|downgrade|drop|exchange|go|keep|pay|pick|proceed|remove|return|select|skip|stick"
    "|switch|take|upgrade|use"
)
_WISHES: Final = f"{_CHOICES}|fly|have|modify|move|split|start|update"
_DOING: Final = (
    "adding|booking|bringing|buying|cancelling|canceling|changing|choosing|departing|dropping|flying|going|keeping"
    "|leaving|moving|paying|picking|removing|returning|skipping|starting|staying|switching|taking|travelling|traveling"
    "|updating|upgrading|using"
)
CHOOSES: Final = Table(
    order("I'd like to …",
          "i'd like to|i would like to|i want to|we'd like to|we would like to|we want to|i'll|i will|we'll|we will",
          r"\b(?:i|we)(?:(?:(?:'d|\s+would)\s+(?:(?:also|rather|still)\s+)?like|\s+want)\s+to\s+(?:go\s+ahead\s+and\s+)?"
          rf"(?:{_WISHES})|(?:'ll|\s+will)\s+(?:(?:just|also)\s+)?(?:{_CHOICES}))\b"),
    order("I'll be …ing", f"i'll be|i will be|we'll be|we will be & {_DOING}",
          rf"\b(?:i|we)(?:'ll|\s+will)\s+(?:\w+ly\s+)?be\s+(?:{_DOING})\b"),
    order("I think I'll …", "i think|i guess & i'll|i will|we'll|we will|i'd like|i would like|we'd like|we would like",
          r"\bi\s+(?:think|guess)\s+(?:that\s+)?(?:i|we)(?:'ll|\s+will|(?:'d|\s+would)\s+like\s+to)\s+(?:just\s+)?"
          rf"(?:{_WISHES})\b"),
    order("I need to …", f"i need to|we need to & {_WISHES}",
          rf"\b(?:i|we)\s+need\s+to\s+(?:{_WISHES})\b(?!\s+(?:(?:it|them|this|that)\s+)?(?:because|due|since)\b)"),
    order("let's move on to …", f"move on to & let's|lets & {_DOING}",
          rf"\b(?:let's|lets)\s+move\s+on\s+to\s+(?:{_DOING})\b"),
    rule("… that I want to …", "that & i|we & want to|need to|like to",
         rf"\bthat\s+(?:i|we)(?:\s+want|\s+need|\s+would\s+like|'d\s+like)\s+to\s+(?:{_WISHES})\b"),
)  # fmt: skip
"""What a person chooses, once the agent has said something: in the first message it is the goal."""
WANTED: Final = Table(
    rule("I wanted …", "i wanted",
         _OPENING_WORDS + rf"i\s+(?:\w+ly\s+)?wanted\s+(?:to\s+(?!{_TALK})"
         r"|(?:it|them|this|that|the|you\s+to|only|just|an?)\b)[a-z]*"),
)
_DONE: Final = in_lower_case(
    r"\b(?:has|have)\s+(?:now\s+)?been\s+(?:\w+ly\s+)?(?:\w+e[dn]|made|built|set|sent|put)\b|\bsuccessfully\b"
    r"|\bI(?:'ve|\s+have)\s+(?:now\s+|also\s+)?(?:\w+e[dn]|made|built|set|sent|put)\b|^done\b|\ball\s+done\b"
    r"|\bis\s+(?:now\s+)?(?:done|complete|finished|ready)\b"
)
_ABROAD: Final = 0x370
"""Letters from here on are not Latin."""
_SHORTEST_ANSWER: Final = 4
"""Characters of an answer that says more than yes, in scripts that write a word in one or two."""


def decision(sentence: Sentence) -> Found | None:
    """What the person settles or corrects in `sentence`."""
    if not sentence.candidates & _BITS or (sentence.asks and not _ACTUALLY_DO.match(sentence.low)):
        return None
    name, verb = CORRECTS.first(sentence.low, sentence.candidates), "corrects"
    if name is None:
        name, verb = SETTLES.first(sentence.low, sentence.candidates), "settles"
    return Found("decision", f"{verb}: {name}", shorten(sentence.text)) if name else None


def option(text: str) -> Found | None:
    """A choice (`B`, `option 2`, `A) the first`) in a reply to an open question of the agent."""
    text = text.strip()
    if not (len(text) <= _BARE_OPTION_CHARS or (len(text) <= _OPTION_CHARS and ")" in text)) or not _OPTION.match(text):
        return None
    return Found("decision", "answers with an option", shorten(" ".join(text.split())))


def correction(sentence: Sentence) -> Found | None:
    """What is to be done instead, said behind a refusal. A reason for it is none, nor a question."""
    if sentence.asks or _REASON.match(sentence.low):
        return None
    return Found("decision", "corrects: said right after a refusal", shorten(sentence.text))


def answer(sentence: Sentence) -> Found | None:
    """An order as the answer to an open question of the agent."""
    if sentence.asks or not ANSWERS.first(sentence.low, sentence.candidates):
        return None
    return Found("decision", "answers the agent's question", shorten(sentence.text))


def choice(sentence: Sentence, *, asked: bool) -> Found | None:
    """What the person chooses, books, changes or pays: said in answer to a question, or as the next thing to do."""
    name = None if sentence.asks else CHOOSES.first(sentence.low, sentence.candidates)
    if name is None:
        return None
    return Found("decision", "answers the agent's question" if asked else f"settles: {name}", shorten(sentence.text))


def wanted(sentence: Sentence, reported: str) -> Found | None:
    """What the person had wanted instead of what the agent `reported` as done."""
    if sentence.asks or not WANTED.first(sentence.low, sentence.candidates) or not _DONE.search(reported.lower()):
        return None
    return Found("decision", "corrects: I wanted …", shorten(sentence.text))


def answer_abroad(sentence: Sentence, question: str) -> Found | None:
    """The answer to a question in a script that the rules cannot read: what is said first, if it is more than a yes."""
    if sentence.asks or len(sentence.text) < _SHORTEST_ANSWER:
        return None
    if not (_is_abroad(question) and _is_abroad(sentence.text)):
        return None
    return Found("decision", "answers the agent's question", shorten(sentence.text))


def _is_abroad(text: str) -> bool:
    """Whether most of its letters are of another script."""
    if text.isascii():
        return False
    letters = [char for char in text if char.isalpha()]
    return sum(char >= chr(_ABROAD) for char in letters) * 2 > len(letters)


def agents_decision(text: str) -> Found | None:
    """The agent's first sentence that says it decided."""
    if not any(map(text.__contains__, _AGENT_MARKS)):
        return None
    for sentence in sentences_that_match(text, _AGENT_WORDS):
        name = None if sentence.asks else _AGENT.first(sentence.low, sentence.candidates)
        if name is not None:
            return Found("decision", f"settles: {name}", shorten(sentence.text))
    return None
