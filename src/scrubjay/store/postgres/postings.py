"""Postings: words -> the rows of a table that hold them.

Of a scope that is small enough all postings are read at once, and kept with its snapshot: the server would otherwise
unpack the words of each memory for each search. Of a large one those of the words that are asked for are read: from the
tenant's blocks where there are any (`blocks`), and off each memory that came after them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.store.postgres import blocks, vocabulary
from scrubjay.store.postgres.scores import SCOPE
from scrubjay.store.scored import NOTHING, Found, Weighed, weighed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own
    from scrubjay.store.snapshot import Snapshot
    from scrubjay.store.table import Table
    from scrubjay.text.tokens import TermGroup

TERM: Final = np.dtype([("bytes", ">i4"), ("value", ">i4")])
COUNT: Final = np.dtype([("bytes", ">i4"), ("value", ">i2")])
"""An element of an array as PostgreSQL sends it; the array's own head has 20 bytes."""


class Postings(NamedTuple):
    """All postings of a table, by word.

    Attributes:
        terms: Numbers of words, ascending, one an entry.
        rows: Rows of the table, ascending for each word.
        counts: How often.
    """

    terms: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[np.int16]

    @property
    def nbytes(self) -> int:
        """Bytes of all three."""
        return self.terms.nbytes + self.rows.nbytes + self.counts.nbytes

    def of(self, term: int) -> Found:
        """Return the rows that hold a word."""
        first, last = np.searchsorted(self.terms, (term, term + 1))
        return self.rows[first:last].astype(np.int64), self.counts[first:last].astype(np.float64)


def find(
    db: Database,
    own: Own,
    seen: Table,
    kept: Snapshot,
    groups: Sequence[TermGroup],
    posted: int | None,
) -> dict[TermGroup, Weighed]:
    """Return what each group adds to the scores of the rows that hold it.

    Args:
        db: Inside a transaction.
        own: Tenant, generation and keys of who looks.
        seen: The rows.
        kept: What was read of them before.
        groups: Groups of words.
        posted: Up to which memory words stand in blocks; None where all postings are read and kept.
    """
    forms = sorted({form for group in groups for form in group.forms})
    named = _numbers(db, own, kept, forms, posted)
    if posted is None:
        whole = _kept(db, own, kept)
        by_term = {number: whole.of(number) for number in named.values()}
    else:
        by_term = _some(db, own, seen, list(named.values()), posted)
    return {
        group: weighed(seen, [by_term.get(named.get(form, -1), NOTHING) for form in group.forms])
        for group in groups
    }


def words(db: Database, own: Own, kept: Snapshot, posted: int | None) -> dict[str, int]:
    """Return the words of the visible memories, with their numbers."""

    def read() -> dict[str, int]:
        if posted is not None:
            numbers = vocabulary.used(db, own)
        else:
            numbers = np.unique(_kept(db, own, kept).terms).tolist()
        return vocabulary.whole(db, own, numbers)

    return kept.once("vocabulary", read, lambda read: vocabulary.WORD_BYTES * len(read))


def _numbers(
    db: Database, own: Own, kept: Snapshot, forms: Sequence[str], posted: int | None
) -> dict[str, int]:
    """Return the numbers of words: those of the first search are asked for, and then all, if they are not too many."""
    asked = kept.rows("terms")

    def read(new: list[str]) -> dict[str, int]:
        if not len(asked) or posted is not None:
            return vocabulary.some(db, own, new)
        known = words(db, own, kept, posted)
        return {form: known[form] for form in new if form in known}

    return asked.of(forms, read)


def _kept(db: Database, own: Own, kept: Snapshot) -> Postings:
    return kept.once("postings", lambda: _whole(db, own), lambda read: read.nbytes)


def _whole(db: Database, own: Own) -> Postings:
    """Read all postings, whose rows are counted in the order of the table."""
    row = db.execute(
        "SELECT string_agg(int4send(cardinality(m.terms)), '' ORDER BY m.num), "
        "string_agg(substr(array_send(m.terms), 21), '' ORDER BY m.num), "
        f"string_agg(substr(array_send(m.tfs), 21), '' ORDER BY m.num) FROM memory m WHERE {SCOPE}",
        own,
        binary=True,
    ).fetchone()
    sizes, terms, counts = row if row is not None and row[0] is not None else (b"", b"", b"")
    held = np.frombuffer(sizes, ">i4")
    numbers = np.frombuffer(terms, TERM)["value"].astype(np.int32)
    rows = np.repeat(np.arange(len(held), dtype=np.int32), held)
    order = np.argsort(numbers, kind="stable")
    return Postings(
        numbers[order], rows[order], np.frombuffer(counts, COUNT)["value"].astype(np.int16)[order]
    )


def _some(db: Database, own: Own, seen: Table, wanted: Sequence[int], posted: int) -> dict[int, Found]:
    """Read the postings of some words."""
    late = _late(db, own, seen, wanted, posted)
    if not posted:
        return late
    # The memories of the blocks were written before all others, so that their rows come first.
    early = blocks.find(db, own[0], seen, wanted)
    return {
        term: _joined(early.get(term, NOTHING), late.get(term, NOTHING))
        for term in early.keys() | late.keys()
    }


def _joined(early: Found, late: Found) -> Found:
    return np.concatenate((early[0], late[0])), np.concatenate((early[1], late[1]))


def _late(db: Database, own: Own, seen: Table, wanted: Sequence[int], posted: int) -> dict[int, Found]:
    """Read the postings of some words off each memory after one."""
    found = db.execute(
        "SELECT t.term, m.num, t.tf FROM memory m CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
        f"WHERE {SCOPE} AND m.num > %s AND m.terms && %s::integer[] AND t.term = ANY(%s::integer[]) ORDER BY m.num",
        (*own, posted, list(wanted), list(wanted)),
    ).fetchall()
    nums: dict[int, list[int]] = defaultdict(list)
    counts: dict[int, list[int]] = defaultdict(list)
    for term, num, count in found:
        nums[term].append(num)
        counts[term].append(count)
    return {
        term: (np.searchsorted(seen.columns["num"], mine), np.array(counts[term], np.float64))
        for term, mine in nums.items()
    }
