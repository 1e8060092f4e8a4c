"""Filtering the list by state, kind and tool: what is kept, and the overlay that chooses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize

from ctxview.model import KINDS, BlockRow, SpanRow
from ctxview.tui.cells import fit, right, shown
from ctxview.tui.facts import Scene, states_at, with_doubt
from ctxview.tui.lines import Title
from ctxview.tui.overlays import MOVES, LinesScreen, ReportLines
from ctxview.tui.palette import GLYPHS, Words, kind_ink
from ctxview.tui.reports import Report, ReportLine
from ctxview.window.view import SessionView

FACETS: Final = ("state", "kind", "tool")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which blocks are shown: in each facet one of the chosen values; a facet without a choice lets all pass."""

    state: frozenset[str] = frozenset()
    kind: frozenset[str] = frozenset()
    tool: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.state or self.kind or self.tool)

    def takes(self, block: BlockRow, states: Iterable[str]) -> bool:
        return (
            (not self.kind or block.kind in self.kind)
            and (not self.tool or (block.tool or "") in self.tool)
            and (not self.state or not self.state.isdisjoint(states))
        )

    def toggled(self, facet: str, value: str) -> Filter:
        chosen: frozenset[str] = getattr(self, facet)
        return replace(self, **{facet: chosen ^ {value}})

    def keep(self, view: SessionView, turn: int, spans: Sequence[SpanRow]) -> list[SpanRow]:
        """The stays of the window at `turn` that pass."""
        if not self.state:  # states cost more than the rest together
            return [s for s in spans if self.takes(view.blocks[s.block], ())]
        pairing = view.pairing(turn, spans)
        return [s for s in spans if self.takes(view.blocks[s.block], states_at(view, s, pairing, turn))]

    def words(self) -> str:
        parts = [f"{name} {' or '.join(shown(v, 30) for v in sorted(getattr(self, name)))}" for name in FACETS
                 if getattr(self, name)]  # fmt: skip
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class _Choice:
    facet: str
    value: str
    blocks: int
    tokens: int


def choices(scene: Scene, turn: int, chosen: Filter) -> list[_Choice]:
    """What the window at `turn` can be filtered by, and whatever is chosen already."""
    blocks: Counter[tuple[str, str]] = Counter({(f, v): 0 for f in FACETS for v in getattr(chosen, f)})
    tokens: Counter[tuple[str, str]] = Counter()
    for standing in scene.view.window(turn):
        block = standing.block
        keys = [("state", s) for s in with_doubt(scene.view, block.n, turn, standing.states)] + [("kind", block.kind)]
        keys += [("tool", block.tool)] if block.tool else []
        for key in keys:
            blocks[key] += 1
            tokens[key] += standing.span.tokens
    order: dict[str, list[str]] = {"state": list(GLYPHS), "kind": list(KINDS), "tool": []}
    found = [_Choice(*key, count, tokens[key]) for key, count in blocks.items()]

    def place(choice: _Choice) -> tuple[int, int, int, str]:
        known = order[choice.facet]
        at = known.index(choice.value) if choice.value in known else len(known)
        return FACETS.index(choice.facet), at, -choice.blocks, choice.value

    return sorted(found, key=place)


class FilterScreen(LinesScreen[Filter | None]):
    """Toggles with what each one would leave. Space marks, Enter applies (or takes the line it is on), Esc leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("space", "choose", show=False),
        Binding("enter", "apply", show=False),
        Binding("c", "clear", show=False),
        Binding("escape,f,q", "close", show=False),
    ]

    def __init__(self, found: list[_Choice], chosen: Filter, window: str) -> None:
        """`window`: which one is filtered, in words."""
        super().__init__()
        self._found, self._window = found, window
        self.chosen = chosen

    def compose(self) -> ComposeResult:
        keys: Words = [
            ("Space", "accent"), (" mark  ", "dim"), ("Enter", "accent"), (" apply  ", "dim"), ("c", "accent"),
            (" clear  ", "dim"), ("Esc", "accent"), (" back", "dim"),
        ]  # fmt: skip
        with Vertical(classes="overlay"):
            yield Title([(f"Filter the window: {self._window}", "accent")], "title")
            yield ReportLines(self._report())
            yield Title(keys, "keys")

    def on_resize(self, event: Resize) -> None:
        self.fit_to(len(self.body.lines), event.size.height)

    def _report(self) -> Report:
        lines: list[ReportLine] = []
        facet = ""
        for index, choice in enumerate(self._found):
            if choice.facet != facet:
                facet = choice.facet
                lines += [ReportLine([])] if lines else []
                lines.append(ReportLine([(facet, "dim")]))
            here = choice.value in getattr(self.chosen, facet)
            if facet == "state":
                glyph, ink = GLYPHS.get(choice.value, "·"), choice.value if choice.value in GLYPHS else "text"
            else:
                glyph, ink = " ", kind_ink(choice.value) if facet == "kind" else "kind-tool"
            blocks = f"{choice.blocks:,} block{'' if choice.blocks == 1 else 's'}"
            words: Words = [
                ("[x] " if here else "[ ] ", "accent" if here else "dim"),
                (f"{glyph} {fit(shown(choice.value, 60), 24)}", ink),
                (right(blocks, 14), "text"),
                (right(f"{choice.tokens:,}", 12), "text"),
                (" tokens", "dim"),
            ]
            lines.append(ReportLine(words, choice=index))
        return Report("", lines)

    def _here(self) -> _Choice | None:
        index = self.body.lines[self.body.cursor].choice if self.body.cursor >= 0 else None
        return None if index is None else self._found[index]

    def action_choose(self) -> None:
        choice = self._here()
        if choice is not None:
            self.chosen = self.chosen.toggled(choice.facet, choice.value)
            self.body.load(self._report())

    def action_clear(self) -> None:
        self.chosen = Filter()
        self.body.load(self._report())

    def action_apply(self) -> None:
        choice = self._here()
        if not self.chosen and choice is not None:
            self.chosen = self.chosen.toggled(choice.facet, choice.value)
        self.dismiss(self.chosen)

    def on_report_lines_chosen(self) -> None:
        self.action_choose()

    def action_close(self) -> None:
        self.dismiss(None)
