"""The channel of ways: what the best hits name, and what names the same; off, bounded, within the filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.config.settings import LinkingSettings, Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.lifecycle import NewMemory
from scrubjay.search.graph import GRAPH_WEIGHT, HUB_SIZE, GraphScores
from scrubjay.search.request import CHANNELS

WITHOUT = tuple(channel for channel in CHANNELS if channel != "graph")
QUESTION = "Who is the mayor of the town where the painter Ottilie Brandt was born?"
BY_WORDS = ("bm25", "graph")
NOISE = [f"Who was born where the mayor of town {number} is a painter?" for number in range(30)]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, linking=LinkingSettings(stages=("concepts",)))


@pytest.fixture
def held(opened: Callable[..., Memory]) -> Memory:
    memory = opened()
    memory.add_many(NewMemory(text) for text in NOISE)
    memory.add("The painter Ottilie Brandt was born in Greifenau and died in Basel.", title="Ottilie Brandt")
    memory.add("A town on a river; Hans Moll was elected in 2019.", title="Greifenau")
    return memory


def titles(memory: Memory, query: str = QUESTION, **options: Any) -> list[str]:
    return [result.title for result in memory.search(query, **options).results]


def test_a_memory_whose_title_the_best_hit_names_comes_with_it(held: Memory) -> None:
    assert titles(held)[:2] == ["Ottilie Brandt", "Greifenau"]
    assert "Greifenau" not in titles(held, channels=WITHOUT)[:2]


def test_the_way_is_told_by_explain_and_is_a_part_of_the_sum(held: Memory) -> None:
    first, second = held.search(QUESTION, explain=True).results[:2]
    assert second.explanation is not None
    assert second.explanation.way == (first.id, "Greifenau")
    (part,) = [one for one in second.explanation.contributions if one.channel == "graph"]
    assert 0 < part.raw <= 1
    assert 0 < part.weight <= GRAPH_WEIGHT
    assert first.explanation is not None
    assert first.explanation.way == ()


def test_memories_that_share_a_rare_concept_lead_to_each_other(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.concepts.add("Greifenau")
    memory.add_many(NewMemory(text) for text in NOISE)
    memory.add("The painter Ottilie Brandt was born in Greifenau and died in Basel.")
    other = memory.add("Hans Moll was elected in Greifenau in 2019.").id
    found = [result.id for result in memory.search(QUESTION).results]
    assert found.index(other) == 1
    without = [result.id for result in memory.search(QUESTION, channels=WITHOUT).results]
    assert other not in without[:2]


def test_a_title_that_is_a_plain_word_leads_nowhere(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add_many(NewMemory(text) for text in NOISE)
    memory.add("The painter Ottilie Brandt was born on a farm and died in Basel.")
    memory.add("It has cows.", title="farm")
    assert titles(memory) == titles(memory, channels=WITHOUT)


def test_a_question_that_the_best_hit_answers_whole_is_left_alone(held: Memory) -> None:
    query = "Ottilie Brandt died in Basel"
    assert held.search(query).results == held.search(query, channels=WITHOUT).results


def test_turns_of_a_conversation_lead_nowhere(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.concepts.add("Greifenau")
    talk = [
        *NOISE,
        "The painter Ottilie Brandt was born in Greifenau.",
        "Hans Moll was elected in Greifenau.",
    ]
    memory.add_many(NewMemory(text, session="s", turn=place, role="user") for place, text in enumerate(talk))
    assert memory.search(QUESTION).results == memory.search(QUESTION, channels=WITHOUT).results


def test_a_concept_of_very_many_memories_leads_nowhere(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.concepts.add("Greifenau")
    memory.add_many(
        NewMemory(f"{text} Greifenau hums {place}.") for place, text in enumerate([*NOISE, *NOISE])
    )
    assert memory.concepts.show("Greifenau").concept.memories > HUB_SIZE
    memory.add("The painter Ottilie Brandt was born in Greifenau and died in Basel.")
    assert memory.search(QUESTION).results == memory.search(QUESTION, channels=WITHOUT).results


def test_memories_that_name_each_other_and_themselves_end(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add_many(NewMemory(text) for text in NOISE)
    memory.add("Ottilie Brandt was born in Greifenau, says Ottilie Brandt.", title="Ottilie Brandt")
    memory.add("Greifenau is Greifenau; the painter Ottilie Brandt left it.", title="Greifenau")
    for result in memory.search(QUESTION, explain=True).results:
        assert result.explanation is not None
        assert not result.explanation.way or result.explanation.way[0] != result.id


def test_what_filters_and_status_keep_out_is_not_led_to(held: Memory, opened: Callable[..., Memory]) -> None:
    assert titles(held, tags=["none"]) == []
    memory = opened()
    memory.concepts.add("Greifenau")
    memory.add_many(NewMemory(text, tags=["kept"]) for text in NOISE)
    memory.add("The painter Ottilie Brandt was born in Greifenau.", tags=["kept"], title="Ottilie Brandt")
    out = memory.add("Hans Moll was elected in Greifenau.", title="Greifenau").id
    assert out in [result.id for result in memory.search(QUESTION, limit=40).results]
    assert out not in [result.id for result in memory.search(QUESTION, limit=40, tags=["kept"]).results]
    memory.archive([out])
    assert out not in [result.id for result in memory.search(QUESTION, limit=40).results]


def test_a_strangers_memory_is_not_led_to(opened: Callable[..., Memory], tmp_path: Any) -> None:
    store = tmp_path / "memory.db"
    with opened(store, user="bob") as bob:
        bob.concepts.add("Greifenau")
        bob.add("Hans Moll was elected in Greifenau.", title="Greifenau")
    memory = opened(store, user="ann")
    memory.add_many(NewMemory(text) for text in NOISE)
    memory.add("The painter Ottilie Brandt was born in Greifenau.", title="Ottilie Brandt")
    assert memory.search(QUESTION).results == memory.search(QUESTION, channels=WITHOUT).results


def test_kit_adds_half_a_rank_for_what_the_graph_finds(held: Memory) -> None:
    found = {
        r.title: r
        for r in held.search(QUESTION, preset="kit", channels=BY_WORDS, explain=True, limit=40).results
    }
    why = found["Greifenau"].explanation
    assert why is not None
    (part,) = [one for one in why.contributions if one.channel == "graph"]
    assert part.amount == 0.5 / 61
    assert found["Greifenau"].score == round(sum(one.amount for one in why.contributions), 6)


def test_weights_name_the_graph_in_fixed_fusions(held: Memory) -> None:
    for fusion in ("rrf", "weighted"):
        weights = {"bm25": 1.0, "graph": 1.0}
        found = held.search(QUESTION, fusion=fusion, weights=weights, channels=BY_WORDS, explain=True).results
        ways = [one for one in found if one.explanation is not None and one.explanation.way]
        assert [one.title for one in ways if one.title] == ["Greifenau"]
        bare = held.search(QUESTION, fusion=fusion, weights={"bm25": 1.0}, explain=True).results
        assert not any(one.explanation is not None and one.explanation.way for one in bare)


def test_scores_of_ways_are_on_a_scale_of_their_own() -> None:
    scored = GraphScores({"a": 0.5, "b": 0.5, "c": 0.1})
    assert [hit.id for hit in scored.top(2)] == ["a", "b"]
    assert scored.by_id(["c", "x"]) == [0.1, 0.0]
    assert (scored.mean, scored.deviation, scored.covered) == (0.0, 1.0, 3)


def test_a_store_of_one_memory_is_asked_in_peace() -> None:
    with Memory.open("memory://", embedders=[HashEmbedder(8)]) as memory:
        memory.add("Greifenau", title="Greifenau")
        assert len(memory.search("where is Greifenau?").results) == 1


def test_a_second_step_stands_behind_the_hit_that_it_began_with(
    held: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrubjay.search.graph.GRAPH_WEIGHT", 1_000.0)
    first, second = held.search(QUESTION, explain=True).results[:2]
    assert (first.title, second.title) == ("Ottilie Brandt", "Greifenau")
    assert second.score < first.score
