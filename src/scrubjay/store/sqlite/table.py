"""Tables: the segments that each scope may see, laid end to end and kept for the next reader."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.store.lookup import Part
from scrubjay.store.sqlite.seen import bound, marks
from scrubjay.store.table import COLUMNS, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.sqlite.database import Database

NOTHING: Final = np.zeros(0, np.uint8)
MOST_TABLES: Final = 4
"""Tables a process keeps: one for each of the last scopes that read."""


class Tables:
    """Tables of the last scopes, shared by one process's readers."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Table] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, db: Database, tenant: int, generation: int, keys: Sequence[str]) -> Table:
        """Return the table of these visibility keys, as the open transaction sees it."""
        heads = db.execute(
            "SELECT id, version, slots, live, length FROM segment WHERE tenant = ? AND generation = ? "
            f"AND key IN ({marks(keys)}) ORDER BY id",
            (tenant, generation, *bound(keys)),
        ).fetchall()
        name = (tenant, generation, *keys)
        with self._lock:
            before = self._kept.get(name)
            if before is not None:
                self._kept.move_to_end(name)
                if [(part.segment, part.version) for part in before.parts] == [head[:2] for head in heads]:
                    return before
        table = _read(db, heads, before)
        with self._lock:
            self._kept[name] = table
            self._kept.move_to_end(name)
            while len(self._kept) > MOST_TABLES:
                self._kept.popitem(last=False)
        return table


def _read(db: Database, heads: Sequence[tuple[int, int, int, int, int]], before: Table | None) -> Table:
    """Return the table of some segments; what the one before it holds of them is not read again."""
    known = {} if before is None else {(part.segment, part.version): part for part in before.parts}
    parts: list[Part] = []
    pieces: list[NDArray[np.void]] = []
    first = 0
    for segment, version, slots, _, _ in heads:
        held = known.get((segment, version))
        if before is not None and held is not None:
            pieces.append(before.columns[held.first : held.first + slots])
        else:
            (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
            pieces.append(np.frombuffer(blob, COLUMNS))
        parts.append(Part(segment, version, first, slots))
        first += slots
    # As bytes: numpy copies rows of named columns one by one.
    columns = np.concatenate([NOTHING, *(piece.view(np.uint8) for piece in pieces)]).view(COLUMNS)
    columns.flags.writeable = False
    live = columns["live"] == 1
    memories = sum(head[3] for head in heads)
    length = sum(head[4] for head in heads)
    average = length / memories if length else 1.0
    # Not np.unique: it imports numpy.ma, a tenth of a cold search.
    languages = tuple(np.flatnonzero(np.bincount(columns["language"][live])).tolist())
    return Table(
        tuple(parts),
        columns,
        live,
        columns["length"].astype(np.float64),
        memories,
        average,
        languages,
        {} if before is None else before.orders,
    )
