"""A rule's key words are necessary: reading only where they stand finds the same pins as reading everywhere."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pin_blocks import agent, block, person, pins_of, result

from ctxview.annotate.pins import approvals, constraints, decisions, denials, preferences, questions, reading
from ctxview.annotate.pins.matching import Rule, Table, Vocabulary
from ctxview.annotate.pins.vocabulary import SPOKEN, STANDING
from ctxview.model import Pin

_MODULES = (approvals, constraints, decisions, denials, preferences, questions)
_RULES = [
    one
    for module in _MODULES
    for table in vars(module).values()
    if isinstance(table, Table) and table is not approvals.SAYS_YES
    for one in table.rules.values()
]
_OF_PERSON = [one for one in _RULES if one.name != "the agent decided"]


def _that_match(one: Rule) -> st.SearchStrategy[tuple[Rule, str]]:
    pattern: re.Pattern[str] = one.pattern.search.__self__  # type: ignore[attr-defined]  # compiled at its first use
    return st.tuples(st.just(one), st.from_regex(pattern, alphabet=st.characters(codec="ascii")))


@settings(max_examples=120)
@given(st.sampled_from(_OF_PERSON).flatmap(_that_match))
def test_no_match_is_without_its_rules_key_words(found: tuple[Rule, str]):
    one, text = found
    low = text.lower()
    known = STANDING if one.bit in (*constraints.STANDS.rules, *constraints.LIMITS.rules) else SPOKEN
    assert not one.matches(low) or known.candidates(low) & one.bit


_VOCABULARY = sorted(
    {word for module in _MODULES for word in re.findall(r"[a-z]+(?:'[a-z]+)?", inspect.getsource(module).lower())}
    | {key.decode() for one in [*_RULES, *approvals.SAYS_YES.rules.values()] for words in one.keys for key in words}
)
_WORDS = st.one_of(
    st.sampled_from(_VOCABULARY),
    st.sampled_from(
        ["yes", "no", "ok", "please", "don't", "MUST", "we", "I'd like to", "go ahead", "let's", "use it", "_we_",
         "neverhttps://a.b/c", "`always`", '"never do it"', "**never**", "ne*v*er", "I will go with", "you can"]
    ),
    st.text(max_size=3),
)  # fmt: skip
_JOINTS = st.sampled_from([" "] * 9 + ["  ", ", ", ". ", "! ", "? ", ": ", " - ", "\n", "\n\n", "\n- ", "'"])
_TEXTS = st.lists(st.tuples(_WORDS, _JOINTS), min_size=1, max_size=9).map(
    lambda parts: "".join(word + joint for word, joint in parts)
)


@settings(max_examples=250)
@given(_TEXTS, st.sampled_from(["Shall I go ahead?", "Which one?", "Done."]), st.booleans())
def test_reading_only_where_key_words_stand_finds_all_pins(text: str, said: str, refused: bool):
    blocks = [person("Hello"), agent(said), *([result("DENIED by policy: no")] if refused else []), person(text)]
    blocks += [agent(text), block("system", text)]

    def found() -> tuple[Pin, ...]:
        reading.read_standing.cache_clear()
        reading.standing_pins.cache_clear()
        return pins_of(*blocks)

    with_keys = found()
    with pytest.MonkeyPatch.context() as everywhere:
        everywhere.setattr(Vocabulary, "candidates", lambda _self, _low: -1)
        assert found() == with_keys
