from __future__ import annotations

import pytest

from scrubjay.search.fusion import find_speaker

PAIR = {"Caroline", "Mel"}


@pytest.mark.parametrize(
    "question",
    ["What did Caroline paint?", "Caroline's new hobby", "what did caroline paint", "who is (Caroline)?"],
)
def test_a_speaker_is_found_where_the_question_names_one(question: str) -> None:
    assert find_speaker(question, PAIR) == "Caroline"


@pytest.mark.parametrize(
    "question",
    ["What did Caroline and Mel paint?", "What was painted?", "", "Carolines", "the CAROLINE project"],
)
def test_none_is_found_where_none_or_several_are_named(question: str) -> None:
    assert find_speaker(question, PAIR) is None


@pytest.mark.parametrize("question", ["When will it open?", "when will it open?"])
def test_a_word_that_is_also_a_name_is_the_word(question: str) -> None:
    assert find_speaker(question, {"Will", "Mel"}) is None


def test_an_initial_is_no_name() -> None:
    assert find_speaker("Plan A or plan B?", {"A", "B"}) is None


def test_a_name_with_signs_is_matched_as_it_stands() -> None:
    assert find_speaker("What did Dr. No (the second) say?", {"Dr. No (the second)"}) == "Dr. No (the second)"
