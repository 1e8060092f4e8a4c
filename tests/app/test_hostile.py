"""Cases S and U: text of a trace or a URL stands on the page as text, and is read by nothing as markup."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("streamlit", reason="the extra `web` is not installed")

from pages import CASES, ROOT, elements, page, told

from ctxview.text import safe_text

PLAIN = {"text", "code", "dataframe", "arrow_data_frame"}
"""Kinds of elements that show text as it is."""
CONTROLS = {"text_input", "selectbox"}
"""Controls whose values are plain text: what a person typed, and the names of sessions."""
MARKS = ("script>", "onerror", "javascript:", "beacon", "[/bold]", "[red]", "node_modules", "evil", ":bug:", "@click")


@pytest.mark.parametrize("name", ["S01.jsonl", "U01.jsonl", "U04.jsonl", "S02.jsonl", "P06.jsonl"])
@pytest.mark.parametrize("stack", ["recorded", "pin-goal:n=1"])
def test_content_stands_in_plain_elements_only(name: str, stack: str, monkeypatch: Any) -> None:
    report = told("show", str(CASES / name), "--turn", "now")
    drawn = page(monkeypatch, CASES / name, turn="now", stack=stack, block=report["blocks"][0]["id"])
    kinds = {kind for kind, _ in elements(drawn)}
    assert not kinds & {"html", "iframe", "component_instance", "bidi_component", "latex", "json"}
    for kind, proto in elements(drawn):
        if kind in PLAIN | CONTROLS | {"block"}:
            continue
        for mark in MARKS:
            assert mark not in proto, (kind, mark)
    shown = [c.value for c in drawn.code]
    assert safe_text(report["blocks"][0]["text"])[:2000] in [s[:2000] for s in shown]
    assert all(safe_text(words) == words for words in [*shown, *(t.value for t in drawn.text)])
    for frame in (d.value for d in drawn.dataframe):
        assert all(safe_text(cell) == cell for column in frame for cell in frame[column] if isinstance(cell, str))


@pytest.mark.parametrize("word", ["<img src=x onerror=alert(1)>", "[x](http://evil.example)", ":red[x] $x$"])
def test_a_url_is_content_too(word: str, monkeypatch: Any) -> None:
    drawn = page(monkeypatch, CASES / "U01.jsonl", stack=word, base=word, session=word, turn=word, block=word, q=word)
    for kind, proto in elements(drawn):
        if kind not in PLAIN | CONTROLS:
            assert word not in proto, kind
            assert "evil.example" not in proto, kind


def test_figures_hold_no_tag_of_a_url_or_a_trace(monkeypatch: Any) -> None:
    drawn = page(monkeypatch, CASES / "S01.jsonl", stack="pin-goal:n=1:marker=%3Cb%3E%26x")
    figures = [proto for kind, proto in elements(drawn) if "plotly" in kind]
    assert len(figures) == 2
    for figure in figures:
        assert "<b>" not in figure
        for mark in MARKS:
            assert mark not in figure


def test_sources_use_nothing_that_reads_html() -> None:
    forbidden = re.compile(r"unsafe_allow|\.html\(|components|markdown\(|st\.write\b|:material/|https?://")
    for path in (ROOT / "app").glob("*.py"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path


def test_the_hostile_case_is_the_one_that_was_meant() -> None:
    assert any("onerror" in json.dumps(line) for line in (CASES / "S01.jsonl").read_text().splitlines())
