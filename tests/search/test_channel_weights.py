from __future__ import annotations

import pytest
from recall_values import ranking

from scrubjay.search.candidates import ChannelWeight
from scrubjay.search.fusion import (
    AGREEMENT_PASSAGES,
    BASE_ALONE_WEIGHT,
    BASE_WEIGHT,
    BM25_WEIGHT,
    LATE_WEIGHTS,
    MODEL_WEIGHTS,
    RESPELLED_WEIGHT,
    agreement,
    channel_weights,
)
from scrubjay.text.normalize import latin_share

FOUND = ranking("bm25", {"a": 9.0, "b": 5.0, "c": 1.0, "d": 0.5, "e": 0.0, "f": 0.0})
AGREES = ranking("vector:agrees", {"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.1, "e": 0.1, "f": 0.1})
DIFFERS = ranking("vector:differs", {"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.9, "e": 0.9, "f": 0.9})


def test_a_model_that_ranks_the_words_finds_low_loses_its_vote() -> None:
    words, alone = (
        ChannelWeight.fixed(BM25_WEIGHT),
        ChannelWeight.fixed(BASE_ALONE_WEIGHT),
    )
    assert channel_weights([FOUND, AGREES], "q") == {"bm25": words, "vector:agrees": alone}
    assert channel_weights([FOUND, DIFFERS], "q") == {
        "bm25": words,
        "vector:differs": ChannelWeight.fixed(0.0),
    }


def test_agreement_is_the_mean_distance_of_the_three_best_by_words() -> None:
    # Mean .3 and deviation .3 over the six: distances 1, 0 and 0 of a, b and c; d is no witness.
    some = ranking("vector:some", {"a": 0.6, "b": 0.3, "c": 0.3, "d": 0.75, "e": 0.0, "f": -0.15})
    deviation = some.scored.deviation
    assert AGREEMENT_PASSAGES == 3
    assert agreement(some, FOUND) == pytest.approx((0.3 / deviation) / 3)
    assert channel_weights([FOUND, some], "q")["vector:some"].passage[0] == pytest.approx(
        BASE_ALONE_WEIGHT * agreement(some, FOUND)
    )


def test_agreement_stays_between_none_and_full() -> None:
    sharp = ranking("vector:sharp", {"a": 1.0, **{f"x{i}": 0.0 for i in range(99)}})
    only = ranking("bm25", {"a": 1.0, "b": 0.0})
    assert agreement(sharp, only) == 1.0
    assert agreement(DIFFERS, FOUND) == 0.0


@pytest.mark.parametrize("words", [None, ranking("bm25", {"a": 0.0})])
def test_where_no_word_is_found_the_models_have_it_all(words) -> None:
    assert agreement(DIFFERS, words) == 1.0


def test_a_model_without_opinion_or_without_the_witnesses_is_not_gated() -> None:
    assert agreement(ranking("vector:flat", {"a": 0.5, "b": 0.5}), FOUND) == 1.0
    assert agreement(ranking("vector:elsewhere", {"x": 0.5, "y": 0.1}), FOUND) == 1.0


def test_beside_a_backfilled_model_passages_and_turns_are_weighed_apart() -> None:
    second = ranking("vector:second", dict(AGREES.scored.scores))
    third = ranking("vector:third", dict(AGREES.scored.scores))
    two, three = (
        channel_weights([FOUND, AGREES, second], "q"),
        channel_weights([FOUND, AGREES, second, third], "q"),
    )
    assert two["vector:agrees"] == three["vector:agrees"] == ChannelWeight.fixed(BASE_WEIGHT)
    passage, short, long = MODEL_WEIGHTS
    assert two["vector:second"] == ChannelWeight((passage, passage), (short, long))
    assert three["vector:third"] == ChannelWeight((passage / 2, passage / 2), (short / 2, long / 2))
    assert BASE_WEIGHT < short < long < passage


def test_late_interaction_counts_the_less_the_longer_a_memory_is() -> None:
    late = ranking("late:tokens", dict(DIFFERS.scored.scores))
    weights = channel_weights([FOUND, AGREES, late], "q")
    passage, turn = LATE_WEIGHTS
    assert weights["late:tokens"] == ChannelWeight((passage, 0.0), (turn, 0.0))
    assert passage < turn
    assert weights["vector:agrees"] == ChannelWeight.fixed(BASE_WEIGHT)


def test_each_model_is_gated_by_its_own_agreement() -> None:
    second = ranking("vector:second", dict(DIFFERS.scored.scores))
    weights = channel_weights([FOUND, AGREES, second], "q")
    assert (weights["vector:agrees"], weights["vector:second"]) == (
        ChannelWeight.fixed(BASE_WEIGHT),
        ChannelWeight.fixed(0.0),
    )


def test_respelled_words_weigh_half_of_words() -> None:
    assert channel_weights([FOUND, ranking("ngram", {"a": 1.0})], "q")["ngram"] == ChannelWeight.fixed(
        RESPELLED_WEIGHT
    )
    assert RESPELLED_WEIGHT == BM25_WEIGHT / 2


def test_an_english_model_weighs_by_the_share_of_latin_letters() -> None:
    english = ranking("vector:all-MiniLM-L6-v2", dict(AGREES.scored.scores))
    weights = {
        query: channel_weights([FOUND, AGREES, english], query)["vector:all-MiniLM-L6-v2"].passage[0]
        for query in ("tower", "東京", "東京 ab", "42")
    }
    assert weights == {
        "tower": MODEL_WEIGHTS[0],
        "東京": 0.0,
        "東京 ab": MODEL_WEIGHTS[0] / 2,
        "42": 0.0,
    }
    assert channel_weights([FOUND, AGREES, english], "東京")["vector:agrees"] == ChannelWeight.fixed(
        BASE_WEIGHT
    )


def test_accents_are_latin() -> None:
    assert latin_share("Ångström, Łódź!") == 1.0
    assert latin_share("Привет") == 0.0
