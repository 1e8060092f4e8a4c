"""The store: what reconstruction made, as rows in DuckDB. Nothing else in ctxview imports duckdb."""

from ctxview.store.connect import OutdatedError, UnkeptError, remove_spill
from ctxview.store.store import Store

__all__ = ["OutdatedError", "Store", "UnkeptError", "remove_spill"]
