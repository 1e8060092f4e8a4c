"""S4, `ledger`: a rule in two steps is read, noted, and drafted four hundred calls later with one step missing.

The run compares parcel sorters. Four findings go into a ledger on the way; of these the report carries one in full and
one without its value, and two not at all. The ledger also stands beside the trace as a CSV file.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import dataclass, field
from typing import Final

from samples import ledger_texts as texts
from samples.common import Ids, Json, lines


@dataclass(frozen=True, slots=True)
class Row:
    finding: str
    value: str
    source: str
    noted_at: int
    """The turn whose model call notes it; the call before that reads the source."""
    section: str
    content: str
    """What reading the source gives."""

    @property
    def path(self) -> str:
        return self.source.split(":")[0]


ROWS: Final = (
    Row(
        "the selection rule has two steps, drop scores below the cutoff and then keep the top five",
        "p60",
        "docs/selection_rule.md:40-58",
        3,
        "Selection",
        texts.SELECTION_RULE,
    ),
    Row(
        "a failed run is repeated until retry_limit_s is used up",
        "1750",
        "config/harness.toml:8-9",
        61,
        "Method",
        texts.HARNESS,
    ),
    Row(
        "parcels in the held-out set after doubles were removed",
        "18432",
        "docs/data_card.md:13-15",
        148,
        "Data",
        texts.DATA_CARD,
    ),
    Row(
        "the baseline sorter_v2_ref missorts this many parcels of the held-out set",
        "2614",
        "runs/baseline/metrics.txt:5",
        291,
        "Results",
        texts.BASELINE,
    ),
)
FIRST_DRAFT: Final = 403
REMINDERS: Final = (100, 200, 300, 400)
POLLING: Final = range(240, 267)
"""Turns that only ask whether a job is done."""
REMINDER: Final = "<system-reminder>Read the ledger back before you draft a section.</system-reminder>"


@dataclass(slots=True)
class Chat:
    """OpenAI chat messages, as an agent keeps them."""

    ids: Ids = field(default_factory=lambda: Ids("ledger"))
    messages: list[Json] = field(default_factory=list)
    turns: int = 0

    def say(self, role: str, text: str) -> None:
        self.messages.append({"role": role, "content": text})

    def call(self, name: str, arguments: Json, result: str, text: str | None = None) -> None:
        """One model call that asks for one tool, and the tool's answer."""
        self.turns += 1
        call_id = self.ids.short("call", "call_", 24)
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        call = {"id": call_id, "type": "function", "function": function}
        self.messages.append({"role": "assistant", "content": text, "tool_calls": [call]})
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": result})


def numbered(text: str) -> str:
    return "\n".join(f"{n:>3}  {line}" for n, line in enumerate(text.rstrip("\n").split("\n"), 1))


def measured(turn: int, low: int, high: int, salt: str) -> int:
    """A measurement between low and high that depends on nothing but its arguments."""
    digest = hashlib.sha256(f"{salt}/{turn}".encode()).digest()
    return low + int.from_bytes(digest[:4], "big") % (high - low)


def survey(chat: Chat, step: int) -> None:
    """One of the many calls in which the runs are gone through, six for each sorter."""
    sorter, part = step // 6 + 1, step % 6
    name = f"sorter-{sorter:02d}"
    turn = chat.turns + 1
    if part == 0:
        listing = "\n".join(("metrics.txt", "log.txt", "errors.csv", "notes.txt"))
        chat.call("list_files", {"path": f"runs/{name}"}, listing, f"Next is {name}.")
    elif part == 1:
        rate, score = measured(turn, 410, 690, "rate"), measured(turn, 52, 97, "score")
        content = f"parcels per minute: {rate}\nreliability: 0.{score}\njams: {rate % 17}\nhours: {score // 2}"
        chat.call("read_file", {"path": f"runs/{name}/metrics.txt"}, numbered(content))
    elif part == 2:
        belt = measured(turn, 2, 9, "belt")
        content = (
            f"08:0{belt} belt {belt} started, camera calibrated\n09:1{belt} belt {belt} slowed for a torn label\n"
            f"11:4{belt} lunch stop\n15:2{belt} shift ended without a fault"
        )
        chat.call("read_file", {"path": f"runs/{name}/log.txt"}, numbered(content))
    elif part == 3:
        wrong = [measured(turn, 3, 60, depot) for depot in ("north", "south", "harbour")]
        content = f"depot,missorted\nnorth,{wrong[0]}\nsouth,{wrong[1]}\nharbour,{wrong[2]}"
        chat.call("read_file", {"path": f"runs/{name}/errors.csv"}, numbered(content))
    elif part == 4:
        remark = texts.REMARKS[measured(turn, 0, len(texts.REMARKS), "remark")]
        chat.call("read_file", {"path": f"runs/{name}/notes.txt"}, numbered(remark))
    else:
        hits = measured(turn, 0, 5, "hits")
        chat.call("search", {"query": "torn label", "path": f"runs/{name}"}, f"{hits} matches in log.txt")


def draft(chat: Chat, section: str, text: str, say: str | None = None) -> None:
    chat.call(
        "write_section", {"section": section, "text": text}, f"section {section} saved, {len(text.split())} words", say
    )


def close(chat: Chat) -> None:
    """Drafts the sections and the report. Nothing is read any more."""
    draft(chat, "Selection", texts.SELECTION, "All runs are read. I start with the selection.")
    chat.call("count_words", {"section": "Selection"}, str(len(texts.SELECTION.split())))
    for section, text in (("Method", texts.METHOD), ("Data", texts.DATA), ("Results", texts.RESULTS)):
        draft(chat, section, text)
        chat.call("count_words", {"section": section}, str(len(text.split())))
    draft(chat, "Selection", texts.SELECTION_AGAIN, "The selection can be shorter.")
    chat.call("check_links", {"section": "Results"}, "0 broken links")
    chat.call("spell_check", {"section": "all"}, "0 remarks")
    draft(chat, "Summary", texts.SUMMARY)
    chat.call("count_words", {"section": "Summary"}, str(len(texts.SUMMARY.split())))
    report = texts.REPORT
    chat.call("write_file", {"path": "report.md", "content": report}, f"report.md written, {len(report)} characters")
    chat.call("spell_check", {"path": "report.md"}, "0 remarks")
    chat.call("count_words", {"path": "report.md"}, str(len(report.split())))
    chat.call("list_files", {"path": "."}, "config\ndocs\nreport.md\nruns")
    chat.turns += 1
    chat.say(
        "assistant",
        "The report is written: report.md. Of the sorters in runs/ we keep the top five for the field trial.",
    )


def build() -> dict[str, str]:
    chat = Chat()
    chat.say("system", texts.SYSTEM)
    chat.say("user", texts.GOAL)
    chat.call("list_files", {"path": "docs"}, "data_card.md\nselection_rule.md", "I look at the documents first.")
    notes = {row.noted_at: (n, row) for n, row in enumerate(ROWS, 1)}
    step = 0
    while chat.turns < FIRST_DRAFT - 1:
        turn = chat.turns + 1
        if turn in REMINDERS:
            chat.say("user", REMINDER)
        if turn in notes:
            n, row = notes[turn]
            given = {"finding": row.finding, "value": row.value, "source": row.source, "section": row.section}
            chat.call("append_ledger", given, f"row {n} noted")
        elif turn + 1 in notes:
            row = notes[turn + 1][1]
            chat.call("read_file", {"path": row.path}, numbered(row.content))
        elif turn in POLLING:
            chat.call("job_status", {"job": "rescore-3"}, "done" if turn == POLLING[-1] else "running")
        else:
            survey(chat, step)
            step += 1
    close(chat)
    return {"ledger.jsonl": lines(chat.messages), "ledger.ledger.csv": sidecar()}


def sidecar() -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("finding", "value", "source", "noted_at", "section"))
    table.writerows((row.finding, row.value, row.source, row.noted_at, row.section) for row in ROWS)
    return out.getvalue()
