"""The frozen dataclasses of which there are many: one per line, block, span or edit of a trace.

Python freezes a dataclass by sending every field of every new object through `object.__setattr__`, which makes
creation five times as slow, and creating rows is most of what loading does. So freezing is left to the type checker,
which refuses an assignment to a field everywhere in this project; at run time these are plain classes with slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses

    def dataclass(*, slots, frozen=False):
        """`dataclasses.dataclass` of frozen values: compared and hashed by their fields."""
        return dataclasses.dataclass(slots=slots, unsafe_hash=frozen)
