"""Preferences: how the person likes things done, where breaking it is no violation but a disappointment."""

from __future__ import annotations

from typing import Final

from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.matching import Table, rule
from ctxview.annotate.pins.sentences import Sentence

_NOUNS: Final = (
    r"(?:style|format|convention|notation|indentation|(?:single|double|straight|curly)\s+quotes|naming|units|tense"
    r"|tone|spelling|syntax|wording)"
)
_SHORT: Final = (
    "short|brief|concise|simple|small|minimal|terse|clean|compact|readable|lightweight|consistent|focused|friendly"
)
_CUSTOMS: Final = (
    "solve|write|name|format|indent|document|spell|structure|style|organise|organize|measure|report"
)
_CLAUSE: Final = r"(?:^|[,;:.]\s*|\b(?:and|please|but|just|also)\s+)"

WISHES: Final = Table(
    rule("prefer", "prefer|preferably|preference",
         r"\b(?:I|we|I'd|we'd|would|also|strongly|really|much|generally)\s+prefer\b|^prefer(?:ably)?\b"
         r"|\bmy preference\b|\bpreferably\b|[,;:(]\s*prefer\b"),
    rule("would rather", "rather & i|we", r"\b(?:I|we)(?:'d|\s+would)\s+(?:\w+\s+)?rather\b"),
    rule("I like …",
         "i like & my|short|concise|small|simple|clean|when|things|code|answers|commits|keep|have|see|use|work|write",
         r"\bI\s+(?:really\s+|generally\s+)?like\s+(?:my|short|concise|small|simple|clean|when|it\s+when|things|code"
         r"|answers|commits|to\s+(?:keep|have|see|use|work|write))\b"),
    rule("use … style", "use|write|keep|follow|stick to|format|match & style|format|convention|notation|indentation"
                        "|quotes|naming|units|tense|tone|spelling|syntax|wording",
         rf"^(?:please\s+|also\s+|and\s+)*(?:use|write|keep|follow|stick to|format|match)\b.{{1,80}}\b{_NOUNS}\b"),
    rule("round to …", "round|rounded & to|at / decimal|decimals",
         r"\bround(?:ed)?\b.{0,60}\b(?:to|at)\b.{0,30}\b(?:decimals?|digits?|places|whole|integers?|cents?|percent"
         r"|significant)\b|\b(?:one|two|three|four|\d)\s+decimals?\b.{0,30}$"),
    rule("keep it short", f"keep|make & {_SHORT}",
         rf"(?:{_CLAUSE}|\bto\s+)(?:keep|make)\s+(?:\S+\s+){{1,4}}(?:{_SHORT})\b"),
    rule("be brief", "be & brief|concise|terse|succinct|thorough|direct|precise|critical|honest",
         rf"{_CLAUSE}be\s+(?:very\s+|as\s+)?(?:brief|concise|terse|succinct|thorough|direct|precise|critical|honest)\b"),
    rule("as … as possible", "as possible",
         r"\bas\s+(?:short|simple|small|lightweight|concise|minimal|brief|cheap|clean|few|little|close|simply)\b.{0,40}"
         r"\bas\s+possible\b"),
    rule("we solve by …", f"we & {_CUSTOMS}",
         r"\bwe\s+(?:always\s+|usually\s+|normally\s+|generally\s+|tend to\s+)?"
         rf"(?:{_CUSTOMS})\s+(?:\S+\s+){{0,5}}?(?:by|with|using|in|as)\b"),
    rule("we usually …", "we & usually|normally|generally|typically",
         r"\bwe\s+(?:usually|normally|generally|typically)\s+(?:use|do|keep|put|call|test|work)\b"),
    rule("answer in …", "in & answer|reply|respond|write|speak|communicate",
         rf"{_CLAUSE}(?:answer|reply|respond|write|speak|communicate)\s+(?:\S+\s+){{0,3}}?in\s+(?:english|german|french"
         r"|spanish|korean|japanese|chinese|italian|portuguese|plain|simple|short|one|two|markdown|bullet|full"
         r"|complete|uk|us|british|american)\b"),
    rule("we want …", "we want / love to",
         r"\bwe\s+(?:\w+ly\s+|really\s+|just\s+)?want\s+(?:an?|something|it\s+to|them\s+to|this\s+to"
         r"|to\s+(?:use|keep|avoid|support|stay))\b|\blove\s+to\s+(?:solve|use|keep|have|see)\b"),
    rule("I'd like to use …", "like to & use|keep|avoid|stay|pay|stick",
         r"\b(?:I|we)(?:'d| would)\s+(?:\w+\s+)?like\s+to\s+(?:use|keep|avoid|stay\s+with|pay|stick)\b"),
    rule("return … words",
         "words|json & return|respond|reply|report|output|answer|summarise|summarize|give|provide|write",
         r"^(?:please\s+)?(?:return|respond|reply|report|output|answer|summari[sz]e|give|provide|write)\b.{0,120}?"
         r"\b\d+(?:\s*[-–]\s*\d+)?\s+words\b|^(?:please\s+)?(?:return|respond|reply|output|answer)\b.{0,60}\bjson\b"),
    rule("return … if …",
         "return|respond|reply|report|output|answer|say & if|when|unless|each|ordered|sorted|grouped|ranked",
         r"^(?:please\s+)?(?:return|respond|reply|report|output|answer|say)\s+"
         r"(?:(?:with\s+)?(?:only\s+)?(?:the\s+word\s+)?(?:«…»|[\w-]+)\s+(?:if|when|unless)\b"
         r"|(?:\S+\s+){1,12}?(?:(?:and|with)\s+each|each\s+(?:with|as|on)|(?:ordered|sorted|grouped|ranked)\s+\w)\b)"),
    rule("I'm hoping for …",
         "i|we & hoping / i|we & looking for & mainly|mostly|primarily|really|only|just",
         r"\b(?:i|we)(?:'m|\s+am|'re|\s+are)\s+(?:\w+ly\s+|still\s+)?hoping\s+(?:for"
         r"|to\s+(?:get|keep|avoid|find|have|use|stay|receive))\b"
         r"|\b(?:i|we)(?:'m|\s+am|'re|\s+are)\s+(?:mainly|mostly|primarily|really|only|just)\s+looking\s+for\b"),
    rule("in the style of", "in the style of", r"\bin the style of\b"),
    rule("ideally", "ideally", r"^(?:\w+[, ]+)?ideally\b|[,;(]\s*ideally\b"),
    rule("more important than …", "more important than",
         r"^(?!(?:why|what|which|how)\b).*?\b(?:is|are)\s+(?:\w+\s+)?more\s+important\s+than\b"),
    rule("favour", "favor|favour|in doubt", r"(?:^|[,;:]\s*)favou?r\s+\w+|\bwhen in doubt\b"),
)  # fmt: skip


def preference(sentence: Sentence) -> Found | None:
    """The preference that `sentence` states; None when it states none."""
    name = None if sentence.asks else WISHES.first(sentence.low, sentence.candidates)
    return Found("preference", f"prefers: {name}", shorten(sentence.text)) if name else None
