"""Concepts: named things (a project, a tool, a person, an idea) that memories refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = ("given", "code", "heading", "name", "page", "tag")
"""How a concept became known: by a person's word, or found as a code name, a heading, a repeated capitalised
name, a linked page, a tag."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One named thing, as one visibility key knows it.

    What several keys know of the same thing are several rows with one id; a reader sees the rows of its own
    keys and no other, so that a name that stands in a stranger's private text alone is never seen.

    Attributes:
        id: ``con_`` and a keyed hash of the name it was first known by; it stays when the name changes.
        key: Visibility key: who knows it.
        name: How it is shown.
        aliases: Other names that mean it, sorted, without the name itself.
        kind: One of ``KINDS``.
        at: UTC microseconds when it was last written.
    """

    id: str
    key: str
    name: str
    aliases: tuple[str, ...] = ()
    kind: str = "given"
    at: int = 0


@dataclass(frozen=True, slots=True)
class Related:
    """A concept that is related to another.

    Attributes:
        id: The other concept.
        association: Normalised pointwise mutual information over visible memories, 0..1: 1 when the two never
            stand apart, 0 when they meet as often as chance would have it.
        support: Visible memories that refer to both.
    """

    id: str
    association: float
    support: int
