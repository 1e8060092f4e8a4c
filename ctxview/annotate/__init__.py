"""Facts about blocks: what a block means, found by documented rules and always with an evidence level.

Policies, checks and views read facts and never raw text, so that a rule stands in one place only.
"""

from ctxview.annotate.facts import Facts
from ctxview.annotate.pairing import Pairing, pair
from ctxview.annotate.pins.positional import find_pins

__all__ = ["Facts", "Pairing", "find_pins", "pair"]
