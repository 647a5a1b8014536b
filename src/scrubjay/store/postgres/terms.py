"""Terms: the tenant's words and their numbers, and the hashes of what was forgotten."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database


def numbers(db: Database, tenant: int, terms: set[str]) -> dict[str, int]:
    """Return the number of each term, which new ones are given now."""
    known: dict[str, int] = dict(
        db.execute(
            "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (tenant, list(terms))
        ).fetchall()
    )
    new = sorted(terms - known.keys())
    if new:
        known |= dict(
            db.execute(
                "INSERT INTO term (tenant, text) SELECT %s, unnest(%s::text[]) RETURNING text, id",
                (tenant, new),
            ).fetchall()
        )
    return known


def drop_unused(db: Database, tenant: int, terms: Collection[int], posted: int) -> None:
    """Remove those of these terms that no memory has; those of memories up to ``posted`` stand in blocks."""
    db.execute(
        "DELETE FROM term WHERE tenant = %s AND id = ANY(%s::integer[]) AND NOT EXISTS "
        "(SELECT FROM memory m WHERE m.tenant = term.tenant AND m.num > %s AND m.terms @> ARRAY[term.id]) "
        "AND NOT EXISTS (SELECT FROM posting p WHERE p.tenant = term.tenant AND p.term = term.id)",
        (tenant, sorted(terms), posted),
    )


def bury(db: Database, tenant: int, hashes: Collection[str]) -> None:
    """Remember hashes of what was forgotten."""
    marks = "INSERT INTO tombstone SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING"
    db.execute(marks, (tenant, list(hashes)))
