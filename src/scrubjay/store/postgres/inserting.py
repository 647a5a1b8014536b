"""Inserting: sources, documents and memories -> rows, as many statements for a thousand memories as for one.

No COPY: the server refuses it into a table under row-level security.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.store.kept import repositories
from scrubjay.store.postgres import models, rows, terms
from scrubjay.store.scope_check import taken

if TYPE_CHECKING:
    from scrubjay.memory.records import Document, Source
    from scrubjay.store.changes import Codes, Prepared
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.models import Registered


def source(db: Database, tenant: int, new: Source) -> None:
    """Insert a source whose id is free."""
    db.execute(
        "INSERT INTO source (tenant, id, root, description, include, exclude, key, added_at, synced_at, "
        "trust, share, repositories) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            tenant, new.id, new.root, new.description, list(new.include), list(new.exclude), new.key,
            new.added_at, new.synced_at, new.trust, new.share, repositories(new),
        ),
    )  # fmt: skip


def document(db: Database, own: tuple[int, int], d: Document, number: int | None) -> int:
    """Write a document's row, anew or over the one that has this number; return its number."""
    v = d.versions
    values = (
        d.source, d.path, d.content_hash, d.mtime_ns, d.size, d.title, d.cursor,
        v.chunker, v.tokenizer, v.scrubber, v.extractor, v.labeller,
    )  # fmt: skip
    names = (
        "source, path, content_hash, mtime_ns, size, title, cursor, chunker, tokenizer, scrubber, "
        "extractor, labeller"
    )
    marks = ", ".join(["%s"] * len(values))
    if number is not None:
        db.execute(
            f"UPDATE document SET ({names}) = ({marks}) WHERE tenant = %s AND id = %s",
            (*values, own[0], number),
        )
        return number
    ((made,),) = db.execute(
        f"INSERT INTO document (tenant, generation, {names}) VALUES (%s, %s, {marks}) RETURNING id",
        (*own, *values),
    ).fetchall()
    return int(made)


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
) -> list[int]:
    """Insert memories whose ids are free, with their vectors.

    Args:
        db: Inside a transaction.
        own: Tenant and generation.
        memories: Each with another number.
        document: Number of the document that they are passages of.
        registered: The models, by fingerprint.

    Returns:
        The numbers of their rows.
    """
    if not memories:
        return []
    numbers = terms.numbers(db, own[0], {term for one in memories for term in one.terms.counts})
    with db.cursor() as cursor:  # sent one after another without waiting for an answer
        cursor.executemany(rows.INSERT, [rows.to_row(one, *own, document, numbers) for one in memories])
    held = {rows.sort_hash(one.record.id): one for one in memories}
    nums = db.execute(
        "SELECT hash, num FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])",
        (*own, list(held)),
    ).fetchall()
    of_model: dict[str, dict[int, Codes]] = {}
    for number, num in nums:
        for fingerprint, codes in held[number].vectors.items():
            of_model.setdefault(fingerprint, {})[num] = codes
    for fingerprint, windows in of_model.items():
        models.put_vectors(db, own[0], registered[fingerprint], windows)
    return [num for _, num in nums]
