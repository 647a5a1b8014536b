"""Full text: the tenant's vocabulary and the postings of its words.

All postings of a small scope are read at once and kept with its snapshot: otherwise the server unpacks the words of
every memory for every search. Of a large scope only the postings of the query's words are read: from the tenant's
blocks (`tenant_index`), and off each memory that is newer than the last block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
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


WORD_BYTES: Final = 120
"""Bytes of a word with its number, about."""
PACKED_TERM: Final = np.dtype([("bytes", ">i4"), ("value", ">i4")])
"""An element of an array as PostgreSQL sends it; the array's own head has 20 bytes."""


class TablePostings(NamedTuple):
    """All postings of a table: term numbers (ascending), table rows (ascending for each term) and counts."""

    terms: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[np.int16]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.rows.nbytes + self.counts.nbytes

    def matches(self, term: int) -> TermMatches:
        first, last = np.searchsorted(self.terms, (term, term + 1))
        return self.rows[first:last].astype(np.int64), self.counts[first:last].astype(np.float64)


class PostingReader:
    """Reads the postings of one scope's table.

    ``posted``: words of memories up to this number are in blocks; None where all postings are read and cached.
    """

    def __init__(
        self, db: Database, scope_keys: ScopeKeys, table: MemoryTable, snapshot: Snapshot, posted: int | None
    ) -> None:
        self._db = db
        self._scope_keys = scope_keys
        self._table = table
        self._snapshot = snapshot
        self._posted = posted

    def score_groups(self, groups: Sequence[TermGroup]) -> dict[TermGroup, GroupScores]:
        """Return what each group adds to the scores of its rows."""
        numbers = self._word_numbers(sorted({form for group in groups for form in group.forms}))
        if self._posted is None:
            postings = self._all_postings()
            by_term = {number: postings.matches(number) for number in numbers.values()}
        else:
            by_term = self._read(list(numbers.values()), self._posted)
        return {
            group: score_group(
                self._table, [by_term.get(numbers.get(form, -1), NO_MATCHES) for form in group.forms]
            )
            for group in groups
        }

    def vocabulary(self) -> dict[str, int]:
        """Return the words of the visible memories, with their numbers."""
        return self._snapshot.cached("vocabulary", self._read_vocabulary, lambda read: WORD_BYTES * len(read))

    def _word_numbers(self, forms: Sequence[str]) -> dict[str, int]:
        """Return the numbers of words: the first search asks for its own, later ones read the vocabulary."""
        cached = self._snapshot.row_cache("terms")

        def read(new: list[str]) -> dict[str, int]:
            if len(cached) and self._posted is None:
                known = self.vocabulary()
                return {form: known[form] for form in new if form in known}
            found = self._db.execute(
                "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (self._scope_keys[0], new)
            ).fetchall()
            return dict(found)

        return cached.get(forms, read)

    def _read_vocabulary(self) -> dict[str, int]:
        if self._posted is None:
            numbers = np.unique(self._all_postings().terms).tolist()
        else:
            ((numbers,),) = self._db.execute(
                "SELECT array_agg(DISTINCT t.term) FROM memory m CROSS JOIN LATERAL unnest(m.terms) AS t (term) "
                f"WHERE {IN_SCOPE}",
                self._scope_keys,
            ).fetchall()
        # Concatenated by the server: as rows they take the client ten times as long.
        row = self._db.execute(
            "SELECT string_agg(convert_to(text, 'UTF8'), %s ORDER BY id), array_agg(id ORDER BY id) FROM term "
            "WHERE tenant = %s AND id = ANY(%s::integer[])",
            (b"\0", self._scope_keys[0], numbers or []),
        ).fetchone()
        if row is None or row[0] is None:
            return {}
        return dict(zip(map(unescape_text, bytes(row[0]).decode().split("\0")), row[1], strict=True))

    def _all_postings(self) -> TablePostings:
        return self._snapshot.cached("postings", self._read_all, lambda read: read.nbytes)

    def _read_all(self) -> TablePostings:
        row = self._db.execute(
            "SELECT string_agg(int4send(cardinality(m.terms)), '' ORDER BY m.num), "
            "string_agg(substr(array_send(m.terms), 21), '' ORDER BY m.num), "
            f"string_agg(substr(array_send(m.tfs), 21), '' ORDER BY m.num) FROM memory m WHERE {IN_SCOPE}",
            self._scope_keys,
            binary=True,
        ).fetchone()
        sizes, terms, counts = row if row is not None and row[0] is not None else (b"", b"", b"")
        lengths = np.frombuffer(sizes, ">i4")
        numbers = np.frombuffer(terms, PACKED_TERM)["value"].astype(np.int32)
        rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        times = np.frombuffer(counts, tenant_index.PACKED_COUNT)["value"].astype(np.int16)
        order = np.argsort(numbers, kind="stable")
        return TablePostings(numbers[order], rows[order], times[order])

    def _read(self, terms: Sequence[int], posted: int) -> dict[int, TermMatches]:
        recent = self._read_recent(terms, posted)
        if not posted:
            return recent
        # The memories of the blocks were written before all others, so their rows come first.
        early = tenant_index.find_in_blocks(self._db, self._scope_keys[0], self._table, terms)
        pairs = {
            term: (early.get(term, NO_MATCHES), recent.get(term, NO_MATCHES))
            for term in early.keys() | recent.keys()
        }
        return {
            term: (np.concatenate((one[0], two[0])), np.concatenate((one[1], two[1])))
            for term, (one, two) in pairs.items()
        }

    def _read_recent(self, terms: Sequence[int], posted: int) -> dict[int, TermMatches]:
        found = self._db.execute(
            "SELECT t.term, m.num, t.tf FROM memory m CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
            f"WHERE {IN_SCOPE} AND m.num > %s AND m.terms && %s::integer[] AND t.term = ANY(%s::integer[]) "
            "ORDER BY m.num",
            (*self._scope_keys, posted, list(terms), list(terms)),
        ).fetchall()
        nums: dict[int, list[int]] = defaultdict(list)
        counts: dict[int, list[int]] = defaultdict(list)
        for term, num, count in found:
            nums[term].append(num)
            counts[term].append(count)
        return {
            term: (np.searchsorted(self._table.columns["num"], mine), np.array(counts[term], np.float64))
            for term, mine in nums.items()
        }
