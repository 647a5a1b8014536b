"""Vocabulary: the words that a scope's memories hold, with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.store.postgres.connect import unescaped
from scrubjay.store.postgres.scores import SCOPE

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

WORD_BYTES = 120
"""What a word takes with its number, about."""


def some(db: Database, own: Own, words: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those of these words that the tenant knows."""
    found = db.execute(
        "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (own[0], list(words))
    ).fetchall()
    return dict(found)


def used(db: Database, own: Own) -> list[int]:
    """Return the numbers of the words that visible memories hold."""
    ((found,),) = db.execute(
        "SELECT array_agg(DISTINCT t.term) FROM memory m CROSS JOIN LATERAL unnest(m.terms) AS t (term) "
        f"WHERE {SCOPE}",
        own,
    ).fetchall()
    return found or []


def whole(db: Database, own: Own, numbers: Sequence[int]) -> dict[str, int]:
    """Return the words of these numbers; laid end to end, as a row a word takes the client ten times as long."""
    row = db.execute(
        "SELECT string_agg(convert_to(text, 'UTF8'), %s ORDER BY id), array_agg(id ORDER BY id) FROM term "
        "WHERE tenant = %s AND id = ANY(%s::integer[])",
        (b"\0", own[0], list(numbers)),
    ).fetchone()
    if row is None or row[0] is None:
        return {}
    return dict(zip(map(unescaped, bytes(row[0]).decode().split("\0")), row[1], strict=True))
