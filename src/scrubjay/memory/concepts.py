"""Concepts: named things (a project, a tool, a person, an idea) that memories refer to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

KINDS: Final = ("given", "code", "heading", "name", "page", "refused", "tag")
"""How a concept became known: by a person's word, or found as a code name, a heading, a repeated capitalised
name, a linked page, a tag. A refused one was taken out by a person and is not found again."""

_NEAREST: Final = {"user": 0, "group": 1, "public": 2}


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


Row = tuple[str, str, str, tuple[str, ...] | None, str, int]
"""A `Concept`'s attributes in their order, with None for no aliases: 100,000 of them cost a third of the objects."""


def of_row(row: Row) -> Concept:
    """Return a row as the concept that it is."""
    identity, key, name, aliases, kind, at = row
    return Concept(identity, key, name, aliases or (), kind, at)


def as_row(concept: Concept) -> Row:
    """Return a concept as a row."""
    return concept.id, concept.key, concept.name, concept.aliases or None, concept.kind, concept.at


def united(rows: Iterable[Concept]) -> list[Concept]:
    """Return each concept once, as the reader of these rows knows it, by id.

    What a person said goes before what was found, and what is one's own before what is shared; the names of
    the other rows are aliases. A concept that its nearest row refuses is left out.

    >>> rows = [Concept("con_1", "public", "Go", ("golang",), "name"), Concept("con_1", "user:a", "Go language")]
    >>> [(c.name, c.aliases, c.kind) for c in united(rows)]
    [('Go language', ('Go', 'golang'), 'given')]
    """
    by_id: dict[str, list[Concept]] = {}
    for row in rows:
        by_id.setdefault(row.id, []).append(row)
    return [one for _, same in sorted(by_id.items()) if (one := _one(same)) is not None]


def _one(rows: list[Concept]) -> Concept | None:
    if len(rows) == 1:  # nearly all of a large dictionary
        return rows[0] if rows[0].kind != "refused" else None
    first, *others = sorted(
        rows,
        key=lambda row: (
            row.kind not in ("given", "refused"),
            _NEAREST.get(row.key.partition(":")[0], 3),
            row.key,
        ),
    )
    if first.kind == "refused":
        return None
    names = {name for row in (first, *others) if row.kind != "refused" for name in (row.name, *row.aliases)}
    return replace(first, aliases=tuple(sorted(names - {first.name})))
