"""Lines cut to the width of a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxview.cli.plain import _cells, fit


@given(text=st.text(st.sampled_from("ab漢字🙂e\u0301\n…")), cells=st.integers(1, 12))
def test_a_line_fits_whatever_the_width_of_its_letters(text: str, cells: int) -> None:
    line = fit(text, cells)
    assert _cells(line) <= max(cells, 1)
    assert "\n" not in line
    assert line.rstrip("…").startswith(text.replace("\n", "⏎")[: max(0, len(line.rstrip("…")))])
