"""Filters: which of a table's rows pass a `Where`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.memory.records import Where
from scrubjay.store.paths import path_passes
from scrubjay.store.table import STATUS_CODE, TIER_CODE, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.sqlite.database import Database
    from scrubjay.store.sqlite.graph import Graph


def passing(graph: Graph, table: Table, where: Where) -> NDArray[np.bool_]:
    """Return a mask over the rows. What the columns hold is asked of them, the rest of the tables."""
    db, tenant = graph.seen.db, graph.seen.tenant
    columns = table.columns
    mask = table.of_status(tuple(_codes(STATUS_CODE, where.statuses))).copy()
    if where.tiers:
        mask &= _any(columns["tier"], _codes(TIER_CODE, where.tiers))
    if where.since is not None:
        mask &= columns["at"] >= where.since
    if where.until is not None:
        mask &= columns["at"] < where.until
    nums = columns["num"]
    for tag in where.tags:
        mask &= _among(nums, _numbers(db, "SELECT num FROM tag WHERE tag = ?", (tag,)))
    if where.sources or where.path:
        mask &= _among(nums, _in_documents(db, tenant, where))
    mask &= _named(db, tenant, nums, where)
    if where.pinned:
        mask &= _among(
            nums, _numbers(db, "SELECT num FROM memory WHERE tenant = ? AND pinned = 1", (tenant,))
        )
    if where.categories:
        mask &= np.isin(columns["key"], np.array(graph.members(where.categories), np.uint64))
    return mask


def _named(db: Database, tenant: int, nums: NDArray[np.int64], where: Where) -> NDArray[np.bool_]:
    """Return which rows are of the projects, agents and sessions that are named."""
    mask = np.ones(len(nums), np.bool_)
    named = "SELECT num FROM memory WHERE tenant = ? AND"
    projects = tuple(project for project in where.projects if project is not None)
    none = None in where.projects  # the index knows nothing of those of no project: the others are left out
    columns = (("project", () if none else projects), ("agent", where.agents), ("session", where.sessions))
    for column, names in columns:
        if names:
            found = _numbers(db, f"{named} {column} IN ({_marks(names)})", (tenant, *names))
            mask &= _among(nums, found)
    if none:
        others = f"{named} project IS NOT NULL AND project NOT IN ({_marks(projects)})"
        mask &= ~_among(nums, _numbers(db, others, (tenant, *projects)))
    if where.apart_from is not None:
        mask &= ~_among(nums, _numbers(db, f"{named} session = ?", (tenant, where.apart_from)))
    return mask


def _marks(names: Sequence[str]) -> str:
    return ",".join("?" * len(names))


def _numbers(db: Database, statement: str, values: Sequence[object]) -> NDArray[np.int64]:
    return np.array([num for (num,) in db.execute(statement, values).fetchall()], np.int64)


def _among(nums: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows' numbers are wanted. A table of all numbers: np.isin sorts, half a second a million."""
    held = np.zeros(int(nums.max(initial=0)) + 1, np.bool_)
    held[wanted[wanted < len(held)]] = True
    found: NDArray[np.bool_] = held[nums]
    return found


def _codes(known: Mapping[str, int], names: Sequence[str]) -> list[int]:
    return [known[name] for name in names if name in known]


def _any(column: NDArray[np.uint8], codes: Sequence[int]) -> NDArray[np.bool_]:
    """Return where a column holds any of a few codes. Not np.isin: it imports numpy.ma, a tenth of a cold search."""
    mask = np.zeros(len(column), np.bool_)
    for code in codes:
        mask |= column == code
    return mask


def _in_documents(db: Database, tenant: int, where: Where) -> NDArray[np.int64]:
    found = db.execute("SELECT id, source, path FROM document WHERE tenant = ?", (tenant,)).fetchall()
    nums: list[int] = []
    for document, source, path in found:
        if (not where.sources or source in where.sources) and (
            not where.path or path_passes(path, where.path)
        ):
            nums += _numbers(db, "SELECT num FROM memory WHERE document = ?", (document,)).tolist()
    return np.array(nums, np.int64)
