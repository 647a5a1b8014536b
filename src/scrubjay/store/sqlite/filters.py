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


def passing(db: Database, tenant: int, table: Table, where: Where) -> NDArray[np.bool_]:
    """Return a mask over the rows. What the columns hold is asked of them, the rest of the tables."""
    columns = table.columns
    mask = table.of_status(tuple(_codes(STATUS_CODE, where.statuses))).copy()
    if where.tiers:
        mask &= _any(columns["tier"], _codes(TIER_CODE, where.tiers))
    if where.since is not None:
        mask &= columns["at"] >= where.since
    if where.until is not None:
        mask &= columns["at"] < where.until
    for tag in where.tags:
        held = db.execute("SELECT num FROM tag WHERE tag = ?", (tag,)).fetchall()
        mask &= np.isin(columns["num"], np.array([num for (num,) in held], np.int64))
    if where.sources or where.path:
        mask &= np.isin(columns["num"], _in_documents(db, tenant, where))
    return mask


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
            nums += [
                n for (n,) in db.execute("SELECT num FROM memory WHERE document = ?", (document,)).fetchall()
            ]
    return np.array(nums, np.int64)
