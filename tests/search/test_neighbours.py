from __future__ import annotations

import pytest
from recall_values import rows

from scrubjay.search.fusion import NEIGHBOUR_SHARE, add_neighbour_feature
from scrubjay.storage.interface import RankingMetadata


def lent(words: int, **scores: float) -> float:
    """Return what turn ``b`` borrows, standing between ``a`` and ``c``."""
    (one,) = told = rows({"b": 1.0}, {"b": RankingMetadata("", words)})
    add_neighbour_feature(told, scores, {"b": ("a", "c")})
    return one.score - 1.0


def test_a_turn_borrows_from_its_better_neighbour_alone() -> None:
    assert lent(0, a=0.4, c=2.0) == pytest.approx(NEIGHBOUR_SHARE * 2.0)


def test_a_turn_of_a_hundred_words_borrows_half_as_much() -> None:
    assert lent(100, a=2.0, c=0.0) == pytest.approx(NEIGHBOUR_SHARE * 2.0 / 2)


@pytest.mark.parametrize("scores", [{"a": -1.0, "c": -0.5}, {"a": 0.0}, {}])
def test_a_neighbour_lends_no_debt(scores: dict[str, float]) -> None:
    assert lent(0, **scores) == 0.0


def test_a_memory_outside_of_conversations_stays_as_it_is() -> None:
    alone = rows({"x": 1.0}, {"x": RankingMetadata("", 1)})
    add_neighbour_feature(alone, {"x": 1.0, "a": 9.0}, {})
    assert alone[0].score == 1.0


def test_turns_lend_what_they_had_before_they_borrowed() -> None:
    scores = {"a": 2.0, "b": 1.0, "c": 0.5}
    adjacent = {"a": ("b",), "b": ("a", "c"), "c": ("b",)}
    turns = rows(scores, {memory: RankingMetadata("", 0) for memory in adjacent})
    add_neighbour_feature(turns, scores, adjacent)
    assert [one.score for one in turns] == [2.5, 2.0, 1.0]
