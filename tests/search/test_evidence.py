from __future__ import annotations

import math

import pytest
from recall_values import record, rows

from scrubjay.search.fusion import (
    LENGTH_WEIGHT,
    PERSON_WEIGHT,
    PHRASE_WEIGHT,
    SPEAKER_WEIGHT,
    TITLE_WEIGHT,
    add_phrase_feature,
    add_text_features,
    title_match,
)
from scrubjay.storage.interface import RankingMetadata
from scrubjay.text.tokenizer import query_groups

ASKED = query_groups("blue kettle", ["en"])
WEIGHTS = [1.0, 3.0]


def score(title: str, words: int) -> float:
    (one,) = told = rows({"a": 1.0}, {"a": RankingMetadata(title, words)})
    add_text_features(told, ASKED, WEIGHTS)
    return one.score


def test_a_title_that_is_the_query_adds_all_it_can() -> None:
    assert score("Blue kettle", 0) == pytest.approx(1.0 + TITLE_WEIGHT)


def test_a_title_counts_by_the_querys_weight_it_holds_and_by_the_share_of_it_that_was_asked_for() -> None:
    assert score("Kettle", 0) == pytest.approx(1.0 + TITLE_WEIGHT * 3 / 4)
    assert score("Blue", 0) == pytest.approx(1.0 + TITLE_WEIGHT * 1 / 4)
    assert score("The old kettle repair", 0) == pytest.approx(1.0 + TITLE_WEIGHT * (3 / 4) * (1 / 4))


def test_a_title_of_other_words_and_none_at_all_add_nothing() -> None:
    for title in ("Red pot", "", "???"):
        (one,) = told = rows({"a": 1.0}, {"a": RankingMetadata(title, 0)})
        add_text_features(told, ASKED, WEIGHTS)
        assert [channel for channel, *_ in one.parts] == ["bm25"]


def test_an_inflected_title_is_recognised() -> None:
    assert score("Blue kettles", 0) == pytest.approx(1.0 + TITLE_WEIGHT)


def test_length_takes_away_by_its_logarithm() -> None:
    assert score("", 100) == pytest.approx(1.0 - LENGTH_WEIGHT * math.log(2), abs=1e-6)
    assert score("", 400) == pytest.approx(1.0 - LENGTH_WEIGHT * math.log(5), abs=1e-6)


def test_what_is_not_known_of_a_memory_changes_nothing() -> None:
    told = rows({"a": 1.0}, {})
    add_text_features(told, ASKED, WEIGHTS)
    assert told == rows({"a": 1.0}, {})


def test_words_that_nobody_holds_weigh_nothing_in_a_title() -> None:
    assert title_match("blue kettle", {"blue": 0}, [0.0], 0.0) == 0.0


@pytest.mark.parametrize(
    ("role", "adds"),
    [("user", PERSON_WEIGHT), ("human", PERSON_WEIGHT), ("assistant", 0.0), ("tool", 0.0), (None, 0.0)],
)
def test_what_a_person_said_counts_a_little_more(role: str | None, adds: float) -> None:
    told = rows({"a": 1.0}, {"a": RankingMetadata("", 0, turn=True, role=role)})
    add_text_features(told, ASKED, WEIGHTS)
    assert told[0].score == pytest.approx(1.0 + adds)


def test_what_a_question_quotes_adds_by_how_much_of_it_a_memory_holds() -> None:
    records = {"a": record("a", "Blue Bunny opened late"), "b": record("b", "the bunny is blue")}
    told = rows(dict.fromkeys(("a", "b", "gone"), 1.0), {})
    add_phrase_feature(told, records, ("blue bunny", "red fox"))
    assert [one.score for one in told] == [1.0 + PHRASE_WEIGHT / 2, 1.0, 1.0]
    whole = rows({"a": 1.0}, {})
    add_phrase_feature(whole, records, ("blue bunny",))
    assert whole[0].score == 1.0 + PHRASE_WEIGHT


def test_a_turn_of_the_one_whom_the_question_names_adds_to_its_score() -> None:
    heads = {
        "a": RankingMetadata("", 0, True, "Mel"),
        "b": RankingMetadata("", 0, True, "Ann"),
        "c": RankingMetadata("", 0, False, "Mel"),
    }
    told = rows(dict.fromkeys(heads, 1.0), heads)
    add_text_features(told, ASKED, WEIGHTS, "Mel")
    assert [one.score for one in told] == [1.0 + SPEAKER_WEIGHT, 1.0, 1.0]
