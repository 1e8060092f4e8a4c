"""Preferences: how the person likes things done, where breaking it is no violation but a disappointment."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.sentences import Sentence

_NOUNS: Final = (
    r"(?:style|format|convention|notation|indentation|quotes|naming|units|tense|tone|spelling|syntax|wording)"
)
_SHORT: Final = (
    r"(?:short|brief|concise|simple|small|minimal|terse|clean|compact|readable|lightweight|consistent|focused"
    r"|friendly)"
)

_WISHES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("prefer", r"\b(?:I|we|I'd|we'd|would|also|strongly|really|much|generally)\s+prefer\b|^prefer(?:ably)?\b"
                   r"|\bmy preference\b|\bpreferably\b|[,;:(]\s*prefer\b"),
        ("would rather", r"\b(?:I|we)(?:'d|\s+would)\s+(?:\w+\s+)?rather\b"),
        ("I like …", r"\bI\s+(?:really\s+|generally\s+)?like\s+(?:my|short|concise|small|simple|clean|when|it\s+when"
            r"|things|code|answers|commits|"
                     r"to\s+(?:keep|have|see|use|work|write))\b"),
        ("use … style", rf"^(?:please\s+|also\s+|and\s+)*(?:use|write|keep|follow|stick to|format"
            rf"|match)\b.{{1,80}}\b{_NOUNS}\b"),
        ("round to …", r"\bround(?:ed)?\b.{0,60}\b(?:to|at)\b.{0,30}\b(?:decimals?|digits?|places|whole|integers?"
            r"|cents?|percent|significant)\b"
                       r"|\b(?:one|two|three|four|\d)\s+decimals?\b.{0,30}$"),
        ("keep it short", rf"(?:^|[,;:.]\s*|\b(?:and|please|but|to|just)\s+)(?:keep"
            rf"|make)\s+(?:\S+\s+){{1,4}}{_SHORT}\b"),
        ("be brief", r"(?:^|[,;:.]\s*|\b(?:and|please|but|just)\s+)be\s+(?:very\s+|as\s+)?(?:brief|concise|terse"
            r"|succinct|thorough|direct|precise|critical|honest)\b"),
        ("as … as possible", r"\bas\s+(?:short|simple|small|lightweight|concise|minimal|brief|cheap|clean|few|little"
            r"|close|simply)\b.{0,40}\bas\s+possible\b"),
        ("we solve by …", r"\bwe\s+(?:always\s+|usually\s+|normally\s+|generally\s+|tend to\s+)?(?:solve|write|name"
            r"|format|indent|document|spell|structure|style|"
                          r"organi[sz]e|measure|report)\s+(?:\S+\s+){0,5}?(?:by|with|using|in|as)\b"),
        ("we usually …", r"\bwe\s+(?:usually|normally|generally|typically)\s+(?:use|do|keep|put|call|test|work)\b"),
        ("answer in …", r"(?:^|[,;:.]\s*|\b(?:and|please|but|just)\s+)(?:answer|reply|respond|write|speak"
            r"|communicate)\s+(?:\S+\s+){0,3}?in\s+(?:english|german|french|spanish|"
                        r"korean|japanese|chinese|italian|portuguese|plain|simple|short|one|two|markdown|bullet|full"
                        r"|complete|uk|us|british|american)\b"),
        ("we want …", r"\bwe\s+(?:\w+ly\s+|really\s+|just\s+)?want\s+(?:an?|something|it\s+to|them\s+to|this\s+to"
            r"|to\s+(?:use|keep|avoid|support|stay))\b"
                      r"|\blove\s+to\s+(?:solve|use|keep|have|see)\b"),
        ("in the style of", r"\bin the style of\b"),
        ("ideally", r"^(?:\w+[, ]+)?ideally\b|[,;(]\s*ideally\b"),
        ("favour", r"(?:^|[,;:]\s*)favou?r\s+\w+|\bwhen in doubt\b"),
    )
)  # fmt: skip
_HINT: Final = re.compile(
    r"prefer|want|love|rather|I\s+(?:\w+\s+)?like|style|format|convention|notation|indent|quotes|naming|units|tone"
    r"|spelling|syntax|wording|tense|"
    r"round|decimal|keep|make|\bbe\b|possible|we\s|answer|reply|respond|write|speak|communicat|ideally|favo|doubt",
    re.IGNORECASE,
)


def preference(sentence: Sentence) -> Found | None:
    """The preference that `sentence` states; None when it states none."""
    words = sentence.plain
    if _HINT.search(words) is None or sentence.asks:
        return None
    for name, pattern in _WISHES:
        if pattern.search(words):
            return Found("preference", f"prefers: {name}", shorten(sentence.text))
    return None
