from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_values import candidate, ranking

from scrubjay.search.candidates import ChannelWeight
from scrubjay.search.fusion import (
    LENGTH_SCALE,
    PREDICTED_CORRELATION,
    RRF_K,
    best_first,
    build_table,
    candidate_ids,
    fuse_by_rank,
    fuse_scores,
    split_weights,
)
from scrubjay.storage.interface import RankingMetadata

WORDS = ranking("bm25", {"a": 3.0, "b": 1.0, "c": 0.0, "d": 0.0})
MEANING = ranking("vector:m", {"a": -0.1, "b": 0.5, "c": 0.9, "d": -0.2})


def even(amount: float) -> ChannelWeight:
    return ChannelWeight.fixed(amount)


def test_a_find_of_one_channel_alone_is_a_candidate() -> None:
    assert candidate_ids([WORDS, MEANING]) == ["a", "b", "c"]
    assert {c.id for c in fuse_by_rank([WORDS, MEANING], {})} == {"a", "b", "c"}


def test_reciprocal_ranks_count_from_one_and_are_summed() -> None:
    scores = {
        c.id: c.score for c in fuse_by_rank([WORDS, MEANING], {"bm25": even(2.0), "vector:m": even(1.0)})
    }
    assert RRF_K == 60
    assert scores == {
        "a": round(2 / 61, 6),
        "b": round(2 / 62 + 1 / 62, 6),
        "c": round(1 / 61, 6),
    }


def test_reciprocal_ranks_read_no_score() -> None:
    stretched = ranking("bm25", {"a": 3_000.0, "b": 0.001, "c": 0.0, "d": 0.0})
    weights = {"bm25": even(1.0)}
    assert [(c.id, c.score) for c in fuse_by_rank([WORDS], weights)] == [
        (c.id, c.score) for c in fuse_by_rank([stretched], weights)
    ]


def test_sums_take_distances_from_the_mean_in_deviations() -> None:
    found = fuse_scores([WORDS, MEANING], ["a", "b", "c"], {"bm25": even(0.3), "vector:m": even(0.7)})
    # Words: mean 1, squares 4 0 1 1. Vectors: mean .275, squares .140625 .050625 .390625 .225625.
    words, meaning = math.sqrt(6 / 4), math.sqrt(0.8075 / 4)
    assert {c.id: c.score for c in found} == {
        "a": pytest.approx(0.3 * 2 / words + 0.7 * -0.375 / meaning, abs=1e-6),
        "b": pytest.approx(0.3 * 0 / words + 0.7 * 0.225 / meaning, abs=1e-6),
        "c": pytest.approx(0.3 * -1 / words + 0.7 * 0.625 / meaning, abs=1e-6),
    }


def test_a_channel_scores_what_only_another_found() -> None:
    (found,) = fuse_scores([WORDS, MEANING], ["c"], {"bm25": even(1.0), "vector:m": even(1.0)})
    assert [(part.channel, part.raw) for part in found.contributions] == [("bm25", 0.0), ("vector:m", 0.9)]


def test_turns_of_a_conversation_are_weighed_by_their_own_weights() -> None:
    weights = {"vector:m": ChannelWeight(passage=(0.6, 0.6), turn=(0.4, 0.4))}
    heads = {"c": RankingMetadata("", 1, turn=True)}
    passage, turn = build_table([MEANING], ["b", "c"], weights, heads)
    assert [found.parts[0][3] for found in (passage, turn)] == [0.6, 0.4]


def test_a_weight_lies_half_way_to_that_of_long_memories_at_a_hundred_words() -> None:
    weights = {"vector:m": ChannelWeight(passage=(2.0, 0.0), turn=(0.0, 1.0))}
    heads = {
        "a": RankingMetadata("", 0),
        "b": RankingMetadata("", 100),
        "c": RankingMetadata("", 300, turn=True),
    }
    table = build_table([MEANING], ["a", "b", "c"], weights, heads)
    assert LENGTH_SCALE == 100
    assert [row.parts[0][3] for row in table] == [2.0, 1.0, 0.75]


def test_where_a_backfilled_model_has_no_vector_yet_the_base_model_stands_in_and_says_so() -> None:
    waiting = ranking("vector:big", {"a": 0.2, "b": 0.4})
    weights = {"vector:m": even(0.2), "vector:big": even(0.6)}
    embedded, foretold = fuse_scores([MEANING, waiting], ["b", "c"], weights)
    base = (0.9 - 0.275) / math.sqrt(0.8075 / 4)
    assert [part.channel for part in embedded.contributions] == ["vector:m", "vector:big"]
    assert [part.channel for part in foretold.contributions] == ["vector:m", "vector:big (foretold)"]
    assert foretold.contributions[1].value == pytest.approx(PREDICTED_CORRELATION * base)
    assert foretold.score == pytest.approx(0.2 * base + 0.6 * PREDICTED_CORRELATION * base, abs=1e-6)


def test_nothing_is_foretold_from_a_model_that_has_no_vector_either() -> None:
    half, waiting = ranking("vector:m", {"a": 0.5}), ranking("vector:big", {"a": 0.4})
    assert fuse_scores([half, waiting], ["z"], {})[0].contributions == ()


def test_scores_that_are_all_equal_say_nothing() -> None:
    flat = ranking("vector:flat", {"a": 0.5, "b": 0.5})
    assert [c.score for c in fuse_scores([flat], ["a", "b"], {"vector:flat": even(1.0)})] == [0.0, 0.0]


def test_ties_go_to_the_smaller_id() -> None:
    found = [candidate("z", 1.0), candidate("m", 1.0), candidate("q", 2.0), candidate("a", 1.0)]
    assert [c.id for c in best_first(found)] == ["q", "a", "m", "z"]


def test_what_a_kind_weighs_is_split_among_its_channels() -> None:
    other = ranking("vector:n", {"a": 1.0})
    weights = split_weights([WORDS, MEANING, other], {"bm25": 0.3, "vector": 0.7})
    assert weights == {"bm25": even(0.3), "vector:m": even(0.35), "vector:n": even(0.35)}


SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 9, width=16), min_size=6)


@settings(max_examples=60)
@given(st.tuples(SCORES, SCORES, SCORES), st.booleans())
def test_the_order_in_which_channels_answer_changes_nothing(given_scores: tuple, by_ranks: bool) -> None:
    channels = [ranking(f"vector:{i}", scores, blank=True) for i, scores in enumerate(given_scores)]
    weights = {"vector:0": even(0.7), "vector:1": even(0.2), "vector:2": even(0.1)}
    orders = {
        tuple(
            (c.id, c.score)
            for c in best_first(
                fuse_by_rank(p, weights) if by_ranks else fuse_scores(p, list("abcdef"), weights)
            )
        )
        for p in map(list, permutations(channels))
    }
    assert len(orders) == 1
