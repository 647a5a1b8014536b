"""Leaf and Topic: what the categories of one visibility key are made of, and what is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One memory, as far as categories are concerned.

    Attributes:
        id: Its id.
        title: Its title, or an empty string.
        text: What names and overviews are read from: its overview, else its content.
        terms: The terms it is indexed under, with their counts.
        language: Language of the text, as it was indexed.
    """

    id: str
    title: str
    text: str
    terms: Mapping[str, int]
    language: str = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Topic:
    """One category of kind ``topic``: a topic, or a theme above topics.

    Attributes:
        name: Unlike that of every other topic of this result.
        abstract: L0, at most 30 tokens.
        overview: L1, at most 120 tokens.
        members: Ids of the memories that belong to it, sorted; of a theme none, they belong to its topics.
        weights: How near each member is to the middle of the topic, 0..1.
        centroid: Direction of its members' mean vector, unit length, (dimensions,).
        parent: Name of the theme above it, or None.
        id: Id of the category that it goes on from, or None when it is new.
    """

    name: str
    abstract: str
    overview: str
    members: tuple[str, ...]
    weights: tuple[float, ...]
    centroid: Matrix
    parent: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A category that a build before has made.

    Attributes:
        id: Its id.
        name: Its name.
        members: Ids of its memories; of a theme, those of its topics.
        theme: Whether it stands above topics.
    """

    id: str
    name: str
    members: frozenset[str]
    theme: bool = False
