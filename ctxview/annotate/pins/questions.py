"""Open questions: what the agent waits to be told, and what the person marked as open."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.sentences import Sentence, sentences

REMARK: Final = "the agent asks, and adds a remark"
_TAIL_CHARS: Final = 700
_MARKED: Final = re.compile(
    r"^(?:open|unresolved|pending|outstanding)\s+(?:question|point|issue|item)s?\s*[:—–-]\s*\S|^TBD\b\s*:?|\b(?:still"
    r"|yet)\s+to\s+be\s+decided\b"
    r"|\b(?:still\s+(?:need|have)\s+to\s+decide|not\s+decided\s+yet|undecided)\b",
    re.IGNORECASE,
)
_MARK_WORDS: Final = ("open", "unresolved", "pending", "outstanding", "tbd", "decide")
_ASKS_TO_CONFIRM: Final = re.compile(
    r"\b(?:please|kindly)\s+(?:confirm|let me know|tell me|provide|specify|choose|select|clarify|share|advise)\b"
    r"|\blet me know\s+(?:if|which|whether|what|how|your)\b",
    re.IGNORECASE,
)


def question_of_agent(text: str) -> Found | None:
    """The question an answer of the agent ends with."""
    tail = text[-_TAIL_CHARS:].rpartition("```")[2]
    if "?" not in tail and "lease" not in tail and "et me know" not in tail:
        return None
    before_options, mark, options = tail.rpartition("?")
    if mark and options.strip(" *\n") and _OPTIONS.fullmatch(options):
        tail = before_options + mark
    last: Sentence | None = None
    before: Sentence | None = None
    for sentence in sentences(tail):
        before, last = last, sentence
    if last is None:
        return None
    if last.asks and _OFFER.search(last.low):
        return None
    if last.asks:
        return Found("question", "the agent ends with a question", shorten(last.text))
    if _ASKS_TO_CONFIRM.search(last.low) and not _POLITE.search(last.low):
        return Found("question", "the agent asks to be told", shorten(last.text))
    if before is not None and before.asks and len(last.text) < 200:
        return Found("question", REMARK, shorten(before.text))
    return None


_OPTIONS: Final = re.compile(r"[*_\s]*(?:\n\s*(?:\*\*)?(?:\(?[A-Fa-f1-9][).]|[-*•])\s[^\n]*\s*)+")
"""What follows a question when only its options do."""
_PROPOSES: Final = re.compile(
    r"\b(?:want me to|should (?:I|we)|shall (?:I|we)|would you like|do you want|(?:are you|we) (?:ready|good) to"
    r"|^ready to|(?:does|do) (?:this|that|these)|"
    r"(?:is|are) (?:this|that|these) (?:ok|okay|fine|right|correct|acceptable|what)|sounds? good|look (?:right|good"
    r"|ok)|"
    r"ok(?:ay)? (?:to|if)|(?:may|can) I|(?:to|we|I) proceed|make sense|go ahead|add that|option \w+ work)\b",
    re.IGNORECASE,
)


def proposes(question: str) -> bool:
    """Whether a yes to this question lets something happen. A question for facts is answered, not approved."""
    return _PROPOSES.search(question) is not None


_POLITE: Final = re.compile(
    r"\b(?:any (?:other|more|further|issues|problems|questions)|anything else|further assistance|more questions"
    r"|need (?:any|more|further))\b"
)
_OFFER: Final = re.compile(r"^(?:is there )?anything (?:else )?(?:i|we) can\b|^how can i (?:help|assist)\b")



def marked_question(sentence: Sentence) -> Found | None:
    """A question or point that the person calls open."""
    if any(word in sentence.low for word in _MARK_WORDS) and _MARKED.search(sentence.low):
        return Found("question", "marked as open", shorten(sentence.text))
    return None


_REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will|should|may|shall)\s+(?:you|we|I|u)\b|\bplease\b|^(?:ok|right|correct|huh|really"
    r"|no)\b.{0,12}\?|,\s*(?:right|correct|ok|no|or)\s*\?$",
    re.IGNORECASE,
)


def question_of_person(split: list[Sentence]) -> Found | None:
    """The question a message of the person ends with. A request in the form of one (`can you …?`) is none."""
    if not split or not split[-1].asks or _REQUEST.search(split[-1].low):
        return None
    return Found("question", "the person ends with a question", shorten(split[-1].text))
