"""Writes docs/sql.md from the comments in the schema. A test keeps the two the same."""

from __future__ import annotations

from pathlib import Path

from ctxview.store.query import reference

if __name__ == "__main__":
    Path(__file__).resolve().parents[1].joinpath("docs", "sql.md").write_text(reference(), encoding="utf-8")
