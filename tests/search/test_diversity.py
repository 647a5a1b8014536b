from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_values import candidate, record

from scrubjay import Memory, NewMemory
from scrubjay.search.dedup import SIMILARITY_WEIGHT, maximal_marginal_relevance
from scrubjay.search.request import STAGES

LIKE = "the nightly backup of the archive finished without any trouble on machine"


def varied(*texts: tuple[str, float]) -> list[str]:
    records = {text: record(text, text) for text, _ in texts}
    return [
        one.id
        for one in maximal_marginal_relevance([candidate(text, score) for text, score in texts], records)
    ]


def test_of_near_equals_what_is_different_comes_before_what_is_alike() -> None:
    first, second, other = f"{LIKE} one", f"{LIKE} two", "Mara keeps the key of the cellar behind the clock"
    assert varied((first, 3.0), (second, 2.9), (other, 2.8)) == [first, other, second]


def test_what_answers_much_less_stays_behind_what_is_alike() -> None:
    first, second, other = f"{LIKE} one", f"{LIKE} two", "Mara keeps the key of the cellar behind the clock"
    assert varied((first, 3.0), (second, 2.9), (other, 2.8 - SIMILARITY_WEIGHT)) == [first, second, other]


def test_texts_with_half_of_their_words_in_common_take_nothing_from_each_other() -> None:
    texts = [("the heron nests on the roof", 2.0), ("the heron sleeps in a willow", 1.9), ("a kettle", 1.8)]
    assert varied(*texts) == [text for text, _ in texts]


def test_what_is_taken_is_a_part_of_the_score() -> None:
    found = maximal_marginal_relevance(
        [candidate("a", 3.0), candidate("b", 2.0)],
        {"a": record("a", f"{LIKE} one"), "b": record("b", f"{LIKE} two")},
    )
    (part,) = [part for part in found[1].contributions if part.channel == "alike"]
    assert found[1].score == pytest.approx(2.0 + part.amount, abs=1e-6)
    assert -SIMILARITY_WEIGHT <= part.amount < 0


@given(st.integers(0, 10_000))
def test_varying_loses_nobody_and_answers_the_same_twice(seed: int) -> None:
    chance = random.Random(seed)
    words = LIKE.split()
    records = {
        f"m{n:02}": record(f"m{n:02}", " ".join(chance.choices(words, k=chance.randint(0, 9))))
        for n in range(80)
    }
    ranked = sorted(
        (candidate(m, chance.uniform(-2, 5)) for m in records), key=lambda one: (-one.score, one.id)
    )
    found = maximal_marginal_relevance(ranked, records)
    assert sorted(one.id for one in found) == sorted(records)
    assert maximal_marginal_relevance(ranked, records) == found
    scores = [one.score for one in found[:60]]
    assert scores == sorted(scores, reverse=True)


def test_a_search_lets_what_is_alike_give_way_and_the_switch_undoes_it(memory: Memory) -> None:
    memory.add_many([NewMemory(f"Backup log: {LIKE} number{number}") for number in range(40)])
    memory.add("Backup of the archive: ask Mara for the key of the cellar")

    def parts(**options: Any) -> set[str]:
        found = memory.search("backup archive", channels=["bm25"], limit=9, explain=True, **options).results
        return {part.channel for one in found if one.explanation for part in one.explanation.contributions}

    assert "alike" in parts()
    assert "alike" not in parts(stages=[stage for stage in STAGES if stage != "mmr"])
    assert "alike" not in parts(fusion="rrf")
