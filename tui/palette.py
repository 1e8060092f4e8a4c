"""Glyphs, words and colours: one meaning is shown by all three at once, never by colour alone.

Every ink is checked against its backgrounds by a test (contrast 4.5 for text), in both themes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from rich.style import Style
from textual.theme import Theme
from textual.widget import Widget

Words: TypeAlias = list[tuple[str, str]]
"""(text, ink name) pairs of one line."""

DARK: Final = "ctxview-dark"
LIGHT: Final = "ctxview-light"

GLYPHS: Final = {
    "pinned": "◆",
    "rolling": "●",
    "superseded": "⇄",
    "stale": "◌",
    "cut": "✂",
    "ledger": "≡",
    "absent": "∅",
    "unlogged": "∅",
    "orphan": "!",
    "duplicate": "=",
    "cleared": "○",
    "doubtful": "?",
    "injected": "»",
    "inherited": "«",
}
_TELLING: Final = (
    "absent", "orphan", "duplicate", "cleared", "doubtful", "superseded", "stale", "ledger", "pinned", "injected",
    "inherited",
)  # fmt: skip
"""States in the order in which a row with room for one word picks it."""

KIND_GROUPS: Final = {
    "unlogged": ("unlogged",),
    "system": ("system", "tools"),
    "user": ("user", "note", "image"),
    "summary": ("summary",),
    "assistant": ("assistant", "thinking"),
    "tool": ("tool_call", "tool_result"),
}
"""The strip's layers from the bottom up, and the kinds each one sums."""
GROUP_OF: Final = {kind: group for group, kinds in KIND_GROUPS.items() for kind in kinds}

INKS: Final[dict[str, tuple[str, str]]] = {
    # name: (on dark, on light)
    "text": ("#d5dae1", "#23272e"),
    "dim": ("#a3acb8", "#5a626d"),
    "rule": ("#3b434e", "#c3c7cd"),
    "accent": ("#8ab4f8", "#1a56b0"),
    "warn": ("#f0b35a", "#8a5200"),
    "bad": ("#ff8a7a", "#b3261e"),
    "good": ("#7fc8a0", "#1d6b42"),
    # what a search found, and the hit one stands on: `_style` adds what is no colour
    "hit": ("#f0b35a", "#8a5200"),
    "hit-now": ("#f0b35a", "#8a5200"),
    # states
    "pinned": ("#8ab4f8", "#1a56b0"),
    "rolling": ("#a8b1bc", "#59616b"),
    "superseded": ("#d9a3d9", "#86368a"),
    "stale": ("#f0b35a", "#8a5200"),
    "cut": ("#ff8a7a", "#b3261e"),
    "ledger": ("#e3d177", "#6e5c00"),
    "absent": ("#a3acb8", "#5a626d"),
    "orphan": ("#ff8a7a", "#b3261e"),
    "duplicate": ("#d9a3d9", "#86368a"),
    "cleared": ("#f0b35a", "#8a5200"),
    "doubtful": ("#f0b35a", "#8a5200"),
    "injected": ("#b3a6e8", "#5b46a8"),
    "inherited": ("#8fc4c4", "#1e6464"),
    # kinds, in the list and in the strip
    "unlogged": ("#a3acb8", "#5a626d"),
    "kind-unlogged": ("#a3acb8", "#5a626d"),
    "kind-system": ("#7aa8ee", "#2a5fae"),
    "kind-user": ("#e0c463", "#7a6200"),
    "kind-summary": ("#ef9a6c", "#9c4a14"),
    "kind-assistant": ("#79bf93", "#256d45"),
    "kind-tool": ("#5fa9b8", "#1f6b7a"),
    # the strip's layers: calmer, for areas (contrast 3)
    "fill-unlogged": ("#5f6976", "#878e98"),
    "fill-system": ("#4d7cc4", "#4f83cf"),
    "fill-user": ("#b89d3e", "#a08415"),
    "fill-summary": ("#c6754a", "#c0672f"),
    "fill-assistant": ("#56946d", "#3f8d62"),
    "fill-tool": ("#3f8494", "#3a8a9a"),
}

BACKGROUNDS: Final[dict[str, tuple[str, str]]] = {
    "surface": ("#15191f", "#fbfaf8"),
    "panel": ("#1e242c", "#eceae6"),
    "cursor": ("#243450", "#dde9fc"),
}


def themes() -> Iterable[Theme]:
    """The two themes, for `App.register_theme`."""
    for index, name in enumerate((DARK, LIGHT)):
        ink = {k: v[index] for k, v in INKS.items()}
        back = {k: v[index] for k, v in BACKGROUNDS.items()}
        yield Theme(
            name,
            primary=ink["accent"],
            secondary=ink["kind-tool"],
            accent=ink["accent"],
            warning=ink["warn"],
            error=ink["bad"],
            success=ink["good"],
            foreground=ink["text"],
            background=back["surface"],
            surface=back["surface"],
            panel=back["panel"],
            dark=index == 0,
            variables={"rule": ink["rule"], "dim": ink["dim"], "scrollbar": ink["rule"], "border": ink["rule"]},
        )


@lru_cache(maxsize=512)
def _style(dark: bool, ink: str, back: str | None, bold: bool, italic: bool) -> Style:
    index = 0 if dark else 1
    here = ink == "hit-now"
    return Style(
        color=INKS[ink][index],
        bgcolor=BACKGROUNDS[back][index] if back else None,
        bold=bold or here,
        italic=italic,
        underline=ink == "hit" or None,
        reverse=here or None,
    )


@dataclass(frozen=True, slots=True)
class Brush:
    """Styles for one theme."""

    dark: bool

    def __call__(self, ink: str, back: str | None = None, *, bold: bool = False, italic: bool = False) -> Style:
        return _style(self.dark, ink, back, bold, italic)

    def over(self, ink: str, under: str | None) -> Style:
        """`ink` as foreground on another ink, for cells in which two layers of the strip meet."""
        return _over(self.dark, ink, under)


@lru_cache(maxsize=256)
def _over(dark: bool, ink: str, under: str | None) -> Style:
    index = 0 if dark else 1
    return Style(color=INKS[ink][index], bgcolor=INKS[under][index] if under else BACKGROUNDS["surface"][index])


_DARK_BRUSH: Final = Brush(True)
_LIGHT_BRUSH: Final = Brush(False)


def brush(owner: Widget) -> Brush:
    """The brush of the theme in use."""
    return _LIGHT_BRUSH if owner.app.theme == LIGHT else _DARK_BRUSH


def telling(states: tuple[str, ...]) -> str:
    """The one state that a row shows."""
    return next((s for s in _TELLING if s in states), "rolling")


def kind_ink(kind: str) -> str:
    return f"kind-{GROUP_OF.get(kind, 'user')}"
