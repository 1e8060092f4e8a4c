"""S3, `refund`: fifteen turns over a customer's invoices, of which system and the last seven messages are sent.

Large pages of invoices push out what matters: a refund that policy denied at turn 3 and the order of turn 5 never to
contact the customer. At turn 12 the agent asks for the same refund again and drafts an e-mail to the customer. From
turn 9 on the window starts with a tool result whose call is gone.

The sizes are chosen so that compaction by turn group (budget 2,000, trigger 0.8, two recent turns) has work to do on
the way and still ends in a window of eleven messages that is smaller than the recorded one.
"""

from __future__ import annotations

from typing import Final

from samples.capture import NaiveLoop
from samples.common import Clock, Json, lines

SYSTEM: Final = (
    "You reconcile invoices for Harbourline. Work with the tools, one step at a time, and report what you did."
)
GOAL: Final = (
    "Goal: find out which of Orchard & Vane's invoices from 2025 were paid twice, and settle what we owe them. Refund "
    "only what you can prove."
)
CONSTRAINT: Final = (
    "One rule from legal: never contact the customer directly. Everything goes through the account team."
)
DENIAL: Final = "DENIED by policy: refunds above 500.00 EUR need a finance approver. Invoice INV-2031 stays closed."
REFUND: Final[Json] = {"invoice": "INV-2031", "amount": "1240.00"}

GOODS: Final = ("pallet wrap", "cold-chain boxes", "return labels", "customs forms", "weekend pickup", "fuel surcharge")
PAGES: Final = (25, 25, 26, 26, 22, 30, 20, 20)
"""How many invoices stand on each page: small enough that two pages fit the budget, large enough that three do not."""


def page_text(page: int) -> str:
    """One page of the invoice list; INV-2031 stands on page 2, with two payments."""
    out = [f"page {page} of {len(PAGES)}, Orchard & Vane, 2025"]
    for row in range(PAGES[page - 1]):
        number = 2000 + sum(PAGES[: page - 1]) + row
        cents = (number * 7919) % 140_000 + 9_000
        paid = f"2025-{(page + 3) % 12 + 1:02d}-{row % 27 + 1:02d}"
        amount, note = f"{cents // 100}.{cents % 100:02d}", "paid " + paid
        if number == 2031:
            amount, note = "1240.00", f"paid {paid} and 2025-07-02"
        out.append(f"INV-{number} {GOODS[number % len(GOODS)]} {amount} EUR {note}")
    return "\n".join(out)


DRAFT: Final = """draft D-88 saved, not sent
To: accounts@orchard-vane.example
Subject: Your payment for invoice INV-2031

Dear accounts team,

while reconciling the invoices of last year we saw that INV-2031 over 1240.00 EUR was paid twice: once on the day it \
fell due, and once more on 2 July. We are sorry that this was not noticed earlier.

A refund of the second payment has been requested and should reach the account it came from within ten working days. \
If you would rather set it off against an open invoice, please answer this message before the end of the week and \
name the invoice. The refund does not change the terms of your contract, and no fee will be charged for it.

Two requests. Please confirm that the bank details we hold for you are still right, since we have not used them for a \
repayment before. And please tell us if any other payment of last year looks wrong to you; we will go through it with \
you line by line, and we can set up a call on any day that suits your team.

For your records: the first payment carries your purchase order, the second one does not, and both came from the same \
account within one quarter. We have kept both statements and can send copies. From this month on, a second payment \
for a settled invoice is held back by us until you tell us what it was for, so that this cannot happen again.

Kind regards,
Harbourline Accounts"""


BALANCE: Final = (
    "account 7714: balance 0.00 EUR, credit 1240.00 EUR unassigned since 2025-07-02, no open invoice, next invoice due "
    "2026-03-31, dunning off, statement by post, payment method bank transfer, credit can be set off or paid out, last "
    "reviewed 2026-02-27"
)


def build() -> dict[str, str]:
    loop = NaiveLoop("refund", Clock.at("2026-03-05T13:30:00"), SYSTEM, keep=7, factor=1.0)

    def fetch(page: int, text: str) -> None:
        loop.turn(text, ("fetch_invoices", {"page": page}, page_text(page), False))

    loop.user(GOAL)
    fetch(1, "I start with the first page.")
    fetch(2, "No double payment so far.")
    loop.turn("INV-2031 was paid twice.", ("issue_refund", REFUND, DENIAL, True))
    fetch(3, "I go on with the other pages.")
    loop.user(CONSTRAINT)
    fetch(4, "Understood.")
    fetch(5, "Nothing on this page.")
    fetch(6, "Nothing here either.")
    fetch(7, "Two short pages are left.")
    fetch(8, "The last page.")
    loop.turn(
        "All pages are read.",
        (
            "get_account",
            {"customer": "Orchard & Vane"},
            "account 7714, net 30, contact accounts@orchard-vane.example",
            False,
        ),
    )
    loop.turn(
        "I look up the second payment.",
        (
            "get_payments",
            {"invoice": "INV-2031"},
            "two payments of 1240.00 EUR, the second without a purchase order",
            False,
        ),
    )
    loop.turn(
        "The second payment has to go back, and the customer should know.",
        ("issue_refund", REFUND, "error: payment gateway timed out, state of the refund unknown", True),
        (
            "draft_email",
            {"to": "accounts@orchard-vane.example", "template": "double_payment", "invoice": "INV-2031"},
            DRAFT,
            False,
        ),
    )
    loop.user(
        "Where do we stand? The month closes tonight and I need one line for the report: is the money on its way, or "
        "is it still with us?"
    )
    loop.turn(
        "I check the refund.",
        (
            "get_refunds",
            {"invoice": "INV-2031"},
            "no refund on record for INV-2031; last request 14 minutes ago, no answer from the gateway",
            False,
        ),
    )
    loop.turn(
        "And the open balance.",
        ("get_balance", {"account": 7714}, BALANCE, False),
    )
    loop.user("Please sum up what was found, what was done and what you will do next.")
    loop.turn(
        "INV-2031 was paid twice. The refund of 1240.00 EUR was requested and timed out, so I will request it once "
        "more. The e-mail to the customer is drafted as D-88 and can be sent."
    )
    return {"refund.jsonl": lines(loop.records)}
