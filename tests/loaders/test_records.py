"""Every record of a damaged file is read or named, and nothing stops the reading."""

from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.loaders import records
from ctxview.loaders.records import Raw, read_document, read_lines
from ctxview.loaders.source import SourceFile
from ctxview.model import Issue

TEXT = st.text(st.characters(codec="utf-8"))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | TEXT
    | st.floats(allow_nan=False, allow_infinity=False)
)
OBJECTS = st.dictionaries(
    TEXT,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
        max_leaves=8,
    ),
    max_size=4,
)
CASES = Path(__file__).parents[1] / "data" / "cases"


def lines_of(data: bytes) -> tuple[list[Raw], list[Issue]]:
    issues: list[Issue] = []
    return list(read_lines(SourceFile("x.jsonl", data=data), issues.append)), issues


def case(name: str) -> tuple[list[Raw], list[Issue]]:
    issues: list[Issue] = []
    return list(read_lines(SourceFile(name, CASES / name), issues.append)), issues


def document_of(data: bytes) -> tuple[Raw | None, list[Issue]]:
    issues: list[Issue] = []
    return read_document(SourceFile("x.json", data=data), issues.append), issues


def one(data: bytes) -> tuple[Any, list[str]]:
    """The value of the only record, and the reasons of the issues."""
    raws, issues = lines_of(data + b"\n")
    (raw,) = raws
    assert raw.status == "ok"
    return raw.value, [issue.reason for issue in issues]


# ------------------------------------------------------------------------------------------------- the shared cases


def test_a_line_ends_at_a_newline_byte_only() -> None:
    """U+2028, U+2029, U+0085 stay in their text, where str.splitlines would have cut the record."""
    raws, issues = case("P01.jsonl")
    assert not issues
    assert len(raws) == 3
    text = raws[0].value["message"]["content"]
    assert len(text) == 23
    assert {"\u2028", "\u2029", "\x85"} <= set(text)
    assert len((CASES / "P01.jsonl").read_text("utf-8").splitlines()) > 3


def test_torn_tail_is_pending_and_a_bad_middle_line_is_named() -> None:
    raws, issues = case("P04.jsonl")
    assert [raw.status for raw in raws] == ["ok", "unreadable", "ok", "pending"]
    bad, torn = issues
    assert (bad.severity, bad.line, bad.byte) == ("warning", 2, raws[1].byte)
    assert bad.reason.startswith("line 2 is not JSON: ")
    assert (torn.severity, torn.line) == ("info", 4)
    assert torn.reason == "incomplete last line (the writer may still be at work)"


def test_valid_last_line_needs_no_newline() -> None:
    raws, issues = case("P04.full.jsonl")
    assert [raw.status for raw in raws] == ["ok", "ok"]
    assert not issues


def test_lone_surrogates_become_replacement_characters_with_one_warning() -> None:
    raws, issues = case("P06.jsonl")
    assert raws[0].value["message"]["content"] == "cut emoji \ufffd here and \ufffd there"
    assert raws[1].value["message"]["content"][0]["text"] == "good pair \U0001f600"
    assert [issue.reason for issue in issues] == ["line 1: 2 lone surrogates replaced by U+FFFD"]


def test_byte_order_mark_and_carriage_returns_leave_no_trace() -> None:
    raws, issues = case("P07.jsonl")
    assert [raw.value["message"]["content"] for raw in raws] == ["with bom", "crlf"]
    assert not issues


def test_utf16_is_decoded_and_mentioned() -> None:
    raws, issues = case("P07.utf16.jsonl")
    assert [raw.value["message"]["content"] for raw in raws] == ["with bom", "crlf"]
    assert [issue.reason for issue in issues] == ["not UTF-8 (looks like UTF-16): decoded as UTF-16"]
    data = (CASES / "P07.utf16.jsonl").read_bytes()
    assert [data[raw.byte : raw.end].decode("utf-16-le")[0] for raw in raws] == ["{", "{"]
    assert raws[-1].end == len(data)


def test_last_of_duplicate_keys_is_kept_and_named() -> None:
    raws, issues = case("P20.jsonl")
    assert raws[0].value["message"]["content"] == "second"
    assert raws[1].value["uuid"] == "u2"
    assert raws[1].value["UUID"] == "other"
    assert [issue.reason for issue in issues] == ["line 1: duplicate key “content”: the last value is kept"]


def test_unknown_record_types_are_ordinary_records() -> None:
    raws, issues = case("P25.jsonl")
    assert len(raws) == 7
    assert not issues


@pytest.mark.parametrize("levels", [1025, 5000, 100_000])
def test_too_deep_nesting_costs_only_its_line(levels: int) -> None:
    deep = b'{"uuid":"u2","r":' + b"[" * levels + b"]" * levels + b"}"
    raws, issues = lines_of(b'{"uuid":"u1"}\n' + deep + b'\n{"uuid":"u3"}\n')
    assert [raw.status for raw in raws] == ["ok", "unreadable", "ok"]
    assert [issue.reason for issue in issues] == ["line 2: nested too deep (over 1,024 levels): not read"]


@pytest.mark.parametrize("levels", [200, 300, 1000])
def test_nesting_that_can_be_read_is_checked_for_duplicates_too(levels: int) -> None:
    clean = b"[" * levels + b'{"k":1}' + b"]" * levels
    assert one(clean)[1] == []
    twice = b"[" * levels + b'{"k":1,"k":2}' + b"]" * levels
    assert one(twice)[1] == ["line 1: duplicate key “k”: the last value is kept"]


# ------------------------------------------------------------------------------------------------ what orjson hides


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (rb'{"a":{"b":[{"c":1,"c":1}]}}', "c"),
        (rb'{"a": 1, "b": ": \"a\": ", "a": 1e5}', "a"),
        (rb'{"a":1,"\u0061":2}', "a"),
        (rb'{"q\"":1, "q\u0022":2}', 'q"'),
        (rb'{"x\\":1,"x\\":2}', "x\\"),
        (rb'{"t":"say \u0022hi\u0022","a":"","a":"\\u0022"}', "a"),
        (rb'{"":1,"":2}', ""),
        pytest.param(b'{"a":"' + b"x" * 5_000_000 + b'","a":2}', "a", id="long"),
    ],
)
def test_duplicate_keys_are_found_whatever_hides_them(line: bytes, key: str) -> None:
    value, reasons = one(line)
    assert value == json.loads(line)
    assert reasons == [f"line 1: duplicate key “{key}”: the last value is kept"]


@pytest.mark.parametrize(
    "line",
    [
        rb'{"a": "\u0022b\u0022: 1", "b": "\\u0022"}',
        rb'{ "a" : {"b": 1}, "b": {"b": 2.50, "c": 1E5} }',
        rb'{"text":"{\"a\":1,\"a\":2}","r\u00e9sum\u00e9":"\/"}',
        rb'[{"a":1},{"a":1}]',
        rb'{"id":"12345678901234567890123","ns": 1234567890123456789, "big": 1e22}',
        pytest.param(b'{"long": "' + b"x" * 5_000_000 + b'", "k": []}', id="long"),
    ],
)
def test_unusual_but_clean_lines_raise_no_issue(line: bytes) -> None:
    assert one(line) == (json.loads(line), [])


class Pairs(list[Any]):
    """An object's pairs, repeated keys and all."""


def with_repeats(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["a", "b", '"', "\\", "é"])
    return st.lists(inner, max_size=4) | st.lists(st.tuples(keys, inner), max_size=4).map(Pairs)


@given(st.recursive(SCALARS, with_repeats, max_leaves=12), st.booleans())
def test_a_duplicate_key_is_reported_exactly_when_there_is_one(value: Any, ascii_only: bool) -> None:
    """Against the stdlib's own view of the pairs, in both of its spellings."""
    text = spell(value, ascii_only)
    seen: set[str] = set()

    def note_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        seen.update(name for name in names if names.count(name) > 1)
        return dict(pairs)

    expected = json.loads(text, object_pairs_hook=note_repeats)
    found, reasons = one(text.encode())
    assert found == expected
    assert sorted(reasons) == sorted(f"line 1: duplicate key “{key}”: the last value is kept" for key in seen)


def spell(value: Any, ascii_only: bool) -> str:
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{spell(key, ascii_only)}: {spell(item, ascii_only)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(spell(item, ascii_only) for item in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


# ----------------------------------------------------------------------------------------------- what orjson refuses


def test_not_a_number_is_kept_with_a_warning() -> None:
    value, reasons = one(b'{"a": NaN, "b": -Infinity, "c": [1]}')
    assert math.isnan(value["a"])
    assert value["b"] == -math.inf
    assert reasons == ["line 1: NaN, -Infinity is not JSON: kept as it is"]


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "9" * 5000])
@pytest.mark.parametrize("form", ['{"n":%s}', '{"n": %s, "m": 1}'])
def test_integers_outside_64_bits_are_kept_as_text(form: str, digits: str) -> None:
    value, reasons = one((form % digits).encode())
    assert value["n"] == digits
    assert reasons == ["line 1: 1 number outside 64 bits: an integer is kept as text, a float as infinity"]


def test_integers_of_64_bits_stay_integers() -> None:
    assert one(b"[9223372036854775808, -9223372036854775808, 18446744073709551615]")[1] == []


def test_bad_utf8_is_replaced_and_its_byte_named() -> None:
    raws, issues = lines_of(b'{"a":1}\n{"t":"caf\xe9"}\n')
    assert raws[1].value == {"t": "caf\ufffd"}
    (issue,) = issues
    assert (issue.line, issue.byte, issue.severity) == (2, 8 + 9, "warning")
    assert issue.reason == "line 2: not UTF-8 at byte 10 of the line: bad bytes replaced by U+FFFD"


def test_objects_glued_on_one_line_are_each_read() -> None:
    raws, issues = lines_of(b'{"a":1}\n{"a":2}{"a":3} {"a":4}\n{"a":5}\n')
    assert [(raw.line, raw.value["a"]) for raw in raws] == [(1, 1), (2, 2), (2, 3), (2, 4), (3, 5)]
    assert {issue.severity for issue in issues} == {"info"}
    assert issues[0].reason == "line 2: more than one value on this line: each is read"


def test_what_follows_an_object_is_not_lost_in_silence() -> None:
    raws, issues = lines_of(b'{"a":1} oops\n{"a":2}\n')
    assert [raw.status for raw in raws] == ["ok", "unreadable", "ok"]
    assert issues[0].reason.startswith("line 1 the rest of the line is not JSON")


def test_lines_of_prose_are_not_read_as_numbers() -> None:
    raws, _ = lines_of(b'2026-03-01 started\n"key": 1\n')
    assert [raw.status for raw in raws] == ["unreadable", "unreadable"]


def test_nul_bytes_of_a_crash_are_skipped() -> None:
    raws, issues = lines_of(b'\0\0\0{"a":1}\n\0\0\n{"a":2}\n')
    assert [raw.status for raw in raws] == ["ok", "unreadable", "ok"]
    assert issues[0].reason == "line 1: 3 NUL bytes skipped"


def test_raw_control_characters_in_a_string_are_read_leniently() -> None:
    value, reasons = one(b'{"t":"a\x01\tb"}')
    assert value == {"t": "a\x01\tb"}
    assert len(reasons) == 1
    assert "not strict JSON" in reasons[0]


def test_blank_and_comment_lines_are_no_records() -> None:
    raws, issues = lines_of(b'// made by hand\n\n{"a":1}\n \t\r\n  // more\n')
    assert [(raw.line, raw.byte) for raw in raws] == [(3, 17)]
    assert not issues


def test_any_json_value_is_a_record() -> None:
    raws, _ = lines_of(b'1\n"x"\n[2]\nnull\n')
    assert [raw.value for raw in raws] == [1, "x", [2], None]
    assert {raw.status for raw in raws} == {"ok"}


def test_issues_of_one_kind_are_capped() -> None:
    raws, issues = lines_of(b"\x93\xfa garbage \x00\n" * 1000)
    assert len(raws) == 1000
    assert len(issues) == records.SAME_ISSUE_LIMIT + 1
    assert issues[-1].reason == "and 980 more issues of this kind: not JSON"


def test_random_bytes_are_read_to_their_end() -> None:
    data = bytes((i * 7919 + i // 251) % 256 for i in range(200_000))
    raws, issues = lines_of(data)
    assert raws
    assert len(issues) < 200


def test_a_file_that_cannot_be_read_is_an_issue(tmp_path: Path) -> None:
    issues: list[Issue] = []
    gone = SourceFile("gone", tmp_path / "gone")
    assert list(read_lines(gone, issues.append)) == []
    assert read_document(gone, issues.append) is None
    assert [issue.severity for issue in issues] == ["error", "error"]


# ---------------------------------------------------------------------------------------------------------- limits


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "CHUNK", 10)
    monkeypatch.setattr(records, "LINE_LIMIT", 40)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(("size", "read"), [(39, True), (40, True), (41, False), (95, False), (100, False)])
@pytest.mark.parametrize("newline", [b"\n", b""])
def test_a_line_over_the_limit_is_passed_over(size: int, read: bool, newline: bytes) -> None:
    """The lines around it are read, and it is named with its size, ended or not."""
    long = b'"' + b"x" * (size - 2) + b'"'
    raws, issues = lines_of(b'{"a":1}\n' + long + b'\n\n{"a":3}\n' + long + newline)
    odd = "ok" if read else "unreadable"
    assert [raw.status for raw in raws] == ["ok", odd, "ok", odd]
    assert [(raw.line, raw.byte) for raw in raws] == [(1, 0), (2, 8), (4, 10 + size), (5, 18 + size)]
    assert raws[-1].end == 18 + 2 * size + len(newline)
    assert [issue.line for issue in issues] == ([] if read else [2, 5])


class Endless(BytesIO):
    """A stream of one line that is never held as a whole."""

    def __init__(self, chunks: int) -> None:
        super().__init__()
        self._left: Iterator[bytes] = iter([b'{"a":1}\n', *[b"x" * records.CHUNK] * chunks, b'\n{"a":2}\n'])

    def read(self, size: int | None = -1, /) -> bytes:
        return next(self._left, b"")


class Made(SourceFile):
    def open(self) -> BinaryIO:
        return Endless(300)


def test_a_huge_line_takes_little_memory() -> None:
    """300 MiB in one line; at most three times the limit held."""
    issues: list[Issue] = []
    tracemalloc.start()
    raws = list(read_lines(Made("big"), issues.append))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [raw.status for raw in raws] == ["ok", "unreadable", "ok"]
    assert "300.0 MiB, over the limit of 64.0 MiB" in issues[0].reason
    assert peak < 3 * records.LINE_LIMIT


# ------------------------------------------------------------------------------------------------------- properties

WRITERS = st.sampled_from([
    lambda value: json.dumps(value),
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
])  # fmt: skip


@given(st.lists(OBJECTS, max_size=6), WRITERS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_what_was_written_is_read_back(objects: list[Any], write: Any, newline: str, encoding: str) -> None:
    data = "".join(write(value) + newline for value in objects).encode(encoding)
    raws, issues = lines_of(data)
    assert [raw.value for raw in raws] == objects
    assert not issues
    assert all(data[raw.byte : raw.end].endswith(newline.encode()) for raw in raws)


@given(st.lists(OBJECTS, min_size=1, max_size=4), WRITERS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.data())
def test_a_file_cut_anywhere_gives_a_prefix_of_its_records(
    objects: list[Any], write: Any, encoding: str, data: st.DataObject
) -> None:
    """So a reader that starts again on the grown file gives each record once."""
    whole = "".join(write(value) + "\n" for value in objects).encode(encoding)
    cut = data.draw(st.integers(0, len(whole)))
    raws, issues = lines_of(whole[:cut])
    values = [raw.value for raw in raws if raw.status == "ok"]
    assert values == objects[: len(values)]
    if encoding != "utf-16":
        assert len(values) >= whole[:cut].count(b"\n")
        assert {raw.status for raw in raws[len(values) :]} <= {"pending", "unreadable"}
    assert len(raws) <= len(values) + 1
    assert all(issue.severity != "error" for issue in issues)


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    lines_of(data)
    document_of(data)


# -------------------------------------------------------------------------------------------------------- documents


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_one_record(codec: str, indent: int | None) -> None:
    value = {"messages": [{"role": "user", "content": "héllo \U0001f600"}]}
    data = json.dumps(value, indent=indent, ensure_ascii=False).encode(codec)
    raw, issues = document_of(data)
    assert raw == Raw(1, 0, value, "ok", len(data))
    assert all(issue.severity == "info" for issue in issues)


def test_json_lines_are_no_document_and_no_error() -> None:
    assert document_of(b'// note\n{"a":1}\n{"a":2}\n') == (None, [])
    assert document_of(b'{"a":"' + b"x" * 2_000_000 + b'"}\n{"a":2}\n') == (None, [])


def test_lines_with_a_torn_first_one_are_no_document_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for torn in (b'{"a": [1, {"b":\n', b'tail of a string"}]}\n', b'{"a": 1},\n', b"{}}\n\n"):
        assert document_of(torn + b'{"a": 2}\n{"a": 3}\n') == (None, [])
    monkeypatch.setattr(records, "DOCUMENT_LIMIT", 100)
    assert document_of(b'{"a":\n{"a": 2}\n' * 20) == (None, [])


def test_a_broken_document_is_not_taken_for_lines() -> None:
    """Whatever its layout: its objects are no records."""
    value = {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "more": {}}
    for data in (json.dumps(value, indent=2), "[\n" + json.dumps(value) + "\n,\n" + json.dumps(value) + "\n"):
        raw, issues = document_of(data.rstrip("}").encode())
        assert raw is None
        assert [issue.severity for issue in issues] == ["error"]


def test_a_one_line_document_ends_with_a_newline() -> None:
    raw, issues = document_of(b'{"a":1}\n\n')
    assert raw is not None
    assert raw.value == {"a": 1}
    assert not issues


@pytest.mark.parametrize("data", [b"", b"  \n", b'{"a": [1,\n 2', b'{"a":1} trailing', b"[" * 5000, b"hello"])
def test_a_broken_document_is_an_error(data: bytes) -> None:
    raw, issues = document_of(data)
    assert raw is None
    assert [issue.severity for issue in issues] == ["error"]


def test_a_document_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "CHUNK", 10)
    monkeypatch.setattr(records, "DOCUMENT_LIMIT", 100)
    raw, issues = document_of(b"[" + b"1," * 100 + b"1]")
    assert raw is None
    assert issues[0].severity == "error"


def test_flaws_of_a_document_are_reported() -> None:
    raw, issues = document_of(b'{"a": 1,\n "a": "\\ud800"}')
    assert raw is not None
    assert raw.value == {"a": "\ufffd"}
    assert [issue.severity for issue in issues] == ["warning", "warning"]
