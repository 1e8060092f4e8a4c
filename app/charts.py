"""Figures, as plain values that Plotly draws.

Plotly reads pseudo-HTML in every name, label and annotation, so no text of a trace or a URL gets into a figure but
through `label`, and hover texts are made of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ctxview.app.colours import Palette
from ctxview.text import one_line

Figure = dict[str, Any]

MOST_BARS: Final = 400
"""Turns beyond which bars stand for several: more would be thinner than a pixel."""
_NEAR_LIMIT: Final = 0.4
"""Share of the limit from which the limit is worth its room in the chart."""


def label(text: str, limit: int = 60) -> str:
    """Text for a figure: what Plotly would read as a tag or an entity stands there as it was written."""
    return one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@dataclass(frozen=True, slots=True)
class Series:
    """The sizes of one stack's windows."""

    stack: str
    sizes: Sequence[int]
    """By turn; index 0 is unused."""
    cuts: Sequence[int]
    """Turns that a cut took effect at."""


def budget(
    recorded: Series, others: Sequence[Series], turn: int, last: int, limit: int | None, colours: Palette,
    lacks_now: bool = False,
) -> Figure:  # fmt: skip
    """Recorded sizes as bars, other stacks' as lines, their cuts, the limit, and the turn looked at.

    `last` is the newest turn; what stands after it (`now`) is a bar as well, but where its size leaves out what is
    never logged (`lacks_now`): beside the others that would look like a cut.
    """
    now = last + 1
    end = last if lacks_now else now
    groups = _groups(end)
    peak = max((max(s.sizes[1 : end + 1], default=0) for s in (recorded, *others)), default=0)
    shows_limit = limit is not None and peak >= _NEAR_LIMIT * limit
    top = max(peak, limit if limit is not None and shows_limit else 0, 1) * 1.22
    x, y = _peaks(recorded.sizes, groups)
    traces: list[dict[str, Any]] = [
        {
            "type": "bar", "name": "recorded", "x": x, "y": y, "width": _widths(groups, x),
            "marker": {"color": colours.recorded, "line": {"width": 0}}, "selected": {"marker": {"opacity": 1}},
            "unselected": {"marker": {"opacity": 1}}, "customdata": _names(x, now),
            "hovertemplate": "%{customdata}: %{y:,} tokens<extra></extra>",
        }
    ]  # fmt: skip
    inks = (colours.stack, colours.base)
    for series, ink, dash in zip(others, inks, ("solid", "dot")):
        x, y = _peaks(series.sizes, groups)
        traces.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": label(series.stack), "x": x, "y": y,
                "line": {"color": ink, "width": 2, "dash": dash}, "marker": {"color": ink, "size": 5},
                "unselected": {"marker": {"opacity": 1}}, "customdata": _names(x, now),
                "hovertemplate": "%{customdata}: %{y:,} tokens, simulated<extra></extra>",
            }
        )  # fmt: skip
    marked = [(recorded, colours.cut, "recorded cut"), *((s, i, "cut of the stack") for s, i in zip(others, inks))]
    for series, ink, name in marked:
        turns = _first_of_groups(series.cuts, groups)
        if turns:
            traces.append(
                {
                    "type": "scatter", "mode": "text", "name": f"✂ {name}", "showlegend": False, "x": turns,
                    "y": [series.sizes[t] + 0.045 * top for t in turns], "text": ["✂"] * len(turns),
                    "textfont": {"color": ink, "size": 13 if len(turns) < 60 else 9}, "customdata": _names(turns, now),
                    "hovertemplate": f"{name} just before %{{customdata}}<extra></extra>",
                }
            )  # fmt: skip
    shapes = [_vertical(turn, colours.cursor)]
    notes = [_note(turn, _names([turn], now)[0], colours.cursor, to_left=turn > 0.85 * now)]
    if limit is not None and shows_limit:
        shapes.append(_horizontal(limit, colours.limit))
        notes.append(_corner(f"limit {limit:,}", colours.limit, y=limit))
    elif limit is not None:
        notes.append(_corner(f"limit {limit:,}, above this chart: the peak is {peak / limit:.1%} of it", colours.limit))
    layout = _layout(colours, 300)
    layout |= {"shapes": shapes, "annotations": notes, "barmode": "overlay", "bargap": 0}
    layout["xaxis"] |= {"range": [0.4, now + 0.6], "title": {"text": "turn", "standoff": 4}}
    layout["yaxis"] |= {"range": [0, top], "tickformat": "~s", "title": {"text": "tokens", "standoff": 4}}
    return {"data": traces, "layout": layout}


def kinds(parts: Mapping[str, int | None], base: Mapping[str, int | None] | None, colours: Palette) -> Figure:
    """Tokens of a window by kind, the window compared with beside it."""
    names = [k for k in parts if parts[k] or (base is not None and base[k])][::-1]
    traces = []
    if base is not None:
        traces.append(_kind_bars("compared with", names, base, colours.recorded, colours))
    traces.append(_kind_bars("this window", names, parts, colours.stack, colours))
    rows = max(1, len(names)) * len(traces)
    layout = _layout(colours, 70 + 24 * rows if rows > 3 else 150)
    layout |= {"barmode": "group", "showlegend": base is not None, "bargap": 0.25}
    layout["yaxis"] |= {"showgrid": False, "automargin": True}
    values = [v or 0 for p in (parts, base or {}) for v in p.values()]
    edges = [1.25 * min(0, *values), 1.25 * max(1, *values)]  # room for the numbers at the bars' ends
    layout["xaxis"] |= {"tickformat": "~s", "nticks": 5, "range": edges}
    return {"data": traces, "layout": layout}


def _kind_bars(
    name: str, names: Sequence[str], parts: Mapping[str, int | None], ink: str, colours: Palette
) -> dict[str, Any]:
    values = [parts[k] or 0 for k in names]
    return {
        "type": "bar", "orientation": "h", "name": name, "y": list(names), "x": values,
        "text": [f"{v:,}" for v in values], "textposition": "outside", "cliponaxis": False,
        "marker": {"color": ink, "line": {"width": 0}}, "textfont": {"color": colours.text},
        "hovertemplate": "%{y}: %{x:,} tokens<extra></extra>",
    }  # fmt: skip


# -------------------------------------------------------------------------------------------------------- buckets


def _groups(now: int) -> list[range]:
    """The turns 1 .. now in at most MOST_BARS runs."""
    size = -(-now // MOST_BARS)
    return [range(first, min(first + size, now + 1)) for first in range(1, now + 1, size)]


def _names(turns: Sequence[int], now: int) -> list[str]:
    return ["now" if t == now else f"turn {t:,}" for t in turns]


def _peaks(sizes: Sequence[int], groups: Sequence[range]) -> tuple[list[int], list[int]]:
    """The turn of each group with the largest window, and its size: a peak never hides in an average."""
    turns = [max(group, key=sizes.__getitem__) for group in groups]
    return turns, [sizes[t] for t in turns]


def _widths(groups: Sequence[range], turns: Sequence[int]) -> list[float]:
    share = 0.86 if len(groups) <= 150 else 1.0
    return [share * len(group) for group in groups]


def _first_of_groups(turns: Sequence[int], groups: Sequence[range]) -> list[int]:
    wanted = sorted(set(turns))
    found, index = [], 0
    for group in groups:
        while index < len(wanted) and wanted[index] < group.start:
            index += 1
        if index < len(wanted) and wanted[index] < group.stop:
            found.append(wanted[index])
    return found


# --------------------------------------------------------------------------------------------------------- layout


def _layout(colours: Palette, height: int) -> dict[str, Any]:
    axis = {
        "gridcolor": colours.grid, "zeroline": False, "tickfont": {"color": colours.dim}, "fixedrange": True,
        "linecolor": colours.grid,
    }  # fmt: skip
    return {
        "template": {}, "height": height, "margin": {"l": 56, "r": 12, "t": 26, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": colours.text, "family": "sans-serif", "size": 12},
        "xaxis": dict(axis), "yaxis": dict(axis), "dragmode": False, "hovermode": "closest",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"color": colours.text}},
        "showlegend": True, "hoverlabel": {"font": {"family": "sans-serif"}},
    }  # fmt: skip


def _vertical(x: int, ink: str) -> dict[str, Any]:
    return {
        "type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": {"color": ink, "width": 1.5},
    }  # fmt: skip


def _horizontal(y: int, ink: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y,
        "line": {"color": ink, "width": 1.5, "dash": "dash"},
    }  # fmt: skip


def _note(x: int, text: str, ink: str, *, to_left: bool) -> dict[str, Any]:
    return {
        "x": x, "y": 1, "yref": "paper", "text": text, "showarrow": False, "font": {"color": ink},
        "xanchor": "right" if to_left else "left", "yanchor": "top", "xshift": -4 if to_left else 4,
    }  # fmt: skip


def _corner(text: str, ink: str, y: int | None = None) -> dict[str, Any]:
    place = {"y": 1.02, "yref": "paper"} if y is None else {"y": y}
    return {
        "x": 1, "xref": "paper", "xanchor": "right", "yanchor": "bottom", "text": text, "showarrow": False,
        "font": {"color": ink}, **place,
    }  # fmt: skip
