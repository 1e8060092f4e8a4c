"""Captured Anthropic requests (claude-tap, claude-trace, plain pairs, single bodies): the exact windows."""

from __future__ import annotations

from typing import Final

from ctxview.loaders.captures.load import FORMAT, load
from ctxview.loaders.captures.sniff import sniff
from ctxview.loaders.source import Loader

LOADER: Final = Loader(
    name=FORMAT,
    title="Captured Anthropic Messages requests: claude-tap, claude-trace, request-response pairs, request bodies",
    sniff=sniff,
    load=load,
)
