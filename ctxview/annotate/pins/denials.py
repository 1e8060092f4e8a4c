"""Denials: an action was refused, by a policy, a permission rule, a hook, a sandbox or the person.

A command that merely failed is none. Clients announce a refusal in fixed words at the start of a tool result; those are
`stated`. Words that only suggest one (a sandbox, a hook) are `matched`, and need the client's mark of an error.
"""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.observations.results import is_codex_output
from ctxview.annotate.patterns import in_lower_case, lazy
from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.matching import Table, rule
from ctxview.annotate.pins.questions import invites_more, proposes
from ctxview.annotate.pins.sentences import Sentence
from ctxview.model import Block

REFUSED: Final = "the person refused in words"
"""The rule of a denial behind which stands what to do instead."""
POLICY: Final = "DENIED by policy:"
_HEAD_CHARS: Final = 600
_SHORT_CHARS: Final = 1_500
"""A refusal that is not marked as an error is a short text; longer ones quote something."""

# Client -> how its refusals start.
_STATED: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("denied by policy", (POLICY,)),
    (
        "the person rejected the tool use",
        (
            "The user doesn't want to proceed with this tool use",
            "The user doesn't want to take this action right now",
            "[Request interrupted by user for tool use]",
            "User rejected tool use",
            "User chose to stay in plan mode",
            "The user rejected",
            "User rejected",
            "The user denied this operation",
            "[Operation Cancelled] Reason: User did not allow tool call",
            "exec command rejected by user",
            "patch rejected by user",
            "rejected by user",
            "Action rejected by user",
            "user rejected MCP tool call",
            "user cancelled MCP tool call",
            "Tool execution was denied by the user",
        ),
    ),
    (
        "not permitted by a rule",
        (
            "Tool execution denied by policy",
            "This action was rejected due to unacceptable risk",
            "Permission for this action has been denied",
            "File is in a directory that is denied by your permission settings",
            "The user has specified a rule which prevents you",
            "Permission denied and could not request permission from user",
            "Error: DENIED by policy:",
        ),
    ),
)
_ALL_STATED: Final = tuple(start for _, starts in _STATED for start in starts)
_NOT_PERMITTED: Final = ("Operation not permitted (os error 1)", "Read-only file system (os error 30)")
"""How the output of a program ends that the system kept from a file, also where its client marks no error."""
_TAIL_CHARS: Final = 80
_BRANCH: Final = "refused by a protected branch"
_LOOSE: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("permission not granted", lazy(
        r"\bPermission to use \S.{0,200}? (?:has been|was) (?:auto-)?denied"
        r"|\brequested permissions? to\b.{0,300}?haven't granted"
        r"|\bhaven't granted it yet\b|^(?:Error: )?This (?:Bash )?command requires approval"
        r"|\brequires approval\b.{0,80}$"
        r"|\bpermission (?:was |has been )?(?:denied|refused) by (?:the )?(?:user|policy|rule)"
        r"|\bdenied by (?:your )?permission", re.DOTALL)),
    ("blocked by a hook", lazy(
        r"\b(?:Pre|Post)ToolUse:\S+ hook (?:blocking )?error|\bhook (?:PreToolUse:\S+ )?(?:denied|blocked) this tool"
        r"|\bPreToolUse\S*(?: \S+){0,6} blocked\b|\b(?:operation|tool call|command) (?:was )?blocked by (?:a "
        r"|the )?hook|\bblocked by hook", re.IGNORECASE)),
    ("blocked by the client", lazy(
        r"\bwas blocked\. For security\b|\bblocked (?:for security reasons|by (?:the )?(?:security |safety "
        r"|content )?policy)", re.IGNORECASE)),
    ("refused by the sandbox", lazy(
        r"\bOperation not permitted\b|\bsandbox(?:ed)?[- :](?:denied|violation|restriction|policy|blocked|refused"
        r"|prevented|error)"
        r"|\b(?:denied|blocked|refused|rejected|prevented) by (?:the )?(?:\w+ )?sandbox|\bsandbox-exec: "
        r"|\bfailed in sandbox\b(?!.*timed out)",
        re.IGNORECASE)),
    (_BRANCH, lazy(
        r"\bGH006: Protected branch\b|\bprotected branch hook declined\b|\bGH013: Repository rule violations\b")),
    ("rejected by the person or an approver", lazy(
        r"\brejected by (?:the )?user\b|\bRejected\(\\?\"|\bapproval (?:was |request )?(?:denied|rejected|refused)\b"
        r"|\bnot approved by\b|\buser (?:denied|declined|refused|did not approve|rejected|cancell?ed) (?:the |this "
        r"|your )?"
        r"(?:request|tool|operation|command|action|permission|call|execution)", re.IGNORECASE)),
    ("denied", lazy(
        r"^(?:Error: |MCP error [^:]{0,20}: )?(?:Access|Request|Action|Tool call|Operation|Transaction|Call) (?:is "
        r"|was |has been )?"
        r"(?:denied|refused|rejected|forbidden)\b|^(?:Error: )?(?:Denied|Forbidden|Refused)\b(?: by\b"
        r"|:)", re.IGNORECASE)),
)  # fmt: skip
_WORDS: Final = (
    "deny", "denied", "eject", "granted", "approv", "hook", "blocked", "permitted", "sandbox", "efused", "orbidden",
    "eclined", "ancel", "GH0",
)  # fmt: skip
_SHELL: Final = ("<bash-stdout>", "<bash-stderr>")
"""How the output of a command starts that the person ran."""
_NOTE: Final = lazy(r"\[Request interrupted by user for tool use\]")

_NEGATIVE: Final = in_lower_case(
    r"^(?:nope|no|stop|hey|wait|please|ok|but|whoa|hold on)?[,.!\s-]*(?:(?:please|you)\s+)?"
    r"(?:do\s*not|don'?t|never|stop|cancel|you (?:can'?t|cannot|may not|must not|should(?:n't| not)))\b"
    r"|\b(?:denied|rejected|not approved|not allowed|permission refused|I (?:do not|don't) (?:approve|allow|agree))\b",
)
FLAT_NO: Final = Table(
    rule("no, don't", "no|nope & not|donot|don't|dont|never|stop",
         r"^(?:nope|no)\b[,.!\s-]*(?:(?:please|you)\s+)?(?:do\s*not|don'?t|never|stop|not)\b"),
)  # fmt: skip


REFUSES: Final = Table(
    rule("no, …", "no|nope|nah", r"^(?:no|nope|nah)\b(?:[,.!;]|\s[-—–]|$)"),
)  # fmt: skip
_OPENS: Final = (
    r"^(?:[^.;:?!]{1,60},\s+but\s+)?(?:(?:hm+|oh|well|sorry|unfortunately|no|ok|okay|thanks|i\s+think)[,.!]*\s+)*"
)
_IT_IS: Final = r"(?:that|this|it)(?:'s|\s+is|'d\s+be|\s+would\s+be|\s+seems|\s+sounds|\s+looks)\s+(?:[\w-]+\s+){0,4}?"
_ABOVE: Final = "more than I can pay"
DECLINES: Final = Table(
    rule(_ABOVE,
         "budget|price|limit / afford / more than & pay|spend",
         _OPENS + rf"(?:{_IT_IS}(?:(?:(?:over|above|out\s+of|outside|beyond)\s+(?:of\s+)?|(?:higher|more)\s+than\s+)"
         r"(?:my|our)\s+(?:budget|price\s+range|limit)|more\s+than\s+(?:i|we)\s+can\s+(?:pay|spend|afford))\b"
         r"|(?:i|we)\s+(?:can't|cannot|can\s+not)\s+afford\b)"),
    rule("that's too much",
         "too & expensive|pricey|costly|late|early|long|much|high|far"
         " / more|not & than|what & want|wanted|hoped|planned",
         _OPENS + rf"{_IT_IS}(?:too\s+(?:expensive|pricey|costly|late|early|long|much|high|far)\b"
         r"|(?:more\s+than|not\s+what)\s+(?:i|we)\s+(?:want(?:ed)?|hoped|planned)\b)"),
)  # fmt: skip
"""Says that what was put forward costs too much, of whatever kind."""
_PLAIN_NO: Final = in_lower_case(
    r"\bthank|\b(?:that's|that is|that will be|that'll be) (?:all|it|everything|okay?|alright|all right|fine)\b"
    r"|\bit's (?:good|fine)\b|\bnothing\b|\bnot yet\b"
    r"|\bI (?:don't|do not|didn't|did not|haven't|have not|wasn't|am not|can't|cannot|only|just)\b"
    r"|\bI'm (?:good|fine|not|all)\b|\bno (?:problem|worries|need|more|other)\b"
)
"""An answer, or a polite end."""
_WORTHLESS: Final = in_lower_case(
    r"^\w+\W+(?:that|this|it)(?:'?s| is| looks| sounds)\s+(?:\w+\s+)?(?:horrible|terrible|awful|bad|ugly|wrong|stupid"
    r"|worse|too|overkill|not)\b"
)


def denial_of_result(block: Block, markers: tuple[str, ...] = ()) -> Found | None:
    """Whether a tool result refuses the action it answers."""
    head = block.text[:_HEAD_CHARS].lstrip()
    if not head:
        return None
    for marker in markers:
        if head.startswith(marker):
            return Found("denial", f"starts with the configured mark {marker}", _quote(head), "stated")
    if is_codex_output(head) and block.text[-_TAIL_CHARS:].rstrip().endswith(_NOT_PERMITTED):
        last = block.text.rstrip().rpartition("\n")[2]
        return Found("denial", "refused by the sandbox", _quote(last.strip()))
    if head.startswith(_ALL_STATED):
        rule = next(rule for rule, starts in _STATED if head.startswith(starts))
        return Found("denial", rule, _quote(head), "stated")
    if not block.is_error and len(block.text) > _SHORT_CHARS:
        return None
    if not (block.is_error or _FAILED.match(head)) or not any(map(head.__contains__, _WORDS)):
        return None
    for rule, pattern in _LOOSE:
        if pattern.search(head):
            return Found("denial", rule, _quote(head))
    return None


def denial_of_note(block: Block, markers: tuple[str, ...] = ()) -> Found | None:
    """A refusal that the client wrote into the conversation by itself: an interrupted tool, a hook that blocked."""
    head = block.text[:_HEAD_CHARS]
    if _NOTE.search(head):
        return Found("denial", "the person interrupted the tool use", _quote(head.strip()), "stated")
    if head.startswith(_SHELL):
        found = dict(_LOOSE)[_BRANCH].search(block.text)
        return Found("denial", _BRANCH, _quote(block.text[found.start() :][:_HEAD_CHARS])) if found else None
    if "ToolUse" in head and _LOOSE[1][1].search(head):
        return Found("denial", "blocked by a hook", _quote(head.strip()))
    return None


def denial_in_words(sentence: Sentence, *, after_denial: bool, question: str | None = None) -> Found | None:
    """The person forbids what the agent just tried: `No, don't …` at any time, `do not …` right after a refusal,
    `no, …` to what the agent's open `question` puts forward."""
    if sentence.asks or not sentence.first:
        return None
    if question is not None and sentence.candidates & REFUSES.bits and _refuses(sentence, question):
        worthless = _WORTHLESS.match(sentence.low) is not None
        return Found("denial", REFUSED if worthless else "no to the agent's question", shorten(sentence.text))
    if question and _declines(sentence, question):
        return Found("denial", "no to the agent's question", shorten(sentence.text))
    flat = sentence.candidates & FLAT_NO.bits and FLAT_NO.first(sentence.low, sentence.candidates)
    if flat or (after_denial and _NEGATIVE.search(sentence.low)):
        return Found("denial", REFUSED, shorten(sentence.text))
    return None


def _declines(sentence: Sentence, question: str) -> bool:
    name = DECLINES.first(sentence.low, sentence.candidates)
    return name == _ABOVE or (name is not None and proposes(question) and not invites_more(question))


def _refuses(sentence: Sentence, question: str) -> bool:
    low = sentence.low
    if not REFUSES.first(low, sentence.candidates) or _PLAIN_NO.search(low):
        return False
    return (proposes(question) and not invites_more(question)) or _WORTHLESS.match(low) is not None


_FAILED: Final = lazy(  # how the results of clients that mark no errors start, when something failed
    r"(?:<\w+>)?\s*(?:\{\"?(?:error|output)\"?\s*:\s*\"?)?(?:Error|error|Exit code [1-9]|MCP error|exec|patch|command"
    r"|Command|Rejected|rejected|"
    r"failed|execution error|Permission|Access|Request|Action|Denied|DENIED|Forbidden|Tool|PreToolUse|sandbox|User"
    r"|user|Operation|bash:)"
)


def _quote(head: str) -> str:
    return shorten(" ".join(head.split()))
