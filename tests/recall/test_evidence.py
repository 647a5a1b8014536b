from __future__ import annotations

import math

import pytest
from recall_values import record, rows

from scrubjay.recall.evidence import LENGTH, PERSON, PHRASE, SPEAKER, TITLE, evidence, title_match, wished
from scrubjay.store.base import Head
from scrubjay.text.tokens import groups

ASKED = groups("blue kettle", ["en"])
WEIGHTS = [1.0, 3.0]


def score(title: str, words: int) -> float:
    (one,) = told = rows({"a": 1.0}, {"a": Head(title, words)})
    evidence(told, ASKED, WEIGHTS)
    return one.score


def test_a_title_that_is_the_query_adds_all_it_can() -> None:
    assert score("Blue kettle", 0) == pytest.approx(1.0 + TITLE)


def test_a_title_counts_by_the_querys_weight_it_holds_and_by_the_share_of_it_that_was_asked_for() -> None:
    assert score("Kettle", 0) == pytest.approx(1.0 + TITLE * 3 / 4)
    assert score("Blue", 0) == pytest.approx(1.0 + TITLE * 1 / 4)
    assert score("The old kettle repair", 0) == pytest.approx(1.0 + TITLE * (3 / 4) * (1 / 4))


def test_a_title_of_other_words_and_none_at_all_add_nothing() -> None:
    for title in ("Red pot", "", "???"):
        (one,) = told = rows({"a": 1.0}, {"a": Head(title, 0)})
        evidence(told, ASKED, WEIGHTS)
        assert [channel for channel, *_ in one.parts] == ["bm25"]


def test_an_inflected_title_is_recognised() -> None:
    assert score("Blue kettles", 0) == pytest.approx(1.0 + TITLE)


def test_length_takes_away_by_its_logarithm() -> None:
    assert score("", 100) == pytest.approx(1.0 - LENGTH * math.log(2), abs=1e-6)
    assert score("", 400) == pytest.approx(1.0 - LENGTH * math.log(5), abs=1e-6)


def test_what_is_not_known_of_a_memory_changes_nothing() -> None:
    told = rows({"a": 1.0}, {})
    evidence(told, ASKED, WEIGHTS)
    assert told == rows({"a": 1.0}, {})


def test_words_that_nobody_holds_weigh_nothing_in_a_title() -> None:
    assert title_match("blue kettle", {"blue": 0}, [0.0], 0.0) == 0.0


@pytest.mark.parametrize(
    ("role", "adds"), [("user", PERSON), ("human", PERSON), ("assistant", 0.0), ("tool", 0.0), (None, 0.0)]
)
def test_what_a_person_said_counts_a_little_more(role: str | None, adds: float) -> None:
    told = rows({"a": 1.0}, {"a": Head("", 0, turn=True, role=role)})
    evidence(told, ASKED, WEIGHTS)
    assert told[0].score == pytest.approx(1.0 + adds)


def test_what_a_question_quotes_adds_by_how_much_of_it_a_memory_holds() -> None:
    records = {"a": record("a", "Blue Bunny opened late"), "b": record("b", "the bunny is blue")}
    told = rows(dict.fromkeys(("a", "b", "gone"), 1.0), {})
    wished(told, records, ("blue bunny", "red fox"))
    assert [one.score for one in told] == [1.0 + PHRASE / 2, 1.0, 1.0]
    whole = rows({"a": 1.0}, {})
    wished(whole, records, ("blue bunny",))
    assert whole[0].score == 1.0 + PHRASE


def test_a_turn_of_the_one_whom_the_question_names_adds_to_its_score() -> None:
    heads = {"a": Head("", 0, True, "Mel"), "b": Head("", 0, True, "Ann"), "c": Head("", 0, False, "Mel")}
    told = rows(dict.fromkeys(heads, 1.0), heads)
    evidence(told, ASKED, WEIGHTS, "Mel")
    assert [one.score for one in told] == [1.0 + SPEAKER, 1.0, 1.0]
