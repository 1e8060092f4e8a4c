"""`retrieval:by=embedding`: ranks by meaning, from a model in a folder, and says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.errors import UsageError
from ctxview.policies import embedding, layer, parse_stack
from ctxview.policies.retrieval import POLICY
from ctxview.policies.stack import Stack
from ctxview.replay import replay
from tests.replay.sessions import Script, words

MEANINGS = {"cat": (1.0, 0.0), "kitten": (0.9, 0.1), "rocket": (0.0, 1.0), "engine": (0.1, 0.9), "[UNK]": (0.0, 0.0)}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of four words in two dimensions."""
    model2vec = pytest.importorskip("model2vec", reason="the extra `embed` is not installed")
    import numpy
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(MEANINGS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    made = model2vec.StaticModel(numpy.array(list(MEANINGS.values()), dtype="float32"), tokenizer)
    made.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_what_means_the_same_is_brought_back_though_no_word_is_shared(model: Path) -> None:
    script = Script()
    script.user("rocket")
    for text in ("engine", "cat", "engine"):
        script.call()
        script.say(text)
    script.user("kitten")
    script.call()
    params = {"by": "embedding", "model": str(model), "top_k": 1, "recent": 1, "pins": ""}
    stack = Stack("history", (layer(POLICY, params),))
    view = replay(script.view(), stack, count=words).view
    assert [view.text(w.span.content) for w in view.window(4)] == ["cat", "kitten"]


def test_nearness_goes_by_direction(model: Path) -> None:
    cat, kitten, rocket, none = embedding.vectors(str(model), ["cat", "kitten", "rocket", "unknown"])
    assert embedding.nearness(cat, kitten) > 0.9 > 0.1 > embedding.nearness(cat, rocket)
    assert embedding.nearness(cat, none) == 0.0


def test_a_model_is_found_in_the_cache_by_its_name(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "cache" / "models--some--model" / "snapshots" / "abc"
    place.parent.mkdir(parents=True)
    model.rename(place)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert embedding.folder_of("some/model") == place
    assert embedding.fault("some/model") is None


def test_without_the_package_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs the package model2vec") as caught:
        parse_stack("retrieval:by=embedding:model=x")
    assert caught.value.fix == "pip install 'ctxview[embed]'"


@pytest.mark.parametrize("words", ["", ":model=no/such/model"])
def test_without_a_model_the_error_says_to_give_its_folder(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "find_spec", lambda name: object())
    with pytest.raises(UsageError) as caught:
        parse_stack(f"retrieval:by=embedding{words}")
    assert "model2vec model" in (caught.value.fix or "")
