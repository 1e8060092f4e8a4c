"""Colours of the charts, for a light and for a dark page: set outright, since a chart does not follow the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Palette:
    text: str
    dim: str
    grid: str
    recorded: str
    stack: str
    base: str
    cut: str
    limit: str
    cursor: str


LIGHT: Final = Palette(
    text="#23272e", dim="#5a626d", grid="#e3e6ea", recorded="#a9b6c6", stack="#1a56b0", base="#86368a",
    cut="#b3261e", limit="#8a5200", cursor="#23272e",
)  # fmt: skip
DARK: Final = Palette(
    text="#e6e9ee", dim="#a3acb8", grid="#2c323b", recorded="#56637a", stack="#8ab4f8", base="#d9a3d9",
    cut="#ff8a7a", limit="#f0b35a", cursor="#f2f4f7",
)  # fmt: skip


def palette(theme: str | None) -> Palette:
    """`theme` is what the browser says of its page: `light`, `dark` or nothing yet."""
    return DARK if theme == "dark" else LIGHT
