"""Documents: rows of the source and document tables, and where a passage stands in one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.memory.records import Document, Place, Source
from scrubjay.store.kept import Tenant, repositories

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database


def find(db: Database, tenant: Tenant, source: str, path: str) -> int | None:
    """Return a document's number."""
    row = db.execute(
        "SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?",
        (tenant.number, source, tenant.generation, path),
    ).fetchone()
    return None if row is None else int(row[0])


def put(db: Database, tenant: Tenant, number: int | None, document: Document) -> int:
    """Write a document over the one of a number, or as a new one, and return its number."""
    d, v = document, document.versions
    values = (
        d.path, d.content_hash, d.mtime_ns, d.size, d.cursor, d.title,
        v.chunker, v.tokenizer, v.scrubber, v.extractor, v.labeller,
    )  # fmt: skip
    if number is not None:
        db.execute(
            "UPDATE document SET path=?, content_hash=?, mtime_ns=?, size=?, cursor=?, title=?, chunker=?, "
            "tokenizer=?, scrubber=?, extractor=?, labeller=? WHERE id = ?",
            (*values, number),
        )
        return number
    db.execute(
        "INSERT INTO document (path, content_hash, mtime_ns, size, cursor, title, chunker, tokenizer, "
        "scrubber, extractor, labeller, tenant, source, generation) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (*values, tenant.number, d.source, tenant.generation),
    )
    return db.last_insert_rowid()


def stand(db: Database, num: int, document: int, place: Place) -> None:
    """Let a memory stand at a place in a document, without a write where it stands there already."""
    values = (document, place.ordinal, place.start, place.end, place.line_start, place.line_end)
    db.execute(
        "UPDATE memory SET document = ?, ordinal = ?, char_start = ?, char_end = ?, line_start = ?, line_end = ? "
        "WHERE num = ? AND (document, ordinal, char_start, char_end, line_start, "
        "line_end) IS NOT (?, ?, ?, ?, ?, ?)",
        (*values, num, *values),
    )


def apart(db: Database, nums: Sequence[int]) -> list[int]:
    """Return those of these memories, told by their rows, that stand in no document."""
    found = (
        db.execute("SELECT num FROM memory WHERE num = ? AND document IS NULL", (num,)).fetchone()
        for num in nums
    )
    return [row[0] for row in found if row is not None]


def put_source(db: Database, tenant: int, source: Source) -> None:
    """Write a source, over the one of its id."""
    s = source
    db.execute(
        "INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant, s.id, s.root, s.description, json.dumps(s.include), json.dumps(s.exclude), s.key, s.added_at,
            s.synced_at, s.trust, s.share, repositories(s),
        ),
    )  # fmt: skip


def source_key(db: Database, tenant: int, source: str) -> str | None:
    """Return the visibility key of a source, None where there is none of this id."""
    row = db.execute("SELECT key FROM source WHERE tenant = ? AND id = ?", (tenant, source)).fetchone()
    return None if row is None else str(row[0])
