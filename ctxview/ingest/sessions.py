"""One session under way: its builder, the blocks that wait for their counts, and its rows once it is done."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctxview.annotate import Facts
from ctxview.annotate.observations import ObservationFinder
from ctxview.annotate.pins import PinFinder
from ctxview.ingest.contents import Contents
from ctxview.ingest.settings import Settings
from ctxview.model import (
    KINDS,
    Block,
    BlockRow,
    Call,
    CutRow,
    EditRow,
    SessionEvent,
    SessionRow,
    SessionStart,
    SpanRow,
    TurnRow,
)
from ctxview.reconstruct import Arrival, Course, SessionBuilder
from ctxview.store import Store
from ctxview.tokens import image_tokens, thinking_tokens
from ctxview.window.texts import PREVIEW_CHARS


@dataclass(frozen=True, slots=True)
class Finished:
    """What is left of a session to do: its row, and what the audit needs."""

    session: str
    row: SessionRow
    course: Course
    cuts: Sequence[CutRow]
    edits: int
    """How many edits it has."""


class Session:
    """Feeds one session's events to its builder and its results to the store."""

    def __init__(self, name: str, start: SessionStart, store: Store, contents: Contents, settings: Settings) -> None:
        self.name = name
        """Its id in the trace: the loader's, unless another loader's session has it already."""
        self._store = store
        self._contents = contents
        self._waiting: deque[tuple[Arrival, int]] = deque()
        """Blocks to be written, each with the content key of its tool's name (-1 for none). Their texts are those that
        wait to be counted, so holding them costs nothing more; behind an image they wait for the next call, too."""
        self._turns: list[TurnRow] = []
        self._edits: list[EditRow] = []
        self._spans: list[SpanRow] = []
        """Rows to be written; spans once the texts of their forms have been counted."""
        self._tokens = array("q")
        """Tokens of each block's verbatim text, by block number."""
        self._verbatim = array("i")
        """Content key of each block's verbatim text."""
        self._kinds = bytearray()
        """Kind of each block, as its place in KINDS."""
        self._model = ""
        """Of the newest call that names one."""
        self._new_images: list[int] = []
        """Images that no call has seen yet, by block number."""
        self._image_models: dict[int, str] = {}
        """Model of the first call that sees an image of those that are not yet written: it tells the image's size."""
        self._pins = PinFinder(settings.pins, start.starts_inside)
        self._observations = ObservationFinder(settings.resources, start.cwd)
        self._builder = SessionBuilder(start, contents.keep, self._arrive, self)
        self._course = Course()

    @property
    def start(self) -> SessionStart:
        return self._builder.start

    def feed(self, event: SessionEvent) -> None:
        if isinstance(event, Call):
            self._model = event.model or self._model
            self._show_images()
        self._builder.feed(event)

    def _show_images(self) -> None:
        for n in self._new_images:
            self._image_models[n] = self._model
        self._new_images.clear()

    @property
    def is_waiting(self) -> bool:
        """Whether something waits for its count."""
        return bool(self._waiting or self._spans)

    def _arrive(self, arrival: Arrival) -> None:
        self._pins.see(arrival.block, arrival.n, arrival.turn)
        self._observations.see(arrival.block, arrival.n, arrival.turn)
        # The model reads a tool's name as well as the arguments of the call.
        name = arrival.block.tool if arrival.block.kind == "tool_call" else None
        key = self._contents.keep(name) if name else -1
        self._waiting.append((arrival, key))
        if arrival.block.image is not None:
            self._new_images.append(arrival.n)

    def take(self, turns: list[TurnRow], spans: list[SpanRow], edits: list[EditRow]) -> None:
        """Rows of the builder that are finished."""
        self._turns += turns
        self._spans += spans
        self._edits += edits

    def settle(self) -> None:
        """Write the blocks and spans whose texts have been counted, and what else is finished."""
        session = self.name
        if rows := list(self._ready()):
            self._store.add_blocks(session, rows)
        if self._turns:
            self._store.add_turns(session, self._turns)
            for turn in self._turns:
                self._course.add_turn(turn)
            self._turns = []
        if self._edits:
            self._store.add_edits(session, self._edits)
            self._edits = []
        if self._spans:
            self._write_spans()
        observations, changes = self._observations.drain()
        self._store.add_facts(session, Facts((), observations, changes))

    def _write_spans(self) -> None:
        counted, blocks = len(self._contents.tokens), len(self._tokens)
        ready: list[SpanRow] = []
        wait: list[SpanRow] = []
        for span in self._spans:
            (ready if span.content < counted and span.block < blocks else wait).append(span)
        self._spans = wait
        self._store.add_spans(self.name, self._sized(ready))

    def _sized(self, spans: list[SpanRow]) -> Iterator[SpanRow]:
        for span in spans:
            block = span.block
            is_verbatim = span.content == self._verbatim[block]
            tokens = self._tokens[block] if is_verbatim else self._contents.tokens[span.content]
            self._course.add_span(span.start, span.end, tokens, KINDS[self._kinds[block]])
            yield SpanRow(block, span.pos, span.start, span.end, span.form, span.content, tokens, span.ended_by)

    def _ready(self) -> Iterator[BlockRow]:
        counted = len(self._contents.tokens)
        while self._waiting:
            arrival, name = self._waiting[0]
            is_unseen = arrival.block.image is not None and arrival.n not in self._image_models
            if max(arrival.content, name) >= counted or is_unseen:
                return
            self._waiting.popleft()
            yield self._row(arrival, name)

    def _row(self, arrival: Arrival, name: int) -> BlockRow:
        block = arrival.block
        tokens = self._contents.tokens[arrival.content] + (self._contents.tokens[name] if name >= 0 else 0)
        estimated = self._contents.estimated
        if block.image is not None:
            model = self._image_models.pop(arrival.n)
            tokens, estimated = image_tokens(model, block.image.width, block.image.height), True
        elif block.unlogged_tokens is not None:
            tokens, estimated = max(tokens, block.unlogged_tokens), True
        elif block.signature:
            tokens, estimated = thinking_tokens(block.signature, tokens), True
        self._tokens.append(tokens)
        self._verbatim.append(arrival.content)
        self._kinds.append(KINDS.index(block.kind))
        return BlockRow(
            n=arrival.n,
            id=block.id,
            message=block.message or block.id,
            role=block.role,
            kind=block.kind,
            tool=block.tool,
            call_id=block.call_id,
            is_error=block.is_error,
            content=arrival.content,
            tokens=tokens,
            estimated=estimated,
            chars=len(block.text),
            preview=block.text[:PREVIEW_CHARS],
            turn=arrival.turn,
            file=block.origin.file,
            line=block.origin.line,
            origin_id=block.origin.id,
            at=block.at,
            injected=block.injected,
            inherited=block.inherited,
            human=block.human,
            inserted=block.inserted,
            note=block.note,
            image=_image_words(block),
        )

    def finish(self) -> Finished:
        """Write everything else, once all texts are counted. The session row is written with all others, in order."""
        self._show_images()
        built = self._builder.finish()
        self.take(built.turns, built.spans, built.edits)
        self.settle()
        session = self.name
        self._store.amend_turns(session, built.late)
        for turn, end in built.late.items():
            self._course.amend(turn, end.usage.prompt if end.usage else None)
        self._store.add_facts(session, Facts(self._pins.finish(), (), ()))
        cuts = [
            replace(cut, summary_tokens=sum(self._tokens[n] for n in built.summaries[cut.n]))
            if cut.n in built.summaries
            else cut
            for cut in built.cuts
        ]
        self._store.add_cuts(session, cuts)
        return Finished(session, self.row, self._course, cuts, self._builder.edits)

    @property
    def row(self) -> SessionRow:
        start = self.start
        return SessionRow(
            session=self.name,
            parent=start.parent,
            parent_call=start.parent_call,
            agent=start.agent,
            format=start.format,
            client=start.client,
            title=start.title,
            cwd=start.cwd,
            limit=start.limit,
            joins_roles=start.joins_roles,
            started=self._builder.first_at,
            ended=self._builder.last_at,
        )


def _image_words(block: Block) -> str | None:
    if block.image is None:
        return None
    size = f"{block.image.width}x{block.image.height} " if block.image.width else ""
    return f"{size}{block.image.media_type}"
