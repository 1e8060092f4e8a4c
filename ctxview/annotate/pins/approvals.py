"""Approvals: a verdict that lets the agent go ahead, from the client's own words or the person's."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import in_lower_case, lazy
from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.matching import Table, rule
from ctxview.annotate.pins.questions import proposes
from ctxview.annotate.pins.sentences import Sentence
from ctxview.model import Block

_STATED: Final = (
    "User has approved your plan",
    "User has approved exiting plan mode",
    "The user has approved",
    "User approved",
    "Plan approved",
    "Your plan has been approved",
)
_VERDICT: Final = lazy(r"^(?:APPROVED(?: by\b|:)|Approved by\b|approval granted\b)")
_ALREADY: Final = lazy(
    r"^[^\n]*\b(?:following|these)\b[^\n]* have already been approved:?(?:[ \t]*(?:\n[ \t]*)?- [^\n]+)+", re.MULTILINE
)
_LONGEST_WORDS: Final = 30

_YES: Final = in_lower_case(
    r"^(?:yes|yep|yup|yeah|sure|ok|okay|correct|go|agreed|absolutely|definitely|of course|perfect|great|fine"
    r"|please do|do it|right|exactly)\b",
)
_ORDER: Final = in_lower_case(
    r"^(?:yes|yep|yup|yeah|sure|ok|okay|great|perfect|fine|absolutely)\b[,.!\s]*(?:that'?s?\s+\w+[,.!\s]*)?(?:please"
    r"|go|proceed|do|let's|I'd like|I would like|cancel|book|"
    r"update|upgrade|change|add|use|continue|confirm|commit|write|make|transfer|downgrade)\b",
)
_YES_PLEASE: Final = in_lower_case(
    r"^(?:yes|yep|yeah|sure)\b[,.!\s]*(?:please\b|i(?:'d| would) (?:like|appreciate|love|be happy)\b|that would be)"
)
_ON: Final = in_lower_case(r"^(?:please\s+)?(?:continue|proceed|carry on|keep going)\b(?!\s+(?:without|only|but)\b)")
_GOES_ON: Final = in_lower_case(r"^(?:(?:please|so|just|then|and|now)\s+)*go ahead (?:and|with)\b")
_GO_ON: Final = in_lower_case(r"^(?:please\s+)?(?:proceed|continue|go on|carry on|keep going)(?:,?\s+please)?[.!]*$")
_BUT: Final = in_lower_case(r"\b(?:but|not|unless|before|only if|no)\b|n't\b")
_POLITELY: Final = in_lower_case(r"^(?:i (?:understand|see)|ok|okay|alright|fine)(?: that)?,? but (?=please )")
"""What a person says in front of an order in spite of what the agent said."""
_YES_BUT: Final = in_lower_case(
    r"^(?:yes|yep|yup|yeah|sure|ok|okay|right|fine|great|perfect|agreed)\b[,.!\s]*(?:please[,.!\s]*)?"
    r"(?:but|as long as|provided|only if|on (?:the )?condition)\s+(?!thank|please (?:proceed|go|continue))\w"
)
_HEDGED: Final = in_lower_case(
    r"\b(?:not|no|but|before|if|unless|until|wait|however|could|does|(?:what|how|why)(?! (?:we|you|i|they|it)\b)"
    r"|my (?:user|reservation)|id is"
    r"|I'll go ahead|I will go ahead)\b|n't\b|\bcan (?!proceed|go|merge|push|deploy|continue)|#STOP",
)
_THEN_ASKS: Final = in_lower_case(
    r",\s*(?:(?:and|so|now)\s+)?(?:do|does|can|could|what|is|are|should|shall|maybe|how|why|where|which|would)\b[^,]*$"
)
"""The question behind a verdict in the same sentence."""
_THANKS: Final = in_lower_case(r"\bthank(?:s| you)\b")
_GO: Final = in_lower_case(r"\b(?:proceed|go ahead|confirm|approved?|yes)\b")
_FACT: Final = in_lower_case(r"\b(?:it's|it is|my|here|this is)\b|@|_")
SAYS_YES: Final = Table(
    rule("a yes",
         "yes|yep|yup|yeah|sure|ok|okay|correct|go|agreed|absolutely|definitely|of course|perfect|great|fine|please do"
         "|do it|right|exactly|continue|proceed|carry on|keep going",
         r""),
)  # fmt: skip
"""By its key words: what opens with none of them is no plain yes."""
_STRONG: Final = rule(
    "go ahead",
    "approved|approve|go ahead|lgtm|ship it|confirm|confirmed|merge it|happy to proceed|good to go|works for me"
    "|that works|let's go|like to proceed|can proceed|let's proceed|makes sense|go for it|all good|it's good"
    "|this is good / please & proceed|continue / you & may|can & go|proceed|merge|push|deploy|continue"
    " / i & accept / sounds|look|looks & good|great|fine|perfect / that's & fine|acceptable",
    r"\b(?:(?:is|are|plan|that's|it's|fully) approved|I approve"
    r"|I(?:'ll| will|'d like to| would like to)? accept(?= (?:it|this|your|the)\b|[,.!]|$)"
    r"|go ahead|lgtm|ship it|I confirm|confirmed"
    r"|please (?:proceed|continue|confirm and)|you (?:may|can) (?:go ahead|proceed|merge|push|deploy|continue)"
    r"|sounds (?:good|great|fine|perfect)|looks? (?:good|great|fine|perfect)|merge it|happy to proceed|good to go"
    r"|(?:looks|sounds) like a (?:good|great) (?:idea|plan)"
    r"|works for me|that works|let's go(?! (?:back|with|for|to|over|through))|I'd like to proceed"
    r"|(?:let's|we can|can) proceed|that's (?:fine|acceptable))\b|\b(?:it's|this is|all) good(?=[.,!]|$)"
    r"|^(?:and )?(?:yes|yeah|yep|ok|okay|right)\b[,.! ]+(?:that|this|it)\b.{0,30}\bmakes (?:(?:much )?more |perfect "
    r"|total )?sense\b"
    r"|^(?:approved?|go for it)\b|\bapproved[.!]?$",
)
GOES_AHEAD: Final = Table(_STRONG)


def yes_with_a_condition(sentence: Sentence, question: str | None) -> Found | None:
    """A yes to a proposal that does not let it happen as it was put (`yes, but …`)."""
    if not (question and sentence.first and sentence.candidates & SAYS_YES.bits) or sentence.asks:
        return None
    if not _YES_BUT.match(sentence.low) or not proposes(question):
        return None
    return Found("decision", "a yes with a condition", shorten(sentence.text))


def approval_of_result(block: Block) -> Found | None:
    """Whether a tool result carries the person's or an approver's yes."""
    if block.is_error:
        return None
    head = block.text[:300].lstrip()
    if head.startswith(_STATED):
        return Found("approval", "the client reports an approval", shorten(" ".join(head.split())), "stated")
    if _VERDICT.match(head):
        return Found("approval", "the result is a verdict", shorten(" ".join(head.split())))
    return None


def approvals_in_note(text: str) -> Found | None:
    """The commands that a client says the person approved earlier (Codex' prefix rules)."""
    found = _ALREADY.search(text) if "already been approved" in text else None
    words = " ".join(found[0].split()) if found else ""
    return Found("approval", "the client names what was approved", shorten(words), "stated") if words else None


def approval_in_words(
    sentence: Sentence, *, question: str | None, alone: bool, under_way: bool = False
) -> Found | None:
    """The person's yes.

    `question`: the agent's that is open, empty for one that a yes lets nothing happen; `alone`: the sentence is the
    whole message; `under_way`: a plan or a list of work is open. A bare `sure` is an approval only alone or after a
    proposal, or it merely opens an answer. Behind the first sentence only plain words (`go ahead`) in reply to a
    proposal count.
    """
    words = _POLITELY.sub("", sentence.low)
    strong = sentence.candidates & GOES_AHEAD.bits
    if not (strong or (sentence.first and sentence.candidates & SAYS_YES.bits)):
        return None
    if sentence.asks:
        asked = _THEN_ASKS.search(words)
        if asked is None:
            return None
        words = words[: asked.start()]
    if len(words.split()) > _LONGEST_WORDS:
        return None
    if not sentence.first:
        late = _GOES_ON.match(words) or (
            question and _STRONG.matches(words) and not _HEDGED.search(words) and proposes(question)
        )
        return Found("approval", "the person said to go ahead", shorten(sentence.text)) if late else None
    if question and _YES_PLEASE.match(words) and not _BUT.search(words) and proposes(question):
        return Found("approval", "yes to the agent's question", shorten(sentence.text))
    if question and _ON.match(words) and proposes(question):
        return Found("approval", "yes to the agent's question", shorten(sentence.text))
    if alone and (under_way or question is not None) and _GO_ON.match(words):
        return Found("approval", "the person said to go on", shorten(sentence.text))
    ahead = (strong and _STRONG.matches(words)) or (question is not None and _ORDER.match(words))
    says_yes = not ahead and question is not None and _YES.match(words) and len(words.split()) <= 6
    if not (ahead or says_yes) or _HEDGED.search(words) or (_THANKS.search(words) and not _GO.search(words)):
        return None
    if ahead:
        return Found("approval", "the person said to go ahead", shorten(sentence.text))
    if question is not None and not _FACT.search(words) and (alone or proposes(question)):
        return Found("approval", "yes to the agent's question", shorten(sentence.text))
    return None
