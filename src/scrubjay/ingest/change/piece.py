"""Piece, Number: the values a statement is read into before anything is known of its grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scrubjay.ingest.change.days import Day

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


class Piece(NamedTuple):
    """A word or mark (``low`` folded, ``raw`` as written), or a number, or a date."""

    low: str
    raw: str = ""
    number: Number | None = None
    day: Day | None = None
