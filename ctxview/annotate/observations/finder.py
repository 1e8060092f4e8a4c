"""Finds what each block says of which resource, in one pass and without looking ahead.

A result stands for a read; for a write it is the call that holds the content, known from the moment its result
confirms it. In a log that holds no results at all, a write counts once the next call was made. A call that failed, or
that was interrupted, says nothing. Blocks that stood in no window are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson

from ctxview.annotate.observations import results
from ctxview.annotate.observations.ask import Ask, Target, parse, request_of
from ctxview.annotate.observations.asks import KEEPS_FOLDER, ask_of
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.notes import modified_by_command, notes_in
from ctxview.annotate.observations.rules import DEFAULT, ResourceRules
from ctxview.annotate.observations.seen import (
    END,
    Spans,
    Text,
    hash_json,
    hull,
    numbered,
    text_of,
    truncated_at,
)
from ctxview.annotate.observations.shell import fenced_command, shell_ask
from ctxview.annotate.observations.standing import Standing
from ctxview.annotate.observations.worktree import WorkTree
from ctxview.model import Block, Effect, Evidence, Observation, ResourceChange

_READ_LIMIT: Final = 2000
"""Lines at which a Read without a range stops."""
_EOF_SLACK: Final = 2
"""Blank lines at the end that a client may have trimmed from what it shows."""
_REMINDER: Final = "<system-reminder>"
_ANSWERS: Final = {"write": "answers a write", "edit": "answers an edit"}


@dataclass(slots=True)
class _Pending:
    n: int
    turn: int
    ask: Ask
    request: str
    keeps_folder: bool


class ObservationFinder:
    """Give it a session's blocks in order of arrival, then `finish`. It holds hashes and ranges, never texts."""

    def __init__(self, rules: ResourceRules = DEFAULT, cwd: str | None = None) -> None:
        self.cwd = cwd
        """Where relative paths start; may be set once the log says it."""
        self._rules = rules
        self._found: list[Observation] = []
        self._standing = Standing(rules.dependencies)
        self._worktree = WorkTree(self._standing)
        self._pending: dict[str | None, _Pending] = {}
        self._answers = False
        """Whether the log holds tool results."""
        self._said: tuple[str, int, int] | None = None
        """The agent's newest text, its block and turn: a harness may run the command that stands in it."""

    def see(self, block: Block, n: int, turn: int) -> None:
        """The next block, its number and the number of calls made so far."""
        if not block.enters:
            return
        if block.cwd is not None:
            self.cwd = block.cwd
        kind = block.kind
        if kind == "tool_call":
            self._settle(turn)
            self._call(block, n, turn)
        elif kind == "tool_result":
            self._answers = True
            self._result(block, n, turn)
            if _REMINDER in block.text:
                self._reminders(block.text, n, turn)
        elif self._said is not None and results.is_command_answer(block.text):
            self._command_answer(self._said, block, n, turn)
        elif kind == "note" or block.injected or (kind == "user" and _REMINDER in block.text):
            self._notes(block.text, n, turn)
        elif kind == "assistant":
            self._settle(turn)
        self._said = (block.text, n, turn) if kind == "assistant" else None

    def drain(self) -> tuple[tuple[Observation, ...], tuple[ResourceChange, ...]]:
        """The rows since the last time, in the order in which they became known; they are forgotten here."""
        found, changes = tuple(self._found), tuple(self._standing.changes)
        self._found.clear()
        self._standing.changes.clear()
        return found, changes

    # ------------------------------------------------------------------------------------------------ calls, results

    def _call(self, block: Block, n: int, turn: int) -> None:
        tool = block.tool or ""
        arguments = parse(block.text)
        if isinstance(arguments, str) and arguments[:1] == "{":  # arguments encoded twice
            arguments = parse(arguments) or arguments
        ask = ask_of(tool, arguments, block.text, self.cwd, self._rules)
        request = "" if ask.targets and not ask.shell else request_of(tool, arguments, block.text)
        self._pending[block.call_id] = _Pending(n, turn, ask, request, tool.lower() in KEEPS_FOLDER)

    def _result(self, block: Block, n: int, turn: int) -> None:
        pending = self._pending.pop(block.call_id, None)
        if pending is None:
            return
        ask, text = pending.ask, block.text
        if results.is_cleared(text):
            self._cleared(pending, n, turn)
        elif ask.shell:
            self._shell_result(pending, block, n, turn)
        elif block.is_error or (not text[:1].isdecimal() and results.failed(text)):
            return
        elif not ask.targets:
            if not self._window(pending, text, n, turn):
                self._event(pending, n, turn)
        elif (answers := results.answers(text)) is not None:
            self._answered(pending, answers, n, turn)
        else:
            for target in ask.targets:
                self._target(pending, target, text, n, turn)

    def _answered(self, pending: _Pending, answers: list[results.Answer], n: int, turn: int) -> None:
        """Cline's tools say of each file whether it was read or changed."""
        if all(answer.succeeded for answer in answers):
            for target in pending.ask.targets:
                if target.effect != "read":
                    self._changed(pending, target, n, turn)
        reads = {target.key: target for target in pending.ask.targets if target.effect == "read"}
        for answer in answers:
            asked = reads.get(file_key(answer.path, self.cwd) or "")
            if asked is not None and answer.succeeded:
                target = Target(asked.key, "read", asked.rule, answer.spans)
                self._file_read(pending, target, answer.text, n, turn)

    def _command_answer(self, said: tuple[str, int, int], block: Block, n: int, turn: int) -> None:
        """The harness ran the command in the agent's words, and its user message is the result."""
        text, asked, asked_in = said
        command = fenced_command(text)
        if command is not None:
            ask = shell_ask(command, self.cwd)
            pending = _Pending(asked, asked_in, ask, "" if ask.targets else request_of("", None, command), False)
            self._shell_result(pending, block, n, turn)

    def _cleared(self, pending: _Pending, n: int, turn: int) -> None:
        """The result was already gone when the log began: nothing was seen, and a change is taken to have happened."""
        for target in pending.ask.targets:
            if target.effect != "read":
                self._changed(pending, target, n, turn, evidence="inferred")
        if not pending.ask.targets:
            self._event(pending, n, turn)

    def _shell_result(self, pending: _Pending, block: Block, n: int, turn: int) -> None:
        ask = pending.ask
        payload = results.shell_payload(block.text)
        if payload.cwd is not None and pending.keeps_folder:
            self.cwd = payload.cwd
        self._modified(pending, block.text, n, turn)
        if block.is_error or payload.exit not in (None, 0) or results.failed(block.text):
            self._worktree.failed(ask.git, ask.cwd or self.cwd, block.text, n, turn)
            return
        if ask.cwd is not None and payload.cwd is None and pending.keeps_folder:
            self.cwd = ask.cwd
        shown = payload.text
        reads = [t for t in ask.targets if t.effect == "read"]
        if any(not t.sole for t in reads) and truncated_at(shown) is not None:
            reads = []  # which of them lost what cannot be told
        if not shown.strip() or shown.strip() in ask.absent:
            reads = []
        unread = {file_key(path, ask.cwd or self.cwd) for path in results.unread_paths(shown)} if reads else set()
        if any(t.key in unread for t in reads):
            reads = [t for t in reads if t.key not in unread]
        elif reads and results.not_there(shown):
            reads = []
        gone = [key for pattern in ask.patterns for key in self._standing.matching(pattern)]
        targets = [*ask.targets, *(Target(key, "edit", "rm of a pattern") for key in dict.fromkeys(gone))]
        for target in targets:
            if target.effect != "read":
                self._changed(pending, target, n if ask.silent else None, turn)
            elif target in reads:
                self._shell_read(pending, target, shown, n, turn)
        if ask.sweep is not None and not shown.lstrip().startswith("Already on"):
            self._standing.sweep(ask.cwd or self.cwd, turn + 1, n, ask.sweep, tracked=True)
        self._worktree.follow(ask.git, ask.cwd or self.cwd, shown, n, turn)
        for folder in ask.removed:
            self._standing.sweep(folder, turn + 1, n, "removed with its folder")
        if not reads and not (targets and ask.silent) and not self._window(pending, shown, n, turn):
            self._event(pending, n, turn)

    def _modified(self, pending: _Pending, text: str, n: int, turn: int) -> None:
        """Files that the client saw change while the command ran, and that the command does not name."""
        named = {target.key for target in pending.ask.targets}
        for path in modified_by_command(text):
            key = file_key(path, self.cwd)
            if key is not None and key not in named:
                self._note(n, key, "change", turn, (), None, "the client reports that the command changed it")

    def _target(self, pending: _Pending, target: Target, text: str, n: int, turn: int) -> None:
        if target.effect != "read":
            self._change_result(pending, target, text, n, turn)
        elif results.says_unchanged(text):
            self._add(n, target.key, "ack", pending, turn, rule="the client says that the file is unchanged")
        elif target.key.startswith("file:"):
            self._file_read(pending, target, text, n, turn)
        else:
            hashed = None if target.question or results.is_preview(text) else _data(text)
            self._stand(n, target, pending, turn, hashed=hashed, rule=target.rule)

    def _file_read(self, pending: _Pending, target: Target, text: str, n: int, turn: int) -> None:
        if results.is_listing(text):
            self._event(pending, n, turn)
            return
        if not target.sole:
            self._seen(pending, target, target.spans, None, n, turn)
            return
        if self._window(pending, text, n, turn):
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
        whole = first == 1 and (count < limit if limit is not None else asked != () or count < _READ_LIMIT)
        if asked and asked[0][0] > 1:
            whole = False
        spans: Spans = () if whole else ((first, last),)
        self._seen(pending, target, spans, text_of(body), n, turn)

    def _opened(self, pending: _Pending, target: Target, opened: results.Opened, n: int, turn: int) -> None:
        """What OpenCode's tool shows, with the words that it puts around a file or a folder."""
        found = numbered(opened.body)
        if opened.is_folder:
            self._event(pending, n, turn)
        elif found is None:
            self._seen(pending, target, target.spans, None, n, turn)
        else:
            spans: Spans = () if opened.to_the_end and found[0] == 1 else (found[:2],)
            text = "\n".join(line.removeprefix(" ") for line in found[2].split("\n"))
            self._seen(pending, target, spans, text_of(text), n, turn)

    def _shell_read(self, pending: _Pending, target: Target, shown: str, n: int, turn: int) -> None:
        if not target.sole:
            self._seen(pending, target, target.spans, None, n, turn)
            return
        if target.numbered and (found := numbered(shown)) is not None:
            shown = found[2]
        self._shown(pending, target, shown, n, turn)

    def _shown(self, pending: _Pending, target: Target, text: str, n: int, turn: int) -> None:
        """Lines without numbers: where they stand follows from what was asked and from how many came."""
        cut = truncated_at(text)
        if cut is not None:
            text = text[:cut]
        if not text.strip():
            self._seen(pending, target, target.spans, None, n, turn)
            return
        count = text.count("\n") + (not text.endswith("\n"))
        spans = self._placed(target, count, complete=cut is None)
        self._seen(pending, target, spans, text_of(text) if len(spans) < 2 else None, n, turn)

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
        length = self._standing.length_of(key)
        if length is not None and length >= wanted:
            return ((length - wanted + 1, length),)
        return ((-wanted, -1),)

    def _change_result(self, pending: _Pending, target: Target, text: str, n: int, turn: int) -> None:
        """The answer to a write or an edit: an acknowledgement, a numbered part of the file, or the record itself."""
        shown = results.snippet(text) if target.key.startswith("file:") else None
        record = _record(text, target.returns) if target.returns else None
        if record is not None:
            self._changed(pending, target, None, turn)
            read = Target(target.key, "read", "the changed record in the answer")
            self._stand(n, read, pending, turn, hashed=record, rule=read.rule)
            return
        if shown is None:
            self._changed(pending, target, n, turn)
            return
        seen = text_of(shown[2])
        same = target.text is not None and target.text.hash == seen.hash
        spans: Spans = () if same else ((shown[0], shown[1]),)
        self._changed(pending, target, None, turn, () if target.effect == "write" else spans)
        read = Target(target.key, "read", "the changed lines in the answer", spans)
        self._seen(pending, read, spans, seen, n, turn)

    # ---------------------------------------------------------------------------------------------------- other blocks

    def _settle(self, turn: int) -> None:
        """In a log without results, calls of earlier turns are taken to have succeeded."""
        if self._answers or not self._pending:
            return
        for call_id, pending in list(self._pending.items()):
            if pending.turn < turn:
                del self._pending[call_id]
                for target in pending.ask.targets:
                    if target.effect != "read":
                        self._changed(pending, target, None, turn, evidence="inferred")

    def _window(self, pending: _Pending, text: str, n: int, turn: int) -> bool:
        """Whether a result shows SWE-agent's window on a file, and what it says of the file."""
        if "lines total)]" not in text:
            return False
        found = results.window(text)
        key = file_key(found[0], self.cwd) if found else None
        if found is None or key is None:
            return False
        spans: Spans = () if found[1] == (1, found[2]) else (found[1],)
        if "review the changes" in text[:600]:
            self._changed(pending, Target(key, "edit", "an edit in the open file"), None, turn, spans)
        self._seen(pending, Target(key, "read", "the open file's window", spans), spans, text_of(found[3]), n, turn)
        return True

    def _reminders(self, text: str, n: int, turn: int) -> None:
        """Notes at the end of a tool's result."""
        at = text.rfind("\n" + _REMINDER) + 1
        if at > 0 or text.startswith(_REMINDER):
            self._notes(text[at:], n, turn)

    def _notes(self, text: str, n: int, turn: int) -> None:
        seen: set[str] = set()
        for note in notes_in(text):
            key = file_key(note.path, self.cwd)
            if key is None or key in seen:
                continue
            seen.add(key)
            found = numbered(note.body)
            shown = text_of(found[2]) if found else None
            if note.changed:
                spans: Spans = (found[:2],) if found else ()
                self._note(n, key, "change", turn, spans, shown, "the client reports a change")
            elif found is not None:
                spans = () if found[0] == 1 and found[1] < _READ_LIMIT else (found[:2],)
                self._note(n, key, "read", turn, spans, shown, "a file attached by the client")
            elif note.body.strip():
                self._note(n, key, "read", turn, (), text_of(note.body), "a file attached by the client")

    # ------------------------------------------------------------------------------------------------------------ rows

    def _note(self, n: int, key: str, effect: Effect, turn: int, spans: Spans, text: Text | None, rule: str) -> None:
        first, last = hull(spans)
        row = Observation(
            n, key, effect, turn, turn + 1, None, first, last, text.hash if text else None, "stated", rule
        )
        self._found.append(row)
        if effect == "change":
            self._worktree.change(key)
        self._standing.add(row, spans, text)

    def _seen(self, pending: _Pending, target: Target, spans: Spans, text: Text | None, n: int, turn: int) -> None:
        self._stand(n, target, pending, turn, spans, text, text.hash if text else None, rule=target.rule)

    def _changed(
        self,
        pending: _Pending,
        target: Target,
        ack: int | None,
        turn: int,
        spans: Spans = (),
        evidence: Evidence | None = None,
    ) -> None:
        """A write or an edit is confirmed, by block `ack` where that says no more than so."""
        text = target.text
        hashed = text.hash if text else None
        if target.rule in ("git checkout", "git restore"):
            self._worktree.restore(target.key)
        else:
            self._worktree.change(target.key)
        self._stand(pending.n, target, pending, turn, spans, text, hashed, rule=target.rule, evidence=evidence)
        if ack is not None:
            self._add(
                ack,
                target.key,
                "ack",
                pending,
                turn,
                rule="answers a write" if target.effect == "write" else "answers an edit",
            )
            self._standing.acknowledge(target.key, pending.n, ack)

    def _stand(
        self,
        n: int,
        target: Target,
        pending: _Pending,
        turn: int,
        spans: Spans = (),
        text: Text | None = None,
        hashed: str | None = None,
        *,
        rule: str,
        evidence: Evidence | None = None,
    ) -> None:
        row = self._add(n, target.key, target.effect, pending, turn, spans, hashed, rule, evidence or target.evidence)
        self._standing.add(row, spans, text, target.question)

    def _add(
        self,
        n: int,
        key: str | None,
        effect: Effect,
        pending: _Pending,
        turn: int,
        spans: Spans = (),
        content: str | None = None,
        rule: str = "",
        evidence: Evidence = "matched",
    ) -> Observation:
        first, last = hull(spans)
        if len(spans) > 1:
            rule = f"{rule}, of these lines {', '.join(f'{a}-{b}' for a, b in spans)}"
        call = pending.n if pending.n != n else None
        row = Observation(n, key, effect, pending.turn, turn + 1, call, first, last, content, evidence, rule)
        self._found.append(row)
        return row

    def _event(self, pending: _Pending, n: int, turn: int) -> None:
        request = pending.request or None
        self._add(n, None, "event", pending, turn, content=request, rule=pending.ask.rule)


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
