from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.models.results import Candidate, Contribution, round_score


def test_a_contribution_is_weight_times_value() -> None:
    assert Contribution("bm25", 12.0, 0.5, 0.3).amount == pytest.approx(0.15)


def test_a_score_is_the_sum_of_the_parts_to_a_millionth() -> None:
    parts = (Contribution("bm25", 9.0, 2.0, 0.3), Contribution("vector:m", 0.5, -1.0, 0.7))
    assert Candidate("a", parts).score == -0.1
    assert Candidate("a", ()).score == 0.0


def test_small_parts_are_not_lost_beside_large_ones() -> None:
    parts = tuple(Contribution("x", value, value, 1.0) for value in (1e16, 1.0, -1e16))
    assert Candidate("a", parts).score == 1.0


RECIPROCALS = st.lists(st.integers(1, 60).map(lambda rank: 1 / (60 + rank)), min_size=3, max_size=4)


@given(RECIPROCALS)
def test_the_order_of_the_parts_never_changes_a_score(values: list[float]) -> None:
    parts = [Contribution(str(n), value, value, 1.0) for n, value in enumerate(values)]
    scores = {Candidate("a", order).score for order in permutations(parts)}
    assert scores == {round_score(math.fsum(values))}


def test_rounding_goes_to_the_even_side() -> None:
    assert (round_score(0.0000005), round_score(0.0000015)) == (0.0, 0.000002)
    assert round_score(-0.1234567) == -0.123457
