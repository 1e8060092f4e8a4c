"""One line of the table: what was measured, against which limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    sense: Literal["<=", ">="]
    target: float
    value: float
    detail: str = ""

    @property
    def is_met(self) -> bool:
        return self.value <= self.target if self.sense == "<=" else self.value >= self.target

    def line(self) -> str:
        verdict = "met" if self.is_met else "MISSED"
        return f"{self.name:<62} {self.sense} {self.target:<5g} {self.value:>8.2f}  {verdict:<7} {self.detail}"
