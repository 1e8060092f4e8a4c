"""One session under way: its builder, the blocks that wait for their counts, and its rows once it is done."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace

from ctxview.ingest.contents import Contents
from ctxview.model import Block, BlockRow, Call, CallEnd, Cut, Edit, SessionRow, SessionStart, Snapshot, SpanRow
from ctxview.reconstruct import Arrival, SessionBuilder
from ctxview.store import Store
from ctxview.tokens import image_tokens, thinking_tokens
from ctxview.window.view import PREVIEW_CHARS


class Session:
    """Feeds one session's events to its builder and its results to the store."""

    def __init__(self, start: SessionStart, store: Store, contents: Contents) -> None:
        self._store = store
        self._contents = contents
        self._waiting: list[Arrival] = []
        self._tokens = array("q")
        """Tokens of each block's verbatim text, by block number."""
        self._verbatim = array("q")
        """Content key of each block's verbatim text."""
        self._model: str | None = None
        self._builder = SessionBuilder(start, contents.keep, self._waiting.append)

    @property
    def start(self) -> SessionStart:
        return self._builder.start

    def feed(self, event: SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot) -> None:
        if isinstance(event, Call):
            self._model = event.model or self._model
        self._builder.feed(event)

    def settle(self, count_name: Callable[[str], int]) -> None:
        """Write the blocks whose texts have been counted."""
        rows = [self._row(arrival, count_name) for arrival in self._waiting]
        self._waiting.clear()
        if rows:
            self._store.add_blocks(self.start.session, rows)

    def _row(self, arrival: Arrival, count_name: Callable[[str], int]) -> BlockRow:
        block = arrival.block
        tokens = self._contents.tokens[arrival.content]
        estimated = self._contents.estimated
        if block.image is not None:
            tokens, estimated = image_tokens(self._model or "", block.image.width, block.image.height), True
        elif block.signature:
            tokens, estimated = thinking_tokens(block.signature, tokens), True
        elif block.kind == "tool_call" and block.tool:
            tokens += count_name(block.tool)  # the model reads the tool's name as well as the arguments
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

    def finish(self, count_name: Callable[[str], int]) -> None:
        """Write everything else. The session row itself is written with all others, in order."""
        built = self._builder.finish()
        self._contents.settle()
        self.settle(count_name)
        session = self.start.session
        self._store.add_turns(session, built.turns)
        self._store.add_spans(session, (replace(s, tokens=self._span_tokens(s)) for s in built.spans))
        self._store.add_edits(session, built.edits)
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
