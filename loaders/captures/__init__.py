"""Captured requests (claude-tap, claude-trace, LiteLLM logs, plain pairs, single bodies): the exact windows.

Each of the loaders reads every one of these APIs, since a proxy's log can hold several; they differ in what they
recognise, and a session's format is the API it was held in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.loaders.captures.names import ANTHROPIC, LITELLM, OPENAI
from ctxview.loaders.captures.sniff import sniff_anthropic, sniff_litellm, sniff_openai
from ctxview.loaders.source import Loader, Source
from ctxview.model import Event


def load(source: Source) -> Iterator[Event]:
    """The events of a trace; what reads it is imported now, and not where only the format is asked for."""
    from ctxview.loaders.captures.load import load as read

    return read(source)


LOADER: Final = Loader(
    name=ANTHROPIC,
    title="Captured Anthropic Messages requests: claude-tap, claude-trace, request-response pairs, request bodies",
    sniff=sniff_anthropic,
    load=load,
)
OPENAI_LOADER: Final = Loader(
    name=OPENAI,
    title="Captured OpenAI requests, Responses API (WebSocket too) and chat completions: claude-tap, pairs, bodies",
    sniff=sniff_openai,
    load=load,
)
LITELLM_LOADER: Final = Loader(
    name=LITELLM,
    title="Completion logs written through LiteLLM, one file per call, as OpenHands writes them",
    sniff=sniff_litellm,
    load=load,
)
