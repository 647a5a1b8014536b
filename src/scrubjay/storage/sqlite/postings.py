"""Full text: a tenant's vocabulary with its trigrams, and BM25 over the postings of its segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.storage.scoring import NO_MATCHES, GroupScores, TermMatches, score_group, similar_words
from scrubjay.storage.sqlite.blobs import unpack_postings
from scrubjay.storage.sqlite.connection import select
from scrubjay.storage.table import MemoryTable
from scrubjay.text.tokenizer import NEAREST_FLOOR, WORD_EDGE, TermGroup, nearest_terms, trigrams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.snapshot import Snapshot
    from scrubjay.storage.sqlite.connection import Database


MAX_REMEMBERED_TERMS: Final = 100_000
"""Terms whose numbers a process caches: at most 15 MB. A batch of a thousand passages has twenty thousand."""

MAX_CANDIDATES: Final = 50_000
"""Maximum number of terms compared with a mistyped word."""

FEW_TERMS: Final = 20_000
"""Vocabulary up to which every term is compared with a mistyped word, without the trigram index."""
FEW_DIVISOR: Final = 8
"""The vocabulary must also be less than an eighth of the file's terms: the trigram index covers all tenants, and with
10,000 of them a lookup took 60 ms (bench/LOG.md)."""
TERM_BYTES: Final = 70


class Vocabulary:
    """Numbers of terms, remembered by one process between its transactions."""

    def __init__(self) -> None:
        self._numbers: dict[int, dict[str, int]] = {}
        self._epoch = 0

    def numbers(self, db: Database, tenant: int, terms: Set[str]) -> Mapping[str, int]:
        """Return the numbers of these terms, among others; new ones get theirs now. Call it inside a transaction."""
        (epoch,) = db.execute("SELECT value FROM counter WHERE name = 'epoch'").fetchone()
        if epoch != self._epoch or sum(map(len, self._numbers.values())) > MAX_REMEMBERED_TERMS:
            self._numbers.clear()  # another process may have removed terms
            self._epoch = epoch
        known = self._numbers.setdefault(tenant, {})
        unknown = sorted(terms - known.keys())  # sorted, so that the index grows at neighbouring places
        cursor = db.executemany(
            "SELECT text, id FROM term WHERE tenant = ? AND text = ?", ((tenant, term) for term in unknown)
        )
        known.update(cursor.fetchall())
        known.update(_insert_terms(db, tenant, [term for term in unknown if term not in known]))
        return known

    def discard(self) -> None:
        """Forget the numbers after a rollback."""
        self._numbers.clear()

    def prune(self, db: Database, tenant: int, numbers: Iterable[int]) -> None:
        """Remove those of these terms that no memory holds any more, and their trigrams."""
        segments = [s for (s,) in db.execute("SELECT id FROM segment WHERE tenant = ?", (tenant,)).fetchall()]
        for number in numbers:
            used = any(
                db.execute(
                    "SELECT 1 FROM posting WHERE segment = ? AND term = ?", (segment, number)
                ).fetchone()
                for segment in segments
            )
            if not used:
                db.execute("DELETE FROM term WHERE id = ?", (number,))
                db.execute("DELETE FROM term_gram WHERE rowid = ?", (number,))
        # Without it the words stay readable in the index file after they are deleted.
        db.execute("INSERT INTO term_gram (term_gram) VALUES ('optimize')")
        db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
        self.discard()


def _insert_terms(db: Database, tenant: int, terms: Sequence[str]) -> dict[str, int]:
    """Number new terms. No number is used twice, so that an old reference never means another term."""
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'term'").fetchone()
    first = 1 if last is None else int(last[0]) + 1
    numbers = {term: number for number, term in enumerate(terms, first)}
    db.executemany(
        "INSERT INTO term (tenant, text, id) VALUES (?, ?, ?)", ((tenant, *row) for row in numbers.items())
    )
    grams = ((number, pad_term(term)) for term, number in numbers.items())
    db.executemany("INSERT INTO term_gram (rowid, text) VALUES (?, ?)", grams)
    return numbers


def pad_term(term: str) -> str:
    return f"{WORD_EDGE}{term}{WORD_EDGE}"


def find_similar_terms(
    db: Database, tenant: int, snapshot: Snapshot, word: str
) -> Sequence[tuple[str, float]]:
    vocabulary = snapshot.cached(
        "terms", lambda: small_vocabulary(db, tenant), lambda read: TERM_BYTES * len(read or ())
    )
    if vocabulary is not None:
        return similar_words(vocabulary, word, len(vocabulary))
    sharing = set(trigram_candidates(db, tenant, word)) - {word}
    return nearest_terms(word, sharing, len(sharing))


def small_vocabulary(db: Database, tenant: int) -> tuple[str, ...] | None:
    """Return all terms of a tenant that has few of a file's; None where trigrams find them faster."""
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'term'").fetchone()
    limit = min(FEW_TERMS, int(last[0]) // FEW_DIVISOR) if last is not None else 0
    rows = db.execute("SELECT text FROM term WHERE tenant = ? LIMIT ?", (tenant, limit + 1)).fetchall()
    return tuple(text for (text,) in rows) if len(rows) <= limit else None


def trigram_candidates(db: Database, tenant: int, word: str) -> list[str]:
    """Return the tenant's terms that share enough trigrams with a word, at most `MAX_CANDIDATES`.

    The Jaccard index of a terms and b, of which s are shared, is s / (a + b - s). To reach the floor f, s must be f · a
    or more, since b is at least s, and b at most s · (1 + 1 / f) - a. So of the thousands of terms that share one
    trigram few are read: a term of three letters or more has three trigrams or more.
    """
    grams = trigrams(word)
    queries = sorted(gram for gram in grams if "\0" not in gram)  # a query ends at NUL
    if not queries:
        return []
    skipped = len(grams) - len(queries)
    matches = " UNION ALL ".join(["SELECT rowid AS id FROM term_gram WHERE term_gram MATCH ?"] * len(queries))
    size, max_trigrams = len(grams), f"shared * {1 + 1 / NEAREST_FLOOR} - {len(grams)}"
    rows = db.execute(
        f"SELECT t.text FROM (SELECT id, count(*) + {skipped} AS shared FROM ({matches}) GROUP BY id "
        f"HAVING shared >= {NEAREST_FLOOR * size}) JOIN term t USING (id) WHERE t.tenant = ? "
        f"AND (length(t.text) < 3 OR {max_trigrams} >= 3) LIMIT ?",
        (*('"' + gram.replace('"', '""') + '"' for gram in queries), tenant, MAX_CANDIDATES),
    ).fetchall()
    return [text for (text,) in rows]


def score_groups(
    db: Database, tenant: int, table: MemoryTable, groups: Iterable[TermGroup]
) -> dict[TermGroup, GroupScores]:
    groups = list(groups)
    matches = _read_postings(
        db, tenant, table, list(dict.fromkeys(form for group in groups for form in group.forms))
    )
    return {
        group: score_group(table, [matches.get(form, NO_MATCHES) for form in group.forms]) for group in groups
    }


def _read_postings(
    db: Database, tenant: int, table: MemoryTable, forms: Sequence[str]
) -> dict[str, TermMatches]:
    first = {part.segment: part.first for part in table.parts}
    segments = ",".join(map(str, first))
    slots: dict[str, list[NDArray[np.int64]]] = {}
    counts: dict[str, list[NDArray[np.uint8]]] = {}
    rows = select(
        db,
        "SELECT t.text, p.segment, p.data FROM term t CROSS JOIN posting p ON p.term = t.id "
        f"AND p.segment IN ({segments}) WHERE t.tenant = ? AND t.text IN ? ORDER BY p.segment",
        tenant, list(forms),
    )  # fmt: skip
    for form, segment, data in rows:
        places, frequencies = unpack_postings(data)
        slots.setdefault(form, []).append(places.astype(np.int64) + first[segment])
        counts.setdefault(form, []).append(frequencies)
    return {
        form: (np.concatenate(places), np.concatenate(counts[form]).astype(np.float64))
        for form, places in slots.items()
    }


def has_term(db: Database, tenant: int, table: MemoryTable, term: str) -> bool:
    row = db.execute("SELECT id FROM term WHERE tenant = ? AND text = ?", (tenant, term)).fetchone()
    return row is not None and any(
        db.execute("SELECT 1 FROM posting WHERE segment = ? AND term = ?", (part.segment, row[0])).fetchone()
        for part in table.parts
    )
