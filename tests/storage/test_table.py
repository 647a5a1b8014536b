from __future__ import annotations

import numpy as np
import pytest

from scrubjay.models.ids import memory_id
from scrubjay.storage import table as tables
from scrubjay.storage.scoring import dot_products, quantize
from scrubjay.storage.table import COLUMNS, TIER_CODE, MemoryTable, TablePart


def table_of(numbers: list[int]) -> MemoryTable:
    """Return a table of observations, of which every fifth was taken out."""
    columns = np.zeros(len(numbers), COLUMNS)
    columns["key"], columns["tier"] = numbers, TIER_CODE["observation"]
    columns["live"] = [place % 5 != 0 for place in range(len(numbers))]
    live = columns["live"] == 1
    lengths = columns["length"].astype(np.float64)
    return MemoryTable((TablePart(1, 1, 0, len(numbers)),), columns, live, lengths, int(live.sum()), 1.0, ())


def test_rows_are_found_alike_when_they_are_asked_for_again_and_after_more_than_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = [(place * 7919) % 1009 for place in range(200)]
    wanted = {
        memory_id("observation", number): row if row % 5 else None for row, number in enumerate(numbers)
    }
    wanted |= {memory_id("crystal", numbers[1]): None, memory_id("observation", 5000): None, "no id": None}
    monkeypatch.setattr(tables, "MAX_LOOKED_UP", 50)
    found, ids = table_of(numbers), list(wanted)
    for first in (0, 30, 60, 100, 0, 190, 20):
        asked = ids[first : first + 60]
        assert found.find(asked) == [wanted[memory] for memory in asked]
    assert found.find([ids[3], ids[3], ids[0]]) == [3, 3, None]


@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 1024, 1100])
@pytest.mark.parametrize("dimensions", [1, 256, 384, 1040, 1041, 9000])
def test_products_are_whole_numbers_whatever_is_multiplied_at_once(rows: int, dimensions: int) -> None:
    rng = np.random.default_rng(rows + dimensions)
    data = rng.integers(-127, 128, (rows, dimensions)).astype(np.int8)
    codes, _ = quantize(rng.standard_normal(dimensions).astype(np.float32))
    assert dot_products(data, codes).tolist() == (data.astype(np.int64) @ codes.astype(np.int64)).tolist()
