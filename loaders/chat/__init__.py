"""Plain chat messages, OpenAI's and Anthropic's shape, in the files that agents and benchmarks keep them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.loaders.chat.sniff import sniff
from ctxview.loaders.source import Loader, Source
from ctxview.model import Event


def load(source: Source) -> Iterator[Event]:
    """The events of a trace; what reads it is imported now, and not where only the format is asked for."""
    from ctxview.loaders.chat.load import load as read

    return read(source)


LOADER: Final = Loader(
    name="chat",
    title="Chat messages as JSON or JSON lines, tau-bench results, mini-swe-agent trajectories",
    sniff=sniff,
    load=load,
)
