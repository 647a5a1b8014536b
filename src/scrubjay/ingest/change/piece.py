"""Piece, Number: the values a statement is read into before anything is known of its grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from scrubjay.ingest.change.days import Day

NAMED: Final = frozenset(
    (
        *(
            "number",
            "no",
            "nr",
            "issue",
            "ticket",
            "bug",
            "case",
            "task",
            "item",
            "room",
            "chapter",
            "episode",
        ),
        *(
            "part",
            "step",
            "lesson",
            "day",
            "week",
            "page",
            "volume",
            "section",
            "level",
            "round",
            "game",
            "figure",
        ),
        *("table", "question", "flight", "train", "platform", "gate", "draft", "phase", "sprint", "hash"),
    )
)
"""Words whose number is a name."""
Token = tuple[str, str, str]
"""Kind (date, clock, digits, word, mark), folded text, and the text as written; of digits their suffix."""


@dataclass(frozen=True, slots=True)
class Number:
    """How much or how many.

    Attributes:
        key: The amount in the unit of its dimension, written one way; a version or a code as it stands.
        unit: The dimension; "" for a count.
        count: The amount before its unit.
        near: The words beside it, which it may be part of the name of, or a count of.
        early: Whether it stands before the verb.
    """

    key: str
    unit: str = ""
    count: str = ""
    near: tuple[str, str] = ("", "")
    early: bool = False

    @property
    def names(self) -> bool:
        """Whether it tells which, not how many: "bird number 7", "chapter 3", "v2 of the map"."""
        return self.near[0].lower() in NAMED or (self.unit == "version" and self.near[1] == "of")


class Piece(NamedTuple):
    """A word or mark (``low`` folded, ``raw`` as written), or a number, or a date."""

    low: str
    raw: str = ""
    number: Number | None = None
    day: Day | None = None
