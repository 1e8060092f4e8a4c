"""Reading values that may be anything: each helper gives the type asked for, and never raises.

It prevents the mistake of trusting a log's shape: a key that held a dict for a year holds a string today, in some
client's log or in a hostile one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import orjson

_TITLE_CHARS: Final = 80
_LARGEST_COUNT: Final = 2**40
"""A trillion tokens or bytes: no counter is larger, and thousands of them can be added in 63 bits."""
_LAST_SECONDS: Final = 1e11
"""A larger number of a timestamp is one of milliseconds: so many seconds after 1970 is the year 5138."""
_LAST_MOMENT: Final = 253_402_300_799
"""Seconds from 1970 to the last one of the year 9999, after which Python has no dates."""
TOO_DEEP: Final = "[nested too deep to show]"


def as_dict(value: Any) -> dict[str, Any]:
    """`value` when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """`value` when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def as_str(value: Any) -> str:
    """`value` when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_text(value: Any) -> str:
    """`value` when it is a string, nothing for null, else its compact JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact_json(value)


def as_int(value: Any) -> int | None:
    """A whole number that fits 63 bits, else None; true and false are not numbers."""
    if type(value) is int:  # the common case, without a detour
        return value if -(2**63) < value < 2**63 else None
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    return value if isinstance(value, int) and -(2**63) < value < 2**63 else None


def as_count(value: Any) -> int | None:
    """A token or byte counter: a whole number from 0 to 2^40, else None."""
    number = as_int(value)
    return number if number is not None and 0 <= number <= _LARGEST_COUNT else None


def as_time(value: Any) -> str | None:
    """A timestamp as logged; a number, taken as seconds or milliseconds since 1970, as ISO 8601. None when it is
    neither."""
    if isinstance(value, str):
        return value[:40] or None
    moment = instant(value)
    if moment:
        return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return None


def instant(value: Any) -> float | None:
    """The moment that a timestamp names, in seconds since 1970, whatever its zone and its fraction of a second: an ISO
    8601 text (UTC where it names no zone), or a number of seconds or milliseconds. None when it is none."""
    if isinstance(value, str):
        if not value[:4].isdecimal():  # a weekday, a time of the day, words
            return None
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < _LAST_MOMENT * 1000:
        return None
    return value / 1000 if value > _LAST_SECONDS else float(value)


def dig(value: Any, *keys: str) -> Any:
    """`value[keys[0]][keys[1]]...`, or None where a step is missing or is not an object."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def compact_json(value: Any) -> str:
    """JSON without spaces, keys in the order logged, non-ASCII as itself. Never raises."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        pass  # a lone surrogate, a very large integer, or nesting that orjson refuses
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return TOO_DEEP


def without(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A copy of `value` that lacks `keys`."""
    return {key: item for key, item in value.items() if key not in keys}


def title_of(text: str) -> str | None:
    """The first line of `text` that is more than a tag, shortened to 80 characters."""
    for line in text[: 64 * _TITLE_CHARS].splitlines():
        words = line.strip()
        if words and not (words[0] == "<" and words[-1] == ">" and words.count("<") == 1):
            return words if len(words) <= _TITLE_CHARS else words[: _TITLE_CHARS - 1].rstrip() + "…"
    return None


def kind_of_json(value: Any) -> str:
    """The JSON type's name of `value`, for messages to a person."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"
