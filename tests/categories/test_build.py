"""Build: names that people wrote, the same from any order, kept as long as the members stay."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from scrubjay.categories import clustering
from scrubjay.categories.clustering import KnownCategory, Topic
from scrubjay.categories.topics import build_topics
from scrubjay.errors import InputError
from scrubjay.text.tokenizer import index_terms

sys.path.insert(0, str(Path(__file__).parent))
from samples import SUBJECTS, world


def told(topics: tuple[Topic, ...]) -> list[tuple[object, ...]]:
    return [(one.name, one.abstract, one.overview, one.members, one.parent, one.id) for one in topics]


def known(topics: tuple[Topic, ...]) -> list[KnownCategory]:
    below = {theme.name: [one for one in topics if one.parent == theme.name] for theme in topics}
    return [
        KnownCategory(
            f"cat_{number:016x}",
            one.name,
            frozenset(one.members or (member for topic in below[one.name] for member in topic.members)),
            not one.members,
        )
        for number, one in enumerate(topics)
    ]


def test_the_order_of_memories_changes_nothing() -> None:
    leaves, vectors, _ = world()
    turned = np.random.default_rng(1).permutation(len(leaves))
    assert told(build_topics([leaves[row] for row in turned], vectors[turned])) == told(
        build_topics(leaves, vectors)
    )


def test_names_are_distinct_and_made_of_the_words_of_the_subject() -> None:
    leaves, vectors, labels = world()
    subject = {leaf.id: label for leaf, label in zip(leaves, labels, strict=True)}
    topics = [one for one in build_topics(leaves, vectors) if one.members]
    assert len({one.name for one in topics}) == len(topics) >= 6
    for topic in topics:
        words = SUBJECTS[subject[topic.members[0]]]
        assert all(word.lower() in words for word in topic.name.split(", "))


def test_l0_and_l1_fit_and_are_taken_from_the_members() -> None:
    leaves, vectors, _ = world()
    texts = {leaf.id: leaf.text for leaf in leaves}
    for topic in build_topics(leaves, vectors):
        assert topic.abstract.startswith(topic.name)
        assert index_terms(topic.abstract).length <= 30
        assert 0 < index_terms(topic.overview).length <= 120
        if topic.members:
            first = topic.overview.split(". ")[0]
            assert any(first in texts[member] for member in topic.members)


def test_members_are_weighed_by_nearness_and_the_centroid_is_a_direction() -> None:
    leaves, vectors, _ = world()
    rows = {leaf.id: row for leaf, row in zip(leaves, vectors, strict=True)}
    for topic in build_topics(leaves, vectors):
        assert float(np.linalg.norm(topic.centroid)) == pytest.approx(1, abs=1e-5)
        for member, weight in zip(topic.members, topic.weights, strict=True):
            assert weight == pytest.approx(float(rows[member] @ topic.centroid), abs=1e-5)


def test_a_rebuild_after_growth_of_one_percent_keeps_ids_and_names() -> None:
    leaves, vectors, _ = world(50)
    new, more, _ = world(1, 3, seed=9, start=300)
    before = build_topics(leaves, vectors)
    after = build_topics([*leaves, *new], np.vstack([vectors, more]), known(before))
    names = {one.id: one.name for one in known(before)}
    kept = [one for one in after if one.id is not None]
    assert len(kept) > 0.98 * len(before)
    assert all(names[one.id] == one.name for one in kept if one.id)


def test_a_category_whose_members_left_is_not_continued() -> None:
    leaves, vectors, _ = world()
    stranger = KnownCategory("cat_0000000000000001", "old", frozenset(f"m{n}" for n in range(50)))
    assert all(one.id is None for one in build_topics(leaves, vectors, [stranger]))


def test_memories_beyond_the_sample_join_the_nearest_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "MAX_TREE_POINTS", 60)
    leaves, vectors, labels = world(40, noise=0.3)
    subject = {leaf.id: label for leaf, label in zip(leaves, labels, strict=True)}
    topics = [one for one in build_topics(leaves, vectors) if one.members]
    assert sum(len(one.members) for one in topics) > 0.9 * len(leaves)
    assert all(len({subject[member] for member in one.members}) == 1 for one in topics)


def test_an_outlier_is_in_no_topic() -> None:
    leaves, vectors, _ = world()
    alone = np.zeros((1, vectors.shape[1]), dtype=np.float32)
    odd = type(leaves[0])("m_odd", "", "Zzyzx.", index_terms("Zzyzx.").counts)
    assert all(
        "m_odd" not in one.members for one in build_topics([*leaves, odd], np.vstack([vectors, alone]))
    )


def test_empty_input_makes_no_topics_and_a_missing_vector_is_refused() -> None:
    leaves, vectors, _ = world(2)
    assert build_topics([], vectors[:0]) == ()
    with pytest.raises(InputError, match="12 memories have 11 vectors"):
        build_topics(leaves, vectors[1:])


def test_a_new_theme_takes_no_name_of_an_existing_topic() -> None:
    leaves, vectors, _ = world(each=30)
    born = build_topics(leaves, vectors)
    themes = [one.name for one in born if not one.members]
    topics = [one for one in born if one.members]
    assert themes
    for name in themes:
        # A topic of before bears what the theme would be called, as a topic does that has grown into a theme.
        old = [KnownCategory("cat_0000000000000001", name, frozenset(topics[0].members))]
        again = build_topics(leaves, vectors, old)
        assert any(one.id and one.name == name and one.members == topics[0].members for one in again)
        assert len({one.name for one in again}) == len(again)
        assert all(one.parent != one.name for one in again)
