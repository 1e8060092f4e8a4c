"""One session under way: its builder, the blocks that wait for their counts, and its rows once it is done."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from ctxview.annotate import Facts
from ctxview.annotate.observations import ObservationFinder
from ctxview.annotate.pins import PinFinder
from ctxview.ingest.contents import Contents
from ctxview.ingest.settings import Settings
from ctxview.model import Block, BlockRow, Call, CallEnd, Cut, Edit, SessionRow, SessionStart, Snapshot, SpanRow
from ctxview.reconstruct import Arrival, SessionBuilder
from ctxview.store import Store
from ctxview.tokens import image_tokens, thinking_tokens
from ctxview.window.view import PREVIEW_CHARS


class Session:
    """Feeds one session's events to its builder and its results to the store."""

    def __init__(self, start: SessionStart, store: Store, contents: Contents, settings: Settings) -> None:
        self._store = store
        self._contents = contents
        self._waiting: deque[tuple[Arrival, int]] = deque()
        """Blocks to be written, each with the content key of its tool's name (-1 for none). Their texts are those that
        wait to be counted, so holding them costs nothing more."""
        self._tokens = array("q")
        """Tokens of each block's verbatim text, by block number."""
        self._verbatim = array("q")
        """Content key of each block's verbatim text."""
        self._model: str | None = None
        self._has_usage = False
        self._pins = PinFinder(settings.pins)
        self._observations = ObservationFinder(settings.resources, start.cwd)
        self._builder = SessionBuilder(start, contents.keep, self._arrive)

    @property
    def has_usage(self) -> bool:
        """Whether any of its calls recorded the size of its window."""
        return self._has_usage

    @property
    def start(self) -> SessionStart:
        return self._builder.start

    def feed(self, event: SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot) -> None:
        if isinstance(event, Call):
            self._model = event.model or self._model
        self._builder.feed(event)

    def _arrive(self, arrival: Arrival) -> None:
        self._pins.see(arrival.block, arrival.n, arrival.turn)
        self._observations.see(arrival.block, arrival.n, arrival.turn)
        # The model reads a tool's name as well as the arguments of the call.
        name = arrival.block.tool if arrival.block.kind == "tool_call" else None
        key = self._contents.keep(name) if name else -1
        self._waiting.append((arrival, key))

    def settle(self) -> None:
        """Write the blocks whose texts have been counted."""
        rows = list(self._ready())
        if rows:
            self._store.add_blocks(self.start.session, rows)

    def _ready(self) -> Iterator[BlockRow]:
        counted = len(self._contents.tokens)
        while self._waiting and max(self._waiting[0][0].content, self._waiting[0][1]) < counted:
            yield self._row(*self._waiting.popleft())

    def _row(self, arrival: Arrival, name: int) -> BlockRow:
        block = arrival.block
        tokens = self._contents.tokens[arrival.content] + (self._contents.tokens[name] if name >= 0 else 0)
        estimated = self._contents.estimated
        if block.image is not None:
            tokens, estimated = image_tokens(self._model or "", block.image.width, block.image.height), True
        elif block.unlogged_tokens is not None:
            tokens, estimated = max(tokens, block.unlogged_tokens), True
        elif block.signature:
            tokens, estimated = thinking_tokens(block.signature, tokens), True
        self._tokens.append(tokens)
        self._verbatim.append(arrival.content)
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

    def finish(self) -> None:
        """Write everything else, once all texts are counted. The session row is written with all others, in order."""
        built = self._builder.finish()
        self.settle()
        self._has_usage = any(turn.recorded is not None for turn in built.turns)
        session = self.start.session
        self._store.add_turns(session, built.turns)
        self._store.add_spans(session, (replace(s, tokens=self._span_tokens(s)) for s in built.spans))
        self._store.add_edits(session, built.edits)
        observations, changes = self._observations.finish()
        self._store.add_facts(session, Facts(self._pins.finish(), observations, changes))
        self._store.add_cuts(
            session,
            (
                replace(cut, summary_tokens=sum(self._tokens[n] for n in built.summaries[cut.n]))
                if cut.n in built.summaries
                else cut
                for cut in built.cuts
            ),
        )

    def _span_tokens(self, span: SpanRow) -> int:
        if span.content == self._verbatim[span.block]:
            return self._tokens[span.block]
        return self._contents.tokens[span.content]

    @property
    def row(self) -> SessionRow:
        start = self.start
        return SessionRow(
            session=start.session,
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
