"""A second step to an answer is as relevant as what led to it lets it be, and no more than that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_values import candidate

from scrubjay import Memory
from scrubjay.config.settings import LinkingSettings, Settings
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import LINK_PREFIX, Candidate, Contribution, Result
from scrubjay.search.relevance import (
    PROPAGATED_SHARE,
    RelevanceFeatures,
    decide_abstention,
    graph_evidence,
    propagate_relevance,
)
from scrubjay.search.request import CHANNELS

GOOD, BAD = RelevanceFeatures(1.0, near=0.8), RelevanceFeatures(0.0, near=0.1)
BARE = tuple(channel for channel in CHANNELS if channel != "graph")
NAMES = ("a", "b", "c", "d", "e")


def linked(memory: str, *referrers: str, amount: float = 1.0) -> Candidate:
    parts = tuple(Contribution(LINK_PREFIX + one, 1.0, amount, 1.0) for one in referrers)
    return replace(candidate(memory, 1.0), contributions=parts)


def test_it_is_lent_most_of_what_led_to_it() -> None:
    found = propagate_relevance({"a": GOOD, "b": BAD}, {"b": ("a",)})
    assert found["a"] == GOOD
    assert found["b"].relevance == pytest.approx(
        PROPAGATED_SHARE * GOOD.relevance + (1 - PROPAGATED_SHARE) * BAD.relevance, abs=1e-4
    )
    assert found["b"].sufficient
    assert not BAD.sufficient


def test_what_is_lent_is_lent_on_and_of_several_the_best_lends() -> None:
    found = propagate_relevance({"a": GOOD, "b": BAD, "c": BAD, "d": BAD}, {"b": ("a",), "c": ("d", "b")})
    assert GOOD.relevance > found["b"].relevance > found["c"].relevance > BAD.relevance
    assert found["d"] == BAD


def test_two_that_lead_to_each_other_gain_nothing_of_it() -> None:
    assert propagate_relevance({"a": BAD, "b": BAD}, {"a": ("b",), "b": ("a",)}) == {"a": BAD, "b": BAD}


@given(
    st.fixed_dictionaries({name: st.floats(0, 1) for name in NAMES}),
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from((*NAMES, "unknown")), max_size=3)),
)
def test_nothing_loses_and_nothing_passes_the_best(
    covered: dict[str, float], led: dict[str, list[str]]
) -> None:
    signs = {name: RelevanceFeatures(share, near=share) for name, share in covered.items()}
    found = propagate_relevance(signs, led)
    assert found.keys() == signs.keys()
    best = max(sign.relevance for sign in signs.values())
    for name, sign in found.items():
        assert signs[name].relevance <= sign.relevance <= best
        assert sign == signs[name] or name in led


def test_leads_are_ways_and_links_that_gave_something_and_what_led_to_those() -> None:
    way = replace(candidate("w", 1.0), contributions=(Contribution("graph", 1.0, 1.0, 2.0),))
    nothing = replace(way, id="n", contributions=(Contribution("graph", 1.0, 1.0, 0.0),))
    every = [
        way,
        nothing,
        linked("x", "w"),
        linked("y", "x", "z"),
        linked("q", "y", amount=0.0),
        candidate("k", 1.0),
    ]
    ways = {"w": ("k", "Greifenau"), "n": ("k", "Greifenau"), "k": ("w", "Greifenau")}
    assert graph_evidence(["y", "n", "q", "k"], every, ways) == {"y": ("x", "z"), "x": ("w",), "w": ("k",)}
    assert graph_evidence(["k"], every, {}) == {}


def test_the_second_step_keeps_an_answer_and_passes_a_number_that_it_did_not_pass() -> None:
    found = propagate_relevance({"a": GOOD, "b": BAD}, {"b": ("a",)})
    alone = [candidate("b", 1.0)]
    assert decide_abstention(alone, {"b": BAD}, None)[1]
    assert decide_abstention(alone, found, None)[0] == alone
    least = (BAD.relevance + found["b"].relevance) / 2
    assert decide_abstention(alone, found, least)[0] == alone
    assert decide_abstention(alone, {"b": BAD}, least)[0] == []


NOISE = [f"Who was born where the mayor of town {number} is a painter?" for number in range(30)]
QUESTION = "Who is the mayor of the town where the painter Ottilie Brandt was born?"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, linking=LinkingSettings(stages=("concepts",)))


@pytest.fixture
def held(opened: Callable[..., Memory]) -> Memory:
    memory = opened(embedders=[StaticEmbedder()])
    memory.add_many(NewMemory(text) for text in NOISE)
    memory.add("The painter Ottilie Brandt was born in Greifenau and died in Basel.", title="Ottilie Brandt")
    memory.add("It lies on a river; Hans Moll was elected in 2019.", title="Greifenau")
    return memory


def by_title(memory: Memory, query: str = QUESTION, **options: Any) -> dict[str, Result]:
    return {result.title: result for result in memory.search(query, **options).results}


def test_what_a_way_led_to_passes_the_number_that_its_own_words_would_not(held: Memory) -> None:
    shown = by_title(held)
    first, second = shown["Ottilie Brandt"].relevance, shown["Greifenau"].relevance
    alone = by_title(held, channels=BARE, limit=50)["Greifenau"].relevance
    assert first is not None
    assert second is not None
    assert alone is not None
    assert second == pytest.approx(PROPAGATED_SHARE * first + (1 - PROPAGATED_SHARE) * alone, abs=2e-4)
    least = (alone + second) / 2
    assert "Greifenau" in by_title(held, min_relevance=least)
    assert "Greifenau" not in by_title(held, min_relevance=least, channels=BARE, limit=50)
    assert "Greifenau" not in by_title(held, min_relevance=1.0)


def test_what_a_link_led_to_passes_it_too(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[StaticEmbedder()])
    memory.add_many(NewMemory(text) for text in NOISE)
    painter = memory.add("The painter Ottilie Brandt was born in Basel.", title="painter").id
    memory.link(painter, memory.add("Hans Moll was elected.", title="linked").id)
    alone = by_title(memory, limit=50, links=0)["linked"].relevance
    shown = by_title(memory, links=1)
    assert alone is not None
    assert alone < 0.8 * shown["painter"].relevance < shown["linked"].relevance < shown["painter"].relevance
    least = 0.8 * shown["painter"].relevance
    assert "linked" in by_title(memory, links=1, min_relevance=least)
    assert "linked" not in by_title(memory, links=0, limit=50, min_relevance=least)


def test_an_answer_of_second_steps_alone_is_no_silence(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[StaticEmbedder()])
    memory.add_many(NewMemory(f"Pear tree {number} wants water in June.") for number in range(30))
    memory.add("Ottilie Brandt was born in Greifenau and died in Basel.", title="Ottilie Brandt")
    memory.add("It lies between hills; Hans Moll was elected in 2019.", title="Greifenau")
    query = "Who is the mayor where Ottilie Brandt was born? -Basel"  # what led to the town is not shown
    found = memory.search(query)
    assert found.results[0].title == "Greifenau"
    assert found.silence == ""
    bare = memory.search(query, channels=BARE)
    assert bare.results == ()
    assert bare.silence


def test_what_leads_on_from_nothing_that_answers_saves_nothing(held: Memory) -> None:
    found = held.search("Which enzyme breaks down lactose?", links=2)
    assert found.results == ()
    assert found.silence
