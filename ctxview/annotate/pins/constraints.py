"""Constraints: what the person, the system text or a memory file forbids or requires.

`never …`, `do not …`, `must not …`, `only use …`, `without changing …`, `off limits`, `stay away from` and `under no
circumstances` forbid; `always …`, `must …` and `make sure …` require. A sentence counts when it gives an order: not
when it tells what happened (`I never saw this`, `the tests do not pass`), asks, or was pasted.
"""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.sentences import Sentence

# Where a clause starts: an order stands there, a description has its subject in front.
_HEAD: Final = (
    r"(?:^|[,;:()\[]\s*|\s[-—–]+\s*|\u2026\s*|«…»\s+"
    r"|\b(?:and|but|or|so|then|please|pls|plz|just|also|to|instead|yet|therefore|thus|again|remember|important|note"
    r"|ok|okay)\s+"
    r"|\byou\s+(?:should\s+|must\s+|can\s+|will\s+|shall\s+)?)"
)
_PAST: Final = (
    r"(?!\w+ed\b|(?:saw|did|got|had|has|have|was|were|went|made|ran|said|told|knew|thought|found|came|took|gave|wrote"
    r"|been|"
    r"understood|meant|seen|happens?|works?|gets?|goes|does|is|are|ending|mind|really|actually|again\b)\b)"
)
_IDLE: Final = (
    r"(?!(?:know|think|remember|care|need|have to|see|believe|understand|mean|mind|get|like|recall|worry|hesitate|feel|"
    r"want|seem|exist|work|appear|happen|matter|belong)\b)"
)
_NOT: Final = r"(?:do\s*not|don'?t|never)\s+(?:ever\s+|even\s+|just\s+|simply\s+|you\s+|want to\s+)?"

_FORBIDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("never …", _HEAD + r"never\s+" + _PAST + r"[a-z«]"),
        ("we never …", r"\bwe\s+never\s+" + _PAST + r"[a-z]"),
        ("do not …", _HEAD + r"(?:do\s*not|don'?t)\s+(?:ever\s+|even\s+|just\s+|simply\s+"
            r"|you\s+)?" + _IDLE + r"[a-z«]"),
        ("do not want …", r"\b(?:I|we)\s+(?:\w+ly\s+|really\s+)?(?:do\s*not|don'?t)\s+want\b(?! to (?:know|be rude"
            r"|bother))"),
        ("must not …", r"\b(?:must\s*(?:not|n't)|must\s+never|mustn't)\b"),
        ("should not …", r"\b(?:you|it|they|code|tests?|comments?|files?|agents?|and|but)\s+should\s*(?:not|n't"
            r"|never)\s+"
                         r"(?!have\b|be (?:a problem|hard|difficult|too|an issue))"),
        ("may not …", r"\b(?:you|agents?|users?)\s+may\s+not\s+(?!have|be\s+(?:able|aware)|want|need|know)"),
        ("only …", _HEAD + r"only\s+(?:ever\s+)?(?:use|edit|touch|change|modify|read|write|run|call|work|answer|reply"
            r"|respond|"
                   r"report|include|add|fix|consider|look|refactor|commit|push|install|return|output|print|make|do"
                   r"|update|"
                   r"create|delete|test|focus|apply|show|respond|provide|select|book|send|ask|take|go|keep|allow)\b"),
        ("… only", r"^(?:please\s+)?(?:use|edit|touch|change|modify|read|write|run|call|answer|reply|respond|report"
            r"|include|add|"
                   r"fix|consider|refund|return|output|print|make|update|create|delete|commit)\s+only\b"),
        ("should only …", r"^(?!.*\bif\s+(?:I|we)\s+can\b).*\b(?:should|must|can|may|shall"
            r"|will)\s+only\s+(?!have been|be (?:a|an|the)\b)"),
        ("without changing …", r"(?<!error )(?<!code )\bwithout\s+(?:any\s+)?(?:chang|touch|modify|break|delet|alter"
            r"|remov|add|commit|"
                               r"push|edit|overwrit|skip|restart|rewrit|renam|introduc|ask|affect|downgrad|us)ing\b"),
        ("off limits", r"\boff[- ]limits\b|\bout of bounds\b|\bhands off\b|\bno[- ]go\b"),
        ("stay away from …", _HEAD + r"(?:stay|keep)\s+(?:away|clear|out)\s+(?:from|of)\b|\bsteer clear of\b"),
        ("leave alone", _HEAD + r"leave\s+.{1,60}?\b(?:alone|untouched|unchanged|as[- ]is|as it is|as they are)\b"),
        ("under no circumstances", r"\b(?:under|in)\s+no\s+(?:circumstances?|case|event)\b|\bat no (?:time|point)\b"),
        ("avoid …", _HEAD + r"(?:avoid|refrain from)\s+(?!(?:the|this|that|it|confusion)\b(?! \w+))[\w«]"),
        ("not allowed", r"\b(?:is|are)\s+(?:strictly\s+|explicitly\s+)?(?:forbidden|prohibited|not\s+(?:allowed"
            r"|permitted)|disallowed|banned)\b"),
        ("no …", r"(?:^|[,;:(]\s*|\b(?:and|but|with|absolutely|please)\s+)no\s+(?:new|external|other|additional|extra"
            r"|third[- ]party|more\s+than|"
                 r"further|hard-?coded|emojis?|comments?|dependenc(?:y|ies)|mocks?|placeholders?|markdown|breaking"
                 r"|micro|changes?)\b"),
        ("at most", r"\b(?:can|may|must|should|use|have)\b.{0,40}\bat most\b|\bno more than\b"),
    )
)  # fmt: skip

_REQUIRES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("always …", _HEAD + r"always\s+" + _PAST + r"(?!the\b|a\b|been|in\b|on\b|there)[a-z«]"),
        ("we always …", r"\bwe\s+always\s+" + _PAST + r"[a-z]"),
        ("should always …", r"\b(?:should|must|shall)\s+always\b"),
        ("must …", r"\b(?:you|it|they|(?:all|each|every|any|this|that|the)(?: [\w-]+){0,3}|code|tests?|commits?"
                   r"|changes?|agents?|names?|output|and|which)\s+must\b(?!\s+(?:have\s+been|be\s+(?:some|a\s+)))"),
        ("MUST …", r"(?-i:\bMUST\b)"),
        ("make sure …", r"(?:^|[.;:]\s*|(?<!not),\s*(?:and\s+|but\s+|then\s+)?|\b(?:please|also|then"
            r"|just)\s+)(?<!to )(?<!want )(?:make\s+(?:very\s+|absolutely\s+)?sure|be\s+sure\s+(?:to|that|you)"
            r"|ensure)\s+(?!I\s)"
                          r"|^(?!.*\b(?:I|we|I'll|we'll|to)\b.*\band\s+(?:make|be|ensure)).*\band\s+(?:make\s+sure"
                          r"|be\s+sure\s+to|ensure)\s+(?!I\s)"),
        ("do not forget …", _HEAD + r"(?:do\s*not|don'?t)\s+forget\b(?! about (?:it|that))"),
        ("stick to …", _HEAD + r"(?:stick\s+to|limit\s+yourself\s+to|adhere\s+to|comply\s+with)\b"),
        ("it is required", r"\b(?:is|are)\s+(?:required|mandatory|obligatory)\b(?!\s+\w+\?)"),
        ("needs to be …", r"\b(?:it|this|that|they|everything|all|which|output|results?|tests?|code)\s+(?:needs?|has"
            r"|have)\s+to\s+(?:be|stay|remain|run|support|"
                          r"use|pass)\b(?!\s+(?:a\s+way|some))"),
        ("keep …", _HEAD + r"keep\s+(?:each|every|all)\b"),
    )
)  # fmt: skip

_HINT: Final = re.compile(
    r"never|n[o']t\b|dont\b|only|without|limits|bounds|hands off|no[- ]go|stay|keep|steer|leave|circumst|in no|at no"
    r"|avoid|"
    r"refrain|forbid|prohib|allowed|banned|no\s|at most|always|must|sure|ensure|stick|limit yourself|adhere|(?:needs?"
    r"|has|have) to|comply|required|"
    r"mandatory|obligat",
    re.IGNORECASE,
)
_OURS: Final = frozenset({"we never …", "we always …"})
"""Customs in the present tense; `we` opens reports too."""
_TELLS: Final = re.compile(
    r"^(?:(?:oh|hm+|yeah|yes|no|ok|well|so|but|and|because)[,.]?\s+)*(?:I|he|she|they|we)\s+(?:never|did|do|was|were"
    r"|am|are|have|had)\b"
    r"(?!\s*(?:not|n't)\s+want)(?!.*\b(?:please|must|always)\b)",
    re.IGNORECASE,
)


def constraint(sentence: Sentence) -> Found | None:
    """The constraint that `sentence` states; None when it states none."""
    words = sentence.plain
    if _HINT.search(words) is None or sentence.asks:
        return None
    for name, pattern in _FORBIDS:
        if pattern.search(words) and (name in _OURS or not _TELLS.match(words)):
            return Found("constraint", f"forbids: {name}", shorten(sentence.text))
    for name, pattern in _REQUIRES:
        if pattern.search(words) and (name in _OURS or not _TELLS.match(words)):
            return Found("constraint", f"requires: {name}", shorten(sentence.text))
    return None
