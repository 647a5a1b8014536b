"""Which models a search ranks with, and how it says what it had to do without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recall_values import Noise, Speechless

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ProviderError
from scrubjay.search.candidates import MIN_COVERED

BASE, SECOND = HashEmbedder(64), HashEmbedder(48, name="second")


def channels(memory: Memory, query: str = "blue kettle", **options: Any) -> set[str]:
    results = memory.search(query, explain=True, limit=50, **options).results
    return {part.channel for r in results for part in r.explanation.contributions if "vector" in part.channel}


def fill(memory: Memory, count: int) -> None:
    for number in range(count):
        memory.add(f"The blue kettle number {number}.")


def test_a_model_that_fails_at_the_question_is_named_and_the_others_answer(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedders=[BASE, Speechless()])
    fill(memory, 3)
    memory.embed()
    found = memory.search("blue kettle")
    assert len(found.results) == 3
    assert found.partial == ("speechless could not be used: The service at example.org answered 503.",)
    assert channels(memory) == {"vector:hash"}


def test_without_its_base_model_a_search_goes_by_words(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[Speechless()])
    fill(memory, 3)
    found = memory.search("kettle")
    assert (len(found.results), len(found.partial)) == (3, 1)
    assert "speechless" in found.partial[0]


def test_vectors_of_another_length_than_the_models_are_named_not_raised(
    opened: Callable[..., Memory],
) -> None:
    class Swollen(HashEmbedder):
        def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
            rows = super().embed(texts, kind=kind)
            return [np.hstack([row, row]) for row in rows] if kind == "query" else rows

    memory = opened(embedders=[BASE, Swollen(32, name="swollen")])
    fill(memory, 3)
    memory.embed()
    found = memory.search("kettle")
    assert len(found.results) == 3
    assert "swollen could not be used: The query has 64 dimensions" in found.partial[0]


def test_a_model_that_cannot_even_be_opened_is_named(opened: Callable[..., Memory], tmp_path) -> None:
    class Broken(HashEmbedder):
        broken = False

        @property
        def model(self) -> Any:
            if self.broken:
                raise ProviderError("Model file second.onnx is not there.")
            return super().model

    second = Broken(32, name="second")
    memory = opened(tmp_path / "a.db", embedders=[BASE, second])
    fill(memory, 3)
    memory.embed()
    second.broken = True
    found = memory.search("kettle")
    assert len(found.results) == 3
    assert any("second.onnx is not there" in sentence for sentence in found.partial)


def test_a_cold_search_ranks_by_the_base_model_and_notes_the_others(
    opened: Callable[..., Memory], tmp_path
) -> None:
    warm = opened(tmp_path / "a.db", embedders=[BASE, SECOND])
    fill(warm, 3)
    warm.embed()
    cold = opened(tmp_path / "a.db", embedders=[BASE, SECOND], cold=True)
    assert channels(warm) == {"vector:hash", "vector:second"}
    assert channels(cold) == {"vector:hash"}
    assert warm.search("kettle").partial == ()
    assert cold.search("kettle").partial == ()
    assert [sentence.split()[0] for sentence in cold.search("kettle").notes] == ["second"]


def test_a_backfilled_model_joins_once_it_covers_nine_tenths(opened: Callable[..., Memory], tmp_path) -> None:
    memory = opened(tmp_path / "a.db", embedders=[BASE, SECOND])
    fill(memory, 89)
    memory.embed()
    fill(memory, 100)
    assert MIN_COVERED == 0.9
    assert channels(memory) == {"vector:hash"}
    (sentence,) = memory.search("kettle").notes
    assert sentence.startswith("second covers fewer than 90 memories")
    memory.embed()
    assert channels(memory) == {"vector:hash", "vector:second"}
    assert memory.search("kettle").notes == ()


def test_of_a_small_store_a_backfilled_model_must_cover_all(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[BASE, SECOND])
    fill(memory, 4)
    memory.embed()
    memory.add("The blue kettle is new.")
    assert channels(memory) == {"vector:hash"}
    assert len(memory.search("kettle").notes) == 1
    memory.embed()
    assert channels(memory) == {"vector:hash", "vector:second"}


def test_windows_of_long_texts_do_not_pass_for_memories(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[BASE, HashEmbedder(32, window=4, name="short")])
    memory.add("many words " * 200)
    memory.embed()
    fill(memory, 60)
    assert channels(memory) == {"vector:hash"}
    assert memory.search("kettle").notes == ("short covers 1 memories so far and was left out.",)


def test_what_waits_for_a_backfilled_model_is_ranked_by_what_the_base_model_foretells(
    opened: Callable[..., Memory],
) -> None:
    memory = opened(embedders=[BASE, SECOND])
    fill(memory, 60)
    memory.embed()
    late = memory.add("The blue kettle, latest of all.")
    found = {r.id: r for r in memory.search("blue kettle latest", explain=True, limit=100).results}
    assert late.id == next(iter(found))
    assert "vector:second (foretold)" in {part.channel for part in found[late.id].explanation.contributions}


def test_a_registered_model_without_an_embedder_is_named(opened: Callable[..., Memory], tmp_path) -> None:
    fill(opened(tmp_path / "a.db", embedders=[BASE, SECOND]), 3)
    memory = opened(tmp_path / "a.db", embedders=[BASE])
    found = memory.search("kettle")
    assert len(found.results) == 3
    assert found.partial == ("second was not used: second is in the store, but no settings describe it",)


def test_a_base_model_that_the_store_does_not_know_is_named_until_something_is_written(
    opened: Callable[..., Memory], tmp_path
) -> None:
    fill(opened(tmp_path / "a.db", embedders=[BASE]), 3)
    memory = opened(tmp_path / "a.db", embedders=[HashEmbedder(96, name="another")])
    found = memory.search("kettle")
    assert len(found.results) == 3
    assert any(sentence.startswith("another is not in this store yet") for sentence in found.partial)
    memory.add("A red kettle.")
    assert channels(memory, "kettle") == {"vector:another"}
    assert [m.waiting for m in memory.models() if m.name == "another"] == [0]


def test_models_that_take_part_can_be_named(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[BASE, SECOND])
    fill(memory, 3)
    memory.embed()
    assert channels(memory, models=["second"]) == {"vector:second"}
    assert channels(memory, models=["hash"]) == {"vector:hash"}
    assert channels(memory, models=[]) == set()


@pytest.mark.parametrize("query", ["", "!!!", "😀"])
def test_a_query_without_a_word_wakes_no_model(opened: Callable[..., Memory], query: str) -> None:
    memory = opened(embedders=[BASE, Noise(1)] if not query else [BASE, SECOND])
    fill(memory, 3)
    memory.embed()
    found = memory.search(query)
    assert (found.results, found.partial) == ((), ())


def test_a_text_beyond_a_models_window_is_found_by_its_end(opened: Callable[..., Memory]) -> None:
    memory = opened(embedders=[HashEmbedder(256, window=20)])
    wanted = memory.add("filler text without sense " * 40 + "the kingfisher dives at dawn")
    memory.add("filler text without sense, once more")
    assert memory.search("kingfisher dives", channels=["vector"]).results[0].id == wanted.id
