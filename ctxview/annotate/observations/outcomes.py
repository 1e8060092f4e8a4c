"""What a call's result says of the resource asked for: which of its lines it shows, or that it was changed.

It prevents the lines that a call asked for from counting as seen where its result shows others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from ctxview.annotate.observations import results
from ctxview.annotate.observations.ask import Target, parse
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.rows import Pending, Rows
from ctxview.annotate.observations.seen import (
    END,
    Span,
    Spans,
    hash_json,
    numbered,
    numbered_runs,
    text_of,
    truncated_at,
)

READ_LIMIT: Final = 2000
"""Lines at which a Read without a range stops."""
_EOF_SLACK: Final = 2
"""Blank lines at the end that a client may have trimmed from what it shows."""


class Outcomes:
    """Writes into `rows` what results say of their calls' resources."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def target(self, pending: Pending, target: Target, text: str, n: int, turn: int, cwd: str | None) -> None:
        """Block `n` answers a call of no shell."""
        if target.effect != "read":
            self._change_result(pending, target, text, n, turn)
        elif results.says_unchanged(text):
            self._rows.add(n, target.key, "ack", pending, turn, rule="the client says that the file is unchanged")
        elif target.key.startswith("file:"):
            self.file_read(pending, target, text, n, turn, cwd)
        else:
            hashed = None if target.question or results.is_preview(text) else _data(text)
            self._rows.stand(n, target, pending, turn, hashed=hashed, rule=target.rule)

    def file_read(self, pending: Pending, target: Target, text: str, n: int, turn: int, cwd: str | None) -> None:
        """Block `n` answers a file tool that was to show the target."""
        if results.is_listing(text):
            self._rows.event(pending, n, turn)
            return
        if not target.sole:
            self._rows.seen(pending, target, target.spans, None, n, turn)
            return
        if self.window(pending, text, n, turn, cwd):
            return
        opened = results.opened(text)
        if opened is not None:
            self._opened(pending, target, opened, n, turn)
            return
        body = results.file_body(text)
        found = numbered(body)
        if found is None:
            self._shown(pending, target, body, n, turn)
            return
        first, last, body = found
        if first == 0:
            first, last = 1, last + 1
        asked = target.spans
        limit = asked[0][1] - asked[0][0] + 1 if asked and asked[0][1] != END else None
        count = last - first + 1
        whole = first == 1 and (count < limit if limit is not None else asked != () or count < READ_LIMIT)
        if asked and asked[0][0] > 1:
            whole = False
        spans: Spans = () if whole else ((first, last),)
        self._rows.seen(pending, target, spans, text_of(body), n, turn)

    def _opened(self, pending: Pending, target: Target, opened: results.Opened, n: int, turn: int) -> None:
        """What OpenCode's tool shows, with the words that it puts around a file or a folder."""
        found = numbered(opened.body)
        if opened.is_folder:
            self._rows.event(pending, n, turn)
        elif found is None:
            self._rows.seen(pending, target, target.spans, None, n, turn)
        else:
            spans: Spans = () if opened.to_the_end and found[0] == 1 else (found[:2],)
            text = "\n".join(line.removeprefix(" ") for line in found[2].split("\n"))
            self._rows.seen(pending, target, spans, text_of(text), n, turn)

    def shell_read(self, pending: Pending, target: Target, shown: str, n: int, turn: int) -> None:
        """Block `n` shows what a shell printed of the target."""
        if not target.sole:
            self._rows.seen(pending, target, target.spans, None, n, turn)
            return
        if target.numbered and (found := numbered(shown)) is not None:
            shown = found[2]
        self._shown(pending, target, shown, n, turn)

    def parted(self, reads: Sequence[Target], shown: str) -> Mapping[str, str]:
        """What of a shell's output each of several files shows, by key, where line numbers tell; else nothing. A file
        of which it shows several stretches is left out."""
        if len(reads) < 2 or not all(target.numbered for target in reads):
            return {}
        asked = [(target, span) for target in reads for span in target.spans or ((1, END),)]
        runs = numbered_runs(shown)
        if len(runs) != len(asked) or not all(_fits(span, run) for (_, span), run in zip(asked, runs)):
            return {}
        return {target.key: run[2] for (target, _), run in zip(asked, runs) if len(target.spans) < 2}

    def _shown(self, pending: Pending, target: Target, text: str, n: int, turn: int) -> None:
        """Lines without numbers: where they stand follows from what was asked and from how many came."""
        cut = truncated_at(text)
        if cut is not None:
            text = text[:cut]
        if not text.strip():
            self._rows.seen(pending, target, target.spans, None, n, turn)
            return
        count = text.count("\n") + (not text.endswith("\n"))
        spans = self._placed(target, count, complete=cut is None)
        self._rows.seen(pending, target, spans, text_of(text) if len(spans) < 2 else None, n, turn)

    def _placed(self, target: Target, count: int, *, complete: bool) -> Spans:
        asked = target.spans
        if not complete:
            first = asked[0][0] if asked and asked[0][0] > 0 else 1
            return ((first, first + count - 1),) if count else asked
        if len(asked) != 1:
            return asked
        first, last = asked[0]
        if first < 0:
            return self._from_end(target.key, -first, count)
        if last == END:
            return () if first == 1 else ((first, first + count - 1),)
        if count < last - first + 1 - _EOF_SLACK:
            return () if first == 1 else ((first, first + count - 1),)
        return asked

    def _from_end(self, key: str, wanted: int, count: int) -> Spans:
        """The last lines of a file: by number where its length is known, else counted from its end."""
        if count < wanted - _EOF_SLACK:
            return ()
        length = self._rows.standing.length_of(key)
        if length is not None and length >= wanted:
            return ((length - wanted + 1, length),)
        return ((-wanted, -1),)

    def _change_result(self, pending: Pending, target: Target, text: str, n: int, turn: int) -> None:
        """The answer to a write or an edit: an acknowledgement, a numbered part of the file, or the record itself."""
        shown = results.snippet(text) if target.key.startswith("file:") else None
        record = _record(text, target.returns) if target.returns else None
        if record is not None:
            self._rows.changed(pending, target, None, turn)
            read = Target(target.key, "read", "the changed record in the answer")
            self._rows.stand(n, read, pending, turn, hashed=record, rule=read.rule)
            return
        if shown is None:
            self._rows.changed(pending, target, n, turn)
            return
        seen = text_of(shown[2])
        same = target.text is not None and target.text.hash == seen.hash
        spans: Spans = () if same else ((shown[0], shown[1]),)
        self._rows.changed(pending, target, None, turn, () if target.effect == "write" else spans)
        read = Target(target.key, "read", "the changed lines in the answer", spans)
        self._rows.seen(pending, read, spans, seen, n, turn)

    def window(self, pending: Pending, text: str, n: int, turn: int, cwd: str | None) -> bool:
        """Whether a result shows SWE-agent's window on a file, and what it says of the file."""
        if "lines total)]" not in text:
            return False
        found = results.window(text)
        key = file_key(found[0], cwd) if found else None
        if found is None or key is None:
            return False
        spans: Spans = () if found[1] == (1, found[2]) else (found[1],)
        if "review the changes" in text[:600]:
            self._rows.changed(pending, Target(key, "edit", "an edit in the open file"), None, turn, spans)
        read = Target(key, "read", "the open file's window", spans)
        self._rows.seen(pending, read, spans, text_of(found[3]), n, turn)
        return True


def _fits(span: Span, run: tuple[int, int, str]) -> bool:
    """Whether a run of numbered lines can be the lines asked for: it starts with them, and may end before."""
    return run[0] == span[0] and (span[1] == END or run[1] <= span[1])


def _data(text: str) -> str | None:
    """Hash of a record's or page's content: JSON whatever the order of its keys, else the text."""
    if not text.strip():
        return None
    value = parse(text) if text[:1] in ("{", "[") else None
    return text_of(text).hash if value is None else hash_json(value)


def _record(text: str, id_name: str | None) -> str | None:
    """Hash of the record in an answer: a JSON object that holds the id it was asked by."""
    try:
        value = orjson.loads(text) if text[:1] == "{" else None
    except orjson.JSONDecodeError:
        return None
    return hash_json(value) if isinstance(value, dict) and id_name in value else None
