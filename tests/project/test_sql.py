"""SQL is written down, never put together: what comes from a trace reaches the database as a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = sorted(p for top in ("app", "ctxview", "loaders", "tui") for p in (ROOT / top).rglob("*.py"))
RUNS_SQL: Final = {"execute", "executemany", "sql", "query", "executescript"}


def built_statements(tree: ast.AST) -> Iterator[int]:
    """Lines of calls that run SQL whose first argument is put together from parts that are not literals."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        if node.func.attr in RUNS_SQL and _is_built(node.args[0]):
            yield node.lineno


def _is_built(value: ast.expr) -> bool:
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) for part in value.values)
    if isinstance(value, ast.BinOp):
        return not all(isinstance(side, ast.Constant) for side in (value.left, value.right))
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in {"format", "join", "replace"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_statement_is_put_together(path: Path) -> None:
    assert list(built_statements(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    ['c.execute(f"from {table}")', 'c.execute("from " + table)', 'c.sql("from %s" % t)', 'c.execute("{}".format(t))'],
)
def test_the_check_sees_what_it_looks_for(code: str) -> None:
    assert list(built_statements(ast.parse(code))) == [1]


def test_parameters_are_no_offence() -> None:
    assert list(built_statements(ast.parse('c.execute("from t where id = ?", [x])'))) == []


def test_only_the_store_imports_duckdb() -> None:
    offenders = [p for p in SOURCES if "import duckdb" in p.read_text(encoding="utf-8") and p.parent.name != "store"]
    assert offenders == []
