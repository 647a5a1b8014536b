"""Cluster: topics follow what is there, at every size, and nothing is forced into one."""

from __future__ import annotations

import math
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.categories import clustering
from scrubjay.categories.clustering import (
    COMMON_SHARE,
    HASH_COLUMNS,
    MAX_TREE_POINTS,
    Matrix,
    average_linkage,
    cluster_rows,
    feature_rows,
    min_topic_size,
    sample_rows,
    term_matrix,
)
from scrubjay.storage.scoring import unit_rows

sys.path.insert(0, str(Path(__file__).parent))
from samples import world


def found(each: int, subjects: int, **more: float) -> tuple[list[set[str]], list[str]]:
    leaves, vectors, labels = world(each, subjects, **more)
    clusters = cluster_rows(feature_rows(vectors, term_matrix(leaf.terms for leaf in leaves)))
    return [{labels[row] for row in topic} for topic in clusters.topics], labels


@pytest.mark.parametrize(("each", "subjects"), [(4, 3), (5, 6), (30, 6), (60, 2)])
def test_topics_are_the_subjects_whatever_the_size(each: int, subjects: int) -> None:
    topics, _ = found(each, subjects)
    assert all(len(topic) == 1 for topic in topics)
    assert {subject for topic in topics for subject in topic} == set(world(1, subjects)[2])


def test_words_alone_or_vectors_alone_are_enough() -> None:
    leaves, vectors, labels = world()
    terms = [leaf.terms for leaf in leaves]
    for rows, words in ((np.zeros_like(vectors), terms), (vectors, [{} for _ in terms])):
        topics = cluster_rows(feature_rows(rows, term_matrix(words))).topics
        assert len(topics) >= 6
        assert all(len({labels[row] for row in topic}) == 1 for topic in topics)


def test_rows_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves, vectors, _ = world(5, 6)
    terms = term_matrix(leaf.terms for leaf in leaves)
    whole = feature_rows(vectors, terms)
    monkeypatch.setattr(clustering, "BLOCK_ROWS", 7)
    assert feature_rows(vectors, terms).tobytes() == whole.tobytes()


def test_too_few_or_all_alike_make_no_topic() -> None:
    same = np.tile(unit_rows(np.ones((1, 8), dtype=np.float32)), (20, 1))
    assert cluster_rows(same).topics == ()
    assert cluster_rows(same[:3]).topics == ()
    assert cluster_rows(np.zeros((20, 8), dtype=np.float32)).topics == ()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(2, 12), st.integers(0, 1000))
def test_no_topic_has_one_member_or_all_and_none_shares_one(points: int, width: int, seed: int) -> None:
    rows = unit_rows(np.random.default_rng(seed).normal(size=(points, width)).astype(np.float32))
    clusters = cluster_rows(rows)
    placed = [row for topic in clusters.topics for row in topic]
    assert len(placed) == len(set(placed))
    assert all(min_topic_size(points) <= len(topic) < points for topic in clusters.topics)
    inside = [topic for theme in clusters.themes for topic in theme]
    assert len(inside) == len(set(inside))
    assert all(1 < len(theme) < len(clusters.topics) for theme in clusters.themes)


def slow_linkage(similarity: Matrix) -> list[float]:
    groups = [[row] for row in range(len(similarity))]
    heights = []
    while len(groups) > 1:
        pairs = [(i, j) for i in range(len(groups)) for j in range(i)]
        means = [float(similarity[np.ix_(groups[i], groups[j])].mean()) for i, j in pairs]
        i, j = pairs[int(np.argmax(means))]
        heights.append(max(means))
        groups[j] += groups.pop(i)
    return heights


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 14), st.integers(0, 1000))
def test_nearest_neighbour_chains_give_the_tree_of_closest_pairs(points: int, seed: int) -> None:
    rows = unit_rows(np.random.default_rng(seed).normal(size=(points, 4)).astype(np.float32))
    similarity = rows @ rows.T
    expected = slow_linkage(similarity.astype(np.float64))
    assert [merge.similarity for merge in average_linkage(similarity)] == pytest.approx(expected, abs=1e-4)


def test_a_large_set_is_sampled_by_its_ids_and_not_by_its_order() -> None:
    ids = [f"obs_{number:016x}" for number in range(MAX_TREE_POINTS + 500)]
    chosen = {ids[row] for row in sample_rows(ids)}
    turned = ids[::-1]
    assert len(chosen) == MAX_TREE_POINTS
    assert {turned[row] for row in sample_rows(turned)} == chosen
    assert sample_rows(ids[:10]) == list(range(10))


def slow_features(bag: dict[str, int], held: dict[str, int], total: int) -> Matrix:
    row = np.zeros((1, HASH_COLUMNS), dtype=np.float32)
    for term, times in bag.items():
        if 2 <= held[term] <= max(2, COMMON_SHARE * total):
            code = zlib.crc32(term.encode())
            row[0, code % HASH_COLUMNS] += (
                (1 + math.log(times)) * math.log(total / held[term]) * (1 if code >> 31 else -1)
            )
    return unit_rows(row)


def test_word_features_equal_those_of_a_slow_computation() -> None:
    leaves, vectors, _ = world()
    terms = [dict(leaf.terms) for leaf in leaves]
    held = {term: sum(term in bag for bag in terms) for bag in terms for term in bag}
    found = feature_rows(np.zeros_like(vectors), term_matrix(terms))[:, vectors.shape[1] :]
    for row, bag in zip(found, terms, strict=True):
        np.testing.assert_allclose(row, slow_features(bag, held, len(terms))[0], atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)), max_size=8), st.data())
def test_selected_rows_keep_their_order(given_bags: list[dict[str, int]], data: st.DataObject) -> None:
    rows = data.draw(st.permutations(range(len(given_bags)))) if given_bags else []
    some = rows[: len(rows) // 2 + 1]
    kept = term_matrix(given_bags).select(some)
    found: list[dict[str, int]] = [{} for _ in some]
    for row, term, times in zip(kept.rows, kept.terms, kept.counts, strict=True):
        found[row][kept.words[term]] = int(times)
    assert found == [given_bags[row] for row in some]
