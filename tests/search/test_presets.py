"""The fixed fusions, computed by hand from what each channel says for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.results import round_score

TEXTS = [
    "The kingfisher dives for fish at dawn",
    "Fish stew wants saffron, fennel and a slow fire",
    "At dawn the harbour is empty",
    "The kingfisher nests in river banks, deep in clay",
    "Clay pots hold the stew warm until dawn, until noon",
    "Nothing of the kind stands here",
]
QUERY = "kingfisher fish at dawn kingfsher"  # the last is a slip that only respelling can mend


@pytest.fixture
def held(memory: Memory) -> Memory:
    for text in TEXTS:
        memory.add(text)
    return memory


def alone(memory: Memory, channel: str, query: str = QUERY) -> tuple[list[str], Mapping[str, float]]:
    """Return one channel's ranking, and its own score of each memory it found, by asking for nothing else."""
    found = memory.search(query, channels=[channel], fusion="rrf", limit=50, explain=True, stages=[]).results
    raws = {r.id: r.explanation.contributions[0].raw for r in found if r.explanation is not None}
    order = sorted(raws, key=lambda memory_id: (-raws[memory_id], memory_id))
    assert [r.id for r in found] == order
    return order, raws


def distances(raws: Mapping[str, float], every: list[str]) -> dict[str, float]:
    """Return each memory's z over all memories; by words, a memory that was not found has 0."""
    scores = [raws.get(memory, 0.0) for memory in every]
    mean = sum(scores) / len(scores)
    deviation = (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5
    return {memory: (score - mean) / deviation for memory, score in zip(every, scores, strict=True)}


def scores(memory: Memory, query: str = QUERY, **options: Any) -> dict[str, float]:
    return {r.id: r.score for r in memory.search(query, limit=50, **options).results}


def test_kit_is_reciprocal_rank_with_sixty_and_equal_weights_where_no_way_leads_on(held: Memory) -> None:
    by_words, by_vectors = alone(held, "bm25")[0], alone(held, "vector")[0]
    assert len(by_words) < len(by_vectors) == len(TEXTS)
    wanted = {
        memory: round_score(
            sum(1 / (60 + ranks.index(memory) + 1) for ranks in (by_words, by_vectors) if memory in ranks)
        )
        for memory in by_vectors
    }
    assert scores(held, preset="kit") == pytest.approx(wanted, abs=1.1e-6)


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({"preset": "openclaw"}, {"vector": 0.7, "bm25": 0.3}),
        ({"weights": {"vector": 0.7, "bm25": 0.2, "ngram": 0.1}}, {"vector": 0.7, "bm25": 0.2, "ngram": 0.1}),
    ],
)
def test_weighted_presets_are_their_weights_on_the_channels_distances(
    held: Memory, options: dict[str, Any], weights: Mapping[str, float]
) -> None:
    said = {channel: alone(held, channel) for channel in weights}
    every = said["vector"][0]
    z = {channel: distances(raws, every) for channel, (_, raws) in said.items()}
    assert "ngram" not in said or said["ngram"][0], "the slip must be respelled, or the channel is not tested"
    wanted = {memory: sum(weight * z[c][memory] for c, weight in weights.items()) for memory in every}
    assert scores(held, **options) == pytest.approx(wanted, abs=3e-6)


def test_weights_of_ones_own_are_the_same_arithmetic(held: Memory) -> None:
    by_hand = scores(held, weights={"vector": 0.7, "bm25": 0.3})
    assert by_hand == scores(held, preset="openclaw")
    by_hand = scores(held, weights={"vector": 0.7, "bm25": 0.2, "ngram": 0.1}, fusion="raw")
    assert by_hand == scores(held, preset="router")
    assert scores(held, weights={"bm25": 2.0}) == pytest.approx(
        {m: 2 * z for m, z in distances(alone(held, "bm25")[1], list(by_hand)).items() if m in by_hand},
        abs=3e-6,
    )


def test_reciprocal_rank_and_weighted_sums_look_at_nothing_but_the_channels(held: Memory) -> None:
    held.add("Its title says it all.", title="Kingfisher fish at dawn", role="user", session="s", turn=1)
    held.add("And then?", role="assistant", session="s", turn=2)
    for options in ({"preset": "kit"}, {"preset": "openclaw"}, {"fusion": "rrf"}, {"fusion": "weighted"}):
        with_stages = held.search(QUERY, limit=50, explain=True, **options).results
        assert {r.id: r.score for r in with_stages} == scores(held, stages=["prune"], **options)
        channels = {part.channel for r in with_stages for part in r.explanation.contributions}
        assert channels <= {"bm25", "vector:hash", "ngram", "graph"}
    looked = held.search(QUERY, limit=50, explain=True).results
    beyond = {part.channel for r in looked for part in r.explanation.contributions}
    assert beyond >= {"title", "length", "person", "neighbours"}


def test_several_models_share_what_vectors_weigh(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[HashEmbedder(64), HashEmbedder(96, name="second")])
    for text in TEXTS:
        memory.add(text)
    memory.embed()
    for found in memory.search(QUERY, preset="openclaw", explain=True).results:
        weights = {part.channel: part.weight for part in found.explanation.contributions}
        assert weights.pop("ngram") == 0.0
        assert weights == {"bm25": 0.3, "vector:hash": 0.35, "vector:second": 0.35}


def test_a_preset_is_the_same_whatever_the_settings_say(opened, settings) -> None:
    from dataclasses import replace

    own = replace(settings.recall, fusion="rrf", weights={"bm25": 1.0})
    memory = opened(settings=replace(settings, recall=own))
    for text in TEXTS:
        memory.add(text)
    plain = opened()
    for text in TEXTS:
        plain.add(text)
    by_text = {r.snippet: r.score for r in memory.search(QUERY, preset="openclaw").results}
    assert by_text == {r.snippet: r.score for r in plain.search(QUERY, preset="openclaw").results}
