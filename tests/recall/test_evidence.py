from __future__ import annotations

import math

import pytest
from recall_values import candidate, record

from scrubjay.recall.evidence import LENGTH, PERSON, PHRASE, SPEAKER, TITLE, evidence, title_match, wished
from scrubjay.store.base import Head
from scrubjay.text.tokens import groups

ASKED = groups("blue kettle", ["en"])
WEIGHTS = [1.0, 3.0]


def score(title: str, words: int) -> float:
    return evidence([candidate("a", 1.0)], {"a": Head(title, words)}, ASKED, WEIGHTS)[0].score


def test_a_title_that_is_the_query_adds_all_it_can() -> None:
    assert score("Blue kettle", 0) == pytest.approx(1.0 + TITLE)


def test_a_title_counts_by_the_querys_weight_it_holds_and_by_the_share_of_it_that_was_asked_for() -> None:
    assert score("Kettle", 0) == pytest.approx(1.0 + TITLE * 3 / 4)
    assert score("Blue", 0) == pytest.approx(1.0 + TITLE * 1 / 4)
    assert score("The old kettle repair", 0) == pytest.approx(1.0 + TITLE * (3 / 4) * (1 / 4))


def test_a_title_of_other_words_and_none_at_all_add_nothing() -> None:
    for title in ("Red pot", "", "???"):
        found = evidence([candidate("a", 1.0)], {"a": Head(title, 0)}, ASKED, WEIGHTS)[0]
        assert [part.channel for part in found.contributions] == ["bm25"]


def test_an_inflected_title_is_recognised() -> None:
    assert score("Blue kettles", 0) == pytest.approx(1.0 + TITLE)


def test_length_takes_away_by_its_logarithm() -> None:
    assert score("", 100) == pytest.approx(1.0 - LENGTH * math.log(2), abs=1e-6)
    assert score("", 400) == pytest.approx(1.0 - LENGTH * math.log(5), abs=1e-6)


def test_what_is_not_known_of_a_memory_changes_nothing() -> None:
    assert evidence([candidate("a", 1.0)], {}, ASKED, WEIGHTS) == [candidate("a", 1.0)]


def test_words_that_nobody_holds_weigh_nothing_in_a_title() -> None:
    assert title_match("blue kettle", {"blue": 0}, [0.0], 0.0) == 0.0


@pytest.mark.parametrize(
    ("role", "adds"), [("user", PERSON), ("human", PERSON), ("assistant", 0.0), ("tool", 0.0), (None, 0.0)]
)
def test_what_a_person_said_counts_a_little_more(role: str | None, adds: float) -> None:
    head = Head("", 0, turn=True, role=role)
    found = evidence([candidate("a", 1.0)], {"a": head}, ASKED, WEIGHTS)
    assert found[0].score == pytest.approx(1.0 + adds)


def test_what_a_question_quotes_adds_by_how_much_of_it_a_memory_holds() -> None:
    records = {"a": record("a", "Blue Bunny opened late"), "b": record("b", "the bunny is blue")}
    ranked = [candidate(memory, 1.0) for memory in ("a", "b", "gone")]
    scores = [c.score for c in wished(ranked, records, ("blue bunny", "red fox"))]
    assert scores == [1.0 + PHRASE / 2, 1.0, 1.0]
    assert wished(ranked, records, ("blue bunny",))[0].score == 1.0 + PHRASE


def test_a_turn_of_the_one_whom_the_question_names_adds_to_its_score() -> None:
    heads = {"a": Head("", 0, True, "Mel"), "b": Head("", 0, True, "Ann"), "c": Head("", 0, False, "Mel")}
    found = evidence([candidate(name, 1.0) for name in heads], heads, ASKED, WEIGHTS, "Mel")
    assert [one.score for one in found] == [1.0 + SPEAKER, 1.0, 1.0]
