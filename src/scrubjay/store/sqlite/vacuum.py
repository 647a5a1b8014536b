"""The VACUUM that removes forgotten words from unused parts of the file and from the vocabulary.

``secure_delete`` overwrites what is deleted where it lies. When SQLite balances a tree it moves entries to other pages
and leaves their old bytes in the gap of the page that they came from; what is deleted afterwards lives on there. Words
of texts that were changed or removed, not forgotten, stay in the vocabulary until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrubjay.store.sqlite.connect import immediate

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

AT_ONCE: Final = 64 << 20
"""Bytes of a file that is vacuumed by the forgetting itself: .3 s on one core. A larger one waits for `vacuum`."""
_NAME: Final = "leftovers"
"""Counter: 1 since something was forgotten or removed, 0 since the last VACUUM; not there before either."""


def note(db: Database) -> None:
    """Write down that something is forgotten or removed. Call it inside the transaction that does it."""
    db.execute("INSERT OR REPLACE INTO counter VALUES (?, 1)", (_NAME,))


def due(db: Database) -> bool:
    """Return whether something was forgotten since the last VACUUM, by an earlier version too."""
    row = db.execute("SELECT value FROM counter WHERE name = ?", (_NAME,)).fetchone()
    if row is None:
        row = db.execute("SELECT EXISTS (SELECT 1 FROM tombstone)").fetchone()
    return bool(row[0])


def bytes_of(db: Database) -> int:
    """Return the size of the file, as this connection sees it."""
    return int(db.pragma("page_count")) * int(db.pragma("page_size"))


def vacuum(db: Database, *, on_disk: bool) -> None:
    """Drop words that no memory holds, and rewrite the file.

    Call it outside of a transaction, in a writer's turn; readers go on.

    Args:
        db: The connection that writes.
        on_disk: Whether the copy that SQLite makes meanwhile lies in a temporary file, not in memory.
    """
    with immediate(db):
        unused = "SELECT id FROM term WHERE id NOT IN (SELECT term FROM posting)"
        db.execute(f"DELETE FROM term_gram WHERE rowid IN ({unused})")
        db.execute(f"DELETE FROM term WHERE id IN ({unused})")
        db.execute("INSERT INTO term_gram (term_gram) VALUES ('optimize')")
        db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
    usual = db.pragma("temp_store")
    db.pragma("temp_store", 1 if on_disk else 2)
    try:
        db.execute("VACUUM")
    finally:
        db.pragma("temp_store", usual)
    db.execute("INSERT OR REPLACE INTO counter VALUES (?, 0)", (_NAME,))
