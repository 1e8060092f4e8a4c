"""The findings ledger: what an agent noted down, and whether it reached what it wrote.

Screens must say what the check is worth: `encoded` means that a token arrived, not that its condition survived nor
that it is right.
"""

from ctxview.annotate.note_rules import NoteRules
from ctxview.ledger.drafts import Draft, Drafts, find_drafts
from ctxview.ledger.encoding import distinctive_tokens, holds_value
from ctxview.ledger.rows import LedgerRow, find_rows
from ctxview.ledger.sidecar import rows_beside, sidecar_rows
from ctxview.ledger.state import Gate, Ledger, RowState, Survival, ledger_of

__all__ = [
    "Draft",
    "Drafts",
    "Gate",
    "Ledger",
    "LedgerRow",
    "NoteRules",
    "RowState",
    "Survival",
    "distinctive_tokens",
    "find_drafts",
    "find_rows",
    "holds_value",
    "ledger_of",
    "rows_beside",
    "sidecar_rows",
]
