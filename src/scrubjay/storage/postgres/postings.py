"""Full text: the tenant's vocabulary and the postings of its words.

All postings of a small scope are read at once and kept with its snapshot: otherwise the server unpacks the words of
every memory for every search. Of a large scope only the postings of the query's words are read: from the tenant's
blocks (`tenant_index`), and off each memory that is newer than the last block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.connection import unescape_text
from scrubjay.storage.postgres.rows import IN_SCOPE
from scrubjay.storage.scoring import NO_MATCHES, GroupScores, TermMatches, score_group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.postgres.rows import ScopeKeys
    from scrubjay.storage.snapshot import Snapshot
    from scrubjay.storage.table import MemoryTable
    from scrubjay.text.tokenizer import TermGroup


def get_or_create_terms(db: Database, tenant: int, terms: set[str]) -> dict[str, int]:
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


def drop_unused_terms(db: Database, tenant: int, terms: Collection[int], posted: int) -> None:
    """Remove the terms that no memory has; words of memories up to ``posted`` are in blocks."""
    db.execute(
        "DELETE FROM term WHERE tenant = %s AND id = ANY(%s::integer[]) AND NOT EXISTS "
        "(SELECT FROM memory m WHERE m.tenant = term.tenant AND m.num > %s AND m.terms @> ARRAY[term.id]) "
        "AND NOT EXISTS (SELECT FROM posting p WHERE p.tenant = term.tenant AND p.term = term.id)",
        (tenant, sorted(terms), posted),
    )


WORD_BYTES = 120
"""What a word takes with its number, about."""


def find_words(db: Database, scope_keys: ScopeKeys, words: Sequence[str]) -> dict[str, int]:
    found = db.execute(
        "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (scope_keys[0], list(words))
    ).fetchall()
    return dict(found)


def used_word_numbers(db: Database, scope_keys: ScopeKeys) -> list[int]:
    ((found,),) = db.execute(
        "SELECT array_agg(DISTINCT t.term) FROM memory m CROSS JOIN LATERAL unnest(m.terms) AS t (term) "
        f"WHERE {IN_SCOPE}",
        scope_keys,
    ).fetchall()
    return found or []


def words_by_number(db: Database, scope_keys: ScopeKeys, numbers: Sequence[int]) -> dict[str, int]:
    """Return words by number, concatenated by the server: as rows they take the client ten times as long."""
    row = db.execute(
        "SELECT string_agg(convert_to(text, 'UTF8'), %s ORDER BY id), array_agg(id ORDER BY id) FROM term "
        "WHERE tenant = %s AND id = ANY(%s::integer[])",
        (b"\0", scope_keys[0], list(numbers)),
    ).fetchone()
    if row is None or row[0] is None:
        return {}
    return dict(zip(map(unescape_text, bytes(row[0]).decode().split("\0")), row[1], strict=True))


PACKED_TERM: Final = np.dtype([("bytes", ">i4"), ("value", ">i4")])
PACKED_TERM_COUNT: Final = np.dtype([("bytes", ">i4"), ("value", ">i2")])
"""An element of an array as PostgreSQL sends it; the array's own head has 20 bytes."""


class TablePostings(NamedTuple):
    """All postings of a table: term numbers (ascending), table rows (ascending for each term) and counts."""

    terms: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[np.int16]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.rows.nbytes + self.counts.nbytes

    def of(self, term: int) -> TermMatches:
        first, last = np.searchsorted(self.terms, (term, term + 1))
        return self.rows[first:last].astype(np.int64), self.counts[first:last].astype(np.float64)


def score_groups(
    db: Database,
    scope_keys: ScopeKeys,
    table: MemoryTable,
    snapshot: Snapshot,
    groups: Sequence[TermGroup],
    posted: int | None,
) -> dict[TermGroup, GroupScores]:
    """Return what each group adds to the scores of its rows.

    ``posted``: words of memories up to this number are in blocks; None where all postings are read and cached.
    """
    forms = sorted({form for group in groups for form in group.forms})
    named = _word_numbers(db, scope_keys, snapshot, forms, posted)
    if posted is None:
        whole = _cached_postings(db, scope_keys, snapshot)
        by_term = {number: whole.of(number) for number in named.values()}
    else:
        by_term = _read_postings(db, scope_keys, table, list(named.values()), posted)
    return {
        group: score_group(table, [by_term.get(named.get(form, -1), NO_MATCHES) for form in group.forms])
        for group in groups
    }


def visible_words(
    db: Database, scope_keys: ScopeKeys, snapshot: Snapshot, posted: int | None
) -> dict[str, int]:
    def read() -> dict[str, int]:
        if posted is not None:
            numbers = used_word_numbers(db, scope_keys)
        else:
            numbers = np.unique(_cached_postings(db, scope_keys, snapshot).terms).tolist()
        return words_by_number(db, scope_keys, numbers)

    return snapshot.once("vocabulary", read, lambda read: WORD_BYTES * len(read))


def _word_numbers(
    db: Database, scope_keys: ScopeKeys, snapshot: Snapshot, forms: Sequence[str], posted: int | None
) -> dict[str, int]:
    asked = snapshot.rows("terms")

    def read(new: list[str]) -> dict[str, int]:
        if not len(asked) or posted is not None:
            return find_words(db, scope_keys, new)
        known = visible_words(db, scope_keys, snapshot, posted)
        return {form: known[form] for form in new if form in known}

    return asked.of(forms, read)


def _cached_postings(db: Database, scope_keys: ScopeKeys, snapshot: Snapshot) -> TablePostings:
    return snapshot.once("postings", lambda: _read_all_postings(db, scope_keys), lambda read: read.nbytes)


def _read_all_postings(db: Database, scope_keys: ScopeKeys) -> TablePostings:
    row = db.execute(
        "SELECT string_agg(int4send(cardinality(m.terms)), '' ORDER BY m.num), "
        "string_agg(substr(array_send(m.terms), 21), '' ORDER BY m.num), "
        f"string_agg(substr(array_send(m.tfs), 21), '' ORDER BY m.num) FROM memory m WHERE {IN_SCOPE}",
        scope_keys,
        binary=True,
    ).fetchone()
    sizes, terms, counts = row if row is not None and row[0] is not None else (b"", b"", b"")
    held = np.frombuffer(sizes, ">i4")
    numbers = np.frombuffer(terms, PACKED_TERM)["value"].astype(np.int32)
    rows = np.repeat(np.arange(len(held), dtype=np.int32), held)
    order = np.argsort(numbers, kind="stable")
    return TablePostings(
        numbers[order], rows[order], np.frombuffer(counts, PACKED_TERM_COUNT)["value"].astype(np.int16)[order]
    )


def _read_postings(
    db: Database, scope_keys: ScopeKeys, table: MemoryTable, wanted: Sequence[int], posted: int
) -> dict[int, TermMatches]:
    late = _read_recent_postings(db, scope_keys, table, wanted, posted)
    if not posted:
        return late
    # The memories of the blocks were written before all others, so that their rows come first.
    early = tenant_index.find_in_blocks(db, scope_keys[0], table, wanted)
    return {
        term: _join_matches(early.get(term, NO_MATCHES), late.get(term, NO_MATCHES))
        for term in early.keys() | late.keys()
    }


def _join_matches(early: TermMatches, late: TermMatches) -> TermMatches:
    return np.concatenate((early[0], late[0])), np.concatenate((early[1], late[1]))


def _read_recent_postings(
    db: Database, scope_keys: ScopeKeys, table: MemoryTable, wanted: Sequence[int], posted: int
) -> dict[int, TermMatches]:
    found = db.execute(
        "SELECT t.term, m.num, t.tf FROM memory m CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
        f"WHERE {IN_SCOPE} AND m.num > %s AND m.terms && %s::integer[] AND t.term = ANY(%s::integer[]) ORDER BY m.num",
        (*scope_keys, posted, list(wanted), list(wanted)),
    ).fetchall()
    nums: dict[int, list[int]] = defaultdict(list)
    counts: dict[int, list[int]] = defaultdict(list)
    for term, num, count in found:
        nums[term].append(num)
        counts[term].append(count)
    return {
        term: (np.searchsorted(table.columns["num"], mine), np.array(counts[term], np.float64))
        for term, mine in nums.items()
    }
