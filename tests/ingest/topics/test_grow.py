"""Grow: new memories join what stands, nothing is renamed, and enough strangers make a topic."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.topics.build import build
from scrubjay.ingest.topics.grow import Standing, grow
from scrubjay.ingest.topics.leaf import Topic

sys.path.insert(0, str(Path(__file__).parent))
from samples import SUBJECTS, world


def standing(topics: tuple[Topic, ...]) -> list[Standing]:
    return [
        Standing(f"cat_{number:016x}", one.name, one.centroid, len(one.members))
        for number, one in enumerate(topics)
        if one.members
    ]


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 10_000))
def test_growth_of_one_percent_renames_nothing_and_founds_almost_nothing(seed: int) -> None:
    leaves, vectors, _ = world(50)
    topics = standing(build(leaves, vectors))
    new, more, _ = world(1, 3, seed=seed, start=300)
    growth = grow(topics, new, more, fresh={leaf.id for leaf in new}, total=303)
    assert {category for _, category, _ in growth.joined} <= {topic.id for topic in topics}
    assert set(growth.moved) == {category for _, category, _ in growth.joined}
    assert len(growth.born) < 0.02 * len(topics)


def test_a_new_memory_joins_the_topic_of_its_subject_and_moves_its_centroid() -> None:
    leaves, vectors, labels = world(20)
    built = [one for one in build(leaves, vectors) if one.members]
    subject = {leaf.id: label for leaf, label in zip(leaves, labels, strict=True)}
    topics = standing(tuple(built))
    about = {known.id: subject[one.members[0]] for known, one in zip(topics, built, strict=True)}
    new, more, theirs = world(1, 6, seed=5, noise=0.3)
    growth = grow(topics, new, more, fresh={leaf.id for leaf in new}, total=126)
    mine = {leaf.id: label for leaf, label in zip(new, theirs, strict=True)}
    assert len(growth.joined) == 6
    assert all(about[category] == mine[memory] for memory, category, _ in growth.joined)
    old = {topic.id: topic.centroid for topic in topics}
    for category, centroid in growth.moved.items():
        assert 0.98 < float(centroid @ old[category]) < 1
        assert float(np.linalg.norm(centroid)) == pytest.approx(1, abs=1e-5)


def test_the_order_within_a_batch_changes_nothing() -> None:
    leaves, vectors, _ = world(20)
    topics = standing(build(leaves, vectors))
    new, more, _ = world(3, 6, seed=5)
    one = grow(topics, new, more, fresh={leaf.id for leaf in new}, total=138)
    other = grow(topics[::-1], new[::-1], more[::-1], fresh={leaf.id for leaf in new}, total=138)
    assert one.joined == other.joined


def test_enough_memories_of_a_subject_not_seen_before_make_a_topic_of_their_own() -> None:
    leaves, vectors, labels = world(12)
    there = [row for row, label in enumerate(labels) if label != "banking"]
    topics = standing(build([leaves[row] for row in there], vectors[there]))
    new = [row for row, label in enumerate(labels) if label == "banking"]
    growth = grow(
        topics,
        [leaves[row] for row in new],
        vectors[new],
        fresh={leaves[new[0]].id},
        total=72,
        others=[leaves[row] for row in there],
    )
    assert [set(one.members) for one in growth.born] == [{leaves[row].id for row in new}]
    assert all(word.lower() in SUBJECTS["banking"] for word in growth.born[0].name.split(", "))
    assert growth.born[0].name not in {topic.name for topic in topics}


def test_two_strangers_or_many_unlike_each_other_wait() -> None:
    leaves, vectors, labels = world(12)
    there = [row for row, label in enumerate(labels) if label != "banking"]
    topics = standing(build([leaves[row] for row in there], vectors[there]))
    new = [row for row, label in enumerate(labels) if label == "banking"][:2]
    few = grow(topics, [leaves[row] for row in new], vectors[new], fresh={leaves[new[0]].id}, total=600)
    assert few.born == ()
    odd, _, _ = world(3, 6, seed=3)
    apart = np.eye(len(odd), vectors.shape[1], dtype=np.float32)
    growth = grow(topics, odd, apart, fresh={leaf.id for leaf in odd}, total=78)
    assert growth.born == ()


def test_what_waited_makes_no_topic_without_something_new() -> None:
    leaves, vectors, labels = world(12)
    there = [row for row, label in enumerate(labels) if label != "banking"]
    topics = standing(build([leaves[row] for row in there], vectors[there]))
    new = [row for row, label in enumerate(labels) if label == "banking"]
    assert grow(topics, [leaves[row] for row in new], vectors[new], fresh=set(), total=72).born == ()
