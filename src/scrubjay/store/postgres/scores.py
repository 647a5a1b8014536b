"""Scores: fetch what a search needs of one scope and score it as every numpy store does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrubjay.memory.models import Model
from scrubjay.memory.records import Where
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.store.paths import path_passes
from scrubjay.store.postgres import edges
from scrubjay.store.postgres.connect import unescaped
from scrubjay.store.postgres.rows import SIGN
from scrubjay.store.score import products, quantised
from scrubjay.store.scored import ArrayScored, by_vectors
from scrubjay.store.table import COLUMNS, STATUS_CODE, TIER_CODE, Table

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

SCOPE = "m.tenant = %s AND m.generation = %s AND m.key = ANY(%s)"
"""What every statement about memories is bound to: tenant, generation, visibility keys."""

AT_ONCE: Final = 50_000
"""Memories whose vectors are asked for at once: a value of PostgreSQL's holds a gigabyte at most."""
PACKED: Final = np.dtype(
    [
        ("num", ">i8"),
        ("hash", ">i8"),
        ("at", ">i8"),
        ("length", ">i8"),
        ("tier", ">i4"),
        ("status", ">i4"),
        ("language", ">i4"),
    ]
)
WINDOW: Final = np.dtype([("num", ">i8"), ("scale", ">f4")])

Own = tuple[int, int, list[str]]
Windows: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]"
"""Vectors of a model, a row a window: rows of a table, ascending; scales; codes, shape (windows, dimensions)."""


class Seen(NamedTuple):
    """What a scope sees.

    Attributes:
        table: The memories, in the order of their numbers; of each its language, as a place in ``languages``.
        languages: Their languages, sorted.
    """

    table: Table
    languages: tuple[str, ...]


def table(db: Database, own: Own) -> Seen:
    """Return the visible memories and their languages."""
    return _seen(*_read(db, own))


def renewed(db: Database, own: Own, before: Seen, touched: Sequence[int]) -> Seen:
    """Return what is visible by now, of what was before, reading no memories but those touched since."""
    old = before.table.columns
    kept = old[~np.isin(old["num"], np.array(touched, np.int64))]
    new, languages = _read(db, own, touched)
    everything = tuple(sorted({*before.languages, *languages}))
    columns = np.concatenate(
        [_spoken(kept, before.languages, everything), _spoken(new, languages, everything)]
    )
    columns = columns[np.argsort(columns["num"], kind="stable")]
    left = tuple(everything[code] for code in np.unique(columns["language"]).tolist())
    return _seen(_spoken(columns, everything, left), left)


def _spoken(columns: NDArray[np.void], names: Sequence[str], among: Sequence[str]) -> NDArray[np.void]:
    """Return columns with their languages, of some names, as places among others."""
    places = [among.index(name) if name in among else 0 for name in names]
    columns = columns.copy()
    if places:
        columns["language"] = np.array(places, np.uint8)[columns["language"]]
    return columns


def _seen(columns: NDArray[np.void], languages: Sequence[str]) -> Seen:
    lengths = columns["length"].astype(np.float64)
    length = int(columns["length"].sum(dtype=np.int64))
    average = length / len(columns) if length else 1.0
    seen = Table((), columns, np.ones(len(columns), np.bool_), lengths, len(columns), average, ())
    return Seen(seen, tuple(languages))


def _read(
    db: Database, own: Own, only: Sequence[int] | None = None
) -> tuple[NDArray[np.void], tuple[str, ...]]:
    """Return the columns of the visible memories, or of some by number, and their languages, sorted.

    The server lays the columns end to end: a tenth of the time that a tuple a row takes.
    """
    some = "" if only is None else " AND m.num = ANY(%s::bigint[])"
    row = db.execute(
        "SELECT string_agg(int8send(m.num) || int8send(m.hash) || int8send(m.at) || int8send(m.length) || "
        "int4send(array_position(%s::text[], m.tier)) || "
        "int4send(coalesce(array_position(%s::text[], m.status), 0)) || int4send(hashtext(m.language)), "
        "'' ORDER BY m.num), array_agg(DISTINCT hashtext(m.language) || ' ' || m.language) "
        f"FROM memory m WHERE {SCOPE}{some}",
        (list(TIERS), list(STATUSES), *own, *([] if only is None else [list(only)])),
        binary=True,
    ).fetchone()
    packed, languages = row if row is not None else (None, None)
    read = np.frombuffer(packed or b"", PACKED)
    columns = np.zeros(len(read), COLUMNS)
    columns["key"] = read["hash"].astype(np.int64).view(np.uint64) ^ np.uint64(SIGN)
    for name in ("num", "at", "length"):
        columns[name] = read[name]
    columns["tier"] = read["tier"] - 1
    columns["status"] = read["status"] - 1  # one that is not known becomes 255, which no filter asks for
    columns["live"] = 1
    told = [text.partition(" ") for text in languages or ()]
    names = sorted(
        (unescaped(name), int(number)) for number, _, name in told
    )  # binary texts come as they are
    for place, (_, number) in enumerate(names):
        columns["language"][read["language"] == number] = place
    return columns, tuple(name for name, _ in names)


def passing(db: Database, own: Own, seen: Table, where: Where) -> NDArray[np.bool_]:
    """Return a mask over the rows of a table: which of them pass a filter."""
    columns = seen.columns
    mask = seen.of_status(_codes(STATUS_CODE, where.statuses)).copy()
    if where.tiers:
        mask &= np.logical_or.reduce(
            [columns["tier"] == code for code in _codes(TIER_CODE, where.tiers)], initial=False
        )
    if where.since is not None:
        mask &= columns["at"] >= where.since
    if where.until is not None:
        mask &= columns["at"] < where.until
    conditions, values = _asked(where)
    if where.sources or where.path:
        conditions.append("m.document = ANY(%s::bigint[])")
        values.append(_documents(db, own, where))
    if where.categories:
        conditions.append("m.hash = ANY(%s::bigint[])")
        values.append(edges.members(db, own, where.categories))
    if conditions:
        found = db.execute(
            f"SELECT m.num FROM memory m WHERE {SCOPE} AND {' AND '.join(conditions)}", (*own, *values)
        ).fetchall()
        mask &= np.isin(columns["num"], np.array([num for (num,) in found], np.int64))
    mask.flags.writeable = False
    return mask


def _codes(known: Mapping[str, int], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(known[name] for name in names if name in known)


def _asked(where: Where) -> tuple[list[str], list[Any]]:
    """Return the conditions, with their values, of what the table's columns do not tell."""
    projects = [project for project in where.projects if project is not None]
    asked = [
        (condition, value)
        for condition, value, given in (
            ("m.tags @> %s::text[]", list(where.tags), bool(where.tags)),
            ("m.project = ANY(%s)", projects, bool(where.projects) and None not in where.projects),
            ("(m.project = ANY(%s) OR m.project IS NULL)", projects, None in where.projects),
            ("m.agent = ANY(%s)", list(where.agents), bool(where.agents)),
            ("m.session = ANY(%s)", list(where.sessions), bool(where.sessions)),
            ("m.session IS DISTINCT FROM %s", where.apart_from, where.apart_from is not None),
            ("m.pinned = %s", True, where.pinned),
        )
        if given
    ]
    return [condition for condition, _ in asked], [value for _, value in asked]


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


def windows(
    db: Database, own: Own, seen: Table, model: tuple[int, Model], of: NDArray[np.int64] | None = None
) -> Windows:
    """Return all visible vectors of a model, or those of some rows, ascending."""
    number, identity = model
    heads, codes = [], []
    nums = seen.columns["num"]
    wanted = nums if of is None else nums[of]
    for first in range(0, len(wanted), AT_ONCE):
        # By their numbers, which the table has: as a join the server would plan it by what it has learned.
        row = db.execute(
            "SELECT string_agg(int8send(v.memory) || float4send(v.scale), '' ORDER BY v.memory, v.place), "
            "string_agg(v.data, '' ORDER BY v.memory, v.place) FROM vector v "
            "WHERE v.tenant = %s AND v.model = %s AND v.memory = ANY(%s::bigint[])",
            (own[0], number, wanted[first : first + AT_ONCE].tolist()),
            binary=True,
        ).fetchone()
        if row is not None and row[0] is not None:
            heads.append(row[0])
            codes.append(row[1])
    held = np.frombuffer(b"".join(heads), WINDOW)
    data = np.frombuffer(b"".join(codes), np.int8).reshape(len(held), identity.dimensions)
    rows = np.searchsorted(nums, held["num"].astype(np.int64))
    return rows, held["scale"].astype(np.float64), data


def nearest(seen: Table, held: Windows, query: NDArray[np.float32], mask: NDArray[np.bool_]) -> ArrayScored:
    """Score every row that has vectors of a model by its best window."""
    codes, scale = quantised(query)
    rows, scales, data = held
    best = np.full(seen.rows, -np.inf, np.float64)
    np.maximum.at(best, rows, products(data, codes) * (scales * scale))
    return by_vectors(seen, best, mask)
