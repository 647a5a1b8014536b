"""Relevance: how likely a memory is to answer, by coefficients that are pinned here with what they must never do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.search.relevance import FEATURES, RelevanceFeatures, calibration

SHARE = st.floats(0, 1)
COSINE = st.none() | st.floats(-1, 1)
FAMILIES = ("words", "base", "both")
NOTES = (
    "The invoices lie in the blue folder of the archive.",
    "Pear trees want water in June.",
    "Maria Keller repairs the boat in Rotterdam.",
    "When ERR_409_LEASE shows up, delete the lease and start the worker again.",
    "تقع مكتبة الإسكندرية في مصر",
    "東京タワーの高さは333メートルである。",
)


@pytest.fixture
def notes(opened: Callable[..., Memory]) -> Memory:
    memory = opened(embedders=[StaticEmbedder()])
    memory.add_many([NewMemory(note) for note in NOTES])
    return memory


@given(SHARE, SHARE, SHARE, COSINE, COSINE, SHARE)
def test_relevance_is_a_probability_whatever_speaks(
    covered: float, respelled: float, strange: float, near: float | None, second: float | None, latin: float
) -> None:
    sign = RelevanceFeatures(covered, respelled, strange, near=near, late=second, latin=latin)
    assert 0 <= sign.relevance <= 1


@given(SHARE, SHARE, SHARE, COSINE, COSINE, SHARE)
def test_who_holds_more_of_the_question_is_never_less_relevant(
    covered: float, more: float, strange: float, near: float | None, second: float | None, latin: float
) -> None:
    less, most = sorted((covered, more))
    sign = RelevanceFeatures(less, 0.0, strange, near=near, late=second, latin=latin)
    assert replace(sign, covered=most).relevance >= sign.relevance


@given(SHARE, st.floats(-1, 1), st.floats(-1, 1), SHARE)
def test_what_a_model_finds_nearer_is_never_less_relevant(
    covered: float, near: float, other: float, latin: float
) -> None:
    less, most = sorted((near, other))
    sign = RelevanceFeatures(covered, near=less, latin=latin)
    assert replace(sign, near=most).relevance >= sign.relevance
    both = RelevanceFeatures(covered, near=0.3, late=less, latin=latin)
    assert replace(both, late=most).relevance >= both.relevance


def test_the_coefficients_say_where_they_come_from_and_name_signs_that_exist() -> None:
    for family in FAMILIES:
        found = calibration()[family]
        assert {"what", "command", "date", "commit", "sets", "questions"} <= set(found["from"])
        assert set(found["weights"]) <= set(FEATURES)
        assert all(0 < least < 0.5 for least in found["least"])
    assert "near" not in calibration()["words"]["weights"]
    assert "late" not in calibration()["base"]["weights"]


def test_a_good_answer_is_likely_and_a_stranger_is_not() -> None:
    good, stranger = RelevanceFeatures(0.9, near=0.6), RelevanceFeatures(0.1, strange=0.8, near=0.1)
    assert good.relevance > 0.3
    assert stranger.relevance < 0.03
    assert good.sufficient
    assert not stranger.sufficient


@pytest.mark.parametrize(
    "question",
    [
        "Where do the invoices lie?",
        "who repairs the boat?",
        "أين تقع مكتبة الإسكندرية؟",
        "東京タワーの高さは？",
        "ERR_409_LEASE",
        "inovices",
        '"pear trees"',
    ],
)
def test_what_is_stored_is_answered(notes: Memory, question: str) -> None:
    found = notes.search(question)
    assert found.results
    assert found.silence == ""
    assert found.results[0].relevance is not None
    assert 0 <= found.results[0].relevance <= 1


def test_a_question_in_other_words_is_answered_though_it_is_not_likely_enough_to_be_injected(
    notes: Memory,
) -> None:
    wanted = notes.add("Dentist: Dr Osei moved the check-up to 14 December, bring the old X-rays.").id
    question = "when do I get my teeth checked?"
    (first, *_) = notes.search(question).results
    assert first.id == wanted
    assert first.relevance is not None
    assert first.relevance < calibration()["base"]["least"][0]
    assert "Dr Osei" in notes.context(question).text


def test_the_archive_answers_by_the_same_relevance(notes: Memory) -> None:
    notes.archive([one.id for one in notes.search("invoices boat pear", limit=100, min_relevance=0).results])
    (first, *_) = notes.search("Where do the invoices lie?").results
    assert first.status == "archived"
    assert notes.search("Which enzyme breaks down lactose in the small intestine?").results == ()


@pytest.mark.parametrize(
    "question",
    [
        "Which enzyme breaks down lactose in the small intestine?",
        "Who won the chess championship of 1972?",
        "ما هي عاصمة فرنسا؟",
        "日本の首相は誰ですか",
    ],
)
def test_what_is_not_stored_is_not(notes: Memory, question: str) -> None:
    found = notes.search(question)
    assert found.results == ()
    assert found.silence.startswith("Nothing stored is likely to answer this")
    assert len(found.nearest) == min(5, notes.status().memories)
    assert notes.search(question, min_relevance=0).results
    assert notes.search(question, stages=["evidence"]).results  # `abstain` left out


def test_the_best_of_a_part_that_is_named_is_shown(notes: Memory) -> None:
    wanted = notes.add("Rye bread wants a long rest.", tags=["food"]).id
    question = "Who won the chess championship of 1972?"
    assert [one.id for one in notes.search(question, tags=["food"]).results] == [wanted]
    assert notes.search(question, tags=["food"], min_relevance=0.5).results == ()


def test_of_words_that_say_nothing_nothing_is_told(notes: Memory) -> None:
    found = notes.search("what is it about?")
    assert found.results
    assert {one.relevance for one in found.results} == {None}


def test_an_empty_store_finds_nothing_and_does_not_speak_of_relevance(opened: Callable[..., Memory]) -> None:
    found = opened(embedders=[StaticEmbedder()]).search("where do the invoices lie?")
    assert (found.results, found.silence) == ((), "")


def test_a_number_is_asked_of_each_result_and_the_order_is_left_alone(notes: Memory) -> None:
    whole = notes.search("where do the invoices lie?", min_relevance=0).results
    usual = notes.search("where do the invoices lie?").results
    assert [one.id for one in usual] == [one.id for one in whole]
    assert len(whole) > 1
    best = whole[0].relevance
    assert best is not None
    assert [one.id for one in notes.search("where do the invoices lie?", min_relevance=best).results] == [
        one.id for one in whole if one.relevance is not None and one.relevance >= best
    ]


def test_how_many_are_wanted_does_not_decide_whether_there_is_an_answer(notes: Memory) -> None:
    for question in ("where do the invoices lie?", "Who won the chess championship of 1972?"):
        said = {bool(notes.search(question, limit=limit).results) for limit in (1, 2, 6, 50)}
        assert len(said) == 1


@pytest.mark.parametrize("preset", ["kit", "openclaw", "router"])
def test_other_fusions_are_silent_too_and_relevance_is_the_same(notes: Memory, preset: str) -> None:
    assert notes.search("Who won the chess championship of 1972?", preset=preset).results == ()
    usual = {one.id: one.relevance for one in notes.search("where do the invoices lie?").results}
    for one in notes.search("where do the invoices lie?", preset=preset).results:
        assert one.relevance == usual[one.id]


def test_of_a_model_that_nobody_measured_nothing_is_told(memory: Memory) -> None:
    memory.add("The invoices lie in the blue folder.")
    found = memory.search("Who won the chess championship of 1972?")
    assert [one.relevance for one in found.results] == [None]
    assert found.silence == ""


def test_the_words_of_a_time_need_not_stand_in_what_answers(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[StaticEmbedder()])
    memory.add("The hull was painted.", date="2026-06-24")
    assert memory.search("painted last week?", now="2026-07-01").results


def test_in_a_store_of_few_memories_a_word_that_none_holds_does_not_outweigh_the_others(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedders=[StaticEmbedder()])
    memory.add("The hull was painted blue in the yard at Bornholm.")
    assert memory.search("which colour did the hull get in the yard?").results
