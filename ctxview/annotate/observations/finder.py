"""Finds what each block says of which resource, in one pass and without looking ahead.

A result stands for a read; for a write it is the call that holds the content, known from the moment its result
confirms it. In a log that holds no results at all, a write counts once the next call was made. A call that failed, or
that was interrupted, says nothing. Blocks that stood in no window are left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from ctxview.annotate.observations import results
from ctxview.annotate.observations.ask import Target, parse, request_of
from ctxview.annotate.observations.asks import KEEPS_FOLDER, ask_of
from ctxview.annotate.observations.formatters import left_alone, rewritten_though_failed
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.notes import modified_by_command, notes_in
from ctxview.annotate.observations.outcomes import READ_LIMIT, Outcomes
from ctxview.annotate.observations.rows import Pending, Rows
from ctxview.annotate.observations.rules import DEFAULT, ResourceRules
from ctxview.annotate.observations.seen import Spans, numbered, text_of, truncated_at
from ctxview.annotate.observations.shell import fenced_command, shell_ask
from ctxview.model import Block, Observation, ResourceChange

_REMINDER: Final = "<system-reminder>"


class ObservationFinder:
    """Give it a session's blocks in order of arrival, then `finish`. It holds hashes and ranges, never texts."""

    def __init__(self, rules: ResourceRules = DEFAULT, cwd: str | None = None) -> None:
        self.cwd = cwd
        """Where relative paths start; may be set once the log says it."""
        self._rules = rules
        self._rows = Rows(rules.dependencies)
        self._outcomes = Outcomes(self._rows)
        self._pending: dict[str | None, Pending] = {}
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
        found, changes = tuple(self._rows.found), tuple(self._rows.standing.changes)
        self._rows.found.clear()
        self._rows.standing.changes.clear()
        return found, changes

    # ------------------------------------------------------------------------------------------------ calls, results

    def _call(self, block: Block, n: int, turn: int) -> None:
        tool = block.tool or ""
        arguments = parse(block.text)
        if isinstance(arguments, str) and arguments[:1] == "{":  # arguments encoded twice
            arguments = parse(arguments) or arguments
        ask = ask_of(tool, arguments, block.text, self.cwd, self._rules)
        request = "" if ask.targets and not ask.shell else request_of(tool, arguments, block.text)
        self._pending[block.call_id] = Pending(n, turn, ask, request, tool.lower() in KEEPS_FOLDER)

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
            if not self._outcomes.window(pending, text, n, turn, self.cwd):
                self._rows.event(pending, n, turn)
        elif (answers := results.answers(text)) is not None:
            self._answered(pending, answers, n, turn)
        else:
            for target in ask.targets:
                self._outcomes.target(pending, target, text, n, turn, self.cwd)

    def _answered(self, pending: Pending, answers: list[results.Answer], n: int, turn: int) -> None:
        """Cline's tools say of each file whether it was read or changed."""
        if all(answer.succeeded for answer in answers):
            for target in pending.ask.targets:
                if target.effect != "read":
                    self._rows.changed(pending, target, n, turn)
        reads = {target.key: target for target in pending.ask.targets if target.effect == "read"}
        for answer in answers:
            asked = reads.get(file_key(answer.path, self.cwd) or "")
            if asked is not None and answer.succeeded:
                target = Target(asked.key, "read", asked.rule, answer.spans)
                self._outcomes.file_read(pending, target, answer.text, n, turn, self.cwd)

    def _command_answer(self, said: tuple[str, int, int], block: Block, n: int, turn: int) -> None:
        """The harness ran the command in the agent's words, and its user message is the result."""
        text, asked, asked_in = said
        command = fenced_command(text)
        if command is not None:
            ask = shell_ask(command, self.cwd)
            pending = Pending(asked, asked_in, ask, "" if ask.targets else request_of("", None, command), False)
            self._shell_result(pending, block, n, turn)

    def _cleared(self, pending: Pending, n: int, turn: int) -> None:
        """The result was already gone when the log began: nothing was seen, and a change is taken to have happened."""
        for target in pending.ask.targets:
            if target.effect != "read":
                self._rows.changed(pending, target, n, turn, evidence="inferred")
        if not pending.ask.targets:
            self._rows.event(pending, n, turn)

    def _shell_result(self, pending: Pending, block: Block, n: int, turn: int) -> None:
        ask = pending.ask
        payload = results.shell_payload(block.text)
        if payload.cwd is not None and pending.keeps_folder:
            self.cwd = payload.cwd
        keys = [file_key(path, self.cwd) for path in modified_by_command(block.text)]
        modified = dict.fromkeys(key for key in keys if key is not None)
        if block.is_error or payload.exit not in (None, 0) or results.failed(block.text):
            self._failed(pending, modified, block.text, n, turn)
            return
        named = {target.key for target in ask.targets if not target.programs}
        noted = [key for key in modified if key not in named]
        self._modified(noted, n, turn)
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
        gone = [key for pattern in ask.patterns for key in self._rows.standing.matching(pattern)]
        targets = [*ask.targets, *(Target(key, "edit", "rm of a pattern") for key in dict.fromkeys(gone))]
        known = left_alone(ask.targets, shown, ask.cwd or self.cwd).union(noted)
        targets = [t for t in targets if not (t.programs and t.key in known)]
        parts = self._outcomes.parted(reads, shown)
        for target in targets:
            if target.effect != "read":
                self._rows.changed(pending, target, n if ask.silent else None, turn)
            elif target.key in parts and target in reads:
                self._outcomes.shell_read(pending, replace(target, sole=True), parts[target.key], n, turn)
            elif target in reads:
                self._outcomes.shell_read(pending, target, shown, n, turn)
        if ask.sweep is not None and not shown.lstrip().startswith("Already on"):
            self._rows.standing.sweep(ask.cwd or self.cwd, turn + 1, n, ask.sweep, tracked=True)
        self._rows.worktree.follow(ask.git, ask.cwd or self.cwd, shown, n, turn)
        for folder in ask.removed:
            self._rows.standing.sweep(folder, turn + 1, n, "removed with its folder")
        if not reads and not (targets and ask.silent) and not self._outcomes.window(pending, shown, n, turn, self.cwd):
            self._rows.event(pending, n, turn)

    def _failed(self, pending: Pending, modified: Collection[str], text: str, n: int, turn: int) -> None:
        """A command that failed changed nothing but what the client, git or a formatter says."""
        ask = pending.ask
        self._modified(modified, n, turn)
        for target in rewritten_though_failed(ask.targets, text, ask.cwd or self.cwd):
            if target.key not in modified:
                self._rows.changed(pending, target, None, turn)
        self._rows.worktree.failed(ask.git, ask.cwd or self.cwd, text, n, turn)

    def _modified(self, keys: Collection[str], n: int, turn: int) -> None:
        """Files that the client saw change while the command ran."""
        for key in keys:
            self._rows.note(n, key, "change", turn, (), None, "the client reports that the command changed it")

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
                        self._rows.changed(pending, target, None, turn, evidence="inferred")

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
                self._rows.note(n, key, "change", turn, spans, shown, "the client reports a change")
            elif found is not None:
                spans = () if found[0] == 1 and found[1] < READ_LIMIT else (found[:2],)
                self._rows.note(n, key, "read", turn, spans, shown, "a file attached by the client")
            elif note.body.strip():
                self._rows.note(n, key, "read", turn, (), text_of(note.body), "a file attached by the client")
