"""Topics by the model that tells most apart: as soon as it has all of the memories, and not before."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray
from web import categories, edges, everything, scope_of, store_of

from scrubjay import Memory
from scrubjay.categories.clustering import gather_members, plain_sentences
from scrubjay.categories.topics import organise_topics
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.lifecycle import NewMemory

if TYPE_CHECKING:
    from scrubjay.embeddings.base import TextKind

Open = Callable[..., Memory]
MARKS = ("?", "??", "???", "????")
WORDS = "oak ash elm fir yew box bay fig may rue sorrel clover daisy thistle nettle bramble".split()


class ByMarks:
    """Tells texts apart by their question marks alone: words and the base model know nothing of them."""

    model = EmbeddingModel("testing", "by-marks", "1", 8, "mean", 0)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        rows = np.full((len(texts), 1, 8), 0.1, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0, min(text.count("?"), 7)] = 1
        return [row / np.linalg.norm(row) for row in rows]


def texts(first: int, last: int) -> list[str]:
    """Texts with one to four question marks, in words drawn from the same few; a fourth of them shares one more."""
    drawn = {number: random.Random(number).sample(WORDS, 9) for number in range(first, last)}
    return [
        " ".join([*words, *["sequoia"] * (5 * (number % 4 == 0))]) + MARKS[number % 4]
        for number, words in drawn.items()
    ]


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened(embedders=[HashEmbedder(64), ByMarks()])


def add(memory: Memory, first: int, last: int) -> None:
    memory.add_many(NewMemory(text) for text in texts(first, last))


def marks(memory: Memory) -> list[set[str]]:
    """The marks at the ends of the texts of each topic's members."""
    with store_of(memory).reader(scope_of(memory)) as reader:
        mark = {record.id: "?" * record.content.count("?") for record in everything(reader)}
    found: dict[str, set[str]] = defaultdict(set)
    for edge in edges(memory, "belongs"):
        found[edge.dst].add(mark[edge.src])
    return sorted(found.values(), key=min)


def rules(memory: Memory) -> set[str]:
    return {edge.rule for edge in edges(memory, "belongs")}


def test_once_nothing_waits_topics_are_those_of_the_finer_model(memory: Memory) -> None:
    add(memory, 0, 48)
    assert any(len(some) > 1 for some in marks(memory))
    assert rules(memory) == {"topic"}
    assert memory.embed().waiting == 0
    assert marks(memory) == [{mark} for mark in MARKS]
    assert len(edges(memory, "belongs")) == 48
    assert rules(memory) == {"topic, by-marks"}


def test_memories_join_by_the_base_model_also_where_the_finer_one_found_the_topics(memory: Memory) -> None:
    add(memory, 0, 48)
    memory.embed()
    topics = categories(memory, "topic")
    assert {topic.model for topic in topics if topic.centroid} == {HashEmbedder(64).model.fingerprint}
    assert {len(topic.centroid) for topic in topics} <= {0, 64}
    add(memory, 48, 60)
    assert {topic.built for topic in categories(memory, "topic")} == {48}
    assert "topic" in rules(memory)


def test_a_model_that_has_only_some_of_the_memories_finds_no_topics(memory: Memory) -> None:
    add(memory, 0, 32)
    memory.embed()
    add(memory, 32, 64)
    assert {topic.built for topic in categories(memory, "topic")} == {64}
    assert rules(memory) == {"topic"}
    base, finer = HashEmbedder(64).model, [ByMarks().model]
    with store_of(memory).reader(scope_of(memory)) as reader:
        some = everything(reader)
        assert gather_members(reader, some, base, finer).finer is None
    memory.embed()
    with store_of(memory).reader(scope_of(memory)) as reader:
        found = gather_members(reader, some, base, finer)
        assert found.finer is not None
        assert (found.model, found.finer.shape, found.vectors.shape) == ("by-marks", (64, 8), (64, 64))


def test_what_little_is_embedded_later_finds_no_topics_anew(memory: Memory) -> None:
    add(memory, 0, 48)
    memory.embed()
    before = categories(memory, "topic")
    add(memory, 48, 50)
    assert memory.embed().embedded == 2
    assert categories(memory, "topic") == before


def test_found_by_force_where_all_have_vectors_they_are_those_of_the_finer_model(memory: Memory) -> None:
    add(memory, 0, 48)
    memory.embed()
    before = marks(memory)
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64), [ByMarks()])
    assert marks(memory) == before


def test_a_short_memory_says_its_sentences_without_marks_and_comments() -> None:
    text = "<!-- Old headings. Do not remove. -->\n\n# Oak\n\n- **One** [two](a/b.md)\n\n```\nx = 1\ny = 2\n```\n"
    assert plain_sentences(text) == "Oak\nOne two\nx = 1"
    assert plain_sentences('<!-- Old headings. -->\n\n<a id="x"></a>\n').strip() == ""


def test_a_memory_that_says_nothing_is_in_no_topic(memory: Memory) -> None:
    add(memory, 0, 30)
    memory.add_many(
        NewMemory(f"<!-- Old headings. Do not remove or links may break. {n} -->") for n in range(10)
    )
    organise_topics(store_of(memory), scope_of(memory), "user:ann", HashEmbedder(64))
    topics = categories(memory, "topic")
    assert topics
    assert not any("headings" in topic.name + topic.abstract + topic.overview for topic in topics)
    assert len(edges(memory, "belongs")) <= 30
