"""Constraints: what the person, the system text or a memory file forbids or requires.

`never …`, `do not …`, `must not …`, `only use …`, `without changing …`, `off limits`, `stay away from` and `under no
circumstances` forbid; `always …`, `must …` and `make sure …` require. A sentence counts when it gives an order: not
when it tells what happened (`I never saw this`, `the tests do not pass`), asks, or was pasted.
"""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import in_lower_case
from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.matching import Table, by_first_letter, ending, order, rule, word_class
from ctxview.annotate.pins.sentences import Sentence

_PAST: Final = (
    r"(?!\w+ed\b|(?:saw|did|got|had|has|have|was|were|went|made|ran|said|told|knew|thought|found|came|took|gave|wrote"
    r"|been|understood|meant|seen|happens?|works?|gets?|goes|does|is|are|ending|mind|really|actually|again)\b)"
)
_IDLE: Final = (
    r"(?!(?:know|think|remember|care|need|have to|see|believe|understand|mean|mind|get|like|recall|worry|hesitate|feel"
    r"|want|seem|exist|work|appear|happen|matter|belong|forget)\b)"
)
_DOING: Final = (
    r"(?:use|edit|touch|change|modify|read|write|run|call|work|answer|reply|respond|report|include|add|fix|consider"
    r"|look|(?:re-?)?review|verify|check|refactor|commit|push|install|return|output|print|make|do|update|create|delete|test|focus|apply|show"
    r"|provide|select|book|send|ask|take|go|keep|allow|refund)"
)
_CHANGING: Final = (
    "changing|touching|modifying|breaking|deleting|altering|removing|adding|committing|pushing|editing|overwriting"
    "|skipping|restarting|rewriting|renaming|introducing|asking|affecting|downgrading|using"
)

_TASK_WORDS: Final = (
    "add|announce|append|apply|ask|attach|book|build|change|check|cite|close|commit|compare"
    "|complete|confirm|consult|count|create|define|delegate|delete|deploy|describe|document|edit|emit"
    "|ensure|examine|explain|explore|fetch|fill|find|fix|focus|format|gather|get|give|identify"
    "|include|insert|inspect|install|investigate|keep|list|load|look|mark|merge|move|name|note"
    "|obtain|open|output|pass|pick|place|plan|present|propose|provide|push|put|read|record|refactor"
    "|register|remove|rename|repeat|replace|reply|report|reproduce|request|research|resolve|respond"
    "|restart|return|review|revise|rewrite|run|save|search|send|set|show|skip|split|stage|start"
    "|state|stop|study|submit|summarise|summarize|take|tell|test|think|trace|transfer|understand"
    "|update|use|validate|verify|wait|wrap|write"
)
"""Verbs that open an order."""
_CASE_WORDS: Final = "assume|capture|default|execute|ignore|rerun|retry|sign|tag|treat|try"
"""Those that do so only where it says when."""
word_class("ORDER", f"{_TASK_WORDS}|{_CASE_WORDS}|do".split("|"))
_TASKS: Final = by_first_letter(_TASK_WORDS.split("|"))
_ORDER: Final = in_lower_case(rf"(?<!can )\b(?!use\s+when\b)(?:{_TASKS})\b")

_FIRST_ORDER: Final = in_lower_case(rf"^(?:(?:please|then|and|also|first|always)\s+)*(?:{_TASKS})\b")
"""What a sentence opens with that is nothing but an order."""

_WITHOUT: Final = rule(
    "without changing …", f"without & {_CHANGING}",
    rf"(?<!error )(?<!code )\bwithout\s+(?:any\s+)?(?:{_CHANGING})\b",
)
FORBIDS: Final = Table(
    _WITHOUT,
    order("never …", "never", r"\bnever\s+" + _PAST + r"[a-z«]"),
    rule("we never …", "we never", r"\bwe\s+never\s+" + _PAST + r"[a-z]"),
    order("do not …", "do not|donot|don't|dont",
          r"\b(?:do\s*not|don'?t)\s+(?:(?:ever|even|just|simply|you)\s+)?" + _IDLE + r"[a-z«]"),
    rule("do not want …", "want & do not|donot|don't|dont",
         r"\b(?:I|we)\s+(?:\w+ly\s+|really\s+)?(?:do\s*not|don'?t)\s+(?:really\s+)?want\b"
         r"(?! to (?:know|be rude|bother))"),
    rule("must not …", "must|mustnot|mustn't", r"\bmust(?:\s*(?:not|n't)|\s+never)\b"),
    rule("should not …", "should not|should never|shouldnot|shouldn't|should n't",
         r"\b(?:you|it|they|code|tests?|comments?|files?|agents?|and|but)\s+should(?:\s*(?:not|n't)|\s+never)\s+"
         r"(?!have\b|be (?:a problem|hard|difficult|too|an issue))"),
    rule("may not …", "may not", r"\b(?:you|agents?|users?)\s+may\s+not\s+(?!have|be\s+(?:able|aware)|want|need|know)"),
    order("only …", "only", r"\bonly\s+(?:ever\s+)?" + _DOING + r"\b"),
    rule("… only", "only", r"^(?:please\s+)?" + _DOING + r"\s+only\b"),
    rule("should only …", "only & should|must|can|may|shall|will",
         r"\b(?:should|must|can|may|shall|will)\s+only\s+(?!have been|be (?:a|an|the)\b)"),
    rule("without any …", "without & sleep|sleeps|mock|mocks|hack|hacks|dependencies|comments|emojis|placeholders",
         r"(?<!\bis )(?<!\bare )\bwithout\s+(?:any\s+)?(?:[\w-]+\s+){0,2}(?:sleeps?|mocks?|hacks?|dependencies|comments"
         r"|emojis|placeholders)\b"),
    rule("I only want …", "only want", r"\b(?:I|we)(?:'d| would)?\s+only\s+want\b(?!\s+to\s+(?:know|ask|say|see)\b)"),
    rule("nothing else", "nothing & else|more", r"[,;—–-]\s*(?:and\s+)?nothing\s+(?:else|more)[).!]*$"),
    rule("only when …", "only & can|may|must|should|shall & when|if|after",
         r"\b(?:can|may|must|should|shall)\s+(?!have\b).{1,60}?\bonly\s+(?:when|if|after)\b"),
    order("do … only when …", "only & when|if",
          r"\b" + _DOING + r"\b[^,;:.]{1,40}(?<!but\s)\bonly\s+(?:when|if)\b"),
    rule("off limits", "off limits|out of bounds|hands off|no go|nogo",
         r"\boff[- ]limits\b|\bout of bounds\b|(?:^|[,;:.!]\s*|\b(?:is|are|your|keep)\s+)hands off\b|\bno[- ]go\b"),
    order("stay away from …", "stay|keep & away|clear|out & from|of",
          r"\b(?:stay|keep)\s+(?:away|clear|out)\s+(?:from|of)\b"),
    rule("steer clear of …", "steer clear", r"\bsteer clear of\b"),
    order("leave alone", "leave & alone|untouched|unchanged|as is|as it is|as they are",
          r"\bleave\s+.{1,60}?\b(?:alone|untouched|unchanged|as[- ]is|as it is|as they are)\b"),
    rule("under no circumstances", "no & circumstance|circumstances|case|event|time|point",
         r"\b(?:under|in)\s+no\s+(?:circumstances?|case|event)\b|\bat no (?:time|point)\b"),
    order("avoid …", "avoid|refrain",
          r"\b(?:avoid|refrain from)\s+(?!(?:the|this|that|it|confusion)\b(?! \w+))[\w«]"),
    order("exclude …", "exclude|omit", r"\b(?:exclude|omit)\s+(?!it\b|them\b)[\w«.]"),
    rule("not allowed", "forbidden|prohibited|allowed|permitted|disallowed|banned",
         r"\b(?:is|are)\s+(?:strictly\s+|explicitly\s+)?(?:forbidden|prohibited|not\s+(?:allowed|permitted)|disallowed"
         r"|banned)\b"),
    rule("no …",
         "no & new|external|other|additional|extra|third|more|further|hard|hardcoded|emoji|emojis|comment|comments"
         "|dependency|dependencies|mock|mocks|placeholder|placeholders|markdown|breaking|micro|change|changes",
         r"(?:^|[,;:(]\s*|\b(?:and|but|with|absolutely|please)\s+)no\s+(?:new|external|other|additional|extra"
         r"|third[- ]party|more\s+than|further|hard-?coded|emojis?|comments?|dependenc(?:y|ies)|mocks?|placeholders?"
         r"|markdown|breaking|micro|changes?)\b"),
    order("stop … now", "stop & now|immediately|here",
          r"\bstop\s+(?:[\w-]+\s+){0,4}(?:now|immediately|here)\b(?!\s+and\s+then)"),
    rule("you need not …", "you & have to & don't|dont|do not|donot / you need not",
         r"\byou\s+(?:(?:do\s*not|don'?t)\s+have\s+to|need\s+not)\s+(?!(?:worry|be|know|apologi[sz]e|tell)\b)[a-z]"),
    rule("unless explicitly …", "unless explicitly|unless specifically / unless & asked|told|instructed|requested",
         r"\bunless\s+(?:(?:i|the\s+user|you|it|this)\s+)?(?:(?:is|are|was|were|has|have|been)\s+)*"
         r"(?:(?:explicitly|specifically)\b|(?:asked|told|instructed|requested)\s+(?:to|otherwise|by)\b)"),
    rule("at most", "at most|no more than",
         r"\b(?:can|may|must|should|use|have)\b.{0,40}\bat most\b|\bno more than\b"),
)  # fmt: skip
_MUST: Final = "must …"
_WAIT: Final = "wait for my …"
WAITS: Final = f"requires: {_WAIT}"
"""The rule of a constraint that holds until the person approves."""
REQUIRES: Final = Table(
    order("always …", "always", r"\balways\s+" + _PAST + r"(?!the\b|a\b|an\b|and\b|or\b|been|in\b|on\b|there)[a-z«]"),
    rule("we always …", "we always", r"\bwe\s+always\s+" + _PAST + r"[a-z]"),
    rule("should always …", "always", r"\b(?:should|must|shall)\s+always\b"),
    rule(_MUST, "must",
         r"\b(?:you|it|they|(?:all|each|every|any|this|that|the)(?: [\w-]+){0,3}|code|tests?|commits?|changes?|agents?"
         r"|names?|output|and|which)\s+must\b(?!\s+(?:have\s+been|be\s+(?:some|a\s+)))"),
    rule("make sure …", "make sure|be sure|ensure",
         r"(?:^|[.;:]\s*|(?<!not),\s*(?:and\s+|but\s+|then\s+)?|\b(?:please|also|then|just)\s+)(?<!to )(?<!want )"
         r"(?:make\s+(?:very\s+|absolutely\s+)?sure|be\s+sure\s+(?:to|that|you)|ensure)\s+(?!i\s)"),
    rule("… and make sure …", "and & make sure|be sure|ensure",
         r"^(?:(?!\b(?:i|we|to)\b).)*?\band\s+(?:make\s+sure|be\s+sure\s+to|ensure)\s+(?!i\s)"),
    order("do not forget …", "forget", r"\b(?:do\s*not|don'?t)\s+forget\b(?! about (?:it|that))"),
    order("stick to …", "stick|limit yourself|adhere|comply",
          r"\b(?:stick\s+to|limit\s+yourself\s+to|adhere\s+to|comply\s+with)\b"),
    rule("it is required", "required|mandatory|obligatory",
         r"^(?!.*\bif\b[^,]*\b(?:is|are)\s+required).*\b(?:is|are)\s+(?:required|mandatory|obligatory)\b"),
    rule("each should …", "should & each|every",
         r"(?:^|[.;:]\s*|,\s*and\s+)(?:each|every)\s+(?:[\w-]+\s+){1,3}should\s+(?!(?:have\s+been|now|already)\b)[a-z]"),
    rule("needs to be …", "to & need|needs|has|have & be|stay|remain|run|support|use|pass",
         r"\b(?:it|this|that|they|everything|all|which|rest|output|results?|tests?|code)\s+(?:needs?|has|have)\s+to\s+"
         r"(?:be|stay|remain|run|support|use|pass)\b(?!\s+(?:a\s+way|some))"),
    rule("the only requirement", "only & requirement|requirements|rule|condition",
         r"\bthe\s+only\s+(?:requirements?|rule|condition)\s+(?:is|are)\b"),
    order("use the existing …", "existing & use|reuse|keep|follow|stick|extend",
          r"\b(?:use|re-?use|keep\s+to|follow|stick\s+(?:to|with)|extend)\s+(?:only\s+)?(?:the|our|its|your)\s+existing\b"),
    order("split into …", "into & break|split|divide",
          r"\b(?:break|split|divide)\s+(?:up\s+)?(?:[\w-]+\s+){1,6}?into\s+(?:\d|two\b|three\b|four\b|five\b)"),
    order("keep each …", "keep & each|every|all", r"\bkeep\s+(?:each|every|all)\b"),
    order("before …, …", "before",
          r"before\s+(?:you\s|[a-z]+ing\b)[^,;:]{0,80},\s*(?:(?:please|always|first|also|you|[a-z]+ly)\s+)*"
          rf"(?:{_TASKS}|analy[sz]e|study|examine)\b"),
    order("follow these …",
          "follow & phases|steps|rules|instructions|guidelines|conventions|process|procedure|workflow|protocol",
          r"\bfollow\s+(?:these|this|the(?:\s+following|se)?|all(?:\s+(?:the|of\s+the))?)\s+(?:[\w-]+\s+)?(?:phases|steps"
          r"|rules|instructions|guidelines|conventions|process|procedure|workflow|protocol)\b"),
    rule("minimal changes",
         "minimal|minimum|smallest|fewest & change|changes|edit|edits|diff|diffs|modification|modifications"
         " & make|making|apply|write|with|only|use|keep|propose|produce|implement",
         r"\b(?<!will\s)(?:make|making|apply|write|with|only|use|keep\s+to|propose|produce|implement)\s+"
         r"(?:only\s+|just\s+)?(?:the\s+|a\s+)?"
         r"(?:(?:absolute|very|focused|targeted|safe|clean),?\s+)?(?:minimal|minimum|smallest|fewest)"
         r"(?:,?\s+(?:and\s+)?(?:possible|necessary|required|focused|targeted|amount\s+of|number\s+of|set\s+of|code|safe"
         r"|local)){0,3}\s+(?:changes?|edits?|diffs?|modifications?)\b"),
    order(_WAIT,
          "wait for & my|me & go|ok|okay|approval|word|answer|confirmation|review|sign|signoff|confirm|approve|say",
          r"\bwait\s+for\s+(?:my\s+(?:go|ok|okay|approval|word|answer|confirmation|review|sign-?off)"
          r"|me\s+to\s+(?:confirm|approve|review|say|answer))\b"),
    ending("… before you …", "before you", _ORDER,
           r"before\s+you\s+(?!(?:know|leave|ask|wonder|came)\b)[a-z]"),
    ending("… before …ing", "before", _FIRST_ORDER, r"before\s+[a-z]+ing\b(?!\s+(?:is|are|was|were|looked)\b)"),
    ending("… exactly one …", "exactly", _ORDER, r"exactly\s+(?:one|once|two|twice|three|\d+)\b"),
    ending("… until all …", "until & all|every|everything", _ORDER, r"until\s+(?:all|every|everything)\b"),
)  # fmt: skip

_SUBJECT: Final = (
    r"(?:^|[.;:(—–]\s*|,\s*(?:and|but)\s+)(?!(?:if|when|whether|where|unless|because|since|until|while|once|as|what|how"
    r"|why|it|i|we|he|she|there|to|so)\b)(?:(?!(?:if|when|whether|unless|because|that|which|who|you|i)\b)"
    r"[\w«…»/.()-]+\s+){1,8}?"
)
"""What stands in front of its verb, in the main clause."""
_MANY: Final = (
    r"(?!(?:this|is|was|has|does|as|its|his|always|thus|plus|perhaps|things|results|sometimes|it's|that's|what's)\s)"
    r"[\w«…»/-]+s"
)
"""A noun in the plural."""
_LABEL: Final = r"^(?:(?!(?:note|example|e\.g)\b)[\w /&-]{1,40}:\s+)?"
_TELLS_OF: Final = (
    r"(?!\s*(?:,|or\b|and\b))(?!(?:\s+(?!(?:the|an?|it|this|that|these|those|what|which|who|where|whether|if|how|when|all|each"
    r"|every|any|no|your|my|our|their|its|me|them|us|to|with|in|on|at|for|from|of|and|or|by|as)\b)[\w-]+){0,2}\s+"
    r"(?:is|are|was|were|isn't|does|doesn't|has|had|will|would|should|can|failed|fails|broke|breaks|dropped|drops|doubled"
    r"|vanished|vanish|vanishes|crashed|crashes|shows|showed|gets|got|goes|went|comes|came|works|worked|returns|returned"
    r"|says|said|takes|took|differ|differs|overlaps)\b)"
)
"""Not what follows a verb, but a noun that is spelled like one (`when I push, build breaks`)."""
_IF: Final = rule(
    "if …, …", "if|when|once|whenever & ORDER",
    _LABEL + r"(?:if|when|once|whenever)\s+(?:[^.;:,]*(?:[.:](?=[\w«/])[^.;:,]*)*,\s+){1,4}?"
    r"(?!you\s+(?:get|find|note|look|understand|fill)\b)"
    r"(?:(?:please|then|also|first|always|just|you|[a-z]+ly)\s+)*"
    rf"(?:(?:{_TASKS}|{_CASE_WORDS}|do\s+the)\b{_TELLS_OF}|do\s+(?:it|so|this|that)\b)",
)  # fmt: skip
_IN_EACH: Final = rule(
    "in …, …", "at|in|for|on|after|during|within & ORDER",
    _LABEL + r"(?:at|in|for|on|after|during|within)\s+"
    r"(?:the(?!\s+meantime)|each|every|all|any|your|dependent|independent)\s+[^.;:,]{3,80}[,:]\s+"
    rf"(?:(?:please|then|also|first|always|[a-z]+ly)\s+)*(?:{_TASKS}|{_CASE_WORDS})\b{_TELLS_OF}",
)  # fmt: skip
_CONDITIONS: Final = re.compile(r"(?:[^:]{1,40}: )?(?:if|when|once|whenever|at|in|for|on|after|during|within) ")
"""How a sentence starts that these two can match: most that hold such a word have it elsewhere."""
ON_CONDITION: Final = Table(_IF, _IN_EACH)
STANDS: Final = Table(
    rule("… does not authorize …", "do not|does not & authorize|authorise|permit|entitle",
         r"\bdo(?:es)?\s+not\s+(?:authori[sz]e|permit|entitle)\b"),
    rule("… should not …", "should not|shouldnot|shouldn't|should n't|should never",
         _SUBJECT + r"should(?:\s*(?:not|n't)|\s+never)\s+(?!have\b|be\s+(?:a|an|too)\b)[a-z«]"),
    rule("… must …", "must", _SUBJECT + r"must\s+(?!have\s+been\b)[a-z«]"),
    rule("… should …", "should",
         r"(?:^|[.;:(—–,]\s*|,\s*(?:and|but|then)\s+)(?:you|(?:the|an|all|your|new|most|such)?\s*(?:[\w-]+\s+)?"
         rf"(?:agent|assistant|{_MANY})(?:\s+(?:that|which|who)\s+(?:[\w«…»-]+\s+){{1,5}}?)?)\s*\bshould\s+"
         r"(?:(?:also|only|generally|usually|first)\s+)*"
         r"(?!(?:not|never|have|see|now|already|probably|work|get|notice|find|know|expect|feel|look|appear|receive)\b"
         r"|be\s+(?:able|fine|good|enough|a|an|the|ok|okay|aware|possible)\b)[a-z«]"),
    ending("… before …", "before", _ORDER,
           r"before\s+(?<!as before\s)(?<!than before\s)(?<!immediately before\s)(?!and\b|(?:that|it|this)\b[.,]?$)"
           r"[a-z«]"),
    ending("… rather than …", "rather than|instead of", _ORDER, r"(?:rather\s+than|instead\s+of)\s+[a-z«]"),
    rule("… requires approval", "require|requires|need|needs & approval|permission|confirmation|consent|authorization",
         _SUBJECT + r"(?:requires?|needs?)\s+(?:(?!(?:if|when|to|no|not)\b)[\w'-]+\s+){0,3}?"
         r"(?:approval|permission|confirmation|consent|authorization)\b"),
    rule("… only permits …", "only & permits|permit|allows|allow|accepts|accept",
         r"(?<!\bif )\b(?!i\b|we\b)[a-z«…»_-]+\s+only\s+(?:permits?|allows?|accepts?)\s+[a-z«]"),
    rule("access is restricted", "access & restricted|disabled",
         r"\baccess\s+(?:to\s+[\w«…» -]{1,40}\s+)?is\s+(?:restricted|disabled)\b"),
    rule("only one … per …", "only & per",
         r"\bonly\s+(?:one|1|a\s+single)\b[^.;]{0,40}?\bper\b"),
    rule("… only for …", "only for|only on|only in|only with|only after|only once|only at",
         r"^[a-z]+(?<!ing)(?<!s)\s+only\s+(?:for|on|in|with|after|once|at)\b"),
)  # fmt: skip
"""Read in standing texts alone: people also say so of what they see."""
_UNCONDITIONAL: Final = (
    r"^(?!.*\b(?:if|when|where|whether|that|which|because|since|until|unless|so)\b[^,;:.]*\bcan(?:not|'t|\s+not)\s+be\b).*\b"
)
LIMITS: Final = Table(
    rule("cannot be …", "cannot be|can't be|can not be",
         _UNCONDITIONAL
         + r"(?:cannot|can't|can\s+not)\s+be\s+(?:\w+ly\s+)?(?:\w+e[dn]|sold|sent|made|paid|put|read|run|set)\b"),
    rule("… cannot …", "cannot|can't|can not",
         r"(?:^|[.;:(—–,]\s*|\b(?:and|but)\s+)(?:(?:the|an?|all|each|every|any)\s+)?(?:users?|customers?|members?|guests?"
         r"|passengers?|clients?|employees?)\s+(?:cannot|can't|can\s+not)\s+(?!be\b|see\b)[a-z]"),
    rule("can … but not …", "can & but & not|cannot|can't",
         r"\bcan\b[^.;:]{1,50}?\bbut\s+(?:not|cannot|can't|can\s+not)\b"),
)  # fmt: skip
"""What cannot be, in the text of the system: there it binds; elsewhere it tells of what somebody met with."""

_BITS: Final = FORBIDS.bits | REQUIRES.bits | ON_CONDITION.bits
_OURS: Final = frozenset({"we never …", "we always …", "do not want …"})
"""What `we` do as a custom, or do not want; `we` opens reports too."""
_TELLS: Final = in_lower_case(
    r"^(?:(?:oh|hm+|yeah|yes|no|ok|well|so|but|and|because)[,.]?\s+)*(?:i|he|she|they|we)\s+"
    r"(?:never|did|do|was|were|am|are|have|had)\b(?!.*\b(?:please|must|always)\b)"
)
_REQUEST: Final = in_lower_case(r"\b(?:can|could|would|will)\s+(?:you|u)\b|\bplease\b")
_MAY: Final = in_lower_case(r"\b(?:may|can)\b[^,;:.]*\bwithout\b")
"""A permission to do something without something."""
_DESCRIBES: Final = in_lower_case(
    r"^(?:the\s+)?(?:«…»|[\w.-]+):?\s+(?:(?:field|section|column|file|list)\s+)?"
    r"(?:records?|describes?|holds?|lists?|names?|explains?|defines?|documents?|contains?)\s+[a-z]"
)
"""Says what something holds, not what to do."""
_HEADING_WORDS: Final = 2
_LONGEST_HEADING: Final = 40
_CONDITION: Final = in_lower_case(r"\bif\s+(?:i|we)\s+can\s+only\b")
_IF_IT_MUST: Final = in_lower_case(
    r"\b(?:if|when|whether|unless|because|where)\s+(?:(?:all|each|every|any|this|that|the)\s+(?:[\w-]+\s+){0,2}|[\w-]+\s+)"
    r"must\b|\b(?:if|when)\b[^,;:.]*\band\s+(?:\w+\s+){1,2}must\b"
)


def constraint(sentence: Sentence, tables: tuple[Table, ...] = ()) -> Found | None:
    """The constraint that `sentence` states; None when it states none. `tables`: what is read in its kind of text,
    next to what is read in all (`STANDS`, `LIMITS`)."""
    candidates = sentence.candidates
    bits = _BITS
    for table in tables:
        bits |= table.bits
    low = sentence.low
    if candidates & ON_CONDITION.bits and not _CONDITIONS.match(low):
        candidates &= ~ON_CONDITION.bits
    if not candidates & bits:
        return None
    if sentence.asks:
        forbids = candidates & _WITHOUT.bit and _REQUEST.search(low) and _WITHOUT.matches(low)
        return Found("constraint", f"forbids: {_WITHOUT.name}", shorten(sentence.text)) if forbids else None
    name, verb = FORBIDS.first(low, candidates), "forbids"
    if name == _WITHOUT.name and _MAY.search(low):
        name = FORBIDS.first(low, candidates & ~_WITHOUT.bit)
    if name is None:
        name, verb = REQUIRES.first(low, candidates), "requires"
        if name == _MUST and _IF_IT_MUST.search(low):
            name = None
        if name is None and "MUST" in sentence.text and "«" not in low:
            name = "MUST …"
    for table in (ON_CONDITION, *tables):
        if name is None:
            name, verb = table.first(low, candidates), "lays down"
    if name is None:
        return None
    if (name not in _OURS and _TELLS.match(low)) or ("if" in low and _CONDITION.search(low)):
        return None
    if ("should" in name and _DESCRIBES.match(low)) or _is_heading(sentence.text):
        return None
    return Found("constraint", f"{verb}: {name}", shorten(sentence.text))


def _is_heading(text: str) -> bool:
    """`Never Do`: two words, each with a capital."""
    if len(text) > _LONGEST_HEADING:
        return False
    words = text.strip("*_:# ").split()
    return len(words) == _HEADING_WORDS and text[-1] not in ".!" and all(word[0].isupper() for word in words)
