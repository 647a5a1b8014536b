from __future__ import annotations

import pytest
from recall_values import candidate

from scrubjay import Memory
from scrubjay.errors import InputError
from scrubjay.search.relevance import FIRST_RESULTS, RelevanceFeatures, decide_abstention

GOOD, BAD = RelevanceFeatures(1.0, near=0.8), RelevanceFeatures(0.0, strange=1.0, near=0.0)


def ranked(*signs: RelevanceFeatures) -> tuple[list[str], dict[str, RelevanceFeatures]]:
    names = [f"obs_{number}" for number in range(len(signs))]
    return names, dict(zip(names, signs, strict=True))


@pytest.mark.parametrize("place", range(FIRST_RESULTS))
def test_one_good_one_among_the_first_leaves_the_answer_alone(place: int) -> None:
    names, signs = ranked(*(GOOD if place == at else BAD for at in range(8)))
    answers, silence = decide_abstention([candidate(name, 1.0) for name in names], signs, None)
    assert ([one.id for one in answers], silence) == (names, "")


def test_a_good_one_far_below_saves_nothing() -> None:
    names, signs = ranked(*[BAD] * FIRST_RESULTS, GOOD)
    answers, silence = decide_abstention([candidate(name, 1.0) for name in names], signs, None)
    assert answers == []
    assert f"relevance {GOOD.relevance:.3f}" in silence


def test_an_exact_hit_and_what_cannot_be_told_stay() -> None:
    for sign in (RelevanceFeatures(0.0, strange=1.0, exact=True), RelevanceFeatures(0.0, reliable=False)):
        names, signs = ranked(BAD, sign)
        every = [candidate(name, 1.0) for name in names]
        assert len(decide_abstention(every, signs, None)[0]) == 2
        assert [one.id for one in decide_abstention(every, signs, 0.99)[0]] == [names[1]]


def test_nothing_found_is_no_silence() -> None:
    assert decide_abstention([], {}, None) == decide_abstention([], {}, 0.5) == ([], "")


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "some", True, float("nan")])
def test_a_relevance_that_cannot_be_is_refused(memory: Memory, wrong: object) -> None:
    with pytest.raises(InputError, match="min_relevance is"):
        memory.search("x", min_relevance=wrong)  # type: ignore[arg-type]
