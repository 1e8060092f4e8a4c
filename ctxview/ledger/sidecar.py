"""A ledger kept in a file beside the trace: `<trace>.ledger.csv` or `.jsonl`, or one that is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

from ctxview.errors import UsageError
from ctxview.ledger.rows import LedgerRow
from ctxview.project import LEDGERS
from ctxview.window import SessionView
from ctxview.window.table import column

_COLUMNS: Final = ("finding", "value", "source", "noted_at", "section")


def sidecar_of(trace: Path) -> Path | None:
    """The ledger file beside `trace`; None when there is none."""
    for suffix in LEDGERS:
        path = trace.with_name(trace.name.split(".", 1)[0] + suffix)
        for candidate in (trace.with_suffix(suffix), path):
            if candidate.is_file():
                return candidate
    return None


def rows_beside(view: SessionView) -> tuple[LedgerRow, ...]:
    """The rows of the ledger files beside the files that hold the session. Raises UsageError for a broken one."""
    traces = [Path(file) for file in dict.fromkeys(column(view.blocks, "file")) if file and file != "<stdin>"]
    found = dict.fromkeys(beside for trace in traces if (beside := sidecar_of(trace)) is not None)
    return tuple(row for path in found for row in sidecar_rows(path))


def sidecar_rows(path: Path) -> tuple[LedgerRow, ...]:
    """Its rows, in order. Raises UsageError naming the file, the line and what is wrong."""
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name another ledger file") from None
    records = _jsonl(path, text) if path.suffix == ".jsonl" else _csv(path, text)
    return tuple(_row(path, number, record, n) for n, (number, record) in enumerate(records, 1))


def _csv(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(StringIO(text, newline=""))  # lines as csv has them: a cell may hold several
    try:
        if not {"finding", "value"} & set(reader.fieldnames or ()):
            raise UsageError(f"{path}, line 1: no column `finding` or `value`", f"columns: {', '.join(_COLUMNS)}")
        for record in reader:
            yield reader.line_num, record
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {error}", "mend or shorten that line") from None


def _jsonl(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: not JSON ({error})", "one object per line") from None
        if not isinstance(record, dict):
            raise UsageError(f"{path}, line {number}: not an object", f"keys: {', '.join(_COLUMNS)}")
        yield number, record


def _row(path: Path, line: int, record: Mapping[str, Any], n: int) -> LedgerRow:
    noted = record.get("noted_at")
    if noted in (None, ""):
        turn = None
    else:
        try:
            turn = int(noted)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"{path}, line {line}: noted_at is {noted!r}", "give the number of a turn") from None
    words = {key: "" if (value := record.get(key)) is None else str(value).strip() for key in _COLUMNS}
    return LedgerRow(f"L{n}", words["finding"], words["value"], words["source"], turn, words["section"])
