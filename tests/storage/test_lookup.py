"""Rows are found by key wherever their part stands, and large parts that stay are sorted once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.storage import table
from scrubjay.storage.table import IdLookup, SortedPartsCache, TablePart


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LARGE_PART", 5)


def parts_of(sizes: list[int]) -> list[TablePart]:
    """Return parts of these sizes, one after another; a part is named by its size and place."""
    firsts = np.cumsum([0, *sizes]).tolist()
    return [
        TablePart(place, size, first, size)
        for place, (first, size) in enumerate(zip(firsts, sizes, strict=False))
    ]


@given(st.lists(st.lists(st.integers(0, 20), max_size=9), max_size=8), st.booleans())
def test_every_row_of_a_number_is_found_and_no_other(held: list[list[int]], in_parts: bool) -> None:
    keys = np.array([key for part in held for key in part], np.uint64)
    parts = parts_of([len(part) for part in held]) if in_parts else []
    found = IdLookup(keys, parts, {}).rows(np.arange(22, dtype=np.uint64))
    assert [sorted(rows) for rows in found] == [np.flatnonzero(keys == key).tolist() for key in range(22)]


class Replaced(dict):
    """What is put in is gone at once, as when a reader of another state of the store puts in its own."""

    def __setitem__(self, name: object, held: object) -> None:
        return


def test_rows_are_found_though_another_reader_replaces_what_was_sorted() -> None:
    keys = np.arange(6, dtype=np.uint64)
    assert IdLookup(keys, [TablePart(1, 1, 0, 6)], Replaced()).rows(keys) == [[0], [1], [2], [3], [4], [5]]


def test_large_parts_that_stay_are_not_sorted_again_though_they_stand_elsewhere() -> None:
    orders: SortedPartsCache = {}
    large, small = np.arange(6, dtype=np.uint64)[::-1], np.array([9, 8], np.uint64)
    IdLookup(np.concatenate([small, large]), [TablePart(1, 1, 0, 2), TablePart(2, 1, 2, 6)], orders)
    (before,) = orders.values()
    after = IdLookup(np.concatenate([large, small]), [TablePart(2, 1, 0, 6), TablePart(3, 1, 6, 2)], orders)
    assert [held is before for held in orders.values()] == [True]
    assert after.rows(np.array([0, 5, 8, 9, 7], np.uint64)) == [[5], [0], [7], [6], []]
    IdLookup(large[:5], [TablePart(2, 2, 0, 5)], orders)
    assert [held is before for held in orders.values()] == [False]
