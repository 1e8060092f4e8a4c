"""A count equals tiktoken's own, for every text, in bounded time; without a vocabulary it is labelled an estimate."""

from __future__ import annotations

import pickle
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.errors import UsageError
from ctxview.tokens import Counter, VocabularyUnavailable, count, encoding_for, estimate_tokens, load_encoding
from ctxview.tokens.count import PIECE, SAFE_BOUNDARY, pieces

NAMES = ("o200k_base", "cl100k_base")
COUNTERS = {name: Counter(name) for name in NAMES}
WORDS = ("word", "Word's", "'S", "'lL", "I'M", " ", "  ", "\n", "\r\n", "\t", "\u3000", "\xa0", "\x1c", "/", "//", "!?",
         "7", "2026", "a1b2", "{\"k\": [1]}", "ſ", "é", "e\u0301", "的字", "，", "。\n", "かな", "한국", "\U0001f600",
         "<|endoftext|>", "<|im_start|>", "_", "'", "-", "\u2028", "Ǆ", "\x00", "कि", "½")  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=40).map("".join))


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    for counter in COUNTERS.values():
        counter.count("so that no test's time holds the loading")


def reference(name: str, text: str) -> int:
    return len(load_encoding(name).encode(text, disallowed_special=()))


def transcript_of(characters: int) -> str:
    """A long text like a transcript's: prose, code, JSON, Chinese."""
    rng = random.Random(7)
    lines = [
        "    return self.value  # the cached one",
        '{"id":"toolu_01","name":"Read","input":{"path":"src/a.py"}}',
        "",
        "The test fails because the parser's state isn't reset.",
        "这个函数返回一个值，然后更新缓存。",
        "\t\tx += 0x1F",
        "---",
    ]
    out: list[str] = []
    while sum(map(len, out)) < characters:
        out += [rng.choice(lines) + "\n" for _ in range(1000)]
    return "".join(out)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300)
@given(text=texts)
def test_counts_equal_tiktokens(name: str, text: str):
    assert COUNTERS[name].count(text) == reference(name, text)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=200)
@given(text=texts)
def test_a_cut_at_any_safe_boundary_changes_no_count(name: str, text: str):
    text = text.encode("utf-8", "replace").decode()
    whole = reference(name, text)
    for found in SAFE_BOUNDARY.finditer(text):
        at = found.start()
        assert reference(name, text[:at]) + reference(name, text[at:]) == whole, (text[:at], text[at:])


@given(text=texts, size=st.integers(1, 12), reach=st.integers(0, 12))
def test_pieces_join_to_the_text_and_stay_small(text: str, size: int, reach: int):
    parts = list(pieces(text, size, reach))
    assert "".join(parts) == text
    assert all(len(part) <= size + reach for part in parts)


def test_a_stretch_no_longer_than_the_reach_is_never_cut():
    assert list(pieces("aaaa bbbbbbbb cc", 8, 8)) == ["aaaa bbbbbbbb", " cc"]
    assert list(pieces("a" * 12, 8, 4)) == ["a" * 12]
    assert list(pieces("a" * 13, 8, 4)) == ["a" * 8, "a" * 5]


@pytest.mark.parametrize("name", NAMES)
def test_long_ordinary_text_is_exact(name: str):
    text = transcript_of(5 * PIECE)
    assert len(list(pieces(text))) >= 4
    assert COUNTERS[name].count(text) == reference(name, text)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(st.characters(), max_size=30), at=st.integers(0, 30))
def test_lone_surrogates_count_as_tiktoken_counts_them(name: str, text: str, at: int):
    text = text[:at] + "\udc9f \ud83d" + text[at:]
    assert COUNTERS[name].count(text) == reference(name, text)


def test_surrogates_in_a_long_text_count_as_in_a_short_one():
    one = "caf\ud83d\ude00 \udcff ok "
    many = PIECE // 4
    assert COUNTERS["o200k_base"].count(one * many) == reference("o200k_base", one * many)


@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>", "a<|endofprompt|>b", "<|start|><|message|>"]
)
def test_special_token_text_counts_as_it_is_written(text: str):
    for counter in (*COUNTERS.values(), Counter("o200k_harmony")):
        assert counter.count(text) > 1
        assert counter.count(text) == reference(counter.encoding, text)


def test_a_tool_result_that_spells_a_special_token():
    text = "a <|endoftext|> b"
    assert [COUNTERS[name].count(text) for name in NAMES] == [9, 8]


def test_a_short_user_message():
    assert COUNTERS["o200k_base"].count("Fix the typo in README.") == 6


PATHOLOGICAL = {
    "a": "a" * 1_000_000,
    "caret": "^" * 1_000_000,
    "spaces": " " * 1_000_000,
    "ideographic spaces": "\u3000" * 1_000_000,
    "tabs": "\t " * 500_000,
    "newlines": "\n" * 1_000_000,
    "capitals": "A" * 1_000_000,
    "letters": "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000)),
    "emoji": "\U0001f600" * 250_000,
    "spaces, word": " " * 1_000_000 + "end",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_a_million_characters_without_a_boundary_take_under_two_seconds(name: str, text: str):
    counter = COUNTERS[name]
    counter.count("load")
    start = time.process_time()
    tokens = counter.count(text)
    assert time.process_time() - start < 2
    assert 0 < tokens <= 4 * len(text)


def test_cut_runs_count_as_uncut_ones():
    assert COUNTERS["o200k_base"].count("a" * 1_000_000) == 125_000
    assert COUNTERS["o200k_base"].count("^" * 1_000_000) == 125_000
    letters = PATHOLOGICAL["letters"][: 3 * PIECE]
    assert abs(COUNTERS["o200k_base"].count(letters) - reference("o200k_base", letters)) <= 4


class Failing:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def encode(self, text: str, disallowed_special: tuple[str, ...]) -> list[int]:
        raise self.error


def panic() -> BaseException:
    kind: Any = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    result: BaseException = kind("regex")
    return result


@pytest.mark.parametrize("error", [ValueError("regex"), panic()], ids=["error", "panic"])
def test_a_failing_tokenizer_gives_an_estimate_for_that_piece(error: BaseException, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(count, "load_encoding", lambda name: Failing(error))
    counter = Counter()
    assert counter.count("12345") == 2
    assert not counter.estimated


def test_an_interrupt_is_not_swallowed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(count, "load_encoding", lambda name: Failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        Counter().count("12345")


def test_tiktokens_panic_is_the_one_that_is_caught():
    raised: BaseException | None = None
    try:
        load_encoding("o200k_base").encode_ordinary(" " * 1_000_000)
    except BaseException as error:  # noqa: BLE001 - a panic derives from nothing narrower
        raised = error
    assert raised is None or isinstance(raised, ValueError) or type(raised).__module__ == "pyo3_runtime"


def test_without_a_vocabulary_counts_are_labelled_estimates(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise VocabularyUnavailable("no data")

    monkeypatch.setattr(count, "load_encoding", missing)
    counter = Counter()
    assert counter.estimated
    assert counter.reason == "no data"
    assert counter.count_many(["", "a", "abcd", "abcde", "的"]) == [0, 1, 1, 2, 1]
    assert counter.count("\ud800") == 1
    assert counter.count("a" * 1_000_000) == 250_000


def test_with_a_vocabulary_counts_are_exact_and_say_so():
    assert not COUNTERS["o200k_base"].estimated
    assert COUNTERS["o200k_base"].reason is None


@given(st.text())
def test_an_estimate_is_a_quarter_of_the_bytes_rounded_up(text: str):
    size = len(text.encode("utf-8", "surrogatepass"))
    assert 4 * estimate_tokens(text) - 3 <= size <= 4 * estimate_tokens(text)


def test_count_many_keeps_the_order():
    assert COUNTERS["o200k_base"].count_many(iter(["hello world", "", "hi", "hello world"])) == [2, 0, 1, 2]


def test_an_unknown_encoding_names_those_offered():
    with pytest.raises(UsageError) as caught:
        Counter("p50k_base")
    assert "cl100k_base" in caught.value.fix


def test_a_counter_can_be_sent_to_another_process():
    copy = pickle.loads(pickle.dumps(COUNTERS["cl100k_base"]))
    assert (copy.encoding, copy.count("hello world")) == ("cl100k_base", 2)


@pytest.mark.parametrize(
    "model",
    ["gpt-4", "gpt-4-0314", "gpt-4-32k", "gpt-4-turbo-2024-04-09", "GPT-4", "gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo",
     "openai/gpt-4", "ft:gpt-4:acme", "ft:gpt-3.5-turbo-0613:acme", "azure/gpt-35-turbo-16k"],
)  # fmt: skip
def test_the_gpt_4_and_3_5_families_use_cl100k(model: str):
    assert encoding_for(model) == "cl100k_base"


@pytest.mark.parametrize(
    "model",
    [None, "", "gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.5-preview", "gpt-41", "gpt-5", "gpt-5.1-codex", "o1",
     "o3-mini", "o4-mini", "chatgpt-4o-latest", "gpt-oss-120b", "openai/gpt-4o", "ft:gpt-4o:acme", "claude-opus-4-6",
     "gemini-3-pro", "not-gpt-4"],
)  # fmt: skip
def test_every_other_model_uses_o200k(model: str | None):
    assert encoding_for(model) == "o200k_base"


def test_models_tiktoken_knows_map_as_tiktoken_maps_them():
    from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING

    known = {**MODEL_TO_ENCODING, **{f"{prefix}x": name for prefix, name in MODEL_PREFIX_TO_ENCODING.items()}}
    checked = 0
    for model, name in known.items():
        # Embedding and completion-only models hold no conversation; "ft:gpt-4" + "x" is no model's name.
        if model.startswith(("gpt-", "o1", "o3", "o4", "chatgpt")) and name != "gpt2":
            checked += 1
            assert encoding_for(model) == name.replace("o200k_harmony", "o200k_base"), model
    assert checked > 15
