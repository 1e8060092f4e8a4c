"""Many rows of one kind kept as columns, each row made when it is read.

A long session has 100,000s of blocks, stays and edits, of which a screen shows fifty. As objects they take ten times
the memory of their columns. Who goes through all rows gets objects that stay, so that a second pass costs no more than
over a tuple; who picks some gets objects of which the latest few thousand stay.
"""

from __future__ import annotations

import json
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, compress, count, pairwise, starmap
from operator import attrgetter, eq, lt
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, TypeVar, overload

from ctxview.quiet import no_collection

Row = TypeVar("Row")

_PICKED: Final = 8_192
"""Rows that are kept after they were picked: a few long windows."""
_FEW: Final = 4_096
"""Different strings that are remembered while a column is filled; a column of fewer keeps them as strings."""
_GROUP: Final = 64
"""Texts that are compressed together."""
_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})
_NONE: Final = b"\xff"
"""None among strings: no text in UTF-8 has this byte."""


class Column(Protocol):
    """The values of one field, by row."""

    def __getitem__(self, index: int, /) -> Any: ...

    def all(self) -> Sequence[Any]:
        """Every value, to read only: fast to go through and to index."""


class Filled(Column, Protocol):
    """A column that takes its values bit by bit."""

    def extend(self, values: Sequence[Any]) -> None: ...

    def close(self, order: Sequence[int] | None) -> None:
        """No more values will come. `order`: the values' numbers in their new order."""


class Ints:
    """Whole numbers, as wide as the largest needs."""

    def __init__(self) -> None:
        self._numbers: array[int] = array("b")

    def extend(self, values: Sequence[int]) -> None:
        self._numbers = _joined(self._numbers, values, "bhiq")

    def close(self, order: Sequence[int] | None) -> None:
        if order is not None:
            self._numbers = array(self._numbers.typecode, map(self._numbers.__getitem__, order))

    def __getitem__(self, index: int) -> int:
        return self._numbers[index]

    def all(self) -> Sequence[int]:
        return self._numbers


class MaybeInts(Ints):
    """Whole numbers from 0, or None."""

    def extend(self, values: Sequence[int | None]) -> None:
        super().extend([-1 if value is None else value for value in values])

    def __getitem__(self, index: int) -> int | None:  # type: ignore[override]
        value = self._numbers[index]
        return None if value < 0 else value

    def all(self) -> Sequence[int | None]:  # type: ignore[override]
        return [None if value < 0 else value for value in self._numbers]


class Floats:
    def __init__(self) -> None:
        self._numbers = array("d")

    def extend(self, values: Sequence[float]) -> None:
        self._numbers.extend(values)

    def close(self, order: Sequence[int] | None) -> None:
        if order is not None:
            self._numbers = array("d", map(self._numbers.__getitem__, order))

    def __getitem__(self, index: int) -> float:
        return self._numbers[index]

    def all(self) -> Sequence[float]:
        return self._numbers


class Flags:
    """True or False."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def extend(self, values: Sequence[bool]) -> None:
        self._bytes.extend(values)

    def close(self, order: Sequence[int] | None) -> None:
        if order is not None:
            self._bytes = bytearray(map(self._bytes.__getitem__, order))

    def __getitem__(self, index: int) -> bool:
        return self._bytes[index] == 1

    def all(self) -> Sequence[bool]:
        return list(map(bool, self._bytes))


class Strings:
    """Strings or None, in UTF-8 behind one another; what comes again soon is kept once."""

    def __init__(self) -> None:
        self._codes: array[int] = array("B")
        """By row: which of the different strings."""
        self._ends: array[int] = array("B", [0])
        self._bytes = bytearray()
        self._recent: dict[str | None, int] = {}
        self._few: Sequence[str | None] | None = None

    def extend(self, values: Sequence[str | None]) -> None:
        if len(self._recent) > _FEW:
            self._recent = {}
        recent, first = self._recent, len(self._ends) - 1
        fresh = [value for value in dict.fromkeys(values) if value not in recent]
        recent.update(zip(fresh, count(first)))
        encoded = [_NONE if value is None else value.encode("utf-8", "surrogatepass") for value in fresh]
        if encoded:
            ends = list(accumulate(map(len, encoded), initial=len(self._bytes)))[1:]
            self._ends = _joined(self._ends, ends, "BHIQ")
            self._bytes += b"".join(encoded)
        self._codes = _joined(self._codes, [recent[value] for value in values], "BHIQ")

    def close(self, order: Sequence[int] | None) -> None:
        self._recent = {}
        if order is not None:
            self._codes = array(self._codes.typecode, map(self._codes.__getitem__, order))
        if len(self._ends) <= _FEW:
            self._few = self._different()

    def __getitem__(self, index: int) -> str | None:
        code = self._codes[index]
        if self._few is not None:
            return self._few[code]
        return _decoded(self._bytes[self._ends[code] : self._ends[code + 1]])

    def all(self) -> Sequence[str | None]:
        different = self._few or self._different()
        return [different[code] for code in self._codes]

    def index(self, value: str) -> int | None:
        """The first row with this string, which is not empty."""
        text = value.encode("utf-8", "surrogatepass")
        start = self._bytes.find(text) if text else -1
        while start >= 0:
            code = bisect_right(self._ends, start) - 1  # past any empty strings that begin here, too
            if self._ends[code] == start and self._ends[code + 1] == start + len(text) and code in self._codes:
                return self._codes.index(code)
            start = self._bytes.find(text, start + 1)
        return None

    def _different(self) -> list[str | None]:
        whole = bytes(self._bytes)
        return [_decoded(whole[start:end]) for start, end in zip(self._ends, self._ends[1:])]


class Texts:
    """Longer strings, compressed in groups of neighbours."""

    def __init__(self) -> None:
        self._lengths: array[int] = array("B")
        """In characters."""
        self._groups: list[bytes] = []
        self._waiting: list[str] = []
        self._read: tuple[int, list[str]] = (-1, [])
        """The group that was read last."""
        self._order: Sequence[int] | None = None

    def extend(self, values: Sequence[str]) -> None:
        self._lengths = _joined(self._lengths, [len(value) for value in values], "BHIQ")
        self._waiting.extend(values)
        while len(self._waiting) >= _GROUP:
            self._pack()

    def _pack(self) -> None:
        text = "".join(self._waiting[:_GROUP])
        del self._waiting[:_GROUP]
        self._groups.append(zlib.compress(text.encode("utf-8", "surrogatepass"), 1))

    def close(self, order: Sequence[int] | None) -> None:
        if self._waiting:
            self._pack()
        self._order = None if order is None else array("I", order)

    def __getitem__(self, index: int) -> str:
        at = index if self._order is None else self._order[index]
        number, group = self._read
        if number != at // _GROUP:
            number = at // _GROUP
            group = self._unpacked(number)
            self._read = number, group
        return group[at % _GROUP]

    def all(self) -> Sequence[str]:
        texts = [text for number in range(len(self._groups)) for text in self._unpacked(number)]
        return texts if self._order is None else [texts[i] for i in self._order]

    def _unpacked(self, number: int) -> list[str]:
        text = zlib.decompress(self._groups[number]).decode("utf-8", "surrogatepass")
        ends = list(accumulate(self._lengths[number * _GROUP : (number + 1) * _GROUP], initial=0))
        return [text[start:end] for start, end in pairwise(ends)]


class Mappings(Strings):
    """JSON objects, nearly all of them empty."""

    def __getitem__(self, index: int) -> Mapping[str, Any]:  # type: ignore[override]
        return _mapping(super().__getitem__(index))

    def all(self) -> Sequence[Mapping[str, Any]]:  # type: ignore[override]
        return list(map(_mapping, super().all()))


class Tuples:
    """Lists as tuples, None as the empty one: nearly all are."""

    def __init__(self) -> None:
        self._values: list[tuple[Any, ...]] = []

    def extend(self, values: Sequence[Sequence[Any] | None]) -> None:
        self._values.extend([tuple(value) if value else () for value in values])

    def close(self, order: Sequence[int] | None) -> None:
        if order is not None:
            self._values = [self._values[i] for i in order]

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return self._values[index]

    def all(self) -> Sequence[tuple[Any, ...]]:
        return self._values


class Listed:
    """Values that are at hand in a list."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __getitem__(self, index: int) -> Any:
        return self._values[index]

    def all(self) -> Sequence[Any]:
        return self._values


class Rows(Sequence[Row], Generic[Row]):
    """A sequence of rows, each made of its values in columns. It may be read from several threads."""

    def __init__(self, columns: Mapping[str, Column], row: Callable[..., Row], length: int) -> None:
        """`columns`: by field, in the order in which `row` takes their values."""
        self._columns = columns
        self._row = row
        self._length = length
        self._all: list[Row] | None = None
        self._picked: dict[int, Row] = {}

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if self._all is not None:
            return self._all[index]
        if isinstance(index, slice):
            return self.pick(range(*index.indices(self._length)))
        at = index if index >= 0 else self._length + index
        if not 0 <= at < self._length:
            raise IndexError(index)
        found = self._picked.get(at)
        return self.pick((at,))[0] if found is None else found

    def __iter__(self) -> Iterator[Row]:
        if self._all is None:
            with no_collection():
                self._all = list(starmap(self._row, zip(*(column.all() for column in self._columns.values()))))
            self._picked = {}
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        """A table equals any sequence of equal rows."""
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def pick(self, indexes: Sequence[int]) -> list[Row]:
        """Some rows, by numbers from 0."""
        if self._all is not None:
            return [self._all[i] for i in indexes]
        picked = self._picked
        missing = [i for i in indexes if i not in picked]
        if missing:
            if len(picked) + len(missing) > _PICKED:  # another one, since a thread may be reading the old
                picked = self._picked = {}
                missing = list(indexes)
            values = (map(column.__getitem__, missing) for column in self._columns.values())
            picked.update(zip(missing, starmap(self._row, zip(*values))))
        return [picked[i] for i in indexes]

    def column(self, name: str) -> Sequence[Any]:
        """One field of all rows, to read only."""
        return self._columns[name].all()

    def find(self, name: str, value: str) -> int | None:
        """The first row with this string in a field of `Strings`."""
        filled = self._columns[name]
        assert isinstance(filled, Strings)
        return filled.index(value)


class Table(Rows[Row]):
    """Rows that come in batches."""

    def __init__(
        self,
        columns: Mapping[str, Filled],
        row: Callable[..., Row],
        batches: Iterable[Sequence[tuple[Any, ...]]],
        sort: Sequence[str],
    ) -> None:
        """Fills empty `columns`, by field, with values in the fields' order; `row` makes a row of such values.

        `sort`: the fields to sort by.
        """
        length = 0
        for batch in batches:
            length += len(batch)
            for values, filled in zip(zip(*batch), columns.values()):
                filled.extend(values)
        order: Sequence[int] = range(length)
        for name in reversed(sort):
            order = sorted(order, key=columns[name].__getitem__)
        is_sorted = all(map(eq, order, range(length)))
        for filled in columns.values():
            filled.close(None if is_sorted else order)
        super().__init__(columns, row, length)


def column(rows: Sequence[Any], name: str) -> Sequence[Any]:
    """One field of all rows, whether they are kept as rows or as columns."""
    return rows.column(name) if isinstance(rows, Rows) else list(map(attrgetter(name), rows))


def find(rows: Sequence[Any], name: str, value: str) -> int | None:
    """The first row with this string in a field."""
    if isinstance(rows, Rows):
        return rows.find(name, value)
    return next((n for n, row in enumerate(rows) if getattr(row, name) == value), None)


def pick(rows: Sequence[Row], indexes: Sequence[int]) -> list[Row]:
    """Some rows, by numbers from 0."""
    return rows.pick(indexes) if isinstance(rows, Rows) else [rows[i] for i in indexes]


def in_order(rows: Sequence[Row], *names: str) -> Sequence[Row]:
    """Rows sorted by some fields; a table says so when it is filled and stays as it is."""
    return rows if isinstance(rows, Rows) else tuple(sorted(rows, key=attrgetter(*names)))


def ordered(values: Sequence[Any]) -> bool:
    """Whether no value is below the one before it."""
    return not any(map(lt, values[1:], values))


class Sorted:
    """Row numbers by a whole number each: those of equal ones lie together, in rising order."""

    def __init__(self, keys: Sequence[int], only: Iterable[object] | None = None) -> None:
        """`only`: by row, whether it is listed at all."""
        rows: Iterable[int] = range(len(keys))
        if only is not None:
            rows = compress(rows, only)
        in_order = list(rows) if only is None and ordered(keys) else sorted(rows, key=keys.__getitem__)
        self.rows: array[int] = _joined(array("B"), in_order, "BHIQ")
        self.keys: array[int] = _joined(array("b"), [keys[i] for i in in_order], "bhiq")

    def of(self, key: int) -> Sequence[int]:
        """The rows of a number."""
        low = bisect_left(self.keys, key)
        return self.rows[low : bisect_left(self.keys, key + 1, low)]


def _joined(numbers: array[int], values: Sequence[int], widths: str) -> array[int]:
    """`numbers` with `values` behind them, in the narrowest type from its own on that holds all."""
    for width in widths[widths.index(numbers.typecode) :]:
        try:
            more = array(width, values)
        except OverflowError:
            continue
        numbers = numbers if width == numbers.typecode else array(width, numbers)
        numbers.extend(more)
        return numbers
    raise OverflowError("a number of more than 64 bits")


def _mapping(text: str | None) -> Mapping[str, Any]:
    return _EMPTY if text is None or text == "{}" else json.loads(text)


def _decoded(text: bytes | bytearray) -> str | None:
    return None if text == _NONE else text.decode("utf-8", "surrogatepass")
