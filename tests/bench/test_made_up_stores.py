"""Made-up stores: the same for the same seed, unequal tenants, what arrives interleaved, slopes as they are."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from bench.growth import slopes
from bench.texts import arrivals, asked, batches, vocabulary
from scrubjay.embeddings.static import StaticEmbedder

WORDS = "jay oak acorn cache winter feather seed flight nest branch".split()


def test_the_same_seed_gives_the_same_world_and_another_one_another() -> None:
    first, again, other = (list(arrivals(WORDS, 300, seed, tenants=9)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert sum(len(batch) for _, batch in first) == 300


@pytest.mark.parametrize(("exponent", "least"), [(1.0, 4.0), (0.0, 1.0)])
def test_tenants_are_as_unequal_as_is_asked(exponent: float, least: float) -> None:
    held: Counter[int] = Counter()
    for tenant, batch in arrivals(WORDS, 20_000, 3, tenants=20, exponent=exponent):
        held[tenant] += len(batch)
    assert len(held) == 20
    assert held[0] >= least * held[9] if exponent else held[0] < 2 * held[9]


def test_what_tenants_say_arrives_interleaved_and_is_written_a_tenant_at_a_time() -> None:
    order = [tenant for tenant, _ in arrivals(WORDS, 4_000, 5, tenants=5, exponent=0.0)]
    assert sum(a != b for a, b in itertools.pairwise(order)) > len(order) / 2
    parts = list(batches(arrivals(WORDS, 4_000, 5, tenants=5, exponent=0.0), 1_000))
    assert sum(len(batch) for part in parts for batch in part.values()) == 4_000
    assert all(len(part) <= 5 for part in parts)


def test_two_texts_are_about_as_near_as_two_of_a_real_collection() -> None:
    texts = [memory.content for _, batch in arrivals(vocabulary(), 1_500, 7) for memory in batch]
    rows = np.array([np.asarray(windows)[0] for windows in StaticEmbedder().embed(texts)])
    near = (rows @ rows.T)[np.triu_indices(len(texts), 1)]
    assert 0.05 < near.mean() < 0.3
    assert 0 < (near >= 0.8).mean() < 0.001


def test_questions_are_about_the_topics_of_the_store() -> None:
    words = vocabulary()
    assert 8_000 < len(words) == len(set(words))
    held = {
        word for _, batch in arrivals(words, 20_000, 3) for memory in batch for word in memory.content.split()
    }
    questions = asked(words, 50, 4, 20_000)
    assert questions == asked(words, 50, 4, 20_000)
    assert all(held & set(question.split()) for question in questions)


def test_a_slope_is_the_power_that_a_figure_grows_by() -> None:
    sizes = [
        {"memories": n, "search_p50": 3.0, "disk_mb": 0.5 * n, "search_p99": None} for n in (10, 100, 1000)
    ]
    assert slopes(sizes) == {"search_p50": 0.0, "disk_mb": 1.0}
