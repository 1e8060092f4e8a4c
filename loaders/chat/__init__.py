"""Plain chat messages, OpenAI's and Anthropic's shape, in the files that agents and benchmarks keep them in."""

from __future__ import annotations

from typing import Final

from ctxview.loaders.chat.load import FORMAT, load
from ctxview.loaders.chat.sniff import sniff
from ctxview.loaders.source import Loader

LOADER: Final = Loader(
    name=FORMAT,
    title="Chat messages as JSON or JSON lines, tau-bench results, mini-swe-agent trajectories",
    sniff=sniff,
    load=load,
)
