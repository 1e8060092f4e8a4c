"""The key words of the rules about sentences, so that a sentence is read once for all of them."""

from __future__ import annotations

from typing import Final

from ctxview.annotate.pins.approvals import GOES_AHEAD, SAYS_YES
from ctxview.annotate.pins.constraints import FORBIDS, LIMITS, ON_CONDITION, REQUIRES, STANDS
from ctxview.annotate.pins.decisions import ANSWERS, CHOOSES, CORRECTS, SETTLES, WANTED
from ctxview.annotate.pins.denials import DECLINES, FLAT_NO, REFUSES
from ctxview.annotate.pins.matching import Candidates, Vocabulary
from ctxview.annotate.pins.preferences import WISHES
from ctxview.annotate.pins.questions import MARKED

SPOKEN: Final = Vocabulary(
    FORBIDS, REQUIRES, ON_CONDITION, CORRECTS, SETTLES, WISHES, MARKED, SAYS_YES, GOES_AHEAD, FLAT_NO, REFUSES,
    ANSWERS, CHOOSES, WANTED, DECLINES,
)  # fmt: skip
"""For what a person says."""
LAYS_DOWN: Final[Candidates] = (
    FORBIDS.bits | REQUIRES.bits | ON_CONDITION.bits | CORRECTS.bits | SETTLES.bits | WISHES.bits | MARKED.bits
)
"""The rules that need no agent to have said anything before."""
STANDING: Final = Vocabulary(FORBIDS, REQUIRES, STANDS, LIMITS, ON_CONDITION, WISHES)
"""For a text that stands: it lays down, and decides and approves nothing."""
