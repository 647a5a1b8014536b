"""Scores: fetch what a search needs of one scope and score it as every numpy store does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrubjay.memory.models import Model
from scrubjay.memory.records import Where
from scrubjay.store.paths import path_passes
from scrubjay.store.postgres import edges
from scrubjay.store.postgres.rows import SIGN
from scrubjay.store.score import products, quantised
from scrubjay.store.scored import NOTHING, ArrayScored, Held, by_vectors, held
from scrubjay.store.table import COLUMNS, TIER_CODE, Table
from scrubjay.text.tokens import TermGroup

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

SCOPE = "m.tenant = %s AND m.generation = %s AND m.key = ANY(%s)"
"""What every statement about memories is bound to: tenant, generation, visibility keys."""

Own = tuple[int, int, list[str]]
Windows: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]"
"""Vectors of a model, a row a window: rows of a table, ascending; scales; codes, shape (windows, dimensions)."""


def table(db: Database, own: Own) -> Table:
    """Return the visible memories, in the order of their rows."""
    found = db.execute(
        f"SELECT m.num, m.hash, m.tier, m.length, m.at FROM memory m WHERE {SCOPE} ORDER BY m.num", own
    )
    rows = [
        (number + SIGN, num, at, length, TIER_CODE[tier], 0, 1, 0) for num, number, tier, length, at in found
    ]
    columns = np.array(rows, COLUMNS)
    lengths = columns["length"].astype(np.float64)
    length = int(columns["length"].sum(dtype=np.int64))
    average = length / len(rows) if length else 1.0
    return Table((), columns, np.ones(len(rows), np.bool_), lengths, len(rows), average, ())


def passing(db: Database, own: Own, seen: Table, where: Where) -> NDArray[np.bool_]:
    """Return a mask over the rows of a table: which of them pass a filter."""
    conditions = [SCOPE, "m.status = ANY(%s)"]
    values: list[Any] = [*own, list(where.statuses)]
    projects = [project for project in where.projects if project is not None]
    for condition, value, asked in (
        ("m.tier = ANY(%s)", list(where.tiers), bool(where.tiers)),
        ("m.tags @> %s::text[]", list(where.tags), bool(where.tags)),
        ("m.at >= %s", where.since, where.since is not None),
        ("m.at < %s", where.until, where.until is not None),
        ("m.project = ANY(%s)", projects, bool(where.projects) and None not in where.projects),
        ("(m.project = ANY(%s) OR m.project IS NULL)", projects, None in where.projects),
        ("m.agent = ANY(%s)", list(where.agents), bool(where.agents)),
        ("m.session = ANY(%s)", list(where.sessions), bool(where.sessions)),
        ("m.session IS DISTINCT FROM %s", where.apart_from, where.apart_from is not None),
        ("m.pinned = %s", True, where.pinned),
    ):
        if asked:
            conditions.append(condition)
            values.append(value)
    if where.sources or where.path:
        conditions.append("m.document = ANY(%s::bigint[])")
        values.append(_documents(db, own, where))
    if where.categories:
        conditions.append("m.hash = ANY(%s::bigint[])")
        values.append(edges.members(db, own, where.categories))
    found = db.execute(f"SELECT m.num FROM memory m WHERE {' AND '.join(conditions)}", values).fetchall()
    return np.isin(seen.columns["num"], np.array([num for (num,) in found], np.int64))


def _documents(db: Database, own: Own, where: Where) -> list[int]:
    found = db.execute(
        "SELECT id, source, path FROM document WHERE tenant = %s AND generation = %s", own[:2]
    ).fetchall()
    return [
        number
        for number, source, path in found
        if (not where.sources or source in where.sources)
        and (not where.path or path_passes(path, where.path))
    ]


def postings(db: Database, own: Own, seen: Table, groups: Sequence[TermGroup]) -> list[Held]:
    """Return the rows that hold each group."""
    forms = sorted({form for group in groups for form in group.forms})
    known = db.execute(
        "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (own[0], forms)
    ).fetchall()
    named: dict[str, int] = dict(known)
    wanted = list(named.values())
    found = db.execute(
        "SELECT t.term, m.num, t.tf FROM memory m CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
        f"WHERE {SCOPE} AND m.terms && %s::integer[] AND t.term = ANY(%s::integer[]) ORDER BY m.num",
        (*own, wanted, wanted),
    ).fetchall()
    nums: dict[int, list[int]] = defaultdict(list)
    counts: dict[int, list[int]] = defaultdict(list)
    for term, num, count in found:
        nums[term].append(num)
        counts[term].append(count)
    by_term = {
        term: (np.searchsorted(seen.columns["num"], own_nums), np.array(counts[term], np.float64))
        for term, own_nums in nums.items()
    }
    return [held([by_term.get(named.get(form, -1), NOTHING) for form in group.forms]) for group in groups]


def windows(db: Database, own: Own, seen: Table, model: tuple[int, Model]) -> Windows:
    """Return all visible vectors of a model."""
    number, identity = model
    found = db.execute(
        "SELECT v.memory, v.scale, v.data FROM vector v JOIN memory m ON m.tenant = v.tenant AND "
        "m.num = v.memory "
        f"WHERE v.model = %s AND {SCOPE} ORDER BY v.memory, v.place",
        (number, *own),
    ).fetchall()
    rows = np.searchsorted(seen.columns["num"], np.array([row[0] for row in found], np.int64))
    scales = np.array([row[1] for row in found], np.float32).astype(np.float64)
    data = np.frombuffer(b"".join(bytes(row[2]) for row in found), np.int8)
    return rows, scales, data.reshape(len(found), identity.dimensions)


def nearest(seen: Table, held: Windows, query: NDArray[np.float32], mask: NDArray[np.bool_]) -> ArrayScored:
    """Score every row that has vectors of a model by its best window."""
    codes, scale = quantised(query)
    rows, scales, data = held
    best = np.full(seen.rows, -np.inf, np.float64)
    np.maximum.at(best, rows, products(data, codes) * (scales * scale))
    return by_vectors(seen, best, mask)
