"""Open questions: what the agent waits to be told, and what the person marked as open."""

from __future__ import annotations

from typing import Final

from ctxview.annotate.patterns import in_lower_case, lazy
from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.matching import Table, rule
from ctxview.annotate.pins.sentences import Sentence, from_the_end

REMARK: Final = "the agent asks, and adds a remark"
_TAIL_CHARS: Final = 700
_ASKING: Final = (
    "?", "？", "lease", "et me know", "hen you", "henever you", "nce you", "oon as you", "he word", "or your ",
)  # fmt: skip
"""One of these is in every text of the agent that asks."""
MARKED: Final = Table(
    rule("marked as open", "open|unresolved|pending|outstanding|tbd|decide|decided|undecided",
         r"^(?:open|unresolved|pending|outstanding)\s+(?:question|point|issue|item)s?\s*[:—–-]\s*\S|^tbd\b\s*:?"
         r"|\b(?:still|yet)\s+to\s+be\s+decided\b"
         r"|\b(?:still\s+(?:need|have)\s+to\s+decide|not\s+decided\s+yet|undecided)\b"),
)  # fmt: skip
_WAITS: Final = (
    r"\b(?:ready when(?:ever)? you(?:'re| are)|(?:say|give me) the word|wait(?:ing)? for your (?:go|ok|okay|approval"
    r"|confirmation|word|review|sign-off)|(?:once|when|as soon as) you(?:'ve| have)? (?:confirm|choose|chosen|decide"
    r"|approve|agree|let me know|provide)(?:ed|d)?\b[^.?]{0,80}\b(?:I'll|I will|I can|we'll|we can))\b"
)
"""What an agent says that goes on when it may."""
_ASKS_TO_CONFIRM: Final = in_lower_case(
    r"\b(?:please|kindly)\s+(?:confirm|let me know|tell me|provide|specify|choose|select|clarify|share|advise)\b"
    r"|\blet me know\s+(?:if|which|whether|what|how|your)\b|" + _WAITS,
)


def question_of_agent(text: str) -> Found | None:
    """The question an answer of the agent ends with."""
    tail = text[-_TAIL_CHARS:].rpartition("```")[2]
    if not any(map(tail.__contains__, _ASKING)):
        return None
    before_options, mark, options = tail.rpartition("?")
    if mark and options.strip(" *\n") and _OPTIONS.fullmatch(options):
        tail = before_options + mark
    ending = from_the_end(tail)
    last = next(ending, None)
    if last is None:
        return None
    if last.asks:
        if any(map(last.low.__contains__, _CODE)):
            return None
        offers = _OFFER.search(last.low) is not None
        return None if offers else Found("question", "the agent ends with a question", shorten(last.text))
    if _ASKS_TO_CONFIRM.search(last.low) and not _POLITE.search(last.low):
        return Found("question", "the agent asks to be told", shorten(last.text))
    before = next(ending, None) if mark or "？" in tail else None
    if before is not None and before.asks and len(last.text) < 200 and not _ANSWERS_IT.match(last.low):
        return Found("question", REMARK, shorten(before.text))
    return None


_CODE: Final = ("===", "=>", "{")
"""What a line with a question mark holds that is code, and asks nothing."""
_ANSWERS_IT: Final = in_lower_case(r"^(?:because|since|as it turns out)\b")
"""How the answer to a question starts that the agent put to itself."""
_OPTIONS: Final = lazy(r"[*_\s]*(?:\n\s*(?:\*\*)?(?:\(?[A-Fa-f1-9][).]|[-*•])\s[^\n]*\s*)+")
"""What follows a question when only its options do."""
_PROPOSES: Final = in_lower_case(
    _WAITS + r"|\b(?:want me to|should (?:I|we)|shall (?:I|we)|would you like|do you want"
    r"|(?:are you|we) (?:ready|good) to|^ready to|(?:does|do) (?:this|that|these)|"
    r"(?:is|are) (?:this|that|these) (?:ok|okay|fine|right|correct|acceptable|what)|sounds? good|look (?:right|good"
    r"|ok)|"
    r"ok(?:ay)? (?:to|if)|(?:may|can) I|(?:to|we|I) proceed|make sense|go ahead|add that|option \w+ work"
    r"|confirm\b(?! (?:which|what|your|how|when))[^.;?]*?(?:\b(?:and|then)\s|,\s*|\bso (?:that )?)"
    r"(?:I|we)(?:'ll| will| can) \w+"
    r"|if (?:that|this|it)(?:'s| is| looks| sounds| works) (?:\w+ )?(?:ok|okay|fine|good|right|correct|alright|for you)"
    r"|would (?:that|this|it) (?:work|suit|help|do|be (?:\w+ )?(?:ok|okay|fine|good|acceptable|alright|helpful))"
    r"|let me know if (?:you(?:'d| would)? (?:like|want|prefer) me to|I (?:should|can|may)))\b",
)


def proposes(question: str) -> bool:
    """Whether a yes to this question lets something happen. A question for facts is answered, not approved."""
    return _PROPOSES.search(question.lower()) is not None


def invites_more(question: str) -> bool:
    """Whether it asks for further wishes, so that a no refuses nothing."""
    return _POLITE.search(question.lower()) is not None


_POLITE: Final = in_lower_case(
    r"\b(?:any (?:other|more|further|issues|problems|questions)|anything else|further assistance|more questions"
    r"|need (?:any|more|further))\b"
)
_OFFER: Final = in_lower_case(r"^(?:is there )?anything (?:else )?(?:i|we) can\b|^how can i (?:help|assist)\b")


def marked_question(sentence: Sentence) -> Found | None:
    """A question or point that the person calls open."""
    name = MARKED.first(sentence.low, sentence.candidates)
    return Found("question", name, shorten(sentence.text)) if name else None


_REQUEST: Final = in_lower_case(
    r"\b(?:can|could|would|will|should|may|shall)\s+(?:you|we|I|u)\b|\bplease\b|^(?:ok|right|correct|huh|really"
    r"|no)\b.{0,12}\?|,\s*(?:right|correct|ok|no|or)\s*\?$|^what more (?:can|could|do|would)\b"
    r"|^(?:does|do|did) (?:that|this|it) (?:help|make sense|work(?: for you)?)\s*\?|^how does (?:that|this|it) sound\b",
)
_TAG: Final = in_lower_case(r",\s*(?:right|correct|no)\s*\?$|\sno\s*\?$")
_FEWEST_BEFORE_TAG: Final = 5
"""Words that make a claim to be confirmed; fewer are a remark (`nice, right?`)."""
_MOST_AFTER: Final = 2
"""Sentences that may follow a question before it counts as dealt with in the message itself."""


_REFERENCE: Final = lazy(r"@\S+$|(?:https?://|/|\./)\S+$")
"""A file or page that a message names after its words."""


def question_of_person(split: list[Sentence]) -> Found | None:
    """The last question of the person's message, if little follows. A request in the form of one (`can you …?`) is
    none."""
    after = 0
    for last in split[: -_MOST_AFTER - 4 : -1]:
        if last.asks:
            if any(map(last.low.__contains__, _CODE)):
                return None
            if '"' in last.text and _is_inside_quotation(split, last):
                return None
            tagged = _TAG.search(last.low) is not None and len(last.low.split()) > _FEWEST_BEFORE_TAG
            if not tagged and _REQUEST.search(last.low):
                return None
            name = "the person asks, and goes on" if after else "the person ends with a question"
            return Found("question", name, shorten(last.text))
        if not _REFERENCE.match(last.text):
            after += 1
            if after > _MOST_AFTER:
                return None
    return None


def _is_inside_quotation(split: list[Sentence], last: Sentence) -> bool:
    """Whether its question mark stands between two quotation marks: it is not the person who asks."""
    before = split[: next(place for place, one in enumerate(split) if one is last)]
    return (sum(one.text.count('"') for one in before) + last.text.rpartition("?")[0].count('"')) % 2 == 1
