"""How near texts are to each other in meaning, by a static embedding model from a folder of the person's own.

Nothing is ever downloaded: a model is a folder, or the name of one that stands in Hugging Face's cache already.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

_FILES: Final = ("config.json", "model.safetensors", "tokenizer.json")
Vector = tuple[float, ...]


def fault(model: str) -> str | None:
    """What stands in the way of using a model, and after a semicolon what to do; None when nothing does."""
    if find_spec("model2vec") is None:
        return "by=embedding needs the package model2vec; pip install 'ctxview[embed]'"
    if not model:
        return "by=embedding needs a model; give model=FOLDER of a model2vec model"
    if folder_of(model) is None:
        shown = ", ".join(_FILES)
        return (
            f"model={model} is no folder with {shown}, nor in {_cache()}, and nothing is downloaded; give the folder of"
            " a model2vec model"
        )
    return None


def folder_of(model: str) -> Path | None:
    """The folder of a model, or the newest one in the cache under its name, such as `minishlab/potion-base-8M`."""
    snapshots = _cache() / f"models--{model.replace('/', '--')}" / "snapshots"
    cached = sorted(snapshots.iterdir(), key=lambda p: p.stat().st_mtime) if snapshots.is_dir() else []
    for folder in (Path(model).expanduser(), *reversed(cached)):
        if all((folder / name).is_file() for name in _FILES):
            return folder
    return None


def vectors(model: str, texts: Sequence[str]) -> list[Vector]:
    """The texts as vectors of length 1, or 0 for a text without a known word."""
    found = []
    for row in _loaded(str(folder_of(model))).encode(list(texts), use_multiprocessing=False).tolist():
        length = sum(x * x for x in row) ** 0.5
        found.append(tuple(x / length for x in row) if length else tuple(row))
    return found


def nearness(a: Vector, b: Vector) -> float:
    """From 0 to 1."""
    return max(0.0, sum(x * y for x, y in zip(a, b)))


@lru_cache(maxsize=2)
def _loaded(folder: str) -> Any:
    return importlib.import_module("model2vec").StaticModel.from_pretrained(folder, force_download=False)


def _cache() -> Path:
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or f"{home}/hub").expanduser()
