"""Read the package's source: every statement is a literal, and nothing else imports duckdb."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ctxview
import ctxview.store

STORE = Path(ctxview.store.__file__).parent
MODULES = sorted(STORE.glob("*.py"))
RUNS = {"execute", "executemany", "sql", "query", "_all", "rows", "ordered", "read_csv", "read_json"}
"""Calls whose first argument is SQL."""
PERSONS_OWN = "self._cursor.execute(self._statement)"
"""The one statement that is not ours: a person's own SELECT, parsed by DuckDB and checked to be one (test_query.py)."""


def constants() -> dict[str, ast.expr]:
    """Module-level names in capitals, with what is assigned to them."""
    return {
        node.target.id: node.value
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }


def is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def problems(tree: ast.AST) -> Iterator[str]:
    """Calls that run SQL made of anything but literals."""
    known = constants()
    passed_on = {
        arg.arg for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name in RUNS for arg in f.args.args
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in RUNS:
            continue
        query = node.args[0]
        if is_literal(query):
            continue
        if isinstance(query, ast.Call) and getattr(query.func, "id", "") == "script" and is_literal(query.args[0]):
            continue
        if isinstance(query, ast.Attribute) and is_literal(known.get(query.attr, query)):
            continue
        if isinstance(query, ast.Name) and (query.id in passed_on or is_literal(known.get(query.id, query))):
            continue
        if ast.unparse(node) == PERSONS_OWN:
            continue
        yield f"line {node.lineno}: {ast.unparse(query)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_sql_is_never_made_of_text(path):
    """No f-string, concatenation or formatting reaches execute() (security.md row 22)."""
    assert list(problems(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    ['c.execute(f"x {y}")', 'c.execute("a" + b)', 'c.execute("%s" % b)', 'c.execute("{}".format(b))', "c.sql(b)"],
)
def test_the_reader_of_source_would_notice(code):
    assert list(problems(ast.parse(code)))


def test_rows_are_never_inserted_one_statement_each():
    """`executemany` is a thousand times slower than an appender (performance.md, Loading)."""
    assert [p.name for p in MODULES if ".executemany(" in p.read_text(encoding="utf-8")] == []


def test_only_the_store_imports_duckdb():
    """Everything else asks the store."""
    root = Path(ctxview.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        if path.resolve().is_relative_to(STORE.resolve()):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("duckdb", "_duckdb") for name in names):
                found.add(str(path.relative_to(root)))
    assert found == set()
