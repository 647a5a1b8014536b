"""Inserting: sources and memories -> rows, as many statements for a thousand memories as for one.

No COPY: the server refuses it into a table under row-level security.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.store.postgres import models, rows, terms
from scrubjay.store.scope_check import taken

if TYPE_CHECKING:
    from scrubjay.memory.records import Source
    from scrubjay.store.changes import Codes, Prepared
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.models import Registered


def source(db: Database, tenant: int, new: Source) -> None:
    """Insert a source whose id is free."""
    db.execute(
        "INSERT INTO source (tenant, id, root, description, include, exclude, key, added_at, synced_at) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            tenant, new.id, new.root, new.description, list(new.include), list(new.exclude), new.key,
            new.added_at, new.synced_at,
        ),
    )  # fmt: skip


def apart(memories: Iterable[str]) -> None:
    """Refuse memories of two tiers under one number.

    Raises:
        InputError: There are two.
    """
    held: dict[int | None, str] = {}
    for memory in memories:
        if held.setdefault(rows.sort_hash(memory), memory) != memory:
            raise taken(memory)


def insert(
    db: Database,
    own: tuple[int, int],
    memories: Sequence[Prepared],
    document: int | None,
    registered: Mapping[str, Registered],
) -> None:
    """Insert memories whose ids are free, with their vectors.

    Args:
        db: Inside a transaction.
        own: Tenant and generation.
        memories: Each with another number.
        document: Number of the document that they are passages of.
        registered: The models, by fingerprint.
    """
    if not memories:
        return
    numbers = terms.numbers(db, own[0], {term for one in memories for term in one.terms.counts})
    with db.cursor() as cursor:  # sent one after another without waiting for an answer
        cursor.executemany(rows.INSERT, [rows.to_row(one, *own, document, numbers) for one in memories])
    if not any(one.vectors for one in memories):
        return
    held = {rows.sort_hash(one.record.id): one for one in memories}
    nums = db.execute(
        "SELECT hash, num FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])",
        (*own, list(held)),
    ).fetchall()
    of_model: dict[int, dict[int, Codes]] = {}
    for number, num in nums:
        for fingerprint, codes in held[number].vectors.items():
            of_model.setdefault(registered[fingerprint].number, {})[num] = codes
    for model, windows in of_model.items():
        models.put_vectors(db, own[0], model, windows)
