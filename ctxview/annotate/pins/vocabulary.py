"""All key words of the rules about sentences, so that a sentence is read once for all of them."""

from __future__ import annotations

from typing import Final

from ctxview.annotate.pins.approvals import SAYS_YES
from ctxview.annotate.pins.constraints import FORBIDS, REQUIRES
from ctxview.annotate.pins.decisions import CORRECTS, SETTLES
from ctxview.annotate.pins.matching import Vocabulary
from ctxview.annotate.pins.preferences import WISHES
from ctxview.annotate.pins.questions import MARKED

SPOKEN: Final = Vocabulary(FORBIDS, REQUIRES, CORRECTS, SETTLES, WISHES, MARKED, SAYS_YES)
