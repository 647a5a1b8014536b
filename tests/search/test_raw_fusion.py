"""Raw fusion: the router's arithmetic, on its own numbers and on a store."""

from __future__ import annotations

import pytest
from recall_values import ranking

from scrubjay import Memory
from scrubjay.search.candidates import ChannelWeight
from scrubjay.search.fusion import fuse_raw
from scrubjay.text.tokenizer import trigram_similarity

QUERY = "Helm charts Kubernetes deployment"
TEXTS = {
    "a": "Kubernetes deployment uses Helm charts for configuration management",
    "b": "BM25 keyword matching scores documents based on term frequency",
    "c": "The cat sat on the mat in a warm sunny afternoon",
}
COSINES = {"a": 0.8, "b": 0.75, "c": 0.7}
BM25 = {"a": 4.166833, "b": 0.0, "c": 0.0}


def test_the_router_s_unit_test_comes_out_to_its_four_digits() -> None:
    rankings = [ranking("bm25", BM25), ranking("vector:told", COSINES)]
    weights = {"bm25": ChannelWeight.fixed(0.2), "vector:told": ChannelWeight.fixed(0.7)}
    found = fuse_raw(rankings, ["a", "b", "c"], weights, QUERY, TEXTS, 0.1)
    scores = {one.id: one.score for one in found}
    assert scores == pytest.approx({"a": 0.7666, "b": 0.5308, "c": 0.4914}, abs=5e-5)
    parts = {part.channel: part.value for part in found[0].contributions}
    assert parts == pytest.approx({"bm25": 0.80646, "vector:told": 0.8, "ngram": 0.4531}, abs=5e-5)


def test_the_router_preset_adds_cosine_saturated_words_and_trigrams(memory: Memory) -> None:
    for text in TEXTS.values():
        memory.add(text)
    cosines, counts = (
        {r.id: r.explanation.contributions[0].raw for r in found if r.explanation is not None}
        for found in (
            memory.search(QUERY, channels=[channel], fusion="raw", explain=True).results
            for channel in ("vector", "bm25")
        )
    )
    by_preset = memory.search(QUERY, preset="router").results
    assert len(by_preset) == 3
    for one in by_preset:
        count = counts.get(one.id, 0.0)
        letters = trigram_similarity(QUERY, one.snippet)
        wanted = 0.7 * cosines[one.id] + 0.2 * count / (count + 1) + 0.1 * letters
        assert one.score == pytest.approx(wanted, abs=2e-6)


def test_trigrams_count_nothing_without_their_channel(memory: Memory) -> None:
    memory.add(TEXTS["a"])
    (one,) = memory.search(QUERY, preset="router", channels=["vector", "bm25"], explain=True).results
    assert one.explanation is not None
    assert "ngram" not in [part.channel for part in one.explanation.contributions]
