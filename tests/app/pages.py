"""The dashboard's page in a test: run without a server, and asked what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from ctxview.app.named import VARIABLE, NamedTrace
from ctxview.cli.command import run

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "data" / "cases"
PLAIN = {"text", "code", "arrow_data_frame", "arrow_vega_lite_chart", "plotly_chart", "dataframe"}
"""Elements that read no markup."""


def page(monkeypatch: Any, *traces: str | Path, **query: str) -> AppTest:
    """The page of a trace at an address, drawn."""
    monkeypatch.setenv(VARIABLE, NamedTrace(tuple(map(str, traces))).to_text())
    drawn = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    for key, value in query.items():
        drawn.query_params[key] = value
    drawn.run()
    settled(drawn)
    return drawn


def settled(drawn: AppTest) -> None:
    """Draw again until the whole run is measured, and make sure that nothing went wrong."""
    for _ in range(40):
        if not any(c.value.startswith("Measuring") for c in drawn.caption):
            break
        drawn.run()
    assert [e.message for e in drawn.exception] == []


def told(*words: str) -> Any:
    """What the command line says as JSON."""
    out = StringIO()
    with redirect_stdout(out):
        assert run([*words, "--json"]) == 0
    return json.loads(out.getvalue())


def sizes(drawn: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in drawn.metric}


def table(drawn: AppTest, *names: str) -> Any:
    """The first table with these columns, as a pandas frame."""
    return next(d.value for d in drawn.dataframe if set(names) <= set(d.value.columns))


def address(drawn: AppTest) -> dict[str, str]:
    """What the URL says, one word per key."""
    return {k: v if isinstance(v, str) else v[0] for k, v in drawn.query_params.items()}


def elements(drawn: AppTest) -> Iterator[tuple[str, str]]:
    """Kind and whole content of every element on the page, controls included."""

    def walk(block: Any) -> Iterator[tuple[str, str]]:
        for child in block.children.values():
            if hasattr(child, "children"):
                yield "block", str(child.proto)
                yield from walk(child)
            else:
                yield child.type, str(child.proto)

    yield from walk(drawn.main)
    yield from walk(drawn.sidebar)


def shown(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def texts(blocks: Sequence[dict[str, Any]]) -> list[str]:
    return [b["text"] for b in blocks]
