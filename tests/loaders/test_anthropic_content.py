"""Anthropic content becomes parts: each test's docstring states the fact."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.loaders.anthropic_content import NOT_RECORDED, Part, is_reminder, parts
from ctxview.loaders.shapes import as_count, as_int, as_time, compact_json, title_of

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 12, 10) + b"\0" * 40).decode()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "source", "data", "input", "id", "name", "thinking", "url"]),
            inner | st.sampled_from(["text", "image", "tool_use", "tool_result", "thinking", "base64", "compaction"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


def result(content: Any, **more: Any) -> list[Part]:
    return list(parts("user", [{"type": "tool_result", "tool_use_id": "t", "content": content, **more}]))


def test_string_content_is_one_text_part() -> None:
    """A string stands for one text part, whose kind is the role's."""
    assert list(parts("user", "hello")) == [Part("user", "hello")]
    assert list(parts("assistant", "hi")) == [Part("assistant", "hi")]


@pytest.mark.parametrize("content", [None, []])
def test_no_content_is_an_empty_part_with_a_note(content: Any) -> None:
    """A message without content is kept."""
    assert list(parts("user", content)) == [Part("user", note="no content")]


def test_tool_result_texts_are_joined_and_images_follow_without_a_call() -> None:
    """Text parts of a result become one text; its images are parts of their own that answer no call."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    text, picture = result([{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}])
    assert (text.kind, text.text, text.call_id) == ("tool_result", "a\nb", "t")
    assert (picture.kind, picture.call_id, picture.text) == ("image", None, "[image image/png]")
    assert picture.image is not None
    assert (picture.image.width, picture.image.height) == (12, 10)


def test_tool_result_without_content_is_empty() -> None:
    """A result whose content is absent or null has an empty text, and errors are marked."""
    assert list(parts("user", [{"type": "tool_result", "tool_use_id": "t"}])) == [Part("tool_result", call_id="t")]
    assert result(None, is_error=True) == [Part("tool_result", call_id="t", is_error=True)]


def test_thinking_without_text_says_so() -> None:
    """Thinking that was not logged leaves its signature's length and a note."""
    thinking, redacted = parts(
        "assistant",
        [{"type": "thinking", "thinking": "", "signature": "abcd"}, {"type": "redacted_thinking", "data": "xyz"}],
    )
    assert (thinking.signature, thinking.note) == (4, NOT_RECORDED)
    assert (redacted.kind, redacted.text, redacted.signature, redacted.note) == ("thinking", "", 3, NOT_RECORDED)


def test_tool_call_keeps_its_arguments_as_logged() -> None:
    """Arguments are compact JSON with keys in the order logged."""
    (call,) = parts("assistant", [{"type": "tool_use", "id": "t", "name": "Read", "input": {"b": 1, "a": "ü"}}])
    assert (call.tool, call.call_id, call.text) == ("Read", "t", '{"b":1,"a":"ü"}')


def test_base64_never_becomes_text() -> None:
    """Documents show as JSON without their data."""
    source = {"type": "base64", "media_type": "application/pdf", "data": "A" * 5000}
    (document,) = parts("user", [{"type": "document", "source": source, "cache_control": {"type": "ephemeral"}}])
    assert "AAAA" not in document.text
    assert "cache_control" not in document.text
    assert document.note == "document block shown as JSON"


def test_remote_image_shows_its_host_only() -> None:
    """A URL's path and query do not get into the text."""
    (image,) = parts("user", [{"type": "image", "source": {"type": "url", "url": "https://host.example/x?token=1"}}])
    assert image.text == "[image from host.example]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<system-reminder>a</system-reminder>", True),
        (" <system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder> ", True),
        ("<system-reminder>cut off", True),
        ("<system-reminder>a</system-reminder> and a question", False),
        ("<system-reminder>a</system-reminder> b <system-reminder>c</system-reminder>", False),
        ("hello", False),
    ],
)
def test_reminder_is_text_wholly_inside_the_tags(text: str, expected: bool) -> None:
    """Text beside a reminder was typed."""
    assert is_reminder(text) is expected


@given(st.text(max_size=10), JSON)
def test_any_content_gives_parts_and_never_raises(role: str, content: Any) -> None:
    """At least one part, whatever the content is."""
    assert list(parts(role, content))


def test_shapes_take_anything() -> None:
    """Helpers answer for values of any type."""
    assert as_int(True) is None
    assert as_int(2**70) is None
    assert as_int(3.0) == 3
    assert as_count(-1) is None
    assert as_time(0) is None
    assert as_time(1_700_000_000) == "2023-11-14T22:13:20.000Z"
    assert compact_json({"a": "\ud800"}) == '{"a":"\ud800"}'
    assert title_of("\n<session>\n  Fix it \n") == "Fix it"
    assert title_of("x" * 100) == "x" * 79 + "…"
